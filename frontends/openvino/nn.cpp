/// Convolutions, pools, products, attention. Data is [n, c, spatial…] always.
#include <algorithm>

#include "frontends/common/adaptive_pool.h"
#include "frontends/openvino/table.h"
#include "ir/eager_marks.h"

namespace perfc::openvino {
namespace {

constexpr OpFamily kConvolutions = family("nn.conv?d"), kTransposed = family("nn.conv?d_transpose");
constexpr OpFamily kMax = family("nn.max_pool?d"), kAverage = family("nn.avg_pool?d");

/// Spatial axes of data or kernels with `others` axes beside them: one to three.
Result<std::size_t> spatial(const Call& c, Operand v, std::int64_t others) {
  const auto rank = c.rank(v);
  if (!rank) return Failure{};
  if (*rank - others < 1 || *rank - others > 3) return c.error(fmt::format("an operand of rank {}", *rank));
  return static_cast<std::size_t>(*rank - others);
}

/// Strides, paddings and dilations as the IR's attributes.
Result<Attrs> window(const Call& c, std::size_t n) {
  const auto strides = c.list_or("strides", Ints(n, 1)), dilations = c.list_or("dilations", Ints(n, 1));
  auto begin = c.list_or("pads_begin", Ints(n, 0));
  const auto end = c.list_or("pads_end", Ints(n, 0));
  if (!strides || !dilations || !begin || !end) return Failure{};
  Attrs attrs{{"strides", *strides}};
  if (std::ranges::any_of(*dilations, [](std::int64_t d) { return d != 1; })) attrs.set("dilation", *dilations);
  const std::string_view rule = c.text_or("auto_pad", "explicit");
  if (rule == "same_upper" || rule == "same_lower" || rule == "valid") {
    attrs.set("auto_pad", std::string(rule == "valid" ? "VALID" : rule == "same_upper" ? "SAME_UPPER" : "SAME_LOWER"));
    return attrs;
  }
  begin->insert(begin->end(), end->begin(), end->end());
  attrs.set("padding", *begin);
  return attrs;
}

/// A filter [groups, a, b, …] as [groups · a, b, …].
Operand without_groups(const Call& c, ValueId filter) {
  const Type& type = c.type(filter);
  Ints sizes;
  for (std::size_t i = 0; i < type.rank(); ++i) {
    const auto extent = c.known_dim(filter, static_cast<std::int64_t>(i));
    if (!extent) return Failure{};
    sizes.push_back(*extent);
  }
  if (__builtin_mul_overflow(sizes[0], sizes[1], &sizes[1])) return c.error("a filter beyond all bounds");
  sizes.erase(sizes.begin());
  const Node& n = c.builder().node(filter.node);
  if (n.kind != NodeKind::Constant || n.results[0].data) return c.reshape(filter, sizes);
  return c.builder().constant({Type::tensor(type.dtype(), Shape(sizes.begin(), sizes.end())), nullptr}, n.name, n.loc);
}

struct Filter {
  Operand weight;
  std::size_t spatial;
  std::int64_t groups;
};
Result<Filter> filter(const Call& c) {
  const auto w = c.tensor(1);
  const bool grouped = c.layer.type.starts_with("Group");
  const auto n = spatial(c, w, grouped ? 3 : 2);
  if (!n) return Failure{};
  if (!grouped) return Filter{w, *n, 1};
  const auto groups = c.known_dim(*w, 0);
  if (!groups) return Failure{};
  return Filter{without_groups(c, *w), *n, *groups};
}

/// One window per result along an axis of the data: as wide as the data where there is one.
Values windows_of(Call& c, ValueId x, const Ints& sizes, bool max) {
  Ints kernel, strides;
  bool uneven = false;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const auto extent = c.known_dim(x, static_cast<std::int64_t>(i) + 2);
    if (!extent) return Failure{};
    const auto w = adaptive_window(*extent, sizes[i]);
    if (!w) return c.error(fmt::format("{} windows over an extent of {}", sizes[i], *extent));
    kernel.push_back(w->kernel);
    strides.push_back(w->stride);
    uneven = uneven || w->uneven;
  }
  Attrs attrs{{"kernel_size", kernel}, {"strides", strides}};
  if (uneven) attrs = with_mark(std::move(attrs), kUneven);
  return c.finish((max ? kMax : kAverage).with_dims(sizes.size()), {x}, std::move(attrs));
}

}  // namespace

/// (data, filter [out, in, …], of GroupConvolution [groups, out / groups, in / groups, …]).
Values convolution(Call& c) {
  const auto f = filter(c);
  auto attrs = f ? window(c, f->spatial) : Result<Attrs>(Failure{});
  if (!attrs) return Failure{};
  attrs->set("groups", f->groups);
  return c.finish(kConvolutions.with_dims(f->spatial), {c.tensor(0), f->weight}, *std::move(attrs));
}

