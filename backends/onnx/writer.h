#pragma once
/// Messages of an ONNX model while it is written.
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "backends/onnx/onnx.h"
#include "onnx.pb.h"

namespace perfc::backends {

namespace pb = ::onnx;

/// What the graphs of one model share: names, initializers, operator sets.
class ModelWriter {
 public:
  ModelWriter(const onnx::TensorRecords& records, const OnnxOptions& options, Diagnostics& diags)
      : records_(records), options_(options), diags_(diags) {}

  Result<OnnxFile> run(const Graph&);

  Diagnostics& diagnostics() { return diags_; }
  pb::GraphProto& main_graph() { return *model_.mutable_graph(); }
  /// A name that no value of the model has yet: the wanted one, or that with a number.
  std::string unique(std::string_view wanted);
  /// The same of nodes, which may have no name.
  std::string node_name(const std::string& wanted);
  /// Element types came with operator sets.
  void needs_type(const Type&);
  /// The file needs at least this version of a domain.
  void needs(std::string_view domain, std::int64_t version);
  /// An initializer with known contents; equal ones are one.
  std::string literal(const Literal&, std::string_view wanted);
  /// An initializer for a constant of the IR.
  Result<std::string> constant(const Node&);

 private:
  void weight(const Node&, pb::TensorProto&);
  bool copied(const Node&, pb::TensorProto&);
  bool bring_external(pb::TensorProto&);
  Status take_in(pb::TensorProto&, const FilePart&);
  Result<OnnxFile> finish();

  const onnx::TensorRecords& records_;
  const OnnxOptions& options_;
  Diagnostics& diags_;
  pb::ModelProto model_;
  std::unordered_map<std::string, std::size_t> names_;  ///< the next number of each
  std::unordered_set<std::string> node_names_;
  std::unordered_map<std::string, std::string> literals_;
  std::map<std::pair<std::int64_t, std::string>, std::string> stored_;  ///< by place and type
  std::map<std::string, std::int64_t, std::less<>> opsets_;
  FilePart brought_;                            ///< contents of the weight that is read, from another folder
  std::map<std::string, FilePart> from_files_;  ///< the same by name of the initializer
  std::uint64_t missing_ = 0;                   ///< weights without contents
  std::uint64_t missing_bytes_ = 0;             ///< of them
};

/// One call while it is written. Helpers return names of values.
class CallWriter {
 public:
  using Names = std::vector<std::string>;
  CallWriter(ModelWriter& model, pb::GraphProto& out, const Graph& graph, const Node& node, Names operands,
             Names results)
      : graph(graph), node(node), attrs(node.attrs), operands(std::move(operands)), results(std::move(results)),
        model_(model), out_(out) {}

  const Graph& graph;
  const Node& node;
  const Attrs& attrs;
  Names operands, results;  ///< names; empty: left out
  std::size_t read = 0;     ///< results up to the last one that something reads

  bool has(std::size_t i) const { return i < operands.size() && !operands[i].empty(); }
  /// Of an operand; None where it is left out.
  const Type& type(std::size_t i) const;
  const Type& result(std::size_t i = 0) const { return node.results[i].type; }
  /// Known contents of an operand, or null.
  const Data* data(std::size_t i) const { return has(i) ? graph.data(node.operands[i]) : nullptr; }

  /// Adds a node of one result that is no value of the IR. Attributes have ONNX's names.
  std::string value(std::string_view op, Names inputs, const Attrs& attributes = {});
  /// Adds a node with these results.
  Status add(std::string_view op, Names inputs, Names outputs, const Attrs& attributes = {});
  /// The node whose results are those of the call.
  Status finish(std::string_view op, Names inputs, const Attrs& attributes = {});
  /// The call is this value.
  Status finish_as(const std::string& value) { return finish("Identity", {value}); }

  std::string ints(const std::vector<std::int64_t>& values) { return model_.literal(int64_vector(values), "ints"); }
  std::string number(double value, DType dtype);
  /// A bodied node: the message that `add` made last.
  pb::NodeProto& last() { return *out_.mutable_node(out_.node_size() - 1); }
  ModelWriter& model() { return model_; }
  Failure error(const std::string& why) const;

 private:
  ModelWriter& model_;
  pb::GraphProto& out_;
};

/// Writes the nodes of a graph. `params`: names of its params, in their order.
Status write_graph(ModelWriter&, const Graph&, const std::vector<std::string>& params, pb::GraphProto& out);

/// A body: its own params, then what it captures, which bodies of ONNX read by name.
Status write_body(ModelWriter&, const Graph& body, std::size_t own, const std::vector<std::string>& captures,
                  pb::GraphProto& out);

/// False where a type has no form in ONNX.
bool write_type(const Type&, pb::TypeProto& out);
/// Elements as raw_data, or strings. False where they are not all known.
bool write_contents(const Literal&, pb::TensorProto& out);
Status write_attribute(const CallWriter&, std::string_view name, const Attr&, pb::AttributeProto& out);

/// The attribute of a Cast.
inline Attrs to_type(DType dtype) { return {{"to", std::int64_t{onnx::onnx_number(dtype)}}}; }

/// The split of a spelling: "ms:FusedConv" is FusedConv of com.microsoft.
std::pair<std::string_view, std::string_view> domain_and_name(std::string_view spelling);

}  // namespace perfc::backends
