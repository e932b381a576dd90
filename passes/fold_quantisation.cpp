/// Quantised models as the runtimes read them that multiply in 8 bits: pairs of quantise and dequantise say in how
/// many bits to compute, and are no work of their own (TensorRT, "Working with Quantized Types", explicit quantization;
/// torchao keeps weights in 8 bits and quantises what dense layers read).
#include <map>
#include <set>

#include "ir/quantised_marks.h"
#include "passes/passes.h"

namespace perfc::passes {
namespace {

/// What a quantised value stands for, in the new graph.
struct Floats {
  ValueId value;
  bool scaled = true;  ///< false: a product of integers, whose scales are multiplied in behind it
};

bool is_quantised(DType d) { return (is_integer(d) && bits(d) <= 16) || (is_float(d) && bits(d) <= 8); }

/// Of a category whose kernels can write few bits.
bool can_write_few_bits(const Node& n) {
  switch (def(n.op).category) {
    case Category::MatMul:
    case Category::Convolution:
    case Category::Elementwise:
    case Category::Activation:
    case Category::Pooling:
    case Category::Resize:
      return true;
    default:
      return false;
  }
}

/// Whether it hands on the elements of its first operand, whatever they are.
bool hands_on(const Node& n) {
  const OpDef& d = def(n.op);
  const bool picks = d.category == Category::Pooling || d.category == Category::DataMovement ||
                     d.category == Category::Gather || d.category == Category::Shape;
  return (keeps_elements(d.moves) && d.moves != Moves::Converts) || d.moves == Moves::Reshapes ||
         d.moves == Moves::Permutes || d.moves == Moves::Part || (picks && !d.dims_only && n.results.size() == 1);
}

bool is_weighed_product(const Node& n) {
  const Category c = def(n.op).category;
  return (c == Category::MatMul || c == Category::Convolution) && n.operands.size() > 1 && n.operands[0] &&
         n.operands[1];
}

class QuantisationFolder {
 public:
  QuantisationFolder(const Graph& graph, Diagnostics& diags)
      : g_(graph), weight_(graph.weight_only()), read_quantised_(graph.size(), 0), rewriter_(graph, diags) {}

  Result<Graph> run() {
    find_quantised_results();
    for (NodeId id = 0; id < g_.size(); ++id)
      if (!add(id)) return Failure{};
    return rewriter_.finish();
  }

 private:
  const Type& new_type(ValueId v) { return rewriter_.builder().type(v); }

  /// By node: the bits that all who read its first result quantise it to.
  void find_quantised_results() {
    std::vector<bool> otherwise(g_.size(), false);
    for (const Node& n : g_.nodes()) {
      for (std::size_t i = 0; i < n.operands.size(); ++i) {
        const ValueId v = n.operands[i];
        if (!v) continue;
        const bool quantises = i == 0 && n.is(op("qnn.quantize")) && bits(n.results[0].type.dtype()) <= 8;
        const bool fakes = i == 0 && n.is(op("qnn.fake_quantize")) && n.attrs.int_or("bits", 8) <= 8;
        if (quantises || fakes) read_quantised_[v.node] = 8;
        else otherwise[v.node] = true;
      }
    }
    for (const ValueId v : g_.results()) otherwise[v.node] = true;
    for (NodeId id = 0; id < g_.size(); ++id)
      if (otherwise[id]) read_quantised_[id] = 0;
  }

  Status add(NodeId id) {
    const Node& n = g_.node(id);
    if (n.kind != NodeKind::Call || !n.regions.empty()) return rewriter_.copy(id);
    if (n.is(op("qnn.fake_quantize"))) return pass_by(id, rewriter_[n.operands[0]], bits_of_fake(n));
    if (n.is(op("qnn.dequantize"))) return dequantise(id);
    if (n.is(op("multiply")) && multiplies_scale(id)) return ok();
    if (const OnFloats& form = def(n.op).on_floats; form.op) {
      const auto done = on_floats(id, form);
      if (!done) return Failure{};
      if (*done && is_float(n.results[0].type.dtype())) return ok();
    }
    if (!copy(id)) return Failure{};
    follow(id);
    return hand_on(id);
  }

  static int bits_of_fake(const Node& n) { return static_cast<int>(n.attrs.int_or("bits", 8)); }

  /// What is behind a quantisation: `v` itself, which was in `bits`.
  Status pass_by(NodeId id, ValueId v, int bits) {
    rewriter_.map({id, 0}, v);
    dequantised_[{id, 0}] = bits;
    return ok();
  }

  /// What a quantised value stands for; weights become weights of floats.
  const Floats* floats_of(ValueId v, DType dtype) {
    if (!v) return nullptr;
    if (const auto it = floats_.find(v); it != floats_.end()) return &it->second;
    const Node& n = g_.node(v);
    const bool stored =
        n.kind == NodeKind::Constant && (is_quantised(g_.type(v).dtype()) || g_.type(v).dtype() == DType::Int32);
    if (!stored) return nullptr;
    const ValueId weight = rewriter_.builder().constant({g_.type(v).with_dtype(dtype), nullptr}, n.name, n.loc);
    return &(floats_[v] = {weight});
  }

