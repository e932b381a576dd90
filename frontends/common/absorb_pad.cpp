#include "frontends/common/absorb_pad.h"

#include <algorithm>

namespace perfc {
namespace {

/// Is every element of v at least 0?
bool not_negative(const GraphBuilder& b, ValueId v) {
  const Node& n = b.node(v.node);
  if (n.kind == NodeKind::Call && def(n.op).not_negative) return true;
  if (!n.is(op("clip")) || n.operands.size() < 2 || !n.operands[1]) return false;
  const Data* low = b.data(n.operands[1]);
  return low && low->floats() && low->floats()->size() == 1 && (*low->floats())[0] >= 0;
}

}  // namespace

ValueId absorb_pad(const Emitter& c, ValueId x, std::span<const std::size_t> spatial, PadsWith pads_with,
                   Attrs& attrs) {
  const GraphBuilder& b = c.builder();
  const Node& n = b.node(x.node);
  if (!n.is(op("nn.pad")) || attrs.has("padding") || attrs.has("auto_pad") ||
      n.attrs.string_or("mode", "constant") != "constant" || n.operands.size() < 2) {
    return x;
  }
  const Data* pads = b.data(n.operands[1]);
  const std::size_t rank = spatial.size() + 2;
  if (!pads || !pads->ints() || !pads->fully_known() || pads->size() != 2 * rank ||
      (n.operands.size() > 3 && n.operands[3]))
    return x;
  if (n.operands.size() > 2 && n.operands[2]) {
    const Data* fill = b.data(n.operands[2]);
    if (!fill || !fill->floats() || fill->floats()->size() != 1 || (*fill->floats())[0] != 0) return x;
  }
  if (pads_with == PadsWith::Least && !not_negative(b, n.operands[0])) return x;
  const auto& p = *pads->ints();
  for (std::size_t axis = 0; axis < rank; ++axis) {
    const bool inside = std::ranges::find(spatial, axis) != spatial.end();
    for (const SymInt& pad : {p[axis], p[rank + axis]}) {
      if (inside ? pad.value() < 0 : !pad.is(0)) return x;
    }
  }
  std::vector<std::int64_t> padding;
  for (std::size_t side = 0; side < 2; ++side) {
    for (std::size_t i : spatial) padding.push_back(p[side * rank + i].value());
  }
  attrs.set("padding", padding);
  return n.operands[0];
}

}  // namespace perfc
