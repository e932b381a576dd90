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
    {"stablehlo.add", "add", add},
    {"stablehlo.and", "logical_and bitwise_and", bitwise},
    {"stablehlo.atan2", "atan2", direct},
    {"stablehlo.cbrt", "power", cube_root},
    {"stablehlo.ceil", "ceil", direct},
    {"stablehlo.clamp", "clip maximum minimum", clamp},
    {"stablehlo.compare", "equal not_equal less less_equal greater greater_equal", compare},
    {"stablehlo.constant", "a constant", constant},
    {"stablehlo.convert", "cast", convert},
    {"stablehlo.cosine", "cos", direct},
    {"stablehlo.divide", "divide trunc_divide mean sigmoid nn.softmax", divide},
    {"stablehlo.exponential", "exp", direct},
    {"stablehlo.exponential_minus_one", "expm1", direct},
    {"stablehlo.floor", "floor", direct},
    {"stablehlo.imag", "imag", direct},
    {"stablehlo.is_finite", "isnan isinf logical_or logical_not", is_finite},
    {"stablehlo.log", "log", direct},
    {"stablehlo.log_plus_one", "log1p", direct},
    {"stablehlo.logistic", "sigmoid", direct},
    {"stablehlo.maximum", "maximum", extreme},
    {"stablehlo.minimum", "minimum", extreme},
    {"stablehlo.multiply", "multiply", multiply},
    {"stablehlo.negate", "negative", direct},
    {"stablehlo.not", "logical_not bitwise_not", bitwise},
    {"stablehlo.or", "logical_or bitwise_or", bitwise},
    {"stablehlo.power", "power", direct},
    {"stablehlo.real", "real", direct},
    {"stablehlo.reduce_precision", "its operand", first_operand},
    {"stablehlo.remainder", "mod", direct},
    {"stablehlo.round_nearest_afz", "round", direct},
    {"stablehlo.round_nearest_even", "round", direct},
    {"stablehlo.rsqrt", "rsqrt", direct},
    {"stablehlo.select", "where", select},
    {"stablehlo.shift_left", "bit_shift", shift},
    {"stablehlo.shift_right_arithmetic", "bit_shift", shift},
    {"stablehlo.shift_right_logical", "bit_shift", shift},
    {"stablehlo.sign", "sign", direct},
    {"stablehlo.sine", "sin", direct},
    {"stablehlo.sqrt", "sqrt", direct},
    {"stablehlo.subtract", "subtract nn.log_softmax", subtract},
    {"stablehlo.tan", "tan", direct},
    {"stablehlo.tanh", "tanh", direct},
    {"stablehlo.xor", "logical_xor bitwise_xor", bitwise},
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
    {"chlo.next_after", "nextafter", direct},
    {"chlo.sinh", "sinh", direct},
    {"chlo.square", "multiply", square},
    {"chlo.tan", "tan", direct},
    // ---- Products
    {"stablehlo.convolution", "nn.conv1d nn.conv2d nn.conv3d "
     "nn.conv1d_transpose nn.conv2d_transpose nn.conv3d_transpose",
     convolution},
    {"stablehlo.dot", "nn.batch_matmul", dot},
    {"stablehlo.dot_general", "nn.batch_matmul", dot_general},
    // ---- Views, data movement
    {"stablehlo.broadcast_in_dim", "broadcast_to", broadcast_in_dim},
    {"stablehlo.concatenate", "concatenate", concatenate},
    {"stablehlo.dynamic_broadcast_in_dim", "broadcast_to", broadcast_in_dim},
    {"stablehlo.dynamic_iota", "arange", iota},
    {"stablehlo.dynamic_reshape", "reshape", reshape},
    {"stablehlo.get_dimension_size", "shape_of", get_dimension_size},
    {"stablehlo.iota", "arange", iota},
    {"stablehlo.pad", "nn.pad", pad},
    {"stablehlo.reshape", "reshape squeeze expand_dims", reshape},
    {"stablehlo.reverse", "reverse", reverse},
    {"stablehlo.slice", "strided_slice", slice},
    {"stablehlo.transpose", "transpose", transpose},
    // ---- Reductions, windows, sorting
    {"stablehlo.reduce", "sum_axes max min prod all any argmax argmin", reduce},
    {"stablehlo.reduce_window", "nn.max_pool1d nn.max_pool2d nn.max_pool3d nn.avg_pool1d nn.avg_pool2d nn.avg_pool3d "
     "cumsum cumprod", reduce_window},
    {"stablehlo.sort", "topk gather", sort},
    {"chlo.top_k", "topk", top_k},
    // ---- At computed places
    {"stablehlo.dynamic_gather", "take gather_nd gather", gather},
    {"stablehlo.dynamic_slice", "strided_slice take", dynamic_slice},
    {"stablehlo.dynamic_update_slice", "strided_set", dynamic_update_slice},
    {"stablehlo.gather", "take gather_nd gather", gather},
    {"stablehlo.scatter", "scatter_nd", scatter},
    // ---- Functions and control flow
    {"call", "its function", call},
    {"func.call", "its function", call},
    {"stablehlo.case", "if", branches},
    {"stablehlo.composite", "its function", composite},
    {"stablehlo.if", "if", branches},
    {"stablehlo.while", "loop", loop},
    // ---- Libraries, random numbers, what exporters add
    {"stablehlo.batch_norm_inference", "nn.batch_norm", batch_norm_inference},
    {"stablehlo.batch_norm_training", "nn.batch_norm nn.layer_norm nn.instance_norm", batch_norm_training},
    {"stablehlo.custom_call", "nn.sdpa erf topk", custom_call},
    {"stablehlo.fft", "opaque", fourier},
    {"stablehlo.optimization_barrier", "its operands", all_operands},
    {"stablehlo.rng", "random.uniform random.normal", random},
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
  for (const OpRow& row : kRows) out.push_back({std::string(row.name), std::string(row.ir)});
  std::ranges::sort(out, {}, &OpCoverage::source);
  return out;
}

}  // namespace perfc::stablehlo