  Status dequantise(NodeId id) {
    const Node& n = g_.node(id);
    const ValueId x = n.operands[0];
    const Type& wanted = n.results[0].type;
    const int from = bits(g_.type(x).dtype());
    if (n.results[0].data) return rewriter_.copy(id);  // a number that the program computes with
    const Floats* floats = floats_of(x, wanted.dtype());
    if (!floats) return rewriter_.copy(id);
    ValueId v = floats->value;
    if (new_type(v).dtype() != wanted.dtype()) {
      const auto cast = rewriter_.builder().value({.op = op("cast"),
                                                   .operands = {v},
                                                   .attrs = {{"to", std::string(name(wanted.dtype()))}},
                                                   .name = n.name,
                                                   .loc = n.loc});
      if (!cast) return Failure{};
      v = *cast;
    }
    return pass_by(id, v, from);
  }

  /// A copy with what is known of bits.
  Status copy(NodeId id) {
    const Node& n = g_.node(id);
    Attrs attrs = n.attrs;
    mark(id, attrs);
    return rewriter_.copy_with(id, rewriter_.operands(id), std::move(attrs));
  }

  void mark(NodeId id, Attrs& attrs) const {
    const Node& n = g_.node(id);
    if (is_weighed_product(n) && is_float(g_.type(n.operands[0]).dtype())) {
      if (const int data = bits_of(n.operands[0])) attrs.set(kDataBits, std::int64_t{data});
      if (const int weight = bits_of(n.operands[1])) attrs.set(kWeightBits, std::int64_t{weight});
    }
    if (read_quantised_[id] && can_write_few_bits(n)) attrs.set(kResultBits, std::int64_t{8});
  }

  /// Bits of what a value of floats was quantised to; 0: it was not, or to more than 8.
  int bits_of(ValueId v) const {
    const auto it = dequantised_.find(v);
    return it == dequantised_.end() || it->second > 8 ? 0 : it->second;
  }

  /// Notes what a copied call's results stand for.
  void follow(NodeId id) {
    const Node& n = g_.node(id);
    const ValueId x = n.operands.empty() ? ValueId{} : n.operands[0];
    if (n.is(op("qnn.quantize"))) {
      if (const auto it = floats_.find(x); it != floats_.end()) floats_[{id, 0}] = Floats(it->second);
      else if (is_float(g_.type(x).dtype())) floats_[{id, 0}] = {rewriter_[x]};
    } else if (n.is(op("qnn.dynamic_quantize"))) {
      floats_[{id, 0}] = {rewriter_[x]};
      scales_.insert({id, 1});
    } else if (n.is(op("cast")) && is_float(n.results[0].type.dtype())) {
      if (const auto it = floats_.find(x); it != floats_.end() && !it->second.scaled)
        unscaled_[{id, 0}] = it->second.value;
    } else if (n.is(op("multiply")) && is_scale(n.operands[0]) && is_scale(n.operands[1])) {
      scales_.insert({id, 0});
    }
  }

  bool is_scale(ValueId v) const { return v && (weight_[v.node] || scales_.contains(v)); }

  /// The scales of a product of integers, multiplied in: what is left is the product.
  bool multiplies_scale(NodeId id) {
    const Node& n = g_.node(id);
    for (const std::size_t i : {0, 1}) {
      const auto it = unscaled_.find(n.operands[i]);
      if (it == unscaled_.end() || !is_scale(n.operands[1 - i])) continue;
      if (new_type(it->second) != n.results[0].type) continue;
      rewriter_.map({id, 0}, it->second);
      return true;
    }
    return false;
  }

  /// Views, copies and selections of a quantised value are those of what it stands for.
  Status hand_on(NodeId id) {
    const Node& n = g_.node(id);
    if (n.operands.empty() || !n.operands[0] || !hands_on(n)) return ok();
    if (const int from = bits_of(n.operands[0]); from && is_float(n.results[0].type.dtype()))
      dequantised_[{id, 0}] = from;
    const DType dtype = g_.type(n.operands[0]).dtype();
    if (!is_quantised(dtype)) return ok();
    std::vector<ValueId> operands = rewriter_.operands(id);
    for (std::size_t i = 0; i < operands.size(); ++i) {
      const ValueId v = n.operands[i];
      if (!v || g_.type(v).dtype() != dtype) continue;
      const Floats* floats = floats_of(v, DType::Float32);
      if (!floats || !floats->scaled) return ok();
      operands[i] = floats->value;
    }
    const auto value = rewriter_.builder().value(
        {.op = n.op, .operands = std::move(operands), .attrs = n.attrs, .name = n.name, .loc = n.loc});
    if (!value) return Failure{};
    floats_[{id, 0}] = {*value};
    return ok();
  }

