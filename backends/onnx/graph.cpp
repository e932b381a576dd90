/// One graph of a model: its values by name, its nodes in their order.
#include <fmt/format.h>

#include <algorithm>

#include "backends/onnx/rows.h"
#include "frontends/common/wire.h"
#include "ir/eager_marks.h"
#include "ir/support/text.h"

namespace perfc::backends {
namespace {

/// The rules of onnxscript's rewriter that folded what a call's marks say.
std::string folding_rules(const Attrs& marks) {
  std::string out;
  if (marks.has(kFoldedPad)) out += "FuseConvPad";
  if (marks.has(kFoldedNorm)) out += fmt::format("{}FuseBatchNormIntoConv", out.empty() ? "" : ", ");
  return out;
}

/// Field 9 of a node, metadata_props, which the messages of libonnx 1.12 do not have.
void add_metadata(std::string_view key, const std::string& value, pb::NodeProto& n) {
  pb::StringStringEntryProto entry;
  entry.set_key(std::string(key));
  entry.set_value(value);
  const std::string bytes = entry.SerializeAsString();
  std::string field;
  wire::put_varint(field, 9 << 3 | static_cast<unsigned>(wire::WireType::Bytes));
  wire::put_varint(field, bytes.size());
  n.MergeFromString(field + bytes);
}

}  // namespace

const Type& CallWriter::type(std::size_t i) const {
  static const Type none;
  return has(i) ? graph.type(node.operands[i]) : none;
}

Failure CallWriter::error(const std::string& why) const {
  return model_.diagnostics().error(node.loc, node.name, fmt::format("{}: {}", def(node.op).name, why));
}

std::string CallWriter::number(double value, DType dtype) {
  auto data = std::make_shared<Data>();
  data->elements = std::vector<double>{value};
  return model_.literal({Type::tensor(dtype, {}), data}, "number");
}

Status CallWriter::add(std::string_view spelling, Names inputs, Names outputs, const Attrs& attributes) {
  const auto [domain, op_type] = domain_and_name(spelling);
  if (!domain.empty()) model_.needs(domain, domain == "ai.onnx.ml" ? 4 : 1);
  pb::NodeProto& n = *out_.add_node();
  n.set_name(model_.node_name(node.name));
  n.set_op_type(std::string(op_type));
  n.set_domain(std::string(domain));
  while (!inputs.empty() && inputs.back().empty()) inputs.pop_back();
  while (!outputs.empty() && outputs.back().empty()) outputs.pop_back();
  for (std::string& input : inputs) n.add_input(std::move(input));
  for (std::string& output : outputs) n.add_output(std::move(output));
  for (const auto& [name, value] : attributes) {
    if (!write_attribute(*this, name, value, *n.add_attribute())) return Failure{};
  }
  return ok();
}

std::string CallWriter::value(std::string_view op, Names inputs, const Attrs& attributes) {
  std::string name = model_.unique(fmt::format("{}/{}", node.name.empty() ? def(node.op).name : node.name, op));
  (void)add(op, std::move(inputs), {name}, attributes);
  return name;
}

Status CallWriter::finish(std::string_view op, Names inputs, const Attrs& attributes) {
  if (!add(op, std::move(inputs), results, attributes)) return Failure{};
  if (const std::string rules = folding_rules(attrs); !rules.empty())
    add_metadata("pkg.onnxscript.rewriter.rule_name", rules, last());
  return ok();
}

namespace {

/// Values of one graph by their names in the file.
class GraphWriter {
 public:
  GraphWriter(ModelWriter& model, const Graph& g, pb::GraphProto& out)
      : model_(model), g_(g), out_(out), uses_(g.use_counts()), read_(g.size()), names_(g.size()) {
    const auto note = [&](ValueId v) {
      if (v) read_[v.node] = std::max<std::size_t>(read_[v.node], v.result + 1);
    };
    for (const Node& n : g.nodes()) std::for_each(n.operands.begin(), n.operands.end(), note);
    std::for_each(g.results().begin(), g.results().end(), note);
  }

  Status run(const std::vector<std::string>& params) {
    for (std::size_t i = 0; i < params.size(); ++i) names_[g_.params()[i].node] = {params[i]};
    name_results();
    for (NodeId id = 0; id < g_.size(); ++id) {
      const Node& n = g_.node(id);
      if (n.kind == NodeKind::Constant && uses_[id] > 0) {
        auto name = model_.constant(n);
        if (name) names_[id] = {*name};
      }
      if (n.kind == NodeKind::Call) (void)call(id);
    }
    return model_.diagnostics().errors() ? Status(Failure{}) : outputs();
  }

 private:
  /// Names of results are those of the file: the main graph's are taken already, those of bodies are new. One without
  /// a name, as a .pir may have it, is named after its value.
  void name_results() {
    for (std::size_t i = 0; i < g_.results().size(); ++i) {
      const ValueId v = g_.results()[i];
      const std::string& given = g_.result_names()[i];
      const bool taken = &out_ == &model_.main_graph() && !given.empty();
      const bool is_param = taken && g_.node(v).kind == NodeKind::Var && name_of(v) == given;
      const std::string& base = given.empty() ? g_.node(v).name : given;
      result_names_.push_back(taken ? given : model_.unique(base.empty() ? "result" : base));
      if (is_param) continue;
      if (g_.node(v).kind != NodeKind::Call) continue;
      auto& of_node = names_[v.node];
      of_node.resize(g_.node(v).results.size());
      if (of_node[v.result].empty()) of_node[v.result] = result_names_.back();
    }
  }

