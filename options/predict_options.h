#pragma once
/// Options of every prediction, and the request that they make.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "options/command.h"
#include "pipeline/pipeline.h"

namespace perfc {

/// Options of every command that predicts, as given.
struct PredictOptions {
  std::vector<std::string> models;
  std::vector<std::string> devices;
  std::string device_file, smi_file, host, stack;
  std::string batch;  ///< kept as text: "0" and "x" get a message of our own, "1,8,32" is a sweep
  std::string dtype, runtime, mode, layout;  ///< empty: the runtime's own
  std::string norms = "full", task = "infer", optimizer = "adam";
  std::string pacing;  ///< empty: the task's
  std::string predictor = "default", opaque = "refuse", fold = "auto", dynamic = "typical";
  std::vector<std::string> shapes, dims, values, batch_axes, trip_counts, bounds;
  std::string signature;
  bool cudnn_benchmark = false;
  std::optional<double> max_latency_ms, min_throughput_per_s;
  double headroom = 0.05;
  bool names_no_files = false;  ///< host, stack and predictor are names alone: no file is looked for
};
/// Whether a command takes one batch or a list of them.
enum class Batches { One, Several };
void add_shape_options(Command&, PredictOptions&, Batches = Batches::One);
/// Devices, and how models run on them.
void add_execution_options(Command&, PredictOptions&);
/// All but the models and their shapes: devices, how they run, and goals for the MIG choice.
void add_run_options(Command&, PredictOptions&);
/// What dims that data decides are taken to be; what `dynamic` is before is the default.
void add_dynamic_options(Command&, PredictOptions&);
void add_loop_options(Command&, PredictOptions&);
/// All but the models.
void add_setting_options(Command&, PredictOptions&, Batches = Batches::One);
void add_predict_options(Command&, PredictOptions&, Batches = Batches::One);

// What is wrong is said without a place, by the option's name and with the nearest right value.

/// The batches of --batch in their order; empty in place of one: the file's.
Result<std::vector<std::optional<std::int64_t>>> to_batches(const PredictOptions&, Diagnostics& usage);
/// The request without its model; of several batches it has the first.
Result<Request> to_request(const PredictOptions&, Batches, Diagnostics& usage);
/// The request's devices, or those of the host that nvidia-smi describes.
Result<std::vector<Device>> devices_of(const PredictOptions&, const Request&, Diagnostics&);

}  // namespace perfc
