#pragma once
/// What a sweep predicts: every model × batch × run × device, a row of the table each, in this order. docs/sweep.md.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "compare/model_set.h"
#include "learning/predictors.h"
#include "options/predict_options.h"
#include "pipeline/model_file.h"

namespace perfc {

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
  std::vector<std::string> left_out;  ///< of folders: what is named as a model and is none
  std::vector<ModelSet> opened;       ///< keeps what was checked out of git

  /// A unit is a model at a batch on a run: a row for every device.
  std::size_t units_per_model() const { return batches.size() * runs.size(); }
  std::size_t units() const { return models.size() * units_per_model(); }
  std::size_t rows() const { return units() * devices.size(); }
};

/// A run per runtime and dtype of the lists that the runtime, mode and dtype are. What is wrong with them is said
/// without a place, as of other options (options/predict_options.h).
Result<std::vector<Request>> sweep_runs(const PredictOptions&, Diagnostics& usage);
/// "all" among the devices: every one of the table, those of the device file first.
Status name_all_devices(Request&, Diagnostics&);
/// GPUs of a host share a name: devices that differ in neither name nor memory are one.
void add_devices(std::vector<Device>, SweepPlan&);
/// The models of files and folders, each once. An error, where no file is to blame without one, where something is no
/// model or cannot be read.
Status find_models(const std::vector<std::string>& given, SweepPlan&, Diagnostics&);

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

}  // namespace perfc
