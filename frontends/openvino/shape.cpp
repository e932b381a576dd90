/// Views, slices, joins, padding.
#include <algorithm>
#include <numeric>

#include "frontends/openvino/table.h"

namespace perfc::openvino {
namespace {

constexpr std::int64_t kToTheEnd = INT64_MAX;

/// The axes of an operand, in [0, rank).
Result<Ints> axes_operand(const Call& c, std::size_t i, std::int64_t rank) {
  const auto given = c.ints(i, "the axes");
  if (!given) return Failure{};
  Ints out;
  for (std::int64_t a : *given) {
    const auto axis = c.axis(a, rank);
    if (!axis) return Failure{};
    out.push_back(*axis);
  }
  return out;
}

/// A constant shape that the .bin no longer tells, as the file declares the result.
std::optional<Ints> declared_dims(const Call& c) {
  const Type t = c.declared_shape(0);
  if (!t || !t.is_static()) return std::nullopt;
  Ints out;
  for (const Dim& d : t.shape()) out.push_back(d.value());
  return out;
}

bool contents_are_missing(const Call& c, std::size_t i) {
  return c.has(i) && !c.data(c.operands[i]) && c.builder().node(c.operands[i].node).kind == NodeKind::Constant;
}

}  // namespace

/// (data, shape): of 0, the data's dim unless special_zero is off.
Values reshape(Call& c) {
  if (contents_are_missing(c, 1)) {
    if (const auto dims = declared_dims(c)) return one(c.reshape(c.tensor(0), *dims));
  }
  Attrs attrs;
  if (!c.flag("special_zero")) attrs.set("allowzero", std::int64_t{1});
  return c.finish(op("reshape"), {c.tensor(0), c.int_vector(1)}, std::move(attrs));
}

/// (data, order): without entries, reversed.
Values transpose(Call& c) {
  const auto x = c.tensor(0);
  auto order = c.ints(1, "the order of axes");
  if (!x || !order) return Failure{};
  if (order->empty()) {
    const auto rank = c.rank(x);
    if (!rank) return Failure{};
    for (std::int64_t a = *rank; a-- > 0;) order->push_back(a);
    if (order->empty()) return one(x);
  }
  return c.finish(op("transpose"), {x}, {{"perm", *order}});
}

/// (data, axes?): axes of other extents than 1 stay.
Values squeeze(Call& c) {
  const auto x = c.tensor(0);
  if (!c.has(1)) return c.finish(op("squeeze"), {x});
  const auto rank = c.rank(x);
  const auto axes = rank ? axes_operand(c, 1, *rank) : Result<Ints>(Failure{});
  if (!axes) return Failure{};
  Ints gone;
  for (std::int64_t a : *axes) {
    const Dim d = c.dim(*x, a);
    if (!d.known() || d.is(1)) gone.push_back(a);
  }
  return gone.empty() ? one(x) : c.finish(op("squeeze"), {x, c.int_constant(gone)});
}

Values unsqueeze(Call& c) {
  const auto axes = c.ints(1, "the axes");
  if (!axes) return Failure{};
  return c.finish(op("expand_dims"), {c.tensor(0), c.int_constant(*axes)});
}

Values concat(Call& c) {
  if (c.operands.size() == 1) return one(c.tensor(0));
  return c.finish(op("concatenate"), c.operands, {{"axis", c.integer_or("axis", 0)}});
}

/// Split (data, axis), VariadicSplit (data, axis, lengths): one length may be −1.
Values split(Call& c) {
  const auto x = c.tensor(0);
  const auto rank = c.rank(x);
  const auto axes = rank ? axes_operand(c, 1, *rank) : Result<Ints>(Failure{});
  if (!axes) return Failure{};
  if (axes->size() != 1) return c.error(fmt::format("{} axes instead of one", axes->size()));
  const std::int64_t axis = axes->front();
  const std::size_t parts = c.layer.outputs.size();
  if (parts == 0) return c.error("has no results");
  if (parts == 1) return one(x);
  if (c.layer.type == "Split")
    return c.finish(op("split"), {x}, {{"axis", axis}, {"num_outputs", static_cast<std::int64_t>(parts)}}, parts);
  auto lengths = c.ints(2, "the lengths of the parts");
  if (!lengths) return Failure{};
  if (lengths->size() != parts) return c.error(fmt::format("{} lengths for {} results", lengths->size(), parts));
  const auto open = std::ranges::find(*lengths, -1);
  if (open != lengths->end()) {
    const auto extent = c.known_dim(*x, axis);
    if (!extent) return Failure{};
    std::int64_t rest = *extent;
    for (const std::int64_t& n : *lengths) {
      if (&n != &*open && (n < 0 || __builtin_sub_overflow(rest, n, &rest))) rest = -1;
      if (rest < 0) return c.error("the lengths of the parts do not fit the data");
    }
    *open = rest;
  }
  return c.finish(op("split"), {x, c.int_constant(*lengths)}, {{"axis", axis}}, parts);
}

/// (data, begin, end, strides?) with masks: an entry is ignored (begin_mask, end_mask), makes an axis (new_axis_mask),
/// takes one index (shrink_axis_mask), or stands for all axes between (ellipsis_mask).
Values strided_slice(Call& c) {
  const auto x = c.tensor(0);
  const auto begin = c.int_vector(1), end = c.int_vector(2);
  const auto rank = c.rank(x);
  const auto open_begin = c.list_or("begin_mask", {}), open_end = c.list_or("end_mask", {}),
             fresh = c.list_or("new_axis_mask", {}), shrink = c.list_or("shrink_axis_mask", {}),
             ellipsis = c.list_or("ellipsis_mask", {});
  if (!begin || !end || !rank || !open_begin || !open_end || !fresh || !shrink || !ellipsis) return Failure{};
  const auto strides = c.has(3) ? c.ints(3, "the strides") : Result<Ints>(Ints{});
  const auto entries = c.known_dim(*begin, 0);
  if (!strides || !entries) return Failure{};
  if (*entries > 64) return c.error(fmt::format("{} entries", *entries));
  const auto bit = [](const Ints& mask, std::int64_t i) {
    return static_cast<std::size_t>(i) < mask.size() && mask[static_cast<std::size_t>(i)] != 0;
  };
  std::int64_t named = 0;  // entries that stand for one axis
  for (std::int64_t i = 0; i < *entries; ++i) named += !bit(*fresh, i) && !bit(*ellipsis, i);
  std::vector<Operand> starts, ends;
  Ints axes, steps, removed, added;
  std::int64_t axis = 0, out = 0;
  for (std::int64_t i = 0; i < *entries; ++i) {
    if (bit(*ellipsis, i)) {
      axis += std::max<std::int64_t>(*rank - named, 0);
      out += std::max<std::int64_t>(*rank - named, 0);
      continue;
    }
    if (bit(*fresh, i)) {
      added.push_back(out++);
      continue;
    }
    if (axis >= *rank) return c.error(fmt::format("more entries than the data has axes ({})", *rank));
    const std::int64_t step =
        static_cast<std::size_t>(i) < strides->size() ? (*strides)[static_cast<std::size_t>(i)] : 1;
    const auto entry = [&](Operand from) { return c.slice(from, 0, i, i + 1); };
    if (bit(*shrink, i)) {
      const auto at = entry(begin);
      const Data* d = at ? c.data(*at) : nullptr;
      const bool last = d && d->ints() && d->ints()->front().is(-1);
      starts.push_back(at);
      ends.push_back(last ? Operand(c.int_constant({kToTheEnd})) : c.emit(op("add"), {at, c.int_constant({1})}));
      removed.push_back(axis);
    } else if (!(bit(*open_begin, i) && bit(*open_end, i) && step == 1)) {
      if (step == 0) return c.error("a stride of 0");
      const std::int64_t first = step > 0 ? 0 : kToTheEnd, last = step > 0 ? kToTheEnd : -kToTheEnd;
      starts.push_back(bit(*open_begin, i) ? Operand(c.int_constant({first})) : entry(begin));
      ends.push_back(bit(*open_end, i) ? Operand(c.int_constant({last})) : entry(end));
      ++out;
    } else {
      ++axis;
      ++out;
      continue;
    }
    axes.push_back(axis++);
    steps.push_back(bit(*shrink, i) ? 1 : step);
  }
  Operand y = x;
  if (!axes.empty())
    y = c.emit(op("strided_slice"),
               {y, c.join(starts, 0), c.join(ends, 0), c.int_constant(axes), c.int_constant(steps)});
  if (!removed.empty()) y = c.squeeze(y, removed);
  return one(added.empty() ? y : c.expand_dims(y, added));
}

/// (data, start, stop, step, axes?).
Values slice(Call& c) {
  const auto start = c.int_vector(1);
  if (!start) return Failure{};
  Operand axes = c.tensor_or_none(4);
  if (!c.has(4)) {
    const auto n = c.known_dim(*start, 0);
    if (!n) return Failure{};
    Ints all(static_cast<std::size_t>(std::clamp<std::int64_t>(*n, 0, 64)));
    std::iota(all.begin(), all.end(), 0);
    axes = c.int_constant(all);
  } else {
    axes = c.int_vector(4);
  }
  return c.finish(op("strided_slice"), {c.tensor(0), start, c.int_vector(2), axes, c.int_vector(3)});
}

/// (data, shape, places of the data's axes in it?), mode numpy, bidirectional or explicit.
Values broadcast(Call& c) {
  auto x = c.tensor(0);
  const auto shape = c.int_vector(1);
  if (!shape) return Failure{};
  if (c.text_or("mode", "numpy") == "explicit" && c.has(2)) {
    const auto places = c.ints(2, "the places of the axes");
    const auto rank = c.known_dim(*shape, 0);
    if (!places || !rank) return Failure{};
    Ints added;
    for (std::int64_t a = 0; a < std::min<std::int64_t>(*rank, 64); ++a) {
      if (std::ranges::find(*places, a) == places->end()) added.push_back(a);
    }
    if (!added.empty()) x = c.expand_dims(x, added);
  }
  return c.finish(op("broadcast_to"), {x, shape});
}

/// (data, repeats): the shorter one gets 1s in front.
Values tile(Call& c) {
  auto x = c.tensor(0), repeats = c.int_vector(1);
  const auto rank = c.rank(x);
  if (!rank || !repeats) return Failure{};
  const Dim n = c.dim(*repeats, 0);
  if (n.known() && n.value() < *rank)
    repeats = c.join({c.int_constant(Ints(static_cast<std::size_t>(*rank - n.value()), 1)), repeats}, 0);
  if (n.known() && n.value() > *rank && n.value() <= 64) {
    Ints added(static_cast<std::size_t>(n.value() - *rank));
    std::iota(added.begin(), added.end(), 0);
    x = c.expand_dims(x, added);
  }
  return c.finish(op("tile"), {x, repeats});
}

/// (data, pads before, pads behind, value?).
Values pad(Call& c) {
  const std::string_view mode = c.text_or("pad_mode", "constant");
  const bool constant = mode == "constant";
  auto pads = c.join({c.int_vector(1), c.int_vector(2)}, 0);
  return c.finish(op("nn.pad"), {c.tensor(0), pads, constant ? c.tensor_or_none(3) : ValueId{}},
                  {{"mode", std::string(mode == "symmetric" ? "reflect" : mode)}});
}

Values shape_of(Call& c) { return one(c.shape_of(c.tensor(0))); }

/// (data, axes): mode mask has a flag per axis.
Values reverse(Call& c) {
  auto axes = c.ints(1, "the axes");
  if (!axes) return Failure{};
  if (c.text_or("mode", "index") == "mask") {
    Ints flagged;
    for (std::size_t i = 0; i < axes->size(); ++i) {
      if ((*axes)[i] != 0) flagged.push_back(static_cast<std::int64_t>(i));
    }
    axes = flagged;
  }
  return axes->empty() ? one(c.tensor(0)) : c.finish(op("reverse"), {c.tensor(0)}, {{"axis", *axes}});
}

/// (data, shifts, axes).
Values roll(Call& c) {
  auto x = c.tensor(0);
  const auto shifts = c.ints(1, "the shifts"), axes = c.ints(2, "the axes");
  if (!shifts || !axes) return Failure{};
  if (shifts->size() != axes->size() && shifts->size() != 1)
    return c.error(fmt::format("{} shifts for {} axes", shifts->size(), axes->size()));
  for (std::size_t i = 0; i < axes->size(); ++i) {
    const std::int64_t by = (*shifts)[shifts->size() == 1 ? 0 : i];
    x = c.emit(op("roll"), {x}, {{"axis", (*axes)[i]}, {"shift", by}});
  }
  return one(x);
}

Values reverse_sequence(Call& c) {
  return c.finish(op("reverse_sequence"), {c.tensor(0), c.cast(c.tensor(1), DType::Int64)},
                  {{"batch_axis", c.integer_or("batch_axis", 0)}, {"time_axis", c.integer_or("seq_axis", 1)}});
}

/// Channels of groups interleaved.
Values shuffle_channels(Call& c) {
  const auto x = c.tensor(0);
  const auto rank = c.rank(x);
  const auto axis = rank ? c.axis(c.integer_or("axis", 1), *rank) : Result<std::int64_t>(Failure{});
  const auto channels = axis ? c.known_dim(*x, *axis) : Result<std::int64_t>(Failure{});
  const std::int64_t groups = c.integer_or("group", 1);
  if (!channels) return Failure{};
  if (groups < 1 || *channels % groups != 0)
    return c.error(fmt::format("{} channels do not divide into {} groups", *channels, groups));
  const auto shape = c.whole_shape(*x);
  std::vector<Operand> parts{c.int_constant({groups, *channels / groups})};
  if (*axis > 0) parts.insert(parts.begin(), c.shape_of(x, 0, *axis));
  if (*axis + 1 < *rank) parts.push_back(c.shape_of(x, *axis + 1, *rank));
  Ints perm(static_cast<std::size_t>(*rank) + 1);
  std::iota(perm.begin(), perm.end(), 0);
  std::swap(perm[static_cast<std::size_t>(*axis)], perm[static_cast<std::size_t>(*axis) + 1]);
  auto split = c.emit(op("reshape"), {x, c.join(parts, 0)});
  return c.finish(op("reshape"), {c.transpose(split, perm), shape});
}

Values depth_to_space(Call& c) {
  const std::int64_t block = c.integer_or("block_size", 1);
  if (c.layer.type == "SpaceToDepth") return c.finish(op("space_to_depth"), {c.tensor(0)}, {{"blocksize", block}});
  const bool depth_first = c.text_or("mode", "blocks_first") == "depth_first";
  return c.finish(op("depth_to_space"), {c.tensor(0)},
                  {{"blocksize", block}, {"mode", std::string(depth_first ? "CRD" : "DCR")}});
}

namespace {

/// Block extents and what is cropped or padded before and behind, an entry per axis of the data.
struct Blocks {
  Ints block, begin, end, extents;
};
Result<Blocks> blocks(Call& c) {
  const auto x = c.tensor(0);
  const auto rank = c.rank(x);
  const auto block = c.ints(1, "the extents of a block"), begin = c.ints(2, "what is before the data"),
             end = c.ints(3, "what is behind the data");
  if (!rank || !block || !begin || !end) return Failure{};
  const auto n = static_cast<std::size_t>(*rank);
  if (n < 2 || block->size() != n || begin->size() != n || end->size() != n)
    return c.error(fmt::format("blocks of {} entries for data of rank {}", block->size(), n));
  Blocks b{*block, *begin, *end, {}};
  for (std::size_t i = 0; i < n; ++i) {
    const auto extent = c.known_dim(*x, static_cast<std::int64_t>(i));
    if (!extent) return Failure{};
    if (b.block[i] < 1 || b.block[i] > (1 << 20) || b.begin[i] < 0 || b.end[i] < 0 || b.begin[i] > (1 << 30) ||
        b.end[i] > (1 << 30))
      return c.error("blocks that make no sense");
    b.extents.push_back(*extent);
  }
  return b;
}

}  // namespace

/// (data, block, crops before, crops behind): batches become places in blocks.
Values batch_to_space(Call& c) {
  const auto b = blocks(c);
  if (!b) return Failure{};
  const std::size_t n = b->block.size();
  std::int64_t volume = 1;
  for (std::int64_t e : b->block) {
    if (__builtin_mul_overflow(volume, e, &volume)) return c.error("blocks beyond all bounds");
  }
  if (b->extents[0] % volume != 0) return c.error(fmt::format("a batch of {} for blocks of {}", b->extents[0], volume));
  Ints split(b->block.begin() + 1, b->block.end()), perm{static_cast<std::int64_t>(n) - 1},
      shape{b->extents[0] / volume};
  split.push_back(b->extents[0] / volume);
  split.insert(split.end(), b->extents.begin() + 1, b->extents.end());
  for (std::size_t i = 1; i < n; ++i) {
    perm.push_back(static_cast<std::int64_t>(n + i) - 1);
    perm.push_back(static_cast<std::int64_t>(i) - 1);
    shape.push_back(b->extents[i] * b->block[i]);
  }
  auto y = c.reshape(c.transpose(c.reshape(c.tensor(0), split), perm), shape);
  for (std::size_t i = 1; i < n; ++i) {
    if (b->begin[i] == 0 && b->end[i] == 0) continue;
    y = c.slice(y, static_cast<std::int64_t>(i), b->begin[i], shape[i] - b->end[i]);
  }
  return one(y);
}

/// (data, block, pads before, pads behind): the reverse.
Values space_to_batch(Call& c) {
  const auto b = blocks(c);
  if (!b) return Failure{};
  const std::size_t n = b->block.size();
  auto x = c.tensor(0);
  Ints pads = b->begin;
  pads.insert(pads.end(), b->end.begin(), b->end.end());
  if (std::ranges::any_of(pads, [](std::int64_t p) { return p > 0; }))
    x = c.emit(op("nn.pad"), {x, c.int_constant(pads)});
  Ints split{b->extents[0]}, perm, shape{-1}, rest{0};
  for (std::size_t i = 1; i < n; ++i) {
    const std::int64_t extent = b->extents[i] + b->begin[i] + b->end[i];
    if (extent % b->block[i] != 0) return c.error(fmt::format("an extent of {} for blocks of {}", extent, b->block[i]));
    split.push_back(extent / b->block[i]);
    split.push_back(b->block[i]);
    perm.push_back(static_cast<std::int64_t>(2 * i));
    rest.push_back(static_cast<std::int64_t>(2 * i) - 1);
    shape.push_back(extent / b->block[i]);
  }
  perm.insert(perm.end(), rest.begin(), rest.end());
  return one(c.reshape(c.transpose(c.reshape(x, split), perm), shape));
}

}  // namespace perfc::openvino
