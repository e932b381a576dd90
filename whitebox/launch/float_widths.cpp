#include "whitebox/launch/float_widths.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "ir/eager_marks.h"
#include "ir/ops/attention_operands.h"
#include "whitebox/launch/framework.h"

namespace perfc {

namespace {

/// Whether autocast runs it in float32, for 16 bits would not do.
bool is_listed_full(const Node& n) {
  const Autocast listed = def(n.op).runs.autocast;
  return listed == Autocast::Float32 || listed == Autocast::Float32Norm || listed == Autocast::WritesFloat32;
}

/// In 16 bits or fewer by its own type.
bool is_stored_narrow(const Node& n) {
  const Type* t = n.results.empty() ? nullptr : &n.results[0].type;
  return t && t->is_tensor() && is_float(t->dtype()) && bits(t->dtype()) <= 16;
}

/// Operands of a product that have one type; an attention's mask comes in that, too, whatever was computed in 32 bits.
std::size_t factors(const Node& n) {
  const std::size_t all = n.operands.size();
  return def(n.op).category == Category::Attention ? std::min<std::size_t>(all, AttentionOperand::kMask) : all;
}

/// By node: the calls of RMS norms over the channels of images that are written out, as timm's rms_norm2d
/// (timm/layers/fast_norm.py): x · rsqrt(mean(x²) + eps), and that by a weight.
std::vector<bool> channel_norms(const Graph& g) {
  std::vector<bool> out(g.size(), false), scaled(g.size(), false);
  const auto first = [&](ValueId v) {
    const Node& n = g.node(v);
    return n.kind == NodeKind::Call && !n.operands.empty() ? n.operands[0] : ValueId();
  };
  for (NodeId id = 0; id < g.size(); ++id) {
    const Node& n = g.node(id);
    if (!n.is(op("multiply"))) continue;
    const ValueId x = n.operands[0], by = n.operands[1];
    if (scaled[x.node] && g.node(by).kind == NodeKind::Constant) out[id] = true;
    if (!g.node(by).is(op("rsqrt"))) continue;
    const ValueId sum = first(by), mean = sum ? first(sum) : ValueId(), square = mean ? first(mean) : ValueId();
    if (!square || first(square) != x || !is_reduction(g, g.node(mean))) continue;
    const Type& t = g.type(mean);
    if (!t.ranked() || t.rank() != 4 || !t.shape()[1].is(1)) continue;
    for (const NodeId part : {square.node, mean.node, sum.node, by.node, id}) out[part] = true;
    scaled[id] = true;
  }
  return out;
}

}  // namespace

FloatWidths::FloatWidths(const Graph& g, const ExecConfig& config, EightBits eight)
    : g_(g), config_(config), eight_(std::move(eight)), autocast_(config.precision == Precision::Amp), half_(g.size()),
      lowered_(g.size(), false), raises_(g.size(), true) {
  for (NodeId id = 0; id < g.size(); ++id) half_[id] = !autocast_ || is_stored_narrow(g.node(id));
  if (autocast_ && config.norms == Norms::Half) narrow_norms_ = channel_norms(g);
  if (std::ranges::any_of(g.nodes(), [](const Node& n) { return n.attrs.has(kRecast); })) {
    choose();
    find_raises();
  }
  choose();
}

void FloatWidths::choose() {
  casts_.clear();
  std::vector<bool> autocast(g_.size(), false), recast(g_.size(), false);
  reads_.assign(g_.size(), Reads::AsTheyAre);
  counts_.assign(g_.size(), false);
  raised_.assign(g_.size(), false);
  origin_.resize(g_.size());
  std::iota(origin_.begin(), origin_.end(), NodeId{0});
  for (NodeId id = 0; id < g_.size(); ++id) {
    const Node& n = g_.node(id);
    if (n.kind != NodeKind::Call) continue;
    counts_[id] = counts(n);
    reads_[id] = autocast_ ? reads_under_autocast(id) : reads_in_half(id);
    note_casts(id, autocast, recast);
    half_[id] = gives_half(id);
    if (!half_[id]) raise(id);
    counts_[id] = counts_[id] && !n.results.empty() && !is_float(n.results[0].type.dtype());
  }
}

void FloatWidths::find_raises() {
  for (NodeId id = 0; id < g_.size(); ++id) raises_[id] = half_[id] && lowered_[origin_of(id)];
  std::vector<bool> wanted(g_.size(), false);  // behind views, too
  for (NodeId id = g_.size(); id-- > 0;) {
    const Node& n = g_.node(id);
    if (n.kind != NodeKind::Call || !(is_any_view(g_, n) ? wanted[id] : is_listed_full(n))) continue;
    for (std::size_t i = 0; i < n.operands.size(); ++i) {
      if (!n.operands[i]) continue;
      wanted[n.operands[i].node] = true;
      if (recast_operands(n.attrs).contains(i)) raises_[n.operands[i].node] = true;
    }
  }
}

bool FloatWidths::is_float_value(ValueId v) const { return v && is_float(g_.type(v).dtype()); }
bool FloatWidths::is_number(ValueId v) const { return g_.type(v).ranked() && g_.type(v).rank() == 0; }

bool FloatWidths::counts(const Node& n) const {
  if (n.is(op("arange"))) return true;
  return std::ranges::none_of(n.operands, [&](ValueId v) { return is_float_value(v); }) &&
         std::ranges::any_of(n.operands, [&](ValueId v) { return v && counts_[v.node]; });
}

FloatWidths::Reads FloatWidths::reads_under_autocast(NodeId id) const {
  const Node& n = g_.node(id);
  const bool bias = n.is(op("nn.bias_add")) && config_.mode == ExecMode::Eager;  // of a layer, whose call casts it
  if (bias || (config_.norms == Norms::Half && (is_float32_norm(n) || narrow_norms_[id]))) return Reads::Half;
  switch (def(n.op).runs.autocast) {
    case Autocast::Half:
      return Reads::Half;
    case Autocast::Float32:
    case Autocast::Float32Norm:
      return Reads::Full;
    case Autocast::Widest:
      return reads_full(id) ? Reads::Full : Reads::AsTheyAre;
    default:
      return Reads::AsTheyAre;
  }
}

FloatWidths::Reads FloatWidths::reads_in_half(NodeId id) const {
  const Node& n = g_.node(id);
  if (!uses_matrix_unit(n.op) && !n.is(op("nn.bias_add"))) return Reads::AsTheyAre;
  for (std::size_t i = 0; i < factors(n); ++i) {
    const ValueId v = n.operands[i];
    if (!is_float_value(v) || is_number(v)) continue;
    // Integers become floats of either type: the file does not say which.
    const Node& from = g_.node(v);
    if (from.is(op("cast")) && !is_float_value(from.operands[0])) continue;
    if (is_half_operand(id, i)) return Reads::Half;
  }
  return Reads::AsTheyAre;
}

bool FloatWidths::gives_half(NodeId id) const {
  const Node& n = g_.node(id);
  if (is_stored_narrow(n)) return true;
  if (reads_[id] != Reads::AsTheyAre) return reads_[id] == Reads::Half;
  if (n.attrs.has(kWidens)) return false;
  const Autocast listed = def(n.op).runs.autocast;
  if (autocast_ && listed == Autocast::WritesFloat32) return false;
  if (listed == Autocast::FollowsData && n.operands[0]) return is_half_operand(id, 0);
  if (writes_in_place(n)) return half_[n.operands[0].node];
  if (reads_full(id)) return false;
  if (!autocast_) return !counts_[id];
  if (n.is(op("cast"))) return false;
  // What has no floats to follow is of torch's default type.
  for (std::size_t i = 0; i < n.operands.size(); ++i) {
    if (is_float_value(n.operands[i]) && is_half_operand(id, i)) return true;
  }
  return false;
}

NodeId FloatWidths::origin_of(NodeId id) {
  while (origin_[id] != id) id = origin_[id] = origin_[origin_[id]];
  return id;
}

void FloatWidths::raise(NodeId id) {
  const Node& n = g_.node(id);
  raised_[id] = !autocast_ && (n.attrs.has(kWidens) || counts_[id]);
  for (std::size_t i = 0; i < n.operands.size(); ++i) {
    const ValueId v = n.operands[i];
    if (!is_float_value(v) || is_half_operand(id, i)) continue;
    if (!half_[v.node] && !raised_[v.node]) continue;
    raised_[id] = true;
    // A norm in 32 bits is cast back for its own sake.
    if (def(n.op).category != Category::Normalization) origin_[origin_of(v.node)] = origin_of(id);
  }
}

bool FloatWidths::reads_half_beside(NodeId user, std::size_t operand) const {
  const Node& n = g_.node(user);
  for (std::size_t i = 0; i < n.operands.size(); ++i) {
    const ValueId v = n.operands[i];
    if (i == operand || !is_float_value(v) || is_number(v) || recast_operands(n.attrs).contains(i)) continue;
    if (g_.node(v).kind == NodeKind::Call && half_[v.node]) return true;
  }
  return false;
}

bool FloatWidths::is_recast(NodeId user, std::size_t operand) const {
  const Node& n = g_.node(user);
  const ValueId v = n.operands[operand];
  if (!is_float_value(v)) return false;
  if (operand == 0 && config_.precision == Precision::Bf16 && n.attrs.has(kWidens)) return half_[v.node];
  if (!recast_operands(n.attrs).contains(operand) || is_number(v)) return false;
  // A parameter under autocast takes the type of what it meets.
  if (!half_[v.node])
    return raised_[v.node] || (g_.node(v).kind == NodeKind::Constant && reads_half_beside(user, operand));
  // Tracers take what is read after such a cast for its result, which is the same tensor: a residual is added to what
  // its norm was computed from in 32 bits.
  return reads_[user] != Reads::Half && raises_[v.node] && !reads_half_beside(user, operand);
}

bool FloatWidths::is_half_operand(NodeId user, std::size_t operand) const {
  return half_[g_.node(user).operands[operand].node] != is_recast(user, operand);
}

/// Numbers do not promote tensors, a shape of (1) does.
bool FloatWidths::reads_full(NodeId id) const {
  const Node& n = g_.node(id);
  const bool tensors = std::ranges::any_of(n.operands, [&](ValueId v) { return is_float_value(v) && !is_number(v); });
  for (std::size_t i = 0; i < n.operands.size(); ++i) {
    const ValueId v = n.operands[i];
    if (!is_float_value(v) || (is_number(v) && (tensors || g_.node(v).kind == NodeKind::Constant))) continue;
    if (!is_half_operand(id, i)) return true;
  }
  return false;
}

bool FloatWidths::is_autocast(NodeId user, std::size_t operand) const {
  const ValueId v = g_.node(user).operands[operand];
  if (reads_[user] == Reads::AsTheyAre || !is_float_value(v) || is_number(v)) return false;
  if (!autocast_ && operand >= factors(g_.node(user))) return false;
  const bool quantised = (operand == 0 && eight_.product[user]) || (operand == 1 && eight_.second[user]);
  return !quantised && is_half_operand(user, operand) != (reads_[user] == Reads::Half);
}

bool FloatWidths::is_cast(NodeId user, std::size_t operand) const {
  return g_.node(user).operands[operand] && (is_autocast(user, operand) || is_recast(user, operand));
}

void FloatWidths::note_casts(NodeId id, std::vector<bool>& autocast, std::vector<bool>& recast) {
  const Node& n = g_.node(id);
  for (std::size_t i = 0; i < n.operands.size(); ++i) {
    const ValueId v = n.operands[i];
    if (!v) continue;
    if (is_recast(id, i)) {
      if (raised_[v.node]) lowered_[origin_of(v.node)] = true;
      if (!recast[v.node]) casts_.push_back({v, id});
      recast[v.node] = true;
    }
    if (!is_autocast(id, i)) continue;
    // Exporters make equal biases one, which are a parameter each.
    const bool bias = i == 1 && n.is(op("nn.bias_add"));
    if (autocast[v.node] && !bias) continue;
    // Autocast keeps casts of weights alone, and in torch.inference_mode none (aten/src/ATen/autocast_mode.cpp,
    // cached_cast; pytorch/pytorch #158232).
    autocast[v.node] = !autocast_ || (g_.node(v).kind == NodeKind::Constant && config_.task != Task::Infer);
    casts_.push_back({v, id});
  }
}

}  // namespace perfc
