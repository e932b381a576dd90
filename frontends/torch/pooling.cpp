/// Pooling. The rank of the data, not the operator's name, tells the number of
/// spatial axes: names differ only in that.
#include "frontends/common/adaptive_pool.h"
#include "frontends/torch/translate.h"
#include "ir/eager_marks.h"

namespace perfc::torch {
namespace {

constexpr OpFamily kMax = family("nn.max_pool?d"), kAverage = family("nn.avg_pool?d");

/// "max_pool2d" → 2.
std::size_t spatial_axes(const Call& c) {
  const std::string_view name = c.row->name;
  const std::size_t d = name.find_first_of("123");
  return d == std::string_view::npos ? 2 : static_cast<std::size_t>(name[d] - '0');
}

/// The data, lent a batch dim where it has none.
struct Data4 {
  ValueId x;
  bool batched = true;
};
Result<Data4> data(Call& c, std::size_t spatial) {
  auto x = c.tensor("self");
  if (!x) return Failure{};
  const auto rank = c.rank(*x);
  if (!rank) return Failure{};
  if (*rank == spatial + 2) return Data4{*x};
  if (*rank != spatial + 1) return c.error(fmt::format("data of rank {} for {} spatial axes", *rank, spatial));
  auto wide = c.expand_dims(*x, {0});
  if (!wide) return Failure{};
  return Data4{*wide, false};
}

Values give(Call& c, const Data4& d, Result<std::vector<ValueId>> ys) {
  if (!ys) return Failure{};
  if (!d.batched) {
    for (ValueId& y : *ys) {
      auto v = c.squeeze(y, {0});
      if (!v) return Failure{};
      y = *v;
    }
  }
  return c.results(*ys);
}

/// Attributes that all windows have.
Result<Attrs> window(Call& c, std::size_t spatial) {
  auto kernel = c.spread("kernel_size", spatial, 1);
  auto padding = c.spread("padding", spatial, 0);
  if (!kernel || !padding) return Failure{};
  std::vector<std::int64_t> strides = *kernel;
  const List* given = c.arg("stride").list();
  if (c.given("stride") && !(given && given->items->empty())) {
    auto s = c.spread("stride", spatial, 1);
    if (!s) return Failure{};
    strides = *s;
  }
  const auto ceil_mode = c.flag_or("ceil_mode", false);
  if (!ceil_mode) return Failure{};
  std::vector<std::int64_t> pads = *padding;
  pads.insert(pads.end(), padding->begin(), padding->end());
  Attrs attrs{{"kernel_size", *kernel}, {"padding", pads}, {"strides", strides}};
  if (*ceil_mode) attrs.set("ceil_mode", std::int64_t{1});
  return attrs;
}

/// Adaptive pools: one window for all outputs, or what is read elsewhere.
Values adaptive(Call& c, const OpFamily& windows, OpId global) {
  const std::size_t spatial = spatial_axes(c);
  const auto d = data(c, spatial);
  if (!d) return Failure{};
  const List* sizes = c.arg("output_size").list();
  std::vector<std::int64_t> kernel, strides;
  bool to_one = true, uneven = false;
  const std::size_t results = std::max<std::size_t>(c.outputs(), 1);
  for (std::size_t i = 0; i < spatial; ++i) {
    std::int64_t out = 0;
    const Dim in = c.dim(d->x, i + 2);
    const std::size_t at = sizes && sizes->items->size() > 1 ? i : 0;
    if (sizes && (at >= sizes->items->size())) return c.error("'output_size' has too few entries");
    const Value& size = sizes ? (*sizes->items)[at] : c.arg("output_size");
    if (size.is_none()) {  // as it is
      if (!in.known()) return c.error("an extent that is kept must be known when importing");
      out = in.value();
    } else {
      const Scalar* s = size.scalar();
      if (!s || !s->integer.known()) return c.error("'output_size' must be known when importing");
      out = s->integer.value();
    }
    to_one = to_one && out == 1;
    if (out == 1 && !in.known()) continue;
    const auto extent = c.known_dim(d->x, i + 2, "an extent of the data");
    if (!extent) return Failure{};
    if (out > *extent) {
      // Elements repeat: a nearest resize first, then every window holds one of them.
      if (!d->batched) return c.error("an output larger than unbatched data");
      std::vector<Value> target;
      for (std::size_t k = 0; k < 2; ++k) target.emplace_back(c.size_of(d->x, k));
      for (std::size_t k = 0; k < spatial; ++k) {
        target.push_back(sizes ? (*sizes->items)[sizes->items->size() > 1 ? k : 0] : c.arg("output_size"));
      }
      auto size_operand = c.int_vector(target);
      if (!size_operand) return Failure{};
      return single(c, c.emit(op("image.resize2d"), {d->x, ValueId{}, ValueId{}, *size_operand},
                              {{"mode", std::string("nearest")}, {kStandsFor.data(), std::string(c.row->name)}}));
    }
    const auto w = adaptive_window(*extent, out);
    if (!w) return c.error(fmt::format("{} windows over an extent of {}", out, *extent));
    kernel.push_back(w->kernel);
    strides.push_back(w->stride);
    uneven = uneven || w->uneven;
  }
  if (to_one && results == 1) {
    auto y = c.emit(global, {d->x});
    if (!y) return Failure{};
    return give(c, *d, std::vector<ValueId>{*y});
  }
  if (kernel.size() != spatial) return c.error("the extents of the data must be known when importing");
  Attrs attrs{{"kernel_size", kernel}, {"padding", std::vector<std::int64_t>(2 * spatial, 0)}, {"strides", strides}};
  if (uneven) attrs = with_mark(std::move(attrs), kUneven);
  if (results > 1) attrs.set("indices", std::string("plane"));
  return give(c, *d, c.emit_all(windows.with_dims(spatial), {d->x}, std::move(attrs), results));
}

}  // namespace

Values max_pool(Call& c) {
  const std::size_t spatial = spatial_axes(c);
  const auto d = data(c, spatial);
  auto attrs = window(c, spatial);
  auto dilation = c.spread("dilation", spatial, 1);
  if (!d || !attrs || !dilation) return Failure{};
  attrs->set("dilation", *dilation);
  const std::size_t results = std::max<std::size_t>(c.outputs(), 1);
  if (results > 1) attrs->set("indices", std::string("plane"));
  return give(c, *d, c.emit_all(kMax.with_dims(spatial), {d->x}, *attrs, results));
}

Values avg_pool(Call& c) {
  const std::size_t spatial = spatial_axes(c);
  const auto d = data(c, spatial);
  auto attrs = window(c, spatial);
  const auto count = c.flag_or("count_include_pad", true);
  if (!d || !attrs || !count) return Failure{};
  attrs->set("count_include_pad", static_cast<std::int64_t>(*count));
  return give(c, *d, c.emit_all(kAverage.with_dims(spatial), {d->x}, *attrs, 1));
}

Values lp_pool(Call& c) {
  const std::size_t spatial = spatial_axes(c);
  const auto d = data(c, spatial);
  auto attrs = window(c, spatial);
  const auto p = c.real("norm_type");
  if (!d || !attrs || !p) return Failure{};
  attrs->set("p", static_cast<std::int64_t>(*p));
  return give(c, *d, c.emit_all(op("nn.lp_pool"), {d->x}, *attrs, 1));
}

Values adaptive_avg_pool(Call& c) { return adaptive(c, kAverage, op("nn.adaptive_avg_pool2d")); }
Values adaptive_max_pool(Call& c) { return adaptive(c, kMax, op("nn.adaptive_max_pool2d")); }

Values max_unpool(Call& c) {
  auto x = c.tensor("self"), indices = c.tensor("indices");
  if (!x || !indices) return Failure{};
  const auto rank = c.rank(*x);
  const List* size = c.arg("output_size").list();
  if (!rank) return Failure{};
  if (!size) return c.error("'output_size' must be a list of ints");
  std::vector<Value> target;
  const std::size_t spatial = spatial_axes(c);
  if (size->items->size() < spatial || *rank != spatial + 2) return c.error("'output_size' does not fit the data");
  for (std::size_t i = 0; i < 2; ++i) target.emplace_back(c.size_of(*x, i));
  target.insert(target.end(), size->items->end() - static_cast<std::ptrdiff_t>(spatial), size->items->end());
  auto shape = c.int_vector(target);
  return shape ? single(c, c.emit(op("nn.max_unpool"), {*x, *indices, *shape}, {{"indices", std::string("plane")}}))
               : Failure{};
}

}  // namespace perfc::torch
