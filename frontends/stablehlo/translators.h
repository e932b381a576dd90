#pragma once
/// Translators that the table refers to, by file.
#include "frontends/stablehlo/importer.h"

namespace perfc::stablehlo {

// frontends/stablehlo/elementwise.cpp
Result<Values> add(Call&, const OpRow&);
Result<Values> all_operands(Call&, const OpRow&);
Result<Values> bitwise(Call&, const OpRow&);
Result<Values> clamp(Call&, const OpRow&);
Result<Values> compare(Call&, const OpRow&);
Result<Values> constant(Call&, const OpRow&);
Result<Values> convert(Call&, const OpRow&);
Result<Values> cube_root(Call&, const OpRow&);
Result<Values> direct(Call&, const OpRow&);
Result<Values> divide(Call&, const OpRow&);
Result<Values> extreme(Call&, const OpRow&);
Result<Values> first_operand(Call&, const OpRow&);
Result<Values> is_finite(Call&, const OpRow&);
Result<Values> multiply(Call&, const OpRow&);
Result<Values> select(Call&, const OpRow&);
Result<Values> shift(Call&, const OpRow&);
Result<Values> square(Call&, const OpRow&);
Result<Values> subtract(Call&, const OpRow&);

// frontends/stablehlo/products.cpp
Result<Values> convolution(Call&, const OpRow&);
Result<Values> dot(Call&, const OpRow&);
Result<Values> dot_general(Call&, const OpRow&);

// frontends/stablehlo/shape.cpp: views, data movement
Result<Values> broadcast_in_dim(Call&, const OpRow&);
Result<Values> concatenate(Call&, const OpRow&);
Result<Values> get_dimension_size(Call&, const OpRow&);
Result<Values> iota(Call&, const OpRow&);
Result<Values> pad(Call&, const OpRow&);
Result<Values> reshape(Call&, const OpRow&);
Result<Values> reverse(Call&, const OpRow&);
Result<Values> slice(Call&, const OpRow&);
Result<Values> transpose(Call&, const OpRow&);

// frontends/stablehlo/reduction.cpp: reductions, windows, sorting
Result<Values> reduce(Call&, const OpRow&);
Result<Values> reduce_window(Call&, const OpRow&);
Result<Values> sort(Call&, const OpRow&);
Result<Values> top_k(Call&, const OpRow&);

// frontends/stablehlo/indexing.cpp: slices and updates at computed places
Result<Values> dynamic_slice(Call&, const OpRow&);
Result<Values> dynamic_update_slice(Call&, const OpRow&);
Result<Values> gather(Call&, const OpRow&);
Result<Values> scatter(Call&, const OpRow&);

// frontends/stablehlo/control.cpp: functions, branches, loops
Result<Values> branches(Call&, const OpRow&);
Result<Values> call(Call&, const OpRow&);
Result<Values> composite(Call&, const OpRow&);
Result<Values> loop(Call&, const OpRow&);

// frontends/stablehlo/norms.cpp
Result<Values> batch_norm_inference(Call&, const OpRow&);
Result<Values> batch_norm_training(Call&, const OpRow&);

// frontends/stablehlo/library.cpp: calls of libraries, random numbers, what exporters add
Result<Values> custom_call(Call&, const OpRow&);
Result<Values> fourier(Call&, const OpRow&);
Result<Values> random(Call&, const OpRow&);
Result<Values> random_bits(Call&, const OpRow&);

}  // namespace perfc::stablehlo
