#pragma once
/// The façade: load → passes → features → predict → report. The command line,
/// the tests and the bindings call this and nothing below it.
#include <optional>
#include <string>
#include <vector>

#include "features/predictor.h"
#include "frontends/frontend.h"
#include "mig/mig.h"
#include "passes/pass.h"

namespace perfc {

struct Request {
  std::string model;                    ///< path, or "-"
  std::optional<std::int64_t> batch;    ///< empty: the file's, or 1 where it is open
  ImportOptions import;
  ExecConfig exec;
  std::vector<std::string> devices;     ///< names; at least one
  std::string device_file;              ///< extra devices, may be empty
  OpaquePolicy opaque = OpaquePolicy::Refuse;
  std::string predictor = "default";    ///< see pipeline/predictors.h
  std::optional<FoldBatchNorm> fold_batch_norm;  ///< empty: by execution mode
  MigGoals mig;
  PassTrace trace;
};

/// Totals that do not depend on a device.
struct StaticFeatures {
  std::int64_t batch = 0;
  double macs = 0;
  double flops = 0;                     ///< 2 × macs + elementwise
  double params = 0;                    ///< learned ones, see features/parameters.h
  double weight_mib = 0;
  std::int64_t nodes = 0;
  std::int64_t conv2d = 0, dense = 0, relu = 0;  ///< DIPPM's counts
};

struct Report {
  std::string model;
  ExecConfig exec;
  Device device;
  StaticFeatures features;
  Prediction prediction;
  std::optional<MigDecision> mig;
  struct HotOp { std::string op, name; double time_us, share, flops, bytes; Bound bound; };
  std::vector<HotOp> hot_ops;           ///< all kernels, slowest first
};

/// Imports and runs the default pipeline; the graph that predictors see.
Result<Graph> load_graph(const Request&, Diagnostics&);
StaticFeatures static_features(const Graph&);
/// The request's devices, from its device file and the built-in table.
Result<std::vector<Device>> find_devices(const Request&, Diagnostics&);
/// One report per device. Fails as a whole if any device fails.
Result<std::vector<Report>> predict(const Request&, Diagnostics&);
/// The same for a graph, devices and a predictor that are already there.
Result<std::vector<Report>> predict(const Graph&, const std::vector<Device>&, const Predictor&, const Request&, Diagnostics&);
/// The request's predictor: by name, or from its checkpoint.
Result<std::unique_ptr<Predictor>> find_predictor(const Request&, Diagnostics&);

/// The report as JSON, schema perfc.report/1 (docs/json.md). `top`: how many hot
/// operators to list. Same reports, same bytes.
std::string to_json(const std::vector<Report>&, std::size_t top);

enum class Colour { No, Yes };
/// The report for people. Several reports make a comparison table first.
std::string to_text(const std::vector<Report>&, std::size_t top, Colour);

}  // namespace perfc
