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
  const bool amp = config.precision == Precision::Amp;
  if (amp || (all_half && !own && def(config.runtime).autocast)) {
    floats_.emplace(g, config, eight_);
    casts_ = floats_->casts();
  }
  half_.resize(g.size());
  for (NodeId id = 0; id < g.size(); ++id)
    half_[id] = floats_ ? floats_->is_half(id) : all_half && !(own && is_float32(g.node(id)));
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

CastOperands Widths::cast_operands() const {
  if (!floats_ || config_.mode != ExecMode::Eager) return {};
  CastOperands out(g_.size());
  for (NodeId id = 0; id < g_.size(); ++id) {
    for (std::size_t i = 0; i < g_.node(id).operands.size(); ++i) {
      if (floats_->is_cast(id, i)) out[id].insert(i);
    }
  }
  return out;
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
  const auto at = std::ranges::find(user.operands, v);
  if (!floats_ || !is_float(t.dtype()) || at == user.operands.end()) return element_bytes(t, half_[v.node]);
  const FloatWidths::Reads reads = floats_->reads(user_id);
  if (reads == FloatWidths::Reads::Half) return element_bytes(t, true);
  if (config_.mode == ExecMode::Eager && reads == FloatWidths::Reads::Full) return element_bytes(t, false);
  return element_bytes(t, floats_->is_half_operand(user_id, static_cast<std::size_t>(at - user.operands.begin())));
}

double Widths::bytes_read(ValueId v, const Node& user) const {
  const Type& t = g_.type(v);
  return t.is_static() && t.is_tensor() ? static_cast<double>(*t.elements()) * read_width(v, user) : 0.0;
}

}  // namespace perfc
