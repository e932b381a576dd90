#include "whitebox/launch/widths.h"

#include <algorithm>
#include <numeric>

#include "ir/eager_marks.h"
#include "ir/ops/attention_operands.h"
#include "whitebox/launch/framework.h"
#include "whitebox/launch/kernels.h"

namespace perfc {

double element_bytes(const Type& t, bool half) {
  const double own = bits(t.dtype()) / 8.0;
  return half && is_float(t.dtype()) && t.dtype() != DType::Float64 ? std::min(own, 2.0) : own;
}

namespace {

/// By node: constants that a call reads as they are stored, and not just to widen them.
std::vector<bool> read_as_stored(const Graph& g) {
  std::vector<bool> out(g.size(), false);
  for (const Node& n : g.nodes()) {
    const bool widens = n.is(op("cast")) && bits(n.results[0].type.dtype()) > 16;
    for (ValueId v : n.operands) {
      if (v && !widens) out[v.node] = true;
    }
  }
  for (ValueId v : g.results()) out[v.node] = true;
  return out;
}

/// Elements of floats, by their width.
struct FloatElements {
  double full = 0, float16 = 0, other = 0;
  void count(const Type& t) {
    if (!t.is_tensor() || !t.is_static() || !is_float(t.dtype())) return;
    (bits(t.dtype()) > 16 ? full : t.dtype() == DType::Float16 ? float16 : other) += static_cast<double>(*t.elements());
  }
};

}  // namespace

std::optional<Precision> half_precision_of(const Graph& g) {
  FloatElements of;
  const std::vector<bool> read = read_as_stored(g);
  for (NodeId id = 0; id < g.size(); ++id) {
    const Node& n = g.node(id);
    if (n.kind == NodeKind::Constant && read[id]) of.count(n.results[0].type);
  }
  if (of.full + of.float16 + of.other == 0) {
    for (const ValueId p : g.params()) of.count(g.type(p));
  }
  if (of.float16 + of.other <= of.full) return std::nullopt;
  return of.float16 > of.other ? Precision::Fp16 : Precision::Bf16;
}

namespace {

/// Whether autocast runs it in float32, for 16 bits would not do.
bool is_listed_full(const Node& n) {
  const Autocast listed = def(n.op).runs.autocast;
  return listed == Autocast::Float32 || listed == Autocast::Float32Norm || listed == Autocast::WritesFloat32;
}

bool is_of(const Node& n, bool (*holds)(DType)) {
  const Type* t = n.results.empty() ? nullptr : &n.results[0].type;
  return t && t->is_tensor() && holds(t->dtype());
}
bool is_float32(DType d) { return d == DType::Float32; }
bool is_float16(DType d) { return is_float(d) && bits(d) <= 16; }

}  // namespace

Widths::Widths(const Graph& g, const ExecConfig& config) : g_(g), config_(config), eight_(eight_bits(g, config)) {
  const bool all_half = float_bytes(config.precision) == 2, own = all_half && half_precision_of(g);
  half_.resize(g.size());
  const bool amp = config.precision == Precision::Amp;
  for (NodeId id = 0; id < g.size(); ++id)
    half_[id] = all_half ? !(own && is_of(g.node(id), is_float32)) : amp && is_of(g.node(id), is_float16);
  const bool says = all_half && !own && def(config.runtime).autocast;
  if (amp || says) choose();
  quantise_operands();
}

void Widths::quantise_operands() {
  std::vector<bool> done(g_.size(), false);
  for (NodeId id = 0; id < g_.size(); ++id) {
    const ValueId data = eight_.product[id] ? g_.node(id).operands[0] : ValueId{};
    if (!data || eight_.value[data.node]) continue;
    if (!done[data.node]) casts_.push_back({data, id});
    done[data.node] = true;
  }
}

void Widths::choose() {
  lowered_.assign(g_.size(), false);
  raises_.assign(g_.size(), true);
  const bool recast = std::ranges::any_of(g_.nodes(), [](const Node& n) { return n.attrs.has(kRecast); });
  if (recast) {
    choose_once();
    find_raises();
  }
  choose_once();
}

void Widths::find_raises() {
  for (NodeId id = 0; id < g_.size(); ++id) raises_[id] = half_[id] && lowered_[origin_of(id)];
  std::vector<bool> wanted(g_.size(), false);  // behind views, too
  for (NodeId id = g_.size(); id-- > 0;) {
    const Node& n = g_.node(id);
    if (n.kind != NodeKind::Call) continue;
    const bool wants = is_any_view(g_, n) ? wanted[id] : is_listed_full(n);
    const std::int64_t marked = n.attrs.int_or(kRecast, 0);
    for (std::size_t i = 0; wants && i < n.operands.size(); ++i) {
      if (!n.operands[i]) continue;
      wanted[n.operands[i].node] = true;
      if (i < 32 && (marked >> i & 1) != 0) raises_[n.operands[i].node] = true;
    }
  }
}

void Widths::choose_once() {
  casts_.clear();
  std::vector<bool> cast(g_.size(), false), recast(g_.size(), false);
  raised_.assign(g_.size(), false);
  origin_.resize(g_.size());
  std::iota(origin_.begin(), origin_.end(), NodeId{0});
  counts_.assign(g_.size(), false);
  reads_.assign(g_.size(), Reads::AsTheyAre);
  for (NodeId id = 0; id < g_.size(); ++id) {
    const Node& n = g_.node(id);
    if (n.kind != NodeKind::Call) continue;
    counts_[id] = counts(n);
    reads_[id] = config_.precision == Precision::Amp ? reads_under_amp(id) : reads_in_half(id);
    note_casts(id, cast, recast);
    half_[id] = gives_half(id);
    if (!half_[id]) raise(id);
    counts_[id] = counts_[id] && !n.results.empty() && !is_float(n.results[0].type.dtype());
  }
}

namespace {

/// Operands of a product that have one type; an attention's mask comes in that, too, whatever was computed in 32 bits.
std::size_t factors(const Node& n) {
  const std::size_t all = n.operands.size();
  return def(n.op).category == Category::Attention ? std::min<std::size_t>(all, AttentionOperand::kMask) : all;
}

}  // namespace

bool Widths::counts(const Node& n) const {
  if (n.is(op("arange"))) return true;
  const auto floats = [&](ValueId v) { return v && is_float(g_.type(v).dtype()); };
  return std::ranges::none_of(n.operands, floats) &&
         std::ranges::any_of(n.operands, [&](ValueId v) { return v && counts_[v.node]; });
}

Widths::Reads Widths::reads_under_amp(NodeId id) const {
  const Node& n = g_.node(id);
  const bool bias = n.is(op("nn.bias_add")) && config_.mode == ExecMode::Eager;  // of a layer, whose call casts it
  if (bias || (config_.norms == Norms::Half && is_float32_norm(n))) return Reads::Half;
  switch (def(n.op).runs.autocast) {
    case Autocast::Half:
      return Reads::Half;
    case Autocast::Float32:
    case Autocast::Float32Norm:
      return Reads::Full;
    case Autocast::Widest:
      return any_operand_full(id) ? Reads::Full : Reads::AsTheyAre;
    default:
      return Reads::AsTheyAre;
  }
}

Widths::Reads Widths::reads_in_half(NodeId id) const {
  const Node& n = g_.node(id);
  if (!uses_matrix_unit(n.op) && !n.is(op("nn.bias_add"))) return Reads::AsTheyAre;
  for (std::size_t i = 0; i < factors(n); ++i) {
    const ValueId v = n.operands[i];
    if (!v || !is_float(g_.type(v).dtype()) || g_.type(v).rank() == 0) continue;
    // Integers become floats of either type: the file does not say which.
    const Node& from = g_.node(v);
    if (from.is(op("cast")) && !is_float(g_.type(from.operands[0]).dtype())) continue;
    if (is_half_operand(id, i)) return Reads::Half;
  }
  return Reads::AsTheyAre;
}

bool Widths::gives_half(NodeId id) const {
  const Node& n = g_.node(id);
  const bool amp = config_.precision == Precision::Amp;
  if (is_of(n, is_float16)) return true;
  if (reads_[id] != Reads::AsTheyAre) return reads_[id] == Reads::Half;
  if (n.attrs.has(kWidens)) return false;
  const Autocast listed = def(n.op).runs.autocast;
  if (amp && listed == Autocast::WritesFloat32) return false;
  if (listed == Autocast::FollowsData) return is_half_operand(id, 0);
  if (writes_in_place(n)) return half_[n.operands[0].node];
  if (any_operand_full(id)) return false;
  if (!amp) return !counts_[id];
  if (n.is(op("cast"))) return false;
  // What has no floats to follow is of torch's default type.
  for (std::size_t i = 0; i < n.operands.size(); ++i) {
    if (n.operands[i] && is_float(g_.type(n.operands[i]).dtype()) && is_half_operand(id, i)) return true;
  }
  return false;
}

bool Widths::is_recast(NodeId user, std::size_t operand) const {
  const Node& n = g_.node(user);
  if (raised_.empty()) return false;
  if (operand == 0 && config_.precision == Precision::Bf16 && n.attrs.has(kWidens)) return half_[n.operands[0].node];
  const auto marked = [&](std::size_t i) { return i < 32 && (n.attrs.int_or(kRecast, 0) >> i & 1) != 0; };
  if (!marked(operand)) return false;
  const ValueId v = n.operands[operand];
  if (!v || !is_float(g_.type(v).dtype()) || g_.type(v).rank() == 0) return false;
  bool beside_half = false;  // reads another value of 16 bits as it is
  for (std::size_t i = 0; i < n.operands.size(); ++i) {
    const ValueId w = n.operands[i];
    if (i == operand || !w || marked(i) || !is_float(g_.type(w).dtype()) || g_.type(w).rank() == 0) continue;
    beside_half = beside_half || (g_.node(w).kind == NodeKind::Call && half_[w.node]);
  }
  // A parameter under autocast takes the type of what it meets.
  if (!half_[v.node]) return raised_[v.node] || (beside_half && g_.node(v).kind == NodeKind::Constant);
  if (reads_[user] == Reads::Half || !raises_[v.node]) return false;
  // Tracers take what is read after such a cast for its result, which is the same tensor: a residual is added to what
  // its norm was computed from in 32 bits.
  return !beside_half;
}

bool Widths::is_half_operand(NodeId user, std::size_t operand) const {
  return half_[g_.node(user).operands[operand].node] != is_recast(user, operand);
}

NodeId Widths::origin_of(NodeId id) {
  while (origin_[id] != id) id = origin_[id] = origin_[origin_[id]];
  return id;
}

void Widths::raise(NodeId id) {
  const Node& n = g_.node(id);
  raised_[id] = (n.attrs.has(kWidens) || counts_[id]) && config_.precision != Precision::Amp;
  for (std::size_t i = 0; i < n.operands.size(); ++i) {
    const ValueId v = n.operands[i];
    if (!v || !is_float(g_.type(v).dtype()) || is_recast(id, i) != half_[v.node]) continue;
    if (!half_[v.node] && !raised_[v.node]) continue;
    raised_[id] = true;
    // A norm in 32 bits is cast back for its own sake.
    if (def(n.op).category != Category::Normalization) origin_[origin_of(v.node)] = origin_of(id);
  }
}

/// Numbers do not promote tensors, a shape of (1) does.
bool Widths::any_operand_full(NodeId id) const {
  const Node& n = g_.node(id);
  const auto full = [&](bool numbers) {
    for (std::size_t i = 0; i < n.operands.size(); ++i) {
      const ValueId v = n.operands[i];
      if (!v || !is_float(g_.type(v).dtype()) || (g_.type(v).ranked() && g_.type(v).rank() == 0) != numbers) continue;
      if (numbers && g_.node(v).kind == NodeKind::Constant) continue;
      if (!is_half_operand(id, i)) return true;
    }
    return false;
  };
  const bool tensors = std::ranges::any_of(n.operands, [&](ValueId v) {
    return v && is_float(g_.type(v).dtype()) && !(g_.type(v).ranked() && g_.type(v).rank() == 0);
  });
  return full(!tensors);
}

bool Widths::is_cast(NodeId user, std::size_t operand) const {
  const ValueId v = g_.node(user).operands[operand];
  if (!v || reads_[user] == Reads::AsTheyAre || !is_float(g_.type(v).dtype())) return false;
  if (config_.precision != Precision::Amp && operand >= factors(g_.node(user))) return false;
  const bool quantised = (operand == 0 && eight_.product[user]) || (operand == 1 && eight_.second[user]);
  return !quantised && is_half_operand(user, operand) != (reads_[user] == Reads::Half);
}

CastOperands Widths::cast_operands() const {
  if (reads_.empty() || config_.mode != ExecMode::Eager) return {};
  CastOperands out(g_.size(), 0);
  for (NodeId id = 0; id < g_.size(); ++id) {
    for (std::size_t i = 0; i < std::min<std::size_t>(g_.node(id).operands.size(), 32); ++i) {
      if (is_cast(id, i) || is_recast(id, i)) out[id] |= std::uint32_t{1} << i;
    }
  }
  return out;
}

void Widths::note_casts(NodeId id, std::vector<bool>& done, std::vector<bool>& recast) {
  const Node& n = g_.node(id);
  for (std::size_t i = 0; i < n.operands.size(); ++i) {
    const ValueId v = n.operands[i];
    if (is_recast(id, i)) {
      if (raised_[v.node]) lowered_[origin_of(v.node)] = true;
      if (!recast[v.node]) casts_.push_back({v, id});
      recast[v.node] = true;
    }
    if (!is_cast(id, i)) continue;
    // Exporters make equal biases one, which are a parameter each.
    const bool bias = i == 1 && n.is(op("nn.bias_add"));
    if (done[v.node] && !bias) continue;
    // Autocast keeps casts of weights alone, and in torch.inference_mode none (aten/src/ATen/autocast_mode.cpp,
    // cached_cast; pytorch/pytorch #158232).
    done[v.node] =
        config_.precision != Precision::Amp || (g_.node(v).kind == NodeKind::Constant && config_.task != Task::Infer);
    casts_.push_back({v, id});
  }
}

double Widths::bytes_of(ValueId v) const {
  const Type& t = g_.type(v);
  if (!t.is_static() || !t.is_tensor()) return 0;
  return static_cast<double>(*t.elements()) * (eight_.value[v.node] ? 1 : element_bytes(t, half_[v.node]));
}

double Widths::read_width(ValueId v, const Node& user) const {
  const Type& t = g_.type(v);
  const auto user_id = static_cast<std::size_t>(&user - g_.nodes().data());
  if (eight_.value[v.node]) return 1;
  if (eight_.second[user_id] && v == user.operands[1]) return eight_.second[user_id] / 8.0;
  if (eight_.product[user_id] && v == user.operands[0]) return 1;
  if (reads_.empty() || !is_float(t.dtype())) return element_bytes(t, half_[v.node]);
  if (reads_[user_id] == Reads::Half) return element_bytes(t, true);
  if (config_.mode == ExecMode::Eager && reads_[user_id] == Reads::Full) return element_bytes(t, false);
  const auto at = std::ranges::find(user.operands, v);
  const bool half = at == user.operands.end()
                        ? half_[v.node]
                        : is_half_operand(user_id, static_cast<std::size_t>(at - user.operands.begin()));
  return element_bytes(t, half);
}

double Widths::bytes_read(ValueId v, const Node& user) const {
  const Type& t = g_.type(v);
  return t.is_static() && t.is_tensor() ? static_cast<double>(*t.elements()) * read_width(v, user) : 0.0;
}

}  // namespace perfc
