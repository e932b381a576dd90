#include "whitebox/launch/widths.h"

#include <algorithm>

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

bool is_float32(const Node& n) {
  const Type* t = n.results.empty() ? nullptr : &n.results[0].type;
  return t && t->is_tensor() && t->dtype() == DType::Float32;
}

}  // namespace

Widths::Widths(const Graph& g, const ExecConfig& config) : g_(g), config_(config), eight_(eight_bits(g, config)) {
  const bool all_half = float_bytes(config.precision) == 2, own = all_half && half_precision_of(g);
  half_.resize(g.size());
  for (NodeId id = 0; id < g.size(); ++id) half_[id] = all_half && !(own && is_float32(g.node(id)));
  if (config.precision == Precision::Amp) choose_under_amp();
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

bool Widths::takes_half(const Node& n) const {
  const bool bias = n.is(op("nn.bias_add")) && config_.mode == ExecMode::Eager;  // of a layer, whose call casts it
  return uses_matrix_unit(n.op) || bias || (config_.norms == Norms::Half && is_float32_norm(n));
}

void Widths::choose_under_amp() {
  std::vector<bool> cast_done(g_.size(), false);
  for (NodeId id = 0; id < g_.size(); ++id) {
    const Node& n = g_.node(id);
    if (n.kind != NodeKind::Call) continue;
    if (config_.mode == ExecMode::Eager) cast_operands(id, cast_done);  // compilers fuse casts into their neighbours
    half_[id] = takes_half(n) || (!wants_full(n) && !any_operand_full(n));
  }
}

bool Widths::any_operand_full(const Node& n) const {
  if (n.operands.empty()) return true;
  // As constants were fitted: such calls count as 16 bits, whatever their data has.
  if (parameters_follow_data(n)) return false;
  return std::ranges::any_of(n.operands, [&](ValueId v) {
    if (!v || !is_float(g_.type(v).dtype()) || half_[v.node]) return false;
    const Type& t = g_.type(v);
    const bool scalar = g_.node(v).kind == NodeKind::Constant && t.ranked() && t.rank() == 0;
    return !scalar;  // one of shape (1) promotes
  });
}

void Widths::cast_operands(NodeId id, std::vector<bool>& done) {
  const Node& n = g_.node(id);
  const bool low = takes_half(n), high = !low && wants_full(n) && !widens_itself(n);
  for (std::size_t i = 0; i < n.operands.size(); ++i) {
    const ValueId v = n.operands[i];
    if (!v || !is_float(g_.type(v).dtype())) continue;
    if ((i == 0 && eight_.product[id]) || (i == 1 && eight_.second[id])) continue;  // quantised instead
    // Exporters make equal biases one, which are a parameter each.
    const bool bias = i == 1 && n.is(op("nn.bias_add"));
    if (!(half_[v.node] ? high : low) || (done[v.node] && !bias)) continue;
    // Autocast keeps casts of weights alone, and in torch.inference_mode none (aten/src/ATen/autocast_mode.cpp,
    // cached_cast; pytorch/pytorch #158232).
    done[v.node] = g_.node(v).kind == NodeKind::Constant && config_.task != Task::Infer;
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
  if (config_.precision == Precision::Amp && is_float(t.dtype())) {
    if (takes_half(user)) return element_bytes(t, true);
    if (config_.mode == ExecMode::Eager && wants_full(user) && !widens_itself(user)) return element_bytes(t, false);
  }
  return element_bytes(t, half_[v.node]);
}

double Widths::bytes_read(ValueId v, const Node& user) const {
  const Type& t = g_.type(v);
  return t.is_static() && t.is_tensor() ? static_cast<double>(*t.elements()) * read_width(v, user) : 0.0;
}

}  // namespace perfc
