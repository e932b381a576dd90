#pragma once
/// ONNX messages as views into the file. Decoding is shallow: nested messages
/// stay byte ranges until somebody asks. Field numbers: onnx/onnx.proto, 1.23.
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "frontends/common/wire.h"
#include "ir/attrs.h"

namespace perfc::onnx {

using Bytes = std::string_view;

/// Where decoding failed; the importer turns it into a diagnostic.
struct Damage {
  const char* at = nullptr;
  const char* what = nullptr;
};

/// ONNX TensorProto.DataType → DType; Undefined for numbers nobody knows.
DType dtype_from_onnx(std::int64_t number);

struct TensorView {
  std::string_view name;
  std::vector<std::int64_t> dims;
  std::int64_t data_type = 0;
  bool external = false;
  std::optional<Bytes> raw;  ///< raw_data, if present
  bool typed_data = false;   ///< float_data, int32_data, … present
  Bytes record;
};
std::optional<TensorView> decode_tensor(Bytes, Damage&);

/// Type and contents of a tensor. Contents are read only for small tensors:
/// those of `keeps_contents`. External data is not opened (stored_zeros.h does, for masks).
/// Fails with a reason on impossible dims, dtypes and payload sizes.
std::optional<Literal> literal(const TensorView&, std::string& why);

enum class AttrType : std::int32_t {
  Undefined,
  Float,
  Int,
  String,
  Tensor,
  Graph,
  Floats,
  Ints,
  Strings,
  Tensors,
  Graphs,
  SparseTensor,
  SparseTensors,
  TypeProto,
  TypeProtos,
};

struct AttrView {
  std::string_view name;
  std::string_view ref;  ///< attribute of the enclosing function it stands for
  AttrType type = AttrType::Undefined;
  Bytes record;
};

struct NodeView {
  std::string_view name, op_type, domain, overload;
  std::string_view rules;   ///< of onnxscript's rewriter that made the node: "FuseBatchNormIntoConv, …"
  std::string_view scopes;  ///< torch.onnx's list of the modules whose code the node is: "['', 'fc1', 'linear']"
  std::vector<std::string_view> inputs, outputs;
  std::vector<AttrView> attributes;
  Bytes record;
  std::int32_t line = -1, column = -1;  ///< of text files

  const AttrView* find(std::string_view attribute) const;
  /// The path of the innermost of `scopes` that is a module ("fc1"); empty: none is said.
  std::string_view module() const;
};

/// Sub-messages of a graph, undecoded.
struct GraphView {
  std::string_view name;
  std::vector<Bytes> nodes, initializers, sparse_initializers, inputs, outputs, value_infos;
};

struct OpsetView {
  std::string_view domain;
  std::int64_t version = 0;
};

struct FunctionView {
  std::string_view name, domain, overload;
  std::vector<std::string_view> inputs, outputs, attributes;
  std::vector<AttrView> defaults;
  std::vector<Bytes> nodes, value_infos;
  std::vector<OpsetView> opsets;
};

struct ModelView {
  std::int64_t ir_version = 0;
  std::string_view producer;
  std::vector<OpsetView> opsets;
  std::optional<Bytes> graph;
  std::vector<Bytes> functions;
};

struct ValueInfoView {
  std::string_view name;
  std::optional<Bytes> type;
};

std::optional<ModelView> decode_model(Bytes, Damage&);
std::optional<GraphView> decode_graph(Bytes, Damage&);
std::optional<FunctionView> decode_function(Bytes, Damage&);
std::optional<NodeView> decode_node(Bytes, Damage&);
std::optional<ValueInfoView> decode_value_info(Bytes, Damage&);
/// TypeProto; nesting of sequence/optional/map is bounded. Type `None` when
/// the message says nothing (no elem_type).
std::optional<Type> decode_type(Bytes, Damage&);

/// Payloads of an attribute, read on demand.
std::optional<wire::Field> payload(const AttrView&, std::uint32_t field);
std::vector<Bytes> messages(const AttrView&, std::uint32_t field);

}  // namespace perfc::onnx
