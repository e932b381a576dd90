/// Matrix products and convolutions.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "frontends/stablehlo/cursor.h"
#include "frontends/stablehlo/translators.h"

namespace perfc::stablehlo {
namespace {

using Ints = Emitter::Ints;

/// An operand of a product: its dims by role.
struct Factor {
  Value value;
  Ints batch, free, contracted;
};

Ints joined(std::initializer_list<const Ints*> parts) {
  Ints out;
  for (const Ints* p : parts) out.insert(out.end(), p->begin(), p->end());
  return out;
}

Result<Factor> factor(const Call& c, std::size_t i, Ints batch, Ints contracted) {
  Factor f{.value = c.operands[i], .batch = std::move(batch), .free = {}, .contracted = std::move(contracted)};
  const auto rank = static_cast<std::int64_t>(f.value.type.rank());
  for (const Ints* axes : {&f.batch, &f.contracted}) {
    for (std::int64_t a : *axes) {
      if (a < 0 || a >= rank) return c.error(fmt::format("dim {} is not one of {}", a, to_string(f.value.type)));
    }
  }
  for (std::int64_t a = 0; a < rank; ++a) {
    const Ints taken = joined({&f.batch, &f.contracted});
    if (std::ranges::find(taken, a) == taken.end()) f.free.push_back(a);
  }
  return f;
}

/// The dims in this order, groups of several merged into one where `merge` says so.
Result<ValueId> arranged(const Call& c, const Factor& f, const std::vector<std::pair<const Ints*, bool>>& groups) {
  Ints perm;
  Shape target;
  bool reshapes = false;
  const auto extent = [&](std::int64_t a) { return f.value.type.shape()[static_cast<std::size_t>(a)]; };
  for (const auto& [axes, merge] : groups) {
    perm.insert(perm.end(), axes->begin(), axes->end());
    if (merge && axes->size() != 1) {
      target.push_back(c.count(f.value, *axes));
      reshapes = true;
      continue;
    }
    for (std::int64_t a : *axes) target.push_back(extent(a));
  }
  auto v = c.permuted(f.value, perm);
  if (v && reshapes) v = c.reshaped(*v, Type::tensor(f.value.type.dtype(), std::move(target)));
  return v ? c.tensor(*v) : Result<ValueId>(Failure{});
}

bool weight_only(const Call& c, ValueId v, int steps = 4) {
  const Node& n = c.builder().node(v.node);
  if (n.kind == NodeKind::Constant) return true;
  return n.kind == NodeKind::Call && steps > 0 && !n.operands.empty() && n.operands[0] &&
         (def(n.op).category == Category::Shape || def(n.op).moves == Moves::Permutes || n.is(op("cast"))) &&
         weight_only(c, n.operands[0], steps - 1);
}

/// Is the left factor better on the right? Weights stand there, and what a product of rows and columns would have to
/// turn around: jax writes softmax(…)·v with v on the left.
bool better_swapped(const Call& c, const Factor& a, const Factor& b) {
  const bool weight_a = weight_only(c, a.value.base), weight_b = weight_only(c, b.value.base);
  if (weight_a != weight_b) return weight_a;
  if (a.contracted.size() != 1 || b.contracted.size() != 1) return false;
  const auto last = [](const Factor& f) {
    return f.contracted[0] + 1 == static_cast<std::int64_t>(f.value.type.rank());
  };
  return last(b) && !last(a);
}

/// [batch, rows…, k] · [batch, k, columns…] → [batch, rows…, columns…]
Result<Value> product(const Call& c, const Factor& a, const Factor& b) {
  const bool shared = b.batch.empty();  // one matrix for all rows: rows keep their dims
  auto left = arranged(c, a, {{&a.batch, false}, {&a.free, !shared}, {&a.contracted, true}});
  auto right = arranged(c, b, {{&b.batch, false}, {&b.contracted, true}, {&b.free, true}});
  if (!left || !right) return Failure{};
  // A row of its own is a matrix of one row.
  const bool row = shared && a.free.empty();
  if (row) left = c.expand_dims(left, {0});
  auto out = c.emit(op("nn.batch_matmul"), {left, right});
  if (row) out = c.squeeze(out, {0});
  if (!out) return Failure{};
  Shape shape;
  const auto append = [&](const Factor& f, const Ints& axes) {
    for (std::int64_t i : axes) shape.push_back(f.value.type.shape()[static_cast<std::size_t>(i)]);
  };
  append(a, a.batch), append(a, a.free), append(b, b.free);
  const Type type = Type::tensor(c.dtype(*out), shape);
  const bool split = (!shared && a.free.size() != 1) || b.free.size() != 1;
  return split ? c.reshaped(c.whole(*out), type) : c.whole(*out);
}

Result<Values> contract(const Call& c, const Factor& a, const Factor& b) {
  if (a.batch.size() != b.batch.size() || a.contracted.size() != b.contracted.size())
    return c.error("pairs different numbers of dims of its operands");
  const auto extent = [](const Factor& f, std::int64_t i) { return f.value.type.shape()[static_cast<std::size_t>(i)]; };
  for (std::size_t i = 0; i < a.contracted.size(); ++i) {
    const Dim &x = extent(a, a.contracted[i]), &y = extent(b, b.contracted[i]);
    if (x.known() && y.known() && x != y)
      return c.error(fmt::format("contracts {} elements of {} with {} of {}", x.value(), to_string(a.value.type),
                                 y.value(), to_string(b.value.type)));
  }
  Result<Value> out = Failure{};
  if (better_swapped(c, a, b)) {
    out = product(c, b, a);
    Ints perm;
    const auto batch = static_cast<std::int64_t>(a.batch.size());
    const auto rows = static_cast<std::int64_t>(b.free.size()), columns = static_cast<std::int64_t>(a.free.size());
    for (std::int64_t i = 0; i < batch; ++i) perm.push_back(i);
    for (std::int64_t i = 0; i < columns; ++i) perm.push_back(batch + rows + i);
    for (std::int64_t i = 0; i < rows; ++i) perm.push_back(batch + i);
    if (out) out = c.permuted(*out, perm);
  } else {
    out = product(c, a, b);
  }
  const DType wanted = c.declared(0).dtype();
  if (!out || out->type.dtype() == wanted) return one(out);
  auto cast = c.cast(out->base, wanted);
  if (!cast) return Failure{};
  out->base = *cast;
  out->type = out->type.with_dtype(wanted);
  return one(out);
}

/// "[1] x [0]": a list for each operand.
std::pair<Ints, Ints> pair_of(std::optional<std::string_view> text) {
  if (!text) return {};
  const auto close = text->find(']');
  if (close == text->npos) return {};
  const auto open = text->find('[', close);
  return {integers(text->substr(0, close + 1)).value_or(Ints{}),
          open == text->npos ? Ints{} : integers(text->substr(open)).value_or(Ints{})};
}

Ints list_in(std::optional<std::string_view> text, std::string_view key) {
  const auto value = text ? field(*text, key) : std::nullopt;
  return value ? integers(*value).value_or(Ints{}) : Ints{};
}

// ---- Convolutions

/// Which dims are what: "[b, 0, 1, f]" of data, "[0, 1, i, o]" of kernels.
struct Dims {
  std::int64_t outer = -1, inner = -1;
  Ints spatial;
  std::size_t labels = 0;
  /// Every dim has one label, and each label stands once.
  bool complete(std::size_t rank) const {
    return outer >= 0 && inner >= 0 && labels == rank && spatial.size() + 2 == rank &&
           std::ranges::find(spatial, -1) == spatial.end();
  }
};

Dims dims_of(std::string_view list, char outer, char inner) {
  Dims d;
  std::int64_t position = 0;
  for (std::size_t at = 0; at < list.size(); ++at) {
    const char c = list[at];
    if (c == outer) d.outer = position++;
    else if (c == inner) d.inner = position++;
    else if (c >= '0' && c <= '9') {
      const auto axis = static_cast<std::size_t>(c - '0');
      if (d.spatial.size() <= axis) d.spatial.resize(axis + 1, -1);
      d.spatial[axis] = position++;
    }
  }
  d.labels = static_cast<std::size_t>(position);
  return d;
}

struct Window {
  Ints stride, low, high, lhs_dilation, rhs_dilation;
};

Result<Window> window_of(const Call& c, std::size_t spatial) {
  const auto text = c.operation.find("window");
  const auto get = [&](std::string_view key, std::string_view short_key, std::int64_t fallback, std::size_t n) {
    Ints v = text ? list_in(*text, short_key) : c.ints(key).value_or(Ints{});
    return v.empty() ? Ints(n, fallback) : v;
  };
  Window w{.stride = get("window_strides", "stride", 1, spatial),
           .low = {},
           .high = {},
           .lhs_dilation = get("lhs_dilation", "lhs_dilate", 1, spatial),
           .rhs_dilation = get("rhs_dilation", "rhs_dilate", 1, spatial)};
  const Ints pads = get("padding", "pad", 0, 2 * spatial);
  if (w.stride.size() != spatial || w.lhs_dilation.size() != spatial || w.rhs_dilation.size() != spatial ||
      pads.size() != 2 * spatial)
    return c.error(fmt::format("its window is not one of {} dims", spatial));
  for (std::size_t i = 0; i < spatial; ++i) {
    w.low.push_back(pads[2 * i]);
    w.high.push_back(pads[2 * i + 1]);
  }
  return w;
}

/// Negative padding cuts off; convolutions of the IR pad only.
Result<ValueId> cut(const Call& c, Result<ValueId> x, const Dims& d, Window& w) {
  for (std::size_t i = 0; i < d.spatial.size(); ++i) {
    const std::int64_t low = std::max<std::int64_t>(0, -w.low[i]), high = std::max<std::int64_t>(0, -w.high[i]);
    if (low == 0 && high == 0) continue;
    const SymInt extent = x ? c.dim(*x, d.spatial[i]) : SymInt();
    if (!extent.known()) return c.error("cuts off parts of an open dim");
    x = c.slice(x, d.spatial[i], low, extent.value() - high);
    w.low[i] += low;
    w.high[i] += high;
  }
  return x;
}

/// Padding and stride of the transposed convolution that a dilation of the data stands for: XLA pads what was dilated,
/// the IR cuts off what the kernel spreads, k' − 1 − pad on each side.
bool transposed_window(const Window& w, const Ints& kernel, Attrs& attrs) {
  Ints padding, extra;
  for (const Ints* side : {&w.low, &w.high}) {
    for (std::size_t i = 0; i < kernel.size(); ++i) {
      if (w.stride[i] != 1) return false;
      const std::int64_t cut = (kernel[i] - 1) * w.rhs_dilation[i] - (*side)[i];
      padding.push_back(std::max<std::int64_t>(cut, 0));
      if (side == &w.high) extra.push_back(std::max<std::int64_t>(-cut, 0));
      else if (cut < 0) return false;
    }
  }
  attrs.set("padding", padding);
  attrs.set("strides", w.lhs_dilation);
  if (std::ranges::any_of(extra, [](std::int64_t n) { return n != 0; })) attrs.set("output_padding", extra);
  return true;
}

constexpr OpFamily kForward = family("nn.conv?d"), kTransposed = family("nn.conv?d_transpose");
constexpr std::string_view kSpatial = "DHW";

/// "NHWC" of data with channels last, "HWIO", …: letters at the places that the dims have.
std::string layout(const Dims& d, char outer, char inner) {
  std::string out(d.spatial.size() + 2, '?');
  out[static_cast<std::size_t>(d.outer)] = outer;
  out[static_cast<std::size_t>(d.inner)] = inner;
  for (std::size_t i = 0; i < d.spatial.size(); ++i)
    out[static_cast<std::size_t>(d.spatial[i])] = kSpatial[kSpatial.size() - d.spatial.size() + i];
  return out;
}

/// Moves data to channels first or last, as it nearly is; `back` is the way to the result's dims.
Result<ValueId> in_layout(const Call& c, Result<ValueId> x, Dims& from, const Dims& to, Ints& back) {
  const bool last = from.inner == static_cast<std::int64_t>(from.spatial.size()) + 1;
  Ints perm{from.outer};
  if (!last) perm.push_back(from.inner);
  perm.insert(perm.end(), from.spatial.begin(), from.spatial.end());
  if (last) perm.push_back(from.inner);
  Dims now{.outer = 0,
           .inner = last ? static_cast<std::int64_t>(from.spatial.size()) + 1 : 1,
           .spatial = {},
           .labels = from.labels};
  for (std::size_t i = 0; i < from.spatial.size(); ++i)
    now.spatial.push_back(static_cast<std::int64_t>(i) + (last ? 1 : 2));
  back.resize(perm.size());
  back[static_cast<std::size_t>(to.outer)] = now.outer;
  back[static_cast<std::size_t>(to.inner)] = now.inner;
  for (std::size_t i = 0; i < to.spatial.size(); ++i) back[static_cast<std::size_t>(to.spatial[i])] = now.spatial[i];
  from = now;
  return c.transposed(x, perm);
}

}  // namespace

Result<Values> dot_general(Call& c, const OpRow&) {
  if (c.operands.size() != 2) return c.error("needs two operands");
  const auto generic = c.operation.find("dot_dimension_numbers");
  auto [batch_a, batch_b] = pair_of(c.operation.find("batching_dims"));
  auto [inner_a, inner_b] = pair_of(c.operation.find("contracting_dims"));
  if (generic) {
    batch_a = list_in(generic, "lhs_batching_dimensions"), batch_b = list_in(generic, "rhs_batching_dimensions");
    inner_a = list_in(generic, "lhs_contracting_dimensions"), inner_b = list_in(generic, "rhs_contracting_dimensions");
  }
  auto a = factor(c, 0, std::move(batch_a), std::move(inner_a));
  auto b = factor(c, 1, std::move(batch_b), std::move(inner_b));
  return a && b ? contract(c, *a, *b) : Result<Values>(Failure{});
}

/// dot: vectors and matrices.
Result<Values> dot(Call& c, const OpRow&) {
  if (c.operands.size() != 2 || c.type(0).rank() == 0) return c.error("needs two vectors or matrices");
  auto a = factor(c, 0, {}, {static_cast<std::int64_t>(c.type(0).rank()) - 1});
  auto b = factor(c, 1, {}, {0});
  return a && b ? contract(c, *a, *b) : Result<Values>(Failure{});
}

Result<Values> convolution(Call& c, const OpRow&) {
  auto numbers = c.operation.find("dim_numbers");
  if (!numbers) numbers = c.operation.find("dimension_numbers");
  if (!numbers) return c.error("has no dim_numbers");
  const auto by = numbers->find("]x["), arrow = numbers->find("]->[");
  if (by == numbers->npos || arrow == numbers->npos || arrow < by)
    return c.error(fmt::format("'{}' are no dim_numbers", numbers->substr(0, 60)));
  Dims data = dims_of(numbers->substr(0, by), 'b', 'f');
  const Dims kernel = dims_of(numbers->substr(by, arrow - by), 'o', 'i');
  const Dims result = dims_of(numbers->substr(arrow), 'b', 'f');
  const std::size_t rank = c.type(0).rank();
  if (rank < 3 || rank > 5 || c.type(1).rank() != rank)
    return c.error(fmt::format("has data {} and kernel {}; 1 to 3 spatial dims are read", to_string(c.type(0)),
                               to_string(c.type(1))));
  if (!data.complete(rank) || !kernel.complete(rank) || !result.complete(rank))
    return c.error(fmt::format("'{}' do not label each of {} dims once", numbers->substr(0, 60), rank));
  if (c.ints("batch_group_count").value_or(Ints{1}) != Ints{1})
    return c.error("batch_group_count other than 1 is not read; it stands for a gradient: export the model without");
  auto w = window_of(c, rank - 2);
  auto x = c.tensor(0), filter = c.tensor(1);
  if (!w || !x || !filter) return Failure{};
  x = cut(c, x, data, *w);
  Ints back, extents;
  x = in_layout(c, x, data, result, back);
  for (std::int64_t axis : kernel.spatial) {
    const Dim& d = c.type(1).shape()[static_cast<std::size_t>(axis)];
    if (!d.known()) return c.error("its kernel has open dims");
    extents.push_back(d.value());
  }
  const auto differs = [](const Ints& v) { return std::ranges::any_of(v, [](std::int64_t n) { return n != 1; }); };
  const bool forward = !differs(w->lhs_dilation);
  Attrs attrs;
  if (data.inner != 1) attrs.set("data_layout", layout(data, 'N', 'C'));
  const std::string kernel_layout = layout(kernel, 'O', 'I');
  if (!kernel_layout.starts_with(forward ? "OI" : "IO")) attrs.set("kernel_layout", kernel_layout);
  if (const auto groups = c.ints("feature_group_count").value_or(Ints{1}); groups != Ints{1})
    attrs.set("groups", groups.front());
  if (differs(w->rhs_dilation)) attrs.set("dilation", w->rhs_dilation);
  if (forward) {
    const Ints padding = joined({&w->low, &w->high});
    if (std::ranges::any_of(padding, [](std::int64_t n) { return n != 0; })) attrs.set("padding", padding);
    if (differs(w->stride)) attrs.set("strides", w->stride);
  } else if (!transposed_window(*w, extents, attrs)) {
    return c.error("dilates its data and strides over it, or pads beyond the kernel; such a window is not read");
  }
  const OpId name = (forward ? kForward : kTransposed).with_dims(static_cast<std::size_t>(rank) - 2);
  auto out = c.emit(name, {x, filter}, std::move(attrs));
  return one(c.whole(c.transposed(out, back)));
}

}  // namespace perfc::stablehlo
