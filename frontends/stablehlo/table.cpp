/// One row per operator. Shorter tables of StableHLO's operators: openxla/stablehlo's docs/spec.md and
/// stablehlo/dialect/ChloOps.td.
#include <algorithm>
#include <unordered_map>

#include "frontends/stablehlo/stablehlo.h"
#include "frontends/stablehlo/translators.h"

namespace perfc::stablehlo {
namespace {

// clang-format off
const std::vector<OpRow> kRows{
    // ---- Element by element
    {"stablehlo.abs", "abs", direct},
    {"stablehlo.add", "add", add, 2},
    {"stablehlo.and", "logical_and bitwise_and", bitwise, 2},
    {"stablehlo.atan2", "atan2", direct, 2},
    {"stablehlo.cbrt", "power", cube_root},
    {"stablehlo.ceil", "ceil", direct},
    {"stablehlo.clamp", "clip maximum minimum", clamp, 3},
    {"stablehlo.compare", "equal not_equal less less_equal greater greater_equal", compare, 2},
    {"stablehlo.constant", "a constant", constant, 0},
    {"stablehlo.convert", "cast", convert},
    {"stablehlo.cosine", "cos", direct},
    {"stablehlo.divide", "divide trunc_divide mean sigmoid nn.softmax", divide, 2},
    {"stablehlo.exponential", "exp", direct},
    {"stablehlo.exponential_minus_one", "expm1", direct},
    {"stablehlo.floor", "floor", direct},
    {"stablehlo.imag", "imag", direct},
    {"stablehlo.is_finite", "isnan isinf logical_or logical_not", is_finite},
    {"stablehlo.log", "log", direct},
    {"stablehlo.log_plus_one", "log1p", direct},
    {"stablehlo.logistic", "sigmoid", direct},
    {"stablehlo.maximum", "maximum", extreme, 2},
    {"stablehlo.minimum", "minimum", extreme, 2},
    {"stablehlo.multiply", "multiply", multiply, 2},
    {"stablehlo.negate", "negative", direct},
    {"stablehlo.not", "logical_not bitwise_not", bitwise},
    {"stablehlo.or", "logical_or bitwise_or", bitwise, 2},
    {"stablehlo.power", "power", direct, 2},
    {"stablehlo.real", "real", direct},
    {"stablehlo.reduce_precision", "its operand", first_operand},
    {"stablehlo.remainder", "mod", direct, 2},
    {"stablehlo.round_nearest_afz", "round", direct},
    {"stablehlo.round_nearest_even", "round", direct},
    {"stablehlo.rsqrt", "rsqrt", direct},
    {"stablehlo.select", "where", select, 3},
    {"stablehlo.shift_left", "bit_shift", shift, 2},
    {"stablehlo.shift_right_arithmetic", "bit_shift", shift, 2},
    {"stablehlo.shift_right_logical", "bit_shift", shift, 2},
    {"stablehlo.sign", "sign", direct},
    {"stablehlo.sine", "sin", direct},
    {"stablehlo.sqrt", "sqrt", direct},
    {"stablehlo.subtract", "subtract nn.log_softmax", subtract, 2},
    {"stablehlo.tan", "tan", direct},
    {"stablehlo.tanh", "tanh", direct},
    {"stablehlo.xor", "logical_xor bitwise_xor", bitwise, 2},
    {"chlo.acos", "acos", direct},
    {"chlo.acosh", "acosh", direct},
    {"chlo.asin", "asin", direct},
    {"chlo.asinh", "asinh", direct},
    {"chlo.atan", "atan", direct},
    {"chlo.atanh", "atanh", direct},
    {"chlo.cosh", "cosh", direct},
    {"chlo.digamma", "digamma", direct},
    {"chlo.erf", "erf", direct},
    {"chlo.erf_inv", "erfinv", direct},
    {"chlo.erfc", "erfc", direct},
    {"chlo.is_inf", "isinf", direct},
    {"chlo.lgamma", "lgamma", direct},
    {"chlo.next_after", "nextafter", direct, 2},
    {"chlo.sinh", "sinh", direct},
    {"chlo.square", "multiply", square},
    {"chlo.tan", "tan", direct},
    // ---- Products
    {"stablehlo.convolution", "nn.conv1d nn.conv2d nn.conv3d "
     "nn.conv1d_transpose nn.conv2d_transpose nn.conv3d_transpose",
     convolution, 2},
    {"stablehlo.dot", "nn.batch_matmul", dot, 2},
    {"stablehlo.dot_general", "nn.batch_matmul", dot_general, 2},
    // ---- Views, data movement
    {"stablehlo.broadcast_in_dim", "broadcast_to", broadcast_in_dim},
    {"stablehlo.concatenate", "concatenate", concatenate},
    {"stablehlo.dynamic_broadcast_in_dim", "broadcast_to", broadcast_in_dim, 2},
    {"stablehlo.dynamic_iota", "arange", iota},
    {"stablehlo.dynamic_reshape", "reshape", reshape, 2},
    {"stablehlo.get_dimension_size", "shape_of", get_dimension_size},
    {"stablehlo.iota", "arange", iota, 0},
    {"stablehlo.pad", "nn.pad", pad, 2},
    {"stablehlo.reshape", "reshape squeeze expand_dims", reshape},
    {"stablehlo.reverse", "reverse", reverse},
    {"stablehlo.slice", "strided_slice", slice},
    {"stablehlo.transpose", "transpose", transpose},
    // ---- Reductions, windows, sorting
    {"stablehlo.reduce", "sum_axes max min prod all any argmax argmin", reduce, 2},
    {"stablehlo.reduce_window", "nn.max_pool1d nn.max_pool2d nn.max_pool3d nn.avg_pool1d nn.avg_pool2d nn.avg_pool3d "
     "cumsum cumprod", reduce_window, 2},
    {"stablehlo.sort", "topk gather", sort},
    {"chlo.top_k", "topk", top_k},
    // ---- At computed places
    {"stablehlo.dynamic_gather", "take gather_nd gather", gather, 3},
    {"stablehlo.dynamic_slice", "strided_slice take", dynamic_slice},
    {"stablehlo.dynamic_update_slice", "strided_set", dynamic_update_slice, 2},
    {"stablehlo.gather", "take gather_nd gather", gather, 2},
    {"stablehlo.scatter", "scatter_nd", scatter, 3},
    // ---- Functions and control flow
    {"call", "its function", call, 0},
    {"func.call", "its function", call, 0},
    {"stablehlo.case", "if", branches},
    {"stablehlo.composite", "its function", composite, 0},
    {"stablehlo.if", "if", branches},
    {"stablehlo.while", "loop", loop, 0},
    // ---- Libraries, random numbers, what exporters add
    {"stablehlo.batch_norm_inference", "nn.batch_norm", batch_norm_inference, 5},
    {"stablehlo.batch_norm_training", "nn.batch_norm nn.layer_norm nn.instance_norm", batch_norm_training, 3},
    {"stablehlo.custom_call", "nn.sdpa erf topk", custom_call, 0},
    {"stablehlo.fft", "opaque", fourier},
    {"stablehlo.optimization_barrier", "its operands", all_operands, 0},
    {"stablehlo.rng", "random.uniform random.normal", random, 3},
    {"stablehlo.rng_bit_generator", "random.uniform", random_bits},
    {"sdy.sharding_constraint", "its operand", first_operand},
};
// clang-format on

}  // namespace

const std::vector<OpRow>& op_table() { return kRows; }

const OpRow* find_row(std::string_view name) {
  static const auto by_name = [] {
    std::unordered_map<std::string_view, const OpRow*> out;
    for (const OpRow& row : kRows) out.emplace(row.name, &row);
    return out;
  }();
  const auto it = by_name.find(name);
  return it == by_name.end() ? nullptr : it->second;
}

std::vector<OpCoverage> coverage() {
  std::vector<OpCoverage> out;
  out.reserve(kRows.size());
  for (const OpRow& row : kRows) out.push_back({std::string(row.name), std::string(row.ir)});
  std::ranges::sort(out, {}, &OpCoverage::source);
  return out;
}

}  // namespace perfc::stablehlo
