#pragma once
/// What is to be served: models, from a YAML file (docs/pack.md) or the command line.
#include <optional>
#include <string>
#include <vector>

#include "cli/cli.h"
#include "mig/pack.h"

namespace perfc::cli {

struct WorkloadEntry {
  PredictOptions predict;  ///< how it runs; models, devices and goals are not of it
  std::string model;       ///< as it was given
  std::string path;        ///< where it is
  std::string name;        ///< in the plan
  double rate_per_s = 0;
  std::optional<double> max_latency_ms;
  int replicas = 1;
  std::string needs;  ///< "media", "graphics", or empty
};

/// Limits that slices are used within, and which end of a prediction counts.
struct SliceOptions {
  ServiceLimits limits;
  bool certain = false;
};
void add_slice_options(Command&, SliceOptions&);

/// Appends the file's entries, each with `defaults` where it and the file's own defaults say nothing. False: something
/// is wrong with the file, which was printed.
bool read_workload(const std::string& path, const WorkloadEntry& defaults, std::vector<WorkloadEntry>& out);
/// Gives entries without a name one, and equal names a number.
void name_entries(std::vector<WorkloadEntry>&);

/// The model of an entry on devices or slices, predicted. Remembers models and predictors for entries that share them.
class WorkloadPredictor {
 public:
  /// Empty: it cannot be predicted, which was printed; `code` is what to exit with.
  std::optional<std::vector<Report>> on(const WorkloadEntry&, const std::vector<Device>&, int& code);

 private:
  std::map<std::string, std::unique_ptr<Predictor>> predictors_;
  std::map<std::string, std::vector<Report>> known_;
};

ServiceOnSlice service_of(const Report&, bool certain);
/// What keeps a model from being served by a slice of this memory: "needs 5200 of 4621 MiB", "takes 45.2 ms (…)".
/// Empty:
/// nothing.
std::string missed_limit(const ServiceDemand&, const ServiceOnSlice&, double memory_mib, const ServiceLimits&);
/// How far it is from that, as a factor above 1 of what there is.
double missed_by(const ServiceDemand&, const ServiceOnSlice&, double memory_mib, const ServiceLimits&);
/// Whether an earlier profile of the device is of the same size: variants with other engines.
bool is_variant(const Device&, std::size_t profile);

}  // namespace perfc::cli
