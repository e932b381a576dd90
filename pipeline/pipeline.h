#pragma once
/// load → passes → predict → report: a graph and its devices from a request, reports from a predictor.
/// Which predictor a request names, and a request from end to end: learning/predictors.h.
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "frontends/frontend.h"
#include "mig/mig.h"
#include "passes/pass.h"
#include "whitebox/predictor.h"

namespace perfc {

/// Who says in which precision a model runs.
enum class DtypeFrom {
  Options,  ///< --dtype
  Runtime,  ///< the runtime's own, which a file in 16 bits runs in its own width instead: none, or --dtype default
  File      ///< such a file
};

struct Request {
  std::string model;                  ///< path, or "-"
  std::optional<std::int64_t> batch;  ///< empty: the file's, or 1 where it is open
  ImportOptions import;
  /// `--trip-count`: name of a loop, "" for all → its rounds.
  std::vector<std::pair<std::string, std::int64_t>> trip_counts;
  ExecConfig exec;
  DtypeFrom dtype_from = DtypeFrom::Options;
  std::vector<std::string> devices;  ///< names; at least one
  std::string device_file;           ///< extra devices, may be empty
  std::string host;                  ///< name of a host, or a file of one; empty: each device's own
  std::string stack;                 ///< name of a stack, or a file of one; empty: each device's own
  bool names_no_files = false;       ///< host and stack are names alone: no file is looked for
  OpaquePolicy opaque = OpaquePolicy::Refuse;
  DynamicDims dynamic = DynamicDims::Typical;                ///< what dims that data decides are taken to be …
  std::vector<std::pair<std::string, std::int64_t>> bounds;  ///< … unless given, by node or name of the dim
  std::string predictor = "default";                         ///< see learning/predictors.h
  FoldBatchNorm fold_batch_norm = FoldBatchNorm::AsExecuted;
  MigGoals mig;
  PassTrace trace;
};

/// The same request for another batch, which it says with --batch, or with --dim where that is what said it.
Request at_batch(Request, std::int64_t batch);
/// "--batch 8", or "--dim batch=8" where the request says its batch so.
std::string batch_flag(const Request&, std::int64_t batch);

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

/// What a node of the graph is, for what names it after its graph is gone.
struct NodeNote {
  std::string_view op;  ///< "nn.conv2d"; "constant"
  std::string name;
  double params = 0;  ///< learned ones that it is the first to read
};

/// What a page shows beside a report, of the model at one batch (pipeline/details.h).
struct ModelDetails;

struct Report {
  std::string model;
  ExecConfig exec;
  DtypeFrom dtype_from = DtypeFrom::Options;
  Device device;
  StaticFeatures features;
  Prediction prediction;
  std::optional<MigDecision> mig;
  struct HotOp {
    std::string op, name;
    double time_us, share, flops, bytes;
    Bound bound;
  };
  std::vector<HotOp> hot_ops;                          ///< all kernels, slowest first
  std::shared_ptr<const std::vector<NodeNote>> nodes;  ///< by OpEstimate::node

  /// Of one that does not fit, where it was looked for (pipeline/largest_batch.h): 0 where not even one sample fits.
  std::optional<std::int64_t> largest_batch;
  /// What helps a run that the host bounds, as the same predictor has it (pipeline/alternatives.h).
  struct Alternative {
    std::string options;  ///< "--mode compiled"
    std::int64_t batch;
    double latency_ms;
    double throughput_per_s() const { return latency_ms > 0 ? static_cast<double>(batch) / latency_ms * 1e3 : 0; }
  };
  std::vector<Alternative> alternatives;
  /// The same on another runtime (pipeline/alternatives.h).
  struct OnRuntime {
    Runtime runtime;
    Precision precision;
    double latency_ms;
  };
  std::vector<OnRuntime> runtimes;
  /// Of one that a host bounds of which there are several kinds, with each of these (pipeline/alternatives.h).
  struct OnHost {
    std::string host;  ///< of `--host`
    double latency_ms;
  };
  std::vector<OnHost> hosts;

