#pragma once
/// Passes and pipelines: `Graph → Result<Graph>` and named lists of them. A pass
/// takes its graph over: where nothing changes it hands it back as it is.
#include <cstdint>
#include <iosfwd>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ir/batch_axis.h"
#include "ir/dim_bounds.h"
#include "ir/exec_mode.h"
#include "ir/graph.h"

namespace perfc {

/// Whether what comes out of the passes is to be run.
enum class Contents : std::uint8_t {
  Types,  ///< no: a weight that is stored otherwise, or scaled, is a weight of that type
  Kept    ///< yes: weights stay those of the file, and what is computed from them is written out
};

/// Inputs of the passes that need any.
struct PassOptions {
  /// `rebatch`: the wanted batch; 0 leaves the file's.
  std::int64_t batch = 0;
  /// `rebatch`: where inputs have it.
  std::vector<BatchAxis> batch_axes;
  /// `bind-shapes`: symbol → value.
  std::vector<std::pair<std::string, std::int64_t>> dims;
  /// `bind-trip-counts`: name of a loop, "" for all → its rounds.
  std::vector<std::pair<std::string, std::int64_t>> trip_counts;
  /// `bound-dims`: what dims that data decides are taken to be …
  DynamicDims dynamic = DynamicDims::Refuse;
  /// … and those that are given: a node's name, or that of a dim → extent.
  std::vector<std::pair<std::string, std::int64_t>> bounds;
  /// `recognise-operators`, `unflatten-products`, `eliminate-identity`.
  WrittenBy written_by = WrittenBy::Exporter;
  /// `fold-constants`, `eliminate-identity`: what a program launches stays.
  ExecMode mode = ExecMode::Compiled;
  /// `rebatch`, `fold-constants`, `recognise-patterns`, `recognise-operators`, `fold-batch-norm`,
  /// `restore-folded`.
  Contents contents = Contents::Types;
};

struct PassDef {
  std::string_view name;     ///< "fold-constants"
  std::string_view summary;  ///< one line for --help
  Result<Graph> (*run)(Graph, const PassOptions&, Diagnostics&);
};

std::span<const PassDef> pass_table();

enum class FoldBatchNorm : std::uint8_t { AsExecuted, No, Yes };
enum class FoldQuantisation : bool { No, Yes };
enum class UnrollLoops : bool { No, Yes };
/// The pipeline of `perfc predict`, in order.
std::vector<std::string> default_pipeline(ExecMode, FoldBatchNorm = FoldBatchNorm::AsExecuted,
                                          FoldQuantisation = FoldQuantisation::No, UnrollLoops = UnrollLoops::No);

/// What to print between passes.
struct PassTrace {
  std::ostream* out = nullptr;  ///< null: print nothing
  std::string print_after;      ///< pass name, "changed" or "all"; empty: none
  bool time_passes = false;
  bool verify_each = false;
};

/// Runs the named passes in order. An unknown name is an error that suggests
/// the nearest one.
Result<Graph> run_passes(Graph graph, const std::vector<std::string>& names, const PassOptions&, const PassTrace&,
                         Diagnostics&);

}  // namespace perfc