  /// The operator on floats in the place of one on quantised values; false: not all that it reads is known.
  Result<bool> on_floats(NodeId id, const OnFloats& form) {
    const Node& n = g_.node(id);
    if (n.attrs.int_or("channels_last", 0) != 0) return false;
    const std::size_t first = static_cast<std::size_t>(form.first), step = static_cast<std::size_t>(form.step);
    const std::size_t count =
        form.count < 0 ? (n.operands.size() - first) / step : static_cast<std::size_t>(form.count);
    std::vector<ValueId> operands;
    if (form.selects) operands.push_back(rewriter_[n.operands[0]]);
    int widths[2] = {};
    for (std::size_t i = 0; i < count; ++i) {
      const auto v = data_operand(n, first + i * step, form.step == 3);
      if (!v) return Failure{};
      if (!*v) return false;
      if (i < 2) widths[i] = operand_bits(n.operands[first + i * step]);
      operands.push_back(*v);
    }
    const DType dtype = new_type(operands.back()).dtype();
    const std::size_t bias = form.bias < 0 ? n.operands.size() : static_cast<std::size_t>(form.bias);
    ValueId added;
    if (bias < n.operands.size() && n.operands[bias]) {
      const Floats* floats = floats_of(n.operands[bias], dtype);
      added = floats ? floats->value : rewriter_[n.operands[bias]];
      if (new_type(added).dtype() != dtype) return false;
    }
    const bool product = is_weighed_product(n);
    const bool takes_bias = def(form.op).splits_bias;
    if (added && takes_bias) operands.push_back(added);
    Attrs attrs = n.attrs;
    if (product && widths[0] <= 8 && widths[1] <= 8) {
      attrs.set(kDataBits, std::int64_t{widths[0]});
      attrs.set(kWeightBits, std::int64_t{widths[1]});
    }
    const DType result = n.results[0].type.dtype();
    if (is_quantised(result) && bits(result) <= 8) attrs.set(kResultBits, std::int64_t{8});
    auto value = rewriter_.builder().value(
        {.op = form.op, .operands = std::move(operands), .attrs = std::move(attrs), .name = n.name, .loc = n.loc});
    if (value && added && !takes_bias)
      value = rewriter_.builder().value({.op = op("add"), .operands = {*value, added}, .name = n.name, .loc = n.loc});
    if (!value) return Failure{};
    if (is_float(result)) {
      if (new_type(*value).dtype() != result) return false;
      rewriter_.map({id, 0}, *value);
    } else {
      floats_[{id, 0}] = {*value, is_quantised(result)};
    }
    return true;
  }

  /// Of a quantised operand 8, say; of floats, which the call itself quantises, 8 too.
  int operand_bits(ValueId v) const {
    const DType d = g_.type(v).dtype();
    return is_quantised(d) ? bits(d) : 8;
  }

  /// Operand i in floats; what nobody quantised here is dequantised, if its scale stands behind it. Empty: it is not
  /// known.
  Result<ValueId> data_operand(const Node& n, std::size_t i, bool has_scale) {
    if (i >= n.operands.size() || !n.operands[i]) return ValueId{};
    const ValueId v = n.operands[i];
    if (is_float(g_.type(v).dtype()) && !is_quantised(g_.type(v).dtype())) return rewriter_[v];
    const bool scaled = has_scale && i + 1 < n.operands.size() && n.operands[i + 1];
    const DType dtype = scaled ? g_.type(n.operands[i + 1]).dtype() : DType::Float32;
    if (const Floats* floats = floats_of(v, dtype)) return floats->scaled ? floats->value : ValueId{};
    if (!scaled) return ValueId{};
    std::vector<ValueId> operands{rewriter_[v], rewriter_[n.operands[i + 1]]};
    if (i + 2 < n.operands.size() && n.operands[i + 2]) operands.push_back(rewriter_[n.operands[i + 2]]);
    auto value = rewriter_.builder().value(
        {.op = op("qnn.dequantize"), .operands = std::move(operands), .name = n.name, .loc = n.loc});
    if (value) floats_[v] = {*value};
    return value;
  }

  const Graph& g_;
  const std::vector<bool> weight_;
  std::vector<int> read_quantised_;      ///< by node, see find_quantised_results
  std::map<ValueId, Floats> floats_;     ///< by quantised value
  std::map<ValueId, int> dequantised_;   ///< by value of floats: bits of what it was quantised to
  std::map<ValueId, ValueId> unscaled_;  ///< by value: the product that it is, but for scales
  std::set<ValueId> scales_;             ///< computed while the model runs
  Rewriter rewriter_;
};

bool quantises(const Graph& g, NodeId id) {
  const Node& n = g.node(id);
  return def(n.op).category == Category::Quantize || def(n.op).on_floats.op;
}

}  // namespace

Result<Graph> fold_quantisation(Graph graph, const PassOptions& options, Diagnostics& diags) {
  if (options.contents == Contents::Kept)
    return diags.error("fold-quantisation: quantised weights become weights of floats without contents; write .pir");
  return for_each_region(std::move(graph), diags, [&](Graph g) -> Result<Graph> {
    for (NodeId id = 0; id < g.size(); ++id)
      if (g.node(id).kind == NodeKind::Call && quantises(g, id)) return QuantisationFolder(g, diags).run();
    return g;
  });
}

}  // namespace perfc::passes
