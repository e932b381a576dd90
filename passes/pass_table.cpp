/// One row per pass, in the order in which a pipeline may use them.
#include "passes/passes.h"

namespace perfc {
namespace {

constexpr PassDef kPasses[] = {
    // name                     what it does                                                       function
    {"infer-types", "infers every type and all propagated contents anew", passes::infer_types},
    {"bind-shapes", "replaces named dims by the values given with --dim", passes::bind_shapes},
    {"bind-trip-counts", "gives loops whose rounds the file leaves open those of --trip-count",
     passes::bind_trip_counts},
    {"rebatch", "changes the batch, hard-coded shapes included", passes::rebatch},
    {"bound-dims", "gives dims that data decides the extents of --dynamic and --bound", passes::bound_dims},
    {"unroll-loops", "writes out the rounds of loops and scans that have few", passes::unroll_loops},
    {"fold-constants", "turns values whose contents are known into constants", passes::fold_constants},
    {"simplify-control-flow", "inlines the branch of an `if` whose condition is known", passes::simplify_control_flow},
    {"fold-quantisation", "computes in floats what is quantised, and marks what of it is in 8 bits",
     passes::fold_quantisation},
    {"restore-folded", "takes batch-norms and pads out of convolutions again that an exporter folded into them",
     passes::restore_folded},
    {"eliminate-identity", "removes operators that return their operand", passes::eliminate_identity},
    {"common-subexpressions", "computes equal calls once", passes::common_subexpressions},
    {"unflatten-products", "writes products over merged leading dims as products over those dims",
     passes::unflatten_products},
    {"recognise-patterns", "replaces decomposed operators by the one they stand for", passes::recognise_patterns},
    {"recognise-operators", "the same, as far as eager PyTorch calls that one operator", passes::recognise_operators},
    {"drop-trivial-masks", "leaves out attention masks that positions alone make and that hide nothing",
     passes::drop_trivial_masks},
    {"fold-batch-norm", "merges batch-norms into the convolution or dense before them", passes::fold_batch_norm},
    {"eliminate-dead", "drops what no result depends on", passes::eliminate_dead},
    {"merge-views", "makes one view of a chain of them", passes::merge_views},
    {"filter-operators", "merges chains of views, orders nodes depth-first in post-order", passes::filter_operators},
};

}  // namespace

std::span<const PassDef> pass_table() { return kPasses; }

std::vector<std::string> default_pipeline(ExecMode mode, FoldBatchNorm fold, FoldQuantisation quantisation,
                                          UnrollLoops loops) {
  const bool compiled = mode == ExecMode::Compiled;
  std::vector<std::string> names{"bind-shapes", "bind-trip-counts", "rebatch", "bound-dims"};
  if (loops == UnrollLoops::Yes) names.emplace_back("unroll-loops");
  names.insert(names.end(), {"fold-constants", "simplify-control-flow", "eliminate-dead"});
  if (quantisation == FoldQuantisation::Yes) {
    names.emplace_back("fold-quantisation");
    names.emplace_back("eliminate-dead");
  }
  const bool folds = fold == FoldBatchNorm::Yes || (fold == FoldBatchNorm::AsExecuted && compiled);
  if (!compiled || !folds) names.emplace_back("restore-folded");
  names.emplace_back("eliminate-identity");
  names.emplace_back("unflatten-products");
  names.emplace_back(compiled ? "recognise-patterns" : "recognise-operators");
  if (!compiled) names.emplace_back("drop-trivial-masks");
  if (folds) names.emplace_back("fold-batch-norm");
  if (compiled) names.emplace_back("common-subexpressions");
  names.emplace_back(compiled ? "filter-operators" : "merge-views");
  return names;
}

}  // namespace perfc
