/// Blocks of space that become batches or channels, and back.
#include <fmt/format.h>

#include <algorithm>

#include "frontends/tf/translators.h"

namespace perfc::tf {
namespace {

/// Extents of a block: of as many axes as the second input says, or of two alike.
Result<std::vector<std::int64_t>> block_shape(const Call& c, bool nd) {
  if (nd) return c.ints(1, "block_shape");
  return std::vector<std::int64_t>(2, c.int_attr("block_size", 2));
}

Status bounded(const Call& c, const std::vector<std::int64_t>& block) {
  for (std::int64_t b : block) {
    if (b < 1 || b > (1 << 20)) return c.error(fmt::format("a block of {}", b));
  }
  return ok();
}

/// What a split into blocks and its way back are called with.
struct BlockOperands {
  ValueId x;
  std::vector<std::int64_t> block, edges;  ///< paddings or crops, two of each axis
};

/// `edges`: the name of the last input.
Result<BlockOperands> block_operands(const Call& c, const OpRow& row, std::string_view edges) {
  const auto x = c.tensor(0);
  if (!x) return Failure{};
  const bool nd = row.name.ends_with("ND");
  auto block = block_shape(c, nd);
  if (!block) return Failure{};
  auto given = c.ints(nd ? 2 : 1, edges);
  if (!given) return Failure{};
  return BlockOperands{*x, std::move(*block), std::move(*given)};
}

/// The convolution between SpaceToBatchND and BatchToSpaceND, with the views
/// and the bias around it.
struct Dilated {
  const Blocks* blocks = nullptr;
  std::vector<NodeId> chain;  ///< from the convolution's data to the end, without the blocks
};

/// Follows `v` back to a split into blocks, across one convolution.
std::optional<Dilated> find_dilated(const Call& c, ValueId v, const std::vector<std::int64_t>& block) {
  Dilated d;
  bool convolution = false;
  for (int steps = 0; steps < 8; ++steps) {
    const auto blocks = c.scope.site.blocks.find(v.node);
    if (blocks != c.scope.site.blocks.end()) {
      if (!convolution || blocks->second.block != block) return std::nullopt;
      d.blocks = &blocks->second;
      std::reverse(d.chain.begin(), d.chain.end());
      return d;
    }
    const Node& n = c.builder().node(v.node);
    if (n.kind != NodeKind::Call || n.operands.empty() || v.result != 0) return std::nullopt;
    const bool is_conv = def(n.op).category == Category::Convolution && !def(n.op).transposed;
    if (is_conv && convolution) return std::nullopt;
    if (!is_conv && !n.is(op("nn.bias_add")) && !n.is(op("squeeze")) && !n.is(op("expand_dims"))) return std::nullopt;
    convolution = convolution || is_conv;
    d.chain.push_back(v.node);
    v = n.operands[0];
  }
  return std::nullopt;
}

}  // namespace

/// SpaceToBatchND (x, block, paddings) and SpaceToBatch.
Result<Values> space_to_batch(Call& c, const OpRow& row) {
  const auto operands = block_operands(c, row, "paddings");
  if (!operands) return Failure{};
  const auto& [x, block, pads] = *operands;
  const Type& t = c.type(0);
  const std::size_t m = block.size();
  if (!t.ranked() || t.rank() < m + 1 || pads.size() != 2 * m)
    return c.error(fmt::format("{} blocks do not fit {}", m, to_string(t)));
  if (!bounded(c, block)) return Failure{};
  std::vector<std::int64_t> padding(2 * t.rank(), 0);
  for (std::size_t i = 0; i < m; ++i) {
    padding[1 + i] = pads[2 * i];
    padding[t.rank() + 1 + i] = pads[2 * i + 1];
  }
  auto padded = c.emit(op("nn.pad"), {x, c.int_constant(padding)});
  if (!padded) return Failure{};
  const Shape shape = c.builder().type(*padded).shape();
  // (n, s/b, b, …, rest) → (b…, n, s/b…, rest): blocks join the batch.
  std::vector<std::int64_t> apart{0}, perm, joined{-1};
  for (std::size_t i = 0; i < m; ++i) {
    const Dim& d = shape[1 + i];
    if (!d.known() || d.value() % block[i] != 0)
      return c.error(fmt::format("{} does not divide into blocks of {}", to_string(d), block[i]));
    apart.push_back(d.value() / block[i]);
    apart.push_back(block[i]);
    perm.push_back(static_cast<std::int64_t>(2 * i + 2));
    joined.push_back(d.value() / block[i]);
  }
  perm.push_back(0);
  for (std::size_t i = 0; i < m; ++i) perm.push_back(static_cast<std::int64_t>(2 * i + 1));
  for (std::size_t i = m + 1; i < shape.size(); ++i) {
    if (!shape[i].known()) return c.error(fmt::format("{} has an open dim", to_string(shape)));
    apart.push_back(shape[i].value());
    joined.push_back(shape[i].value());
    perm.push_back(static_cast<std::int64_t>(m + i));
  }
  auto view = c.reshape(*padded, apart);
  if (!view) return Failure{};
  auto moved = c.transpose(*view, perm);
  if (!moved) return Failure{};
  auto y = c.reshape(*moved, joined);
  if (!y) return Failure{};
  c.scope.site.blocks[y->node] = {x, block, pads};
  return one(*y);
}

/// BatchToSpaceND (x, block, crops). Around a convolution the pair is dilation.
Result<Values> batch_to_space(Call& c, const OpRow& row) {
  const auto given = block_operands(c, row, "crops");
  if (!given) return Failure{};
  const auto& [x, block, crops] = *given;
  const std::size_t m = block.size();
  if (crops.size() != 2 * m) return c.error(fmt::format("{} crops for {} blocks", crops.size() / 2, m));
  if (!bounded(c, block)) return Failure{};
  if (const auto dilated = find_dilated(c, x, block)) {
    ValueId v = dilated->blocks->source;
    for (NodeId id : dilated->chain) {
      const Node n = c.builder().node(id);
      std::vector<ValueId> operands(n.operands.begin(), n.operands.end());
      operands[0] = v;
      Attrs attrs = n.attrs;
      const Type& type = c.builder().type(n.operands[0]);
      if (def(n.op).category == Category::Convolution && type.ranked()) {
        const std::size_t spatial = type.rank() - 2;
        // 1-D data runs as 2-D with an axis of 1; blocks are of the longer axes, from the end.
        std::vector<std::int64_t> dilation(spatial, 1), padding(2 * spatial, 0);
        const std::size_t offset = spatial >= m ? spatial - m : 0;
        for (std::size_t i = 0; i < m && offset + i < spatial; ++i) {
          dilation[offset + i] = block[i];
          padding[offset + i] = std::max<std::int64_t>(0, dilated->blocks->pads[2 * i] - crops[2 * i]);
          padding[spatial + offset + i] =
              std::max<std::int64_t>(0, dilated->blocks->pads[2 * i + 1] - crops[2 * i + 1]);
        }
        attrs.set("dilation", dilation);
        attrs.set("padding", padding);
      }
      auto y = c.builder().value(
          {.op = n.op, .operands = std::move(operands), .attrs = std::move(attrs), .name = n.name, .loc = n.loc});
      if (!y) return Failure{};
      v = *y;
    }
    return one(v);
  }
  const Type& t = c.type(0);
  if (!t.ranked() || t.rank() < m + 1) return c.error(fmt::format("{} blocks do not fit {}", m, to_string(t)));
  // (b…, n, s…, rest) → (n, s, b, …, rest)
  std::vector<std::int64_t> apart(block), perm{static_cast<std::int64_t>(m)}, joined{-1}, starts, ends, axes;
  apart.push_back(-1);
  for (std::size_t i = 1; i < t.rank(); ++i) {
    const Dim& d = t.shape()[i];
    if (!d.known()) return c.error(fmt::format("{} has an open dim", to_string(t)));
    apart.push_back(d.value());
    perm.push_back(static_cast<std::int64_t>(m + i));
    std::int64_t extent = d.value();
    if (i <= m) {
      perm.push_back(static_cast<std::int64_t>(i - 1));
      if (__builtin_mul_overflow(extent, block[i - 1], &extent)) return c.error("a dim is too large");
      starts.push_back(crops[2 * (i - 1)]);
      ends.push_back(extent - crops[2 * (i - 1) + 1]);
      axes.push_back(static_cast<std::int64_t>(i));
    }
    joined.push_back(extent);
  }
  auto view = c.reshape(x, apart);
  if (!view) return Failure{};
  auto moved = c.transpose(*view, perm);
  if (!moved) return Failure{};
  auto whole = c.reshape(*moved, joined);
  if (!whole) return Failure{};
  return one(c.emit(op("strided_slice"), {*whole, c.int_constant(starts), c.int_constant(ends), c.int_constant(axes)}));
}

Result<Values> depth_space(Call& c, const OpRow& row) {
  auto x = c.tensor(0);
  if (!x) return Failure{};
  const std::int64_t block = c.int_attr("block_size", 0);
  const std::string_view format = c.string_attr("data_format", "NHWC");
  if (format != "NHWC" && format != "NCHW") return c.error(fmt::format("data_format '{}' is not supported", format));
  Attrs attrs{{"blocksize", block}};
  if (format == "NHWC") attrs.set("data_layout", std::string(format));
  return c.finish(row_op(row), {*x}, std::move(attrs));
}

}  // namespace perfc::tf