  const std::string& name_of(ValueId v) const {
    static const std::string none;
    return v && v.result < names_[v.node].size() ? names_[v.node][v.result] : none;
  }

  Status call(NodeId id) {
    const Node& n = g_.node(id);
    auto& results = names_[id];
    results.resize(n.results.size());
    for (std::size_t i = 0; i < results.size(); ++i) {
      if (!results[i].empty()) continue;
      const std::string_view base = n.name.empty() ? def(n.op).name : std::string_view(n.name);
      results[i] = model_.unique(i == 0 ? std::string(base) : fmt::format("{}:{}", base, i));
    }
    std::vector<std::string> operands;
    for (const ValueId v : n.operands) operands.push_back(name_of(v));
    CallWriter c(model_, out_, g_, n, std::move(operands), results);
    c.read = read_[id];
    const OnnxRow* row = onnx_row(n.op);
    if (!row || !row->why_not.empty()) {
      return c.error(fmt::format("has no form in ONNX{}{}; leave it out of the model, or write the graph as .pir",
                                 row ? ": " : "", row ? row->why_not : ""));
    }
    widen_indices(c, row->int64);
    const bool integers = !row->of_integers.empty() && c.has(0) && is_integer(c.type(0).dtype());
    Status written = integers                  ? write_expression(c, row->of_integers)
                     : row->write              ? row->write(c)
                     : row->expression.empty() ? write_same(c, row->onnx, row->attributes, row->since)
                                               : write_expression(c, row->expression);
    if (!written) return Failure{};
    for (std::size_t i = 0; i < c.results.size(); ++i) describe(n.results[i].type, results[i]);
    return ok();
  }

  /// Operands of these numbers that are int32 become int64.
  void widen_indices(CallWriter& c, std::string_view numbers) {
    while (!numbers.empty()) {
      const auto i = static_cast<std::size_t>(next_word(numbers)[0] - '0');
      if (!c.has(i) || !c.type(i).is_tensor() || c.type(i).dtype() != DType::Int32) continue;
      const Data* known = c.data(i);
      if (known && known->ints() && known->fully_known() && c.type(i).is_static()) {
        auto data = std::make_shared<Data>(*known);
        c.operands[i] = model_.literal({Type::tensor(DType::Int64, c.type(i).shape()), data}, "ints");
      } else {
        c.operands[i] = c.value("Cast", {c.operands[i]}, {{"to", std::int64_t{onnx::onnx_number(DType::Int64)}}});
      }
    }
  }

  /// The type of a value that is no result of the graph.
  void describe(const Type& type, const std::string& name) {
    model_.needs_type(type);
    if (std::find(result_names_.begin(), result_names_.end(), name) != result_names_.end()) return;
    pb::ValueInfoProto info;
    info.set_name(name);
    if (write_type(type, *info.mutable_type())) *out_.add_value_info() = std::move(info);
  }

  Status outputs() {
    for (std::size_t i = 0; i < g_.results().size(); ++i) {
      const ValueId v = g_.results()[i];
      if (name_of(v) != result_names_[i]) {
        auto& copy = *out_.add_node();
        copy.set_op_type("Identity");
        copy.set_name(model_.node_name(result_names_[i]));
        copy.add_input(name_of(v));
        copy.add_output(result_names_[i]);
      }
      auto& output = *out_.add_output();
      output.set_name(result_names_[i]);
      model_.needs_type(g_.type(v));
      if (!write_type(g_.type(v), *output.mutable_type())) {
        const Node& n = g_.node(v);
        return model_.diagnostics().error(
            n.loc, n.name, fmt::format("a result of type {} has no form in ONNX", to_string(g_.type(v))));
      }
    }
    return ok();
  }

  ModelWriter& model_;
  const Graph& g_;
  pb::GraphProto& out_;
  const std::vector<std::uint32_t> uses_;
  std::vector<std::size_t> read_;                ///< by node: its results up to the last one that something reads
  std::vector<std::vector<std::string>> names_;  ///< by node and result
  std::vector<std::string> result_names_;
};

Status add_input(ModelWriter& model, const Node& n, const std::string& name, pb::GraphProto& out) {
  auto& input = *out.add_input();
  input.set_name(name);
  model.needs_type(n.results[0].type);
  if (write_type(n.results[0].type, *input.mutable_type())) return ok();
  return model.diagnostics().error(n.loc, n.name,
                                   fmt::format("a param of type {} has no form in ONNX", to_string(n.results[0].type)));
}

}  // namespace

Status write_graph(ModelWriter& model, const Graph& g, const std::vector<std::string>& params, pb::GraphProto& out) {
  if (&out == &model.main_graph()) {
    for (std::size_t i = 0; i < params.size(); ++i) {
      if (!add_input(model, g.node(g.params()[i]), params[i], out)) return Failure{};
    }
  }
  return GraphWriter(model, g, out).run(params);
}

Status write_body(ModelWriter& model, const Graph& body, std::size_t own, const std::vector<std::string>& captures,
                  pb::GraphProto& out) {
  out.set_name(body.name().empty() ? "body" : body.name());
  std::vector<std::string> params;
  for (std::size_t i = 0; i < body.params().size(); ++i) {
    const Node& n = body.node(body.params()[i]);
    if (i >= own) {
      params.push_back(captures[i - own]);
      continue;
    }
    params.push_back(model.unique(n.name.empty() ? "param" : n.name));
    if (!add_input(model, n, params.back(), out)) return Failure{};
  }
  return write_graph(model, body, params, out);
}

}  // namespace perfc::backends
