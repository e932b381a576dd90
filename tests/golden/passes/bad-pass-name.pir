// RUN: perfc opt %s --passes=fold-constant
#[version = "perfc-ir/1"]
def @main(%x: Tensor[(2,), float32]) { (%x) }
// ---- stdout
// ---- stderr
// perfc: error: unknown pass 'fold-constant' (did you mean 'fold-constants'?); there are infer-types, bind-shapes, bind-trip-counts, rebatch, bound-dims, unroll-loops, fold-constants, simplify-control-flow, fold-quantisation, restore-folded, eliminate-identity, common-subexpressions, unflatten-products, recognise-patterns, recognise-operators, drop-trivial-masks, fold-batch-norm, eliminate-dead, merge-views, filter-operators
// ---- exit 2
