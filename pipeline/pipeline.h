#pragma once
/// load → passes → predict → report: a graph and its devices from a request, reports from a predictor.
/// Which predictor a request names, and a request from end to end: learning/predictors.h.
#include <optional>
#include <string>
#include <vector>

#include "frontends/frontend.h"
#include "mig/mig.h"
#include "passes/pass.h"
#include "whitebox/predictor.h"

namespace perfc {

struct Request {
  std::string model;                  ///< path, or "-"
  std::optional<std::int64_t> batch;  ///< empty: the file's, or 1 where it is open
  ImportOptions import;
  ExecConfig exec;
  std::vector<std::string> devices;  ///< names; at least one
  std::string device_file;           ///< extra devices, may be empty
  std::string host;                  ///< name of a host, or a file of one; empty: each device's own
  std::string stack;                 ///< name of a stack, or a file of one; empty: each device's own
  OpaquePolicy opaque = OpaquePolicy::Refuse;
  std::string predictor = "default";  ///< see learning/predictors.h
  FoldBatchNorm fold_batch_norm = FoldBatchNorm::AsExecuted;
  MigGoals mig;
  PassTrace trace;
};

/// Totals that do not depend on a device.
struct StaticFeatures {
  std::int64_t batch = 0;
  double macs = 0;
  double flops = 0;   ///< 2 × macs + elementwise
  double params = 0;  ///< learned ones, see features/parameters.h
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
  struct HotOp {
    std::string op, name;
    double time_us, share, flops, bytes;
    Bound bound;
  };
  std::vector<HotOp> hot_ops;  ///< all kernels, slowest first
};

/// Imports and runs the default pipeline; the graph that predictors see.
Result<Graph> load_graph(const Request&, Diagnostics&);
StaticFeatures static_features(const Graph&);
/// The request's devices, from its device file and the built-in table, with its host and stack.
Result<std::vector<Device>> find_devices(const Request&, Diagnostics&);
/// The request's host and stack for devices that come from elsewhere.
Status set_surroundings(const Request&, std::vector<Device>&, Diagnostics&);
/// One report per device. Fails as a whole if any device fails.
Result<std::vector<Report>> predict(const Graph&, const std::vector<Device>&, const Predictor&, const Request&,
                                    Diagnostics&);

/// The report as JSON, schema perfc.report/1 (docs/json.md). `top`: how many hot
/// operators to list. Same reports, same bytes.
std::string to_json(const std::vector<Report>&, std::size_t top);

enum class Colour { No, Yes };
/// The report for people. Several reports make a comparison table first.
std::string to_text(const std::vector<Report>&, std::size_t top, Colour);

}  // namespace perfc
