#include "frontends/onnx/text.h"

#include "frontends/common/proto_text.h"
#include "frontends/onnx/proto.h"

namespace perfc::onnx {
namespace {

using proto_text::Enumerator;
using proto_text::Field;
using proto_text::Kind;
using proto_text::Message;

// clang-format off
constexpr Enumerator kAttributeTypes[] = {
    {"UNDEFINED", 0}, {"FLOAT", 1}, {"INT", 2}, {"STRING", 3}, {"TENSOR", 4}, {"GRAPH", 5}, {"FLOATS", 6}, {"INTS", 7},
    {"STRINGS", 8}, {"TENSORS", 9}, {"GRAPHS", 10}, {"SPARSE_TENSOR", 11}, {"SPARSE_TENSORS", 12}, {"TYPE_PROTO", 13},
    {"TYPE_PROTOS", 14}};
constexpr Enumerator kLocations[] = {{"DEFAULT", 0}, {"EXTERNAL", 1}};

extern const Message kModelMessage;
extern const Message kGraphMessage;
extern const Message kNodeMessage;
extern const Message kAttributeMessage;
extern const Message kTensorMessage;
extern const Message kSegmentMessage;
extern const Message kValueInfoMessage;
extern const Message kTypeMessage;
extern const Message kTensorTypeMessage;
extern const Message kShapeMessage;
extern const Message kDimensionMessage;
extern const Message kSequenceMessage;
extern const Message kMapMessage;
extern const Message kOpaqueMessage;
extern const Message kSparseMessage;
extern const Message kOpsetMessage;
extern const Message kFunctionMessage;
extern const Message kPairMessage;

constexpr Field kModel[] = {
    {"ir_version", 1, Kind::Int}, {"producer_name", 2, Kind::Bytes}, {"producer_version", 3, Kind::Bytes},
    {"domain", 4, Kind::Bytes}, {"model_version", 5, Kind::Int}, {"doc_string", 6, Kind::Bytes},
    {"graph", 7, Kind::Message, &kGraphMessage}, {"opset_import", 8, Kind::Message, &kOpsetMessage},
    {"metadata_props", 14, Kind::Message, &kPairMessage}, {"functions", 25, Kind::Message, &kFunctionMessage}};
constexpr Field kGraph[] = {
    {"node", 1, Kind::Message, &kNodeMessage}, {"name", 2, Kind::Bytes},
    {"initializer", 5, Kind::Message, &kTensorMessage}, {"doc_string", 10, Kind::Bytes},
    {"input", 11, Kind::Message, &kValueInfoMessage}, {"output", 12, Kind::Message, &kValueInfoMessage},
    {"value_info", 13, Kind::Message, &kValueInfoMessage},
    {"sparse_initializer", 15, Kind::Message, &kSparseMessage},
    {"metadata_props", 16, Kind::Message, &kPairMessage}};
constexpr Field kNode[] = {
    {"input", 1, Kind::Bytes}, {"output", 2, Kind::Bytes}, {"name", 3, Kind::Bytes},
    {"op_type", 4, Kind::Bytes}, {"attribute", 5, Kind::Message, &kAttributeMessage},
    {"doc_string", 6, Kind::Bytes}, {"domain", 7, Kind::Bytes}, {"overload", 8, Kind::Bytes},
    {"metadata_props", 9, Kind::Message, &kPairMessage}};
constexpr Field kAttribute[] = {
    {"name", 1, Kind::Bytes}, {"f", 2, Kind::Float}, {"i", 3, Kind::Int}, {"s", 4, Kind::Bytes},
    {"t", 5, Kind::Message, &kTensorMessage}, {"g", 6, Kind::Message, &kGraphMessage},
    {"floats", 7, Kind::Float}, {"ints", 8, Kind::Int}, {"strings", 9, Kind::Bytes},
    {"tensors", 10, Kind::Message, &kTensorMessage}, {"graphs", 11, Kind::Message, &kGraphMessage},
    {"doc_string", 13, Kind::Bytes}, {"tp", 14, Kind::Message, &kTypeMessage},
    {"type_protos", 15, Kind::Message, &kTypeMessage}, {"type", 20, Kind::Enum, nullptr, kAttributeTypes},
    {"ref_attr_name", 21, Kind::Bytes}, {"sparse_tensor", 22, Kind::Message, &kSparseMessage},
    {"sparse_tensors", 23, Kind::Message, &kSparseMessage}};
constexpr Field kTensor[] = {
    {"dims", 1, Kind::Int}, {"data_type", 2, Kind::Int}, {"segment", 3, Kind::Message, &kSegmentMessage},
    {"float_data", 4, Kind::Float}, {"int32_data", 5, Kind::Int}, {"string_data", 6, Kind::Bytes},
    {"int64_data", 7, Kind::Int}, {"name", 8, Kind::Bytes}, {"raw_data", 9, Kind::Payload},
    {"double_data", 10, Kind::Double}, {"uint64_data", 11, Kind::Int}, {"doc_string", 12, Kind::Bytes},
    {"external_data", 13, Kind::Message, &kPairMessage}, {"data_location", 14, Kind::Enum, nullptr, kLocations}};
constexpr Field kSegment[] = {{"begin", 1, Kind::Int}, {"end", 2, Kind::Int}};
constexpr Field kValueInfo[] = {
    {"name", 1, Kind::Bytes}, {"type", 2, Kind::Message, &kTypeMessage}, {"doc_string", 3, Kind::Bytes},
    {"metadata_props", 4, Kind::Message, &kPairMessage}};
constexpr Field kType[] = {
    {"tensor_type", 1, Kind::Message, &kTensorTypeMessage}, {"sequence_type", 4, Kind::Message, &kSequenceMessage},
    {"map_type", 5, Kind::Message, &kMapMessage}, {"denotation", 6, Kind::Bytes},
    {"opaque_type", 7, Kind::Message, &kOpaqueMessage}, {"sparse_tensor_type", 8, Kind::Message, &kTensorTypeMessage},
    {"optional_type", 9, Kind::Message, &kSequenceMessage}};
constexpr Field kTensorType[] = {{"elem_type", 1, Kind::Int}, {"shape", 2, Kind::Message, &kShapeMessage}};
constexpr Field kShape[] = {{"dim", 1, Kind::Message, &kDimensionMessage}};
constexpr Field kDimension[] = {
    {"dim_value", 1, Kind::Int}, {"dim_param", 2, Kind::Bytes}, {"denotation", 3, Kind::Bytes}};
constexpr Field kSequence[] = {{"elem_type", 1, Kind::Message, &kTypeMessage}};
constexpr Field kMap[] = {{"key_type", 1, Kind::Int}, {"value_type", 2, Kind::Message, &kTypeMessage}};
constexpr Field kOpaque[] = {{"domain", 1, Kind::Bytes}, {"name", 2, Kind::Bytes}};
constexpr Field kSparse[] = {
    {"values", 1, Kind::Message, &kTensorMessage}, {"indices", 2, Kind::Message, &kTensorMessage},
    {"dims", 3, Kind::Int}};
constexpr Field kOpset[] = {{"domain", 1, Kind::Bytes}, {"version", 2, Kind::Int}};
constexpr Field kFunction[] = {
    {"name", 1, Kind::Bytes}, {"input", 4, Kind::Bytes}, {"output", 5, Kind::Bytes},
    {"attribute", 6, Kind::Bytes}, {"node", 7, Kind::Message, &kNodeMessage}, {"doc_string", 8, Kind::Bytes},
    {"opset_import", 9, Kind::Message, &kOpsetMessage}, {"domain", 10, Kind::Bytes},
    {"attribute_proto", 11, Kind::Message, &kAttributeMessage},
    {"value_info", 12, Kind::Message, &kValueInfoMessage}, {"overload", 13, Kind::Bytes}};
constexpr Field kPair[] = {{"key", 1, Kind::Bytes}, {"value", 2, Kind::Bytes}};
const Message kModelMessage{kModel};
const Message kGraphMessage{kGraph};
const Message kNodeMessage{kNode, true};
const Message kAttributeMessage{kAttribute};
const Message kTensorMessage{kTensor};
const Message kSegmentMessage{kSegment};
const Message kValueInfoMessage{kValueInfo};
const Message kTypeMessage{kType};
const Message kTensorTypeMessage{kTensorType};
const Message kShapeMessage{kShape};
const Message kDimensionMessage{kDimension};
const Message kSequenceMessage{kSequence};
const Message kMapMessage{kMap};
const Message kOpaqueMessage{kOpaque};
const Message kSparseMessage{kSparse};
const Message kOpsetMessage{kOpset};
const Message kFunctionMessage{kFunction};
const Message kPairMessage{kPair};
// clang-format on

}  // namespace

Result<std::string> text_to_wire(std::string_view text, Diagnostics& diags) {
  return proto_text::to_wire(text, kModelMessage, proto_text::UnknownFields::Warn, diags);
}

}  // namespace perfc::onnx
