/// One row per pass, in the order in which a pipeline may use them.
#include "passes/passes.h"

namespace perfc {
namespace {

constexpr PassDef kPasses[] = {
    // name                     what it does                                                       function
    {"infer-types",             "infers every type and all propagated contents anew",              passes::infer_types},
    {"bind-shapes",             "replaces named dims by the values given with --dim",              passes::bind_shapes},
    {"fold-constants",          "turns values whose contents are known into constants",            passes::fold_constants},
    {"simplify-control-flow",   "inlines the branch of an `if` whose condition is known",          passes::simplify_control_flow},
    {"eliminate-identity",      "removes operators that return their operand",                     passes::eliminate_identity},
    {"common-subexpressions",   "computes equal calls once",                                       passes::common_subexpressions},
    {"eliminate-dead",          "drops what no result depends on",                                 passes::eliminate_dead},
    {"filter-operators",        "merges chains of views, orders nodes depth-first in post-order",  passes::filter_operators},
};

}  // namespace

std::span<const PassDef> pass_table() { return kPasses; }

std::vector<std::string> default_pipeline(FoldBatchNorm) {
  return {"bind-shapes",        "fold-constants", "simplify-control-flow",
          "eliminate-identity", "eliminate-dead", "filter-operators"};
}

}  // namespace perfc
