#pragma once
/// Checks that the attention rules share.
#include "ir/ops/attention.h"

namespace perfc::rules {

/// Channels of one of `heads` ≥ 1 heads; an error when they do not divide.
Result<Dim> per_head(const InferContext&, const Dim& hidden, std::int64_t heads, std::string_view role);
/// A required integer attribute in [1, 2³¹).
Result<std::int64_t> positive_attribute(const InferContext&, std::string_view name);

}  // namespace perfc::rules
