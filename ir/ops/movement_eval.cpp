/// Contents of data movement on small tensors.
#include <algorithm>
#include <numeric>

#include "ir/ops/eval_helpers.h"
#include "ir/ops/movement.h"
#include "ir/ops/rule_helpers.h"
#include "ir/ops/rules.h"

namespace perfc::rules {
namespace {

using AxisOffsets = std::vector<std::vector<std::int64_t>>;

/// Position in [0, n) that a padded position reads, −1 for the constant.
std::int64_t padded_source(std::int64_t at, std::int64_t n, std::string_view mode) {
  if (at >= 0 && at < n) return at;
  if (n == 0 || mode == "constant") return -1;
  if (mode == "edge") return at < 0 ? 0 : n - 1;
  if (mode == "wrap") return (at % n + n) % n;
  if (n == 1) return 0;
  const std::int64_t period = 2 * (n - 1);  // reflect: … 2 1 [0 1 2 … n−1] n−2 …
  const std::int64_t phase = (at % period + period) % period;
  return phase < n ? phase : period - phase;
}

}  // namespace

void eval_transpose(InferContext& c) {
  const auto in = extents(c.type(0));
  if (!c.data(0) || !in) return;
  const auto perm = permutation(c, in->size());
  if (!perm) return;
  const Extents stride = strides(*in);
  AxisOffsets offsets;
  for (std::size_t a : *perm) {
    auto& axis = offsets.emplace_back();
    for (std::int64_t k = 0; k < (*in)[a]; ++k) axis.push_back(k * stride[a]);
  }
  set_mapped(c, 0, 0, element_map(offsets));
}

void eval_concatenate(InferContext& c) {
  const auto out = extents(c.result(0));
  if (!out || count(*out) == 0) return;
  const auto axis = normalize_axis(c, c.attrs.int_or("axis", 0), out->size());
  if (!axis) return;
  // Each operand contributes one run of `inner` elements per outer position.
  const auto outer = count(Extents(out->begin(), out->begin() + static_cast<std::ptrdiff_t>(*axis)));
  const auto gather_runs = [&](auto contents_of, auto& all) {
    std::vector<std::remove_cvref_t<decltype(all)>> parts;
    for (std::size_t i = 0; i < c.operands(); ++i) {
      auto part = contents_of(i);
      if (!part) return false;
      parts.push_back(*std::move(part));
    }
    for (std::int64_t o = 0; o < outer; ++o) {
      for (const auto& part : parts) {
        const auto run = static_cast<std::ptrdiff_t>(part.size()) / outer;
        all.insert(all.end(), part.begin() + o * run, part.begin() + (o + 1) * run);
      }
    }
    return true;
  };
  const DType dtype = c.result(0).dtype();
  if (is_integer(dtype) || is_bool(dtype)) {
    std::vector<SymInt> all;
    if (gather_runs([&](std::size_t i) { return int_contents(c, i); }, all)) set_ints(c, 0, std::move(all));
  } else if (is_float(dtype)) {
    std::vector<double> all;
    const auto contents = [&](std::size_t i) {
      const auto* v = float_contents(c, i);
      // an empty operand contributes nothing, whether its contents are known or not
      if (!v && c.type(i).elements() == 0) return std::optional(std::vector<double>{});
      return v ? std::optional(*v) : std::nullopt;
    };
    if (gather_runs(contents, all)) set_floats(c, 0, all);
  }
}

void eval_split(InferContext& c) {
  const auto in = extents(c.type(0));
  if (!c.data(0) || !in) return;
  const auto axis = normalize_axis(c, c.attrs.int_or("axis", 0), in->size());
  if (!axis) return;
  const auto sizes = split_sizes(c, (*in)[*axis]);
  if (!sizes) return;
  const Extents stride = strides(*in);
  std::int64_t first = 0;
  for (std::size_t i = 0; i < c.results(); ++i) {
    if (!(*sizes)[i].known()) return;
    const std::int64_t size = (*sizes)[i].value();
    AxisOffsets offsets(in->size());
    for (std::size_t a = 0; a < in->size(); ++a) {
      const std::int64_t n = a == *axis ? size : (*in)[a];
      for (std::int64_t k = 0; k < n; ++k) { offsets[a].push_back((a == *axis ? first + k : k) * stride[a]); }
    }
    set_mapped(c, i, 0, element_map(offsets));
    first += size;
  }
}

void eval_strided_slice(InferContext& c) {
  const auto in = extents(c.type(0));
  if (!c.data(0) || !in || !extents(c.result(0))) return;
  const auto ranges = slice_ranges(c);
  if (!ranges || !*ranges) return;
  const Extents stride = strides(*in);
  AxisOffsets offsets(in->size());
  for (std::size_t a = 0; a < in->size(); ++a) {
    const SliceRange& r = (**ranges)[a];
    if (!r.count.known() || (r.start < 0 && !r.count.is(0))) return;
    for (std::int64_t k = 0; k < r.count.value(); ++k) offsets[a].push_back((r.start + k * r.step) * stride[a]);
  }
  set_mapped(c, 0, 0, element_map(offsets));
}

void eval_broadcast_to(InferContext& c) {
  const auto from = extents(c.type(0));
  const auto to = extents(c.result(0));
  if (c.data(0) && from && to) set_mapped(c, 0, 0, broadcast_map(*from, *to));
}

void eval_tile(InferContext& c) {
  const auto in = extents(c.type(0));
  const auto out = extents(c.result(0));
  if (!c.data(0) || !in || !out || in->size() != out->size()) return;
  const Extents stride = strides(*in);
  AxisOffsets offsets(in->size());
  for (std::size_t a = 0; a < in->size(); ++a) {
    for (std::int64_t k = 0; k < (*out)[a]; ++k) offsets[a].push_back(k % (*in)[a] * stride[a]);
  }
  set_mapped(c, 0, 0, element_map(offsets));
}

void eval_pad(InferContext& c) {
  const auto in = extents(c.type(0));
  const auto out = extents(c.result(0));
  if (!c.data(0) || !in || !out) return;
  const auto padding = paddings(c);
  if (!padding || !*padding) return;
  const std::string_view mode = c.attrs.string_or("mode", "constant");
  const Extents stride = strides(*in);
  AxisOffsets offsets(in->size());
  for (std::size_t a = 0; a < in->size(); ++a) {
    const Padding& p = (**padding)[a];
    if (!p.begin.known()) return;
    for (std::int64_t k = 0; k < (*out)[a]; ++k) {
      const std::int64_t source = padded_source(k - p.begin.value(), (*in)[a], mode);
      offsets[a].push_back(source < 0 ? -1 : source * stride[a]);
    }
  }
  Data zero;
  if (c.data(0)->floats()) zero.elements = std::vector<double>{0};
  else if (c.data(0)->ints()) zero.elements = std::vector<SymInt>{0};
  const Data unknown{std::vector<SymInt>{SymInt::unknown()}};
  const Data* fill = !c.has(2) ? &zero : c.data(2) ? c.data(2) : &unknown;
  set_mapped(c, 0, 0, element_map(offsets), fill);
}

void eval_one_hot(InferContext& c) {
  const auto out = extents(c.result(0)), in = extents(c.type(0));
  const auto chosen = int_contents(c, 0), values = int_contents(c, 2);
  if (!out || !in || !chosen || !values || values->size() != 2) return;
  const auto axis = normalize_axis(c, c.attrs.int_or("axis", -1), out->size());
  if (!axis || std::any_of(chosen->begin(), chosen->end(), [](const SymInt& s) { return !s.known(); })) return;
  const std::int64_t depth = (*out)[*axis];
  const auto inner = count(Extents(in->begin() + static_cast<std::ptrdiff_t>(*axis), in->end()));
  std::vector<SymInt> result(static_cast<std::size_t>(count(*out)), (*values)[0]);
  for (std::int64_t i = 0; i < count(*in); ++i) {
    const std::int64_t index = (*chosen)[static_cast<std::size_t>(i)].value();
    if (index < -depth || index >= depth) continue;  // a row without a hot place
    const std::int64_t row = i / inner * depth + (index < 0 ? index + depth : index);
    result[static_cast<std::size_t>(row * inner + i % inner)] = (*values)[1];
  }
  set_ints(c, 0, std::move(result));
}

}  // namespace perfc::rules
