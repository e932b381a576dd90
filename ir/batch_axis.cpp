#include "ir/batch_axis.h"

namespace perfc {
namespace {

std::optional<std::size_t> within(std::optional<std::int64_t> axis, std::size_t rank) {
  const auto r = static_cast<std::int64_t>(rank);
  if (!axis || *axis < -r || *axis >= r) return std::nullopt;
  return static_cast<std::size_t>(*axis < 0 ? *axis + r : *axis);
}

}  // namespace

BatchPlace batch_place(const std::vector<BatchAxis>& axes, std::string_view input, std::size_t rank) {
  for (const BatchAxis& a : axes) {
    if (a.input == input) return {within(a.axis, rank), true};
  }
  for (const BatchAxis& a : axes) {
    if (!a.input.empty() && a.input != kAllInputs) continue;
    const auto axis = within(a.axis, rank);
    if (axis || !a.axis) return {axis, true};
  }
  return {rank > 0 ? std::optional<std::size_t>(0) : std::nullopt, false};
}

}  // namespace perfc
