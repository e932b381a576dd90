#include "whitebox/launch/joined_images.h"

#include <algorithm>

#include "ir/op_table.h"
#include "whitebox/launch/data_layout.h"
#include "whitebox/launch/framework.h"

namespace perfc {
namespace {

/// Batch, channels and at least two dims.
constexpr std::size_t kLeastRank = 4;

}  // namespace

JoinedImages::JoinedImages(const Graph& g, const std::vector<bool>& weight)
    : g_(g), maker_(g.size()), readers_(g.size(), 0), convolutions_(g.size(), 0) {
  for (NodeId id = 0; id < g.size(); ++id) {
    find_maker(id, weight);
    for (const ValueId v : g.node(id).operands) {
      if (!v) continue;
      ++readers_[v.node];
      if (is_convolution(id)) ++convolutions_[v.node];
    }
  }
}

void JoinedImages::find_maker(NodeId id, const std::vector<bool>& weight) {
  const Node& n = g_.node(id);
  maker_[id].node = id;
  if (n.kind != NodeKind::Call || !is_elementwise(n)) return;
  int images = 0;
  for (const ValueId v : n.operands) {
    if (!v || weight[v.node]) continue;
    if (images++ == 0 || is_convolution(maker_[v.node].node)) maker_[id] = maker_[v.node];
  }
  if (n.is(op("add")) && images > 1) maker_[id].sum = true;
}

bool JoinedImages::is_convolution(NodeId id) const {
  const Node& n = g_.node(id);
  return n.kind == NodeKind::Call && def(n.op).category == Category::Convolution;
}

bool JoinedImages::is_image_kernel(NodeId id) const {
  const Node& n = g_.node(id);
  return is_convolution(id) || (n.kind == NodeKind::Call && (is_window(n) || n.is(op("image.resize2d"))));
}

bool JoinedImages::joins(NodeId id) const {
  const Node& n = g_.node(id);
  if (!n.is(op("concatenate")) || n.results[0].type.rank() < kLeastRank) return false;
  const auto rank = static_cast<std::int64_t>(n.results[0].type.rank());
  const std::int64_t axis = n.attrs.int_or("axis", 0);
  if ((axis + rank) % rank != 1 && (axis + rank) % rank != rank - 1) return false;
  return std::ranges::any_of(n.operands, [&](ValueId v) {
    while (v && is_part(g_.node(v))) v = g_.node(v).operands[0];
    return v && is_image_kernel(maker_[v.node].node);
  });
}

std::vector<bool> JoinedImages::alone() const {
  std::vector<bool> out(g_.size(), false);
  for (NodeId id = 0; id < g_.size(); ++id) {
    const Node& n = g_.node(id);
    out[id] = n.kind == NodeKind::Call && (n.is(op("image.resize2d")) || joins(id));
  }
  return out;
}

bool JoinedImages::written_in_place(NodeId concatenation, std::size_t part) const {
  const ValueId v = g_.node(concatenation).operands[part];
  if (readers_[v.node] != convolutions_[v.node] + 1) return false;
  const Maker& maker = maker_[v.node];
  const Node& n = g_.node(maker.node);
  if (n.kind != NodeKind::Call || is_any_view(g_, n) || is_part(n) || n.is(op("image.resize2d"))) return false;
  return !(maker.sum && is_convolution(maker.node));
}

}  // namespace perfc
