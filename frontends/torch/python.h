#pragma once
/// What TorchScript programs do beside tensors: constants, lists, tuples and
/// dicts, arithmetic on numbers, tests, conversions, control flow. Almost all
/// of it happens at import; numbers that depend on shapes leave IR nodes behind.
#include "frontends/torch/call.h"

namespace perfc::torch {

/// The results, or nothing when the operation is one on tensors.
Result<std::optional<std::vector<Value>>> python_operation(Call& c);

/// Names of operations that are Python's whatever their arguments are.
std::vector<std::string_view> python_operations();

/// Truth of a number or one-element tensor, as far as known.
Result<std::optional<bool>> truth(Call& c, const Value& v);

}  // namespace perfc::torch
