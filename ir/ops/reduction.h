#pragma once
/// What reductions do to known numbers: the columns `eval` of their rows.
#include <cstdint>

namespace perfc {
class InferContext;
}

namespace perfc::rules {

enum class Fold : std::uint8_t { Sum, Mean, Product, Greatest, Least };
void eval_reduce_by(InferContext&, Fold);
template <Fold How>
void eval_reduce(InferContext& c) {
  eval_reduce_by(c, How);
}

}  // namespace perfc::rules