  /// A call whose results have dims that data decides.
  struct DynamicNode {
    std::string op, name;
    std::vector<std::int64_t> extents;  ///< what its open dims are taken to be
    std::string by;                     ///< where that is from: "elements of the operand", "--bound"
  };
  /// How the prediction rests on such calls (pipeline/dynamic_dims.h).
  struct Dynamic {
    DynamicDims taken = DynamicDims::Typical;
    std::vector<DynamicNode> nodes{};
    /// The device's time with all of these dims at their least, and at their most, in the whitebox's proportions.
    double device_least_ms = 0, device_upper_ms = 0;
    double depends = 0;         ///< share of the device's time that is beyond the least
    std::string not_covered{};  ///< why the interval leaves one of the two out; empty: it has both
  };
  std::optional<Dynamic> dynamic;  ///< none: no dim of the model depends on data

  /// Figures of another batch or of another device.
  struct Figures {
    std::int64_t batch;
    std::string device, title;
    double latency_ms, latency_lo_ms, latency_hi_ms, memory_mib, memory_lo_mib, memory_hi_mib, energy_j;
    double device_memory_mib;
    bool host_bound, fits;
  };
  std::vector<Figures> batches;  ///< on this device, ascending (pipeline/details.h)
  std::vector<Figures> devices;  ///< at this batch, built-in devices in the table's order (pipeline/details.h)
  std::shared_ptr<const ModelDetails> details;

  double throughput_per_s() const;  ///< samples per second
  double energy_j_per_sample() const;
  double waiting() const;  ///< share of the run in which the device waits for its host
  /// Whether the device's memory, or the slice's, holds what the run needs.
  bool fits() const { return prediction.memory.needed_mib() <= device.memory_mib; }
};

/// What a report that does not fit says first: "needs 19626 MiB, t4 has 15360 MiB; the largest batch that fits is 9".
std::string memory_verdict(const Report&);
/// The device's time by what limits its kernels, as shares of it.
struct BoundShares {
  double compute = 0, memory = 0, launch = 0;
};
BoundShares bound_shares(const Report&);

/// Imports and runs the default pipeline; the graph that predictors see.
Result<Graph> load_graph(Request, Diagnostics&);
StaticFeatures static_features(const Graph&, const Request&);
/// Samples of a run: what was asked for, else what binds a dim that is named for them, else what the inputs hold.
std::int64_t samples_of(const Graph&, const Request&);
/// The built-in devices, and before them those of the request's device file.
Result<DeviceTable> device_table(const Request&, Diagnostics&);
/// The request's devices, from that table, with its host and stack.
Result<std::vector<Device>> find_devices(const Request&, Diagnostics&);
Result<std::vector<Device>> find_devices(const DeviceTable&, const Request&, Diagnostics&);
/// The request's host and stack for devices that come from elsewhere.
Status set_surroundings(const Request&, std::vector<Device>&, Diagnostics&);
/// A run with what its devices' stacks decide of its kernels: today's unless all say otherwise.
ExecConfig with_software(ExecConfig, const std::vector<Device>&);
/// Whether the request's runtime runs on the device; an error that says on what it does.
Status can_run(const Request&, const Device&, Diagnostics&);
/// One report per device. Fails as a whole if any device fails.
Result<std::vector<Report>> predict(const Graph&, const std::vector<Device>&, const Predictor&, const Request&,
                                    Diagnostics&);

/// The report as JSON, schema perfc.report/1 (docs/json.md). `top`: how many hot
/// operators to list. Same reports, same bytes.
std::string to_json(std::span<const Report>, std::size_t top);

enum class Colour { No, Yes };
/// The report for people. Several reports make a comparison table first.
std::string to_text(const std::vector<Report>&, std::size_t top, Colour);

/// Kernels in the order of their execution as a Chrome trace (the Trace Event Format; Perfetto and speedscope open it):
/// a process for each report, the device's kernels one after the other beside the host's time.
std::string to_trace(const std::vector<Report>&);
/// Device time in ns by stacks of modules, a line each, as flame graphs are drawn from.
std::string to_folded(const std::vector<Report>&);
/// A table by module, `depth` levels of them: parameters, FLOPs, bytes, device time.
std::string to_summary(const std::vector<Report>&, std::size_t depth, Colour);

}  // namespace perfc
