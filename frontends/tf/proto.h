#pragma once
/// TensorFlow messages as views into the file. Decoding is shallow: attributes
/// and functions stay byte ranges until somebody asks. Field numbers: see
/// frontends/tf/text.cpp.
#include <cstdint>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "frontends/common/wire.h"
#include "ir/attrs.h"
#include "ir/support/diagnostics.h"

namespace perfc::tf {

using Bytes = std::string_view;

/// Where decoding failed; the importer turns it into a diagnostic.
struct Damage {
  const char* at = nullptr;
  const char* what = nullptr;
};

/// tensorflow.DataType → DType, references included; Undefined for resources,
/// variants and numbers nobody knows.
DType dtype_from_tf(std::int64_t number);
inline constexpr std::int64_t kResource = 20, kVariant = 21;

struct AttrView {
  std::string_view key;
  Bytes value;  ///< AttrValue
};

struct NodeView {
  std::string_view name, op;
  std::vector<std::string_view> inputs;  ///< "x", "x:1", "f:out:0", "^control"
  std::vector<AttrView> attrs;
  Bytes record;
  SourceLoc place;  ///< of text files

  const AttrView* find(std::string_view key) const;
};

/// An argument of a function. Resources say what they hold, if the file knows.
struct ArgView {
  std::string_view name;
  std::int64_t dtype = 0;
  Type held;  ///< of resources; None when not said
};

struct FunctionView {
  std::string_view name;
  std::vector<ArgView> args, results;
  std::vector<std::pair<std::string_view, std::string_view>> rets;  ///< result name → "node:out:0" or argument
  std::vector<Bytes> nodes;
  std::vector<AttrView> attrs;
  Bytes record;
};

struct TensorInfoView {
  std::string_view key, name;  ///< "keras_tensor", "serving_default_keras_tensor:0"
  Type type;                   ///< None when not said
};

struct SignatureView {
  std::string_view key;
  std::vector<TensorInfoView> inputs, outputs;
};

struct GraphView {
  std::vector<Bytes> nodes;
  std::vector<std::pair<std::string_view, Bytes>> functions;  ///< by name
};

struct MetaGraphView {
  std::vector<std::string_view> tags;
  std::optional<GraphView> graph;
  std::vector<SignatureView> signatures;
  std::unordered_map<std::string_view, Type> variables;  ///< of the object graph, by name
};

std::optional<MetaGraphView> decode_meta_graph(Bytes, Damage&);
/// The meta graphs of a SavedModel, one per set of tags.
std::optional<std::vector<MetaGraphView>> decode_saved_model(Bytes, Damage&);
std::optional<GraphView> decode_graph(Bytes, Damage&);
std::optional<NodeView> decode_node(Bytes, Damage&);
std::optional<FunctionView> decode_function(Bytes, Damage&);

/// TensorShapeProto as the type of a tensor. Negative sizes are unknown dims.
std::optional<Type> decode_shape(Bytes, DType, Damage&);

/// An attribute, decoded. Lists and single values of a kind share a vector.
struct AttrValue {
  std::vector<std::int64_t> ints;  ///< i, b
  std::vector<double> floats;
  std::vector<std::string_view> strings;
  std::vector<std::int64_t> types;  ///< DataType numbers
  std::vector<Bytes> shapes;        ///< TensorShapeProto
  std::vector<Bytes> tensors;       ///< TensorProto
  std::vector<Bytes> functions;     ///< NameAttrList
  std::string_view placeholder;     ///< names an attribute of the calling node
  bool list = false;
};
std::optional<AttrValue> decode_attr(Bytes, Damage&);

/// Name and attributes of a NameAttrList.
struct FunctionRef {
  std::string_view name;
  std::vector<AttrView> attrs;
};
std::optional<FunctionRef> decode_function_ref(Bytes, Damage&);

/// Type and contents of a TensorProto; contents as `keeps_contents` says. Fails
/// with a reason on impossible dims, dtypes and payload sizes.
std::optional<Literal> literal(Bytes, std::string& why);

/// What the first bytes of a file look like.
bool looks_like_saved_model(Bytes head);
bool looks_like_graph(Bytes head);

}  // namespace perfc::tf
