#pragma once
/// What a sweep predicts: every model × batch × run × device, a row of the table each, in this order. docs/sweep.md.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/cli.h"
#include "compare/model_set.h"
#include "pipeline/model_file.h"

namespace perfc::cli {

struct SweepModel {
  std::string name;  ///< in the table and in messages
  std::filesystem::path path;
  bool from_git = false;  ///< its time is that of the check-out
};

struct SweepPlan {
  std::vector<SweepModel> models;
  std::vector<std::optional<std::int64_t>> batches;  ///< empty in place of one: the file's
  std::vector<Request> runs;                         ///< one per runtime and dtype; but for model and batch
  std::vector<Device> devices;
  std::vector<ModelSet> opened;  ///< keeps what was checked out of git

  /// A unit is a model at a batch on a run: a row for every device.
  std::size_t units_per_model() const { return batches.size() * runs.size(); }
  std::size_t units() const { return models.size() * units_per_model(); }
  std::size_t rows() const { return units() * devices.size(); }
};

/// The first columns of a row, which say what it is of.
struct SweepKey {
  const SweepModel& model;
  std::optional<std::int64_t> batch;
  const Request& run;
  const Device& device;
};
/// Of the row with this index.
SweepKey key_of(const SweepPlan&, std::size_t row);

inline constexpr std::string_view kSweepHead =
    "model,batch,device,dtype,runtime,latency_ms,latency_lo_ms,latency_hi_ms,device_ms,host_ms,memory_mib,energy_j,"
    "power_w,fits,predictor,warnings,error\n";
inline constexpr std::size_t kSweepColumns = 17;

/// Rows of one unit, and how many of them could not be predicted.
struct SweepRows {
  std::string text;
  std::size_t failed = 0;
};

/// Predicts a model's units one after the other; it is opened once.
class SweepWorker {
 public:
  SweepWorker(const SweepPlan& plan, const Predictor& predictor, const SweepModel& model);
  /// `unit`: of the model's.
  SweepRows predict(std::size_t unit);

 private:
  Result<std::vector<Report>> figures_on(const std::vector<Device>&, const Request&, Diagnostics&);
  const SweepPlan& plan_;
  const Predictor& predictor_;
  const SweepModel& model_;
  Diagnostics opening_;
  Result<ModelFile> file_ = Failure{};
};

}  // namespace perfc::cli