/// (data, filter [in, out, …], of groups [groups, in / groups, out / groups, …], extents of the result?).
Values transposed_convolution(Call& c) {
  const auto f = filter(c);
  auto attrs = f ? window(c, f->spatial) : Result<Attrs>(Failure{});
  if (!attrs) return Failure{};
  attrs->set("groups", f->groups);
  const auto extra = c.list_or("output_padding", {});
  if (!extra) return Failure{};
  if (c.has(2)) {
    const auto extents = c.ints(2, "the extents of the result");
    if (!extents) return Failure{};
    attrs->set("output_shape", *extents);
  } else if (std::ranges::any_of(*extra, [](std::int64_t e) { return e != 0; })) {
    attrs->set("output_padding", *extra);
  }
  return c.finish(kTransposed.with_dims(f->spatial), {c.tensor(0), f->weight}, *std::move(attrs));
}

/// (data, offsets, filter, mask?).
Values deformable_convolution(Call& c) {
  auto attrs = window(c, 2);
  if (!attrs) return Failure{};
  attrs->set("groups", c.integer_or("group", 1));
  attrs->set("offset_group", c.integer_or("deformable_group", 1));
  return c.finish(op("nn.deformable_conv2d"), {c.tensor(0), c.tensor(2), c.tensor(1), ValueId{}, c.tensor_or_none(3)},
                  *std::move(attrs));
}

Values pool(Call& c) {
  const auto n = spatial(c, c.tensor(0), 2);
  if (!n) return Failure{};
  const bool max = c.layer.type == "MaxPool";
  const auto kernel = c.list_or("kernel", {});
  auto attrs = window(c, *n);
  if (!kernel || !attrs) return Failure{};
  attrs->set("kernel_size", *kernel);
  if (c.text_or("rounding_type", "floor").starts_with("ceil")) attrs->set("ceil_mode", std::int64_t{1});
  if (!max && !c.flag("exclude-pad", true)) attrs->set("count_include_pad", std::int64_t{1});
  const bool read = max && c.layer.outputs.size() > 1;
  return c.finish((max ? kMax : kAverage).with_dims(*n), {c.tensor(0)}, *std::move(attrs), read ? 2 : 1);
}

/// (data, extents of the result).
Values adaptive_pool(Call& c) {
  const auto n = spatial(c, c.tensor(0), 2);
  const auto sizes = c.ints(1, "the extents of the result");
  if (!n || !sizes) return Failure{};
  if (sizes->size() != *n) return c.error(fmt::format("{} extents for {} spatial axes", sizes->size(), *n));
  const bool max = c.layer.type == "AdaptiveMaxPool";
  if (std::ranges::all_of(*sizes, [](std::int64_t s) { return s == 1; }))
    return c.finish(max ? op("nn.adaptive_max_pool2d") : op("nn.adaptive_avg_pool2d"), {c.tensor(0)});
  return windows_of(c, c.operands[0], *sizes, max);
}

Values matmul(Call& c) {
  Attrs attrs;
  if (c.flag("transpose_a")) attrs.set("transA", std::int64_t{1});
  if (c.flag("transpose_b")) attrs.set("transB", std::int64_t{1});
  return c.finish(op("nn.batch_matmul"), {c.tensor(0), c.tensor(1)}, std::move(attrs));
}

/// PyTorch's attention is exported with the root of its scale on the queries and on the keys; OpenVINO's fusion takes
/// the one of the keys as its operator's scale and leaves the other. The queries without it, where both are the same.
static Operand unscaled_queries(Call& c, double& scale) {
  const Node& n = c.builder().node(c.operands[0].node);
  if (!n.is(op("multiply"))) return c.operands[0];
  const Data* factor = c.builder().data(n.operands[1]);
  const bool same = factor && factor->floats() && factor->size() == 1 && factor->floats()->front() == scale;
  if (!same) return c.operands[0];
  scale *= scale;
  return n.operands[0];
}

/// (query, key, value, mask?, scale?). A mask that is the number 0 is none.
Values attention(Call& c) {
  Attrs attrs;
  Operand queries = c.tensor(0);
  if (c.flag("causal")) attrs.set("is_causal", std::int64_t{1});
  if (auto scale = c.known_real(4)) {
    if (c.has(0)) queries = unscaled_queries(c, *scale);
    attrs.set("scale", *scale);
  }
  const auto number = c.known_real(3);
  const bool masked = c.has(3) && !c.flag("causal") && !(number && *number == 0);
  return one(
      c.attention(queries, c.tensor(1), c.tensor(2), masked ? c.tensor(3) : Operand(ValueId{}), std::move(attrs)));
}

Values einsum(Call& c) {
  return c.finish(op("einsum"), c.operands, {{"equation", std::string(c.text_or("equation", ""))}});
}

}  // namespace perfc::openvino
