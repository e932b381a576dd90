#include "frontends/tf/text.h"

#include "frontends/common/proto_text.h"
#include "frontends/tf/proto.h"

namespace perfc::tf {
namespace {

using proto_text::Enumerator;
using proto_text::Field;
using proto_text::Kind;
using proto_text::Message;

// Field numbers: tensorflow/core/protobuf/{saved_model,meta_graph,saved_object_graph}.proto and
// tensorflow/core/framework/{graph,node_def,attr_value,function,op_def,tensor,tensor_shape,types}.proto.
// clang-format off
constexpr Enumerator kDataTypes[] = {
    {"DT_INVALID", 0}, {"DT_FLOAT", 1}, {"DT_DOUBLE", 2}, {"DT_INT32", 3}, {"DT_UINT8", 4}, {"DT_INT16", 5},
    {"DT_INT8", 6},
    {"DT_STRING", 7}, {"DT_COMPLEX64", 8}, {"DT_INT64", 9}, {"DT_BOOL", 10}, {"DT_QINT8", 11}, {"DT_QUINT8", 12},
    {"DT_QINT32", 13}, {"DT_BFLOAT16", 14}, {"DT_QINT16", 15}, {"DT_QUINT16", 16}, {"DT_UINT16", 17},
    {"DT_COMPLEX128", 18},
    {"DT_HALF", 19}, {"DT_RESOURCE", 20}, {"DT_VARIANT", 21}, {"DT_UINT32", 22}, {"DT_UINT64", 23},
    {"DT_FLOAT8_E5M2", 24},
    {"DT_FLOAT8_E4M3FN", 25}, {"DT_FLOAT8_E4M3FNUZ", 26}, {"DT_FLOAT8_E4M3B11FNUZ", 27}, {"DT_FLOAT8_E5M2FNUZ", 28},
    {"DT_INT4", 29}, {"DT_UINT4", 30}, {"DT_INT2", 31}, {"DT_UINT2", 32},
    {"DT_FLOAT_REF", 101}, {"DT_DOUBLE_REF", 102}, {"DT_INT32_REF", 103}, {"DT_UINT8_REF", 104}, {"DT_INT16_REF", 105},
    {"DT_INT8_REF", 106}, {"DT_STRING_REF", 107}, {"DT_COMPLEX64_REF", 108}, {"DT_INT64_REF", 109},
    {"DT_BOOL_REF", 110},
    {"DT_BFLOAT16_REF", 114}, {"DT_HALF_REF", 119}, {"DT_RESOURCE_REF", 120}, {"DT_VARIANT_REF", 121}};

extern const Message kSavedModel, kMetaGraph, kMetaInfo, kGraph, kNode, kAttrEntry, kAttr, kAttrList, kNameAttrs,
    kShape, kDim,
    kTensor, kLibrary, kFunction, kRetEntry, kOp, kArg, kHandleData, kSignatureEntry, kSignature, kTensorInfoEntry,
    kTensorInfo,
    kObjects, kObject, kVariable;

constexpr Field kSavedModelFields[] = {
    {"saved_model_schema_version", 1, Kind::Int}, {"meta_graphs", 2, Kind::Message, &kMetaGraph}};
constexpr Field kMetaGraphFields[] = {
    {"meta_info_def", 1, Kind::Message, &kMetaInfo}, {"graph_def", 2, Kind::Message, &kGraph},
    {"signature_def", 5, Kind::Message, &kSignatureEntry}, {"object_graph_def", 7, Kind::Message, &kObjects}};
constexpr Field kMetaInfoFields[] = {{"tags", 4, Kind::Bytes}};
constexpr Field kGraphFields[] = {
    {"node", 1, Kind::Message, &kNode}, {"library", 2, Kind::Message, &kLibrary}};
constexpr Field kNodeFields[] = {
    {"name", 1, Kind::Bytes}, {"op", 2, Kind::Bytes}, {"input", 3, Kind::Bytes},
    {"attr", 5, Kind::Message, &kAttrEntry}};
constexpr Field kAttrEntryFields[] = {{"key", 1, Kind::Bytes}, {"value", 2, Kind::Message, &kAttr}};
constexpr Field kAttrFields[] = {
    {"list", 1, Kind::Message, &kAttrList}, {"s", 2, Kind::Bytes}, {"i", 3, Kind::Int}, {"f", 4, Kind::Float},
    {"b", 5, Kind::Int},
    {"type", 6, Kind::Enum, nullptr, kDataTypes}, {"shape", 7, Kind::Message, &kShape},
    {"tensor", 8, Kind::Message, &kTensor},
    {"placeholder", 9, Kind::Bytes}, {"func", 10, Kind::Message, &kNameAttrs}};
constexpr Field kAttrListFields[] = {
    {"s", 2, Kind::Bytes}, {"i", 3, Kind::Int}, {"f", 4, Kind::Float}, {"b", 5, Kind::Int},
    {"type", 6, Kind::Enum, nullptr, kDataTypes}, {"shape", 7, Kind::Message, &kShape},
    {"tensor", 8, Kind::Message, &kTensor},
    {"func", 9, Kind::Message, &kNameAttrs}};
constexpr Field kNameAttrsFields[] = {{"name", 1, Kind::Bytes}, {"attr", 2, Kind::Message, &kAttrEntry}};
constexpr Field kShapeFields[] = {{"dim", 2, Kind::Message, &kDim}, {"unknown_rank", 3, Kind::Int}};
constexpr Field kDimFields[] = {{"size", 1, Kind::Int}};
constexpr Field kTensorFields[] = {
    {"dtype", 1, Kind::Enum, nullptr, kDataTypes}, {"tensor_shape", 2, Kind::Message, &kShape},
    {"tensor_content", 4, Kind::Payload},
    {"float_val", 5, Kind::Float}, {"double_val", 6, Kind::Double}, {"int_val", 7, Kind::Int},
    {"string_val", 8, Kind::Bytes},
    {"int64_val", 10, Kind::Int}, {"bool_val", 11, Kind::Int}, {"half_val", 13, Kind::Int},
    {"uint32_val", 16, Kind::Int},
    {"uint64_val", 17, Kind::Int}};
constexpr Field kLibraryFields[] = {{"function", 1, Kind::Message, &kFunction}};
constexpr Field kFunctionFields[] = {
    {"signature", 1, Kind::Message, &kOp}, {"node_def", 3, Kind::Message, &kNode},
    {"ret", 4, Kind::Message, &kRetEntry},
    {"attr", 5, Kind::Message, &kAttrEntry}};
constexpr Field kRetEntryFields[] = {{"key", 1, Kind::Bytes}, {"value", 2, Kind::Bytes}};
constexpr Field kOpFields[] = {
    {"name", 1, Kind::Bytes}, {"input_arg", 2, Kind::Message, &kArg}, {"output_arg", 3, Kind::Message, &kArg}};
constexpr Field kArgFields[] = {
    {"name", 1, Kind::Bytes}, {"type", 3, Kind::Enum, nullptr, kDataTypes},
    {"handle_data", 7, Kind::Message, &kHandleData}};
constexpr Field kHandleDataFields[] = {
    {"dtype", 1, Kind::Enum, nullptr, kDataTypes}, {"shape", 2, Kind::Message, &kShape}};
constexpr Field kSignatureEntryFields[] = {{"key", 1, Kind::Bytes}, {"value", 2, Kind::Message, &kSignature}};
constexpr Field kSignatureFields[] = {
    {"inputs", 1, Kind::Message, &kTensorInfoEntry}, {"outputs", 2, Kind::Message, &kTensorInfoEntry},
    {"method_name", 3, Kind::Bytes}};
constexpr Field kTensorInfoEntryFields[] = {{"key", 1, Kind::Bytes}, {"value", 2, Kind::Message, &kTensorInfo}};
constexpr Field kTensorInfoFields[] = {
    {"name", 1, Kind::Bytes}, {"dtype", 2, Kind::Enum, nullptr, kDataTypes},
    {"tensor_shape", 3, Kind::Message, &kShape}};
constexpr Field kObjectsFields[] = {{"nodes", 1, Kind::Message, &kObject}};
constexpr Field kObjectFields[] = {{"variable", 7, Kind::Message, &kVariable}};
constexpr Field kVariableFields[] = {
    {"dtype", 1, Kind::Enum, nullptr, kDataTypes}, {"shape", 2, Kind::Message, &kShape}, {"name", 6, Kind::Bytes}};

const Message kSavedModel{kSavedModelFields};
const Message kMetaGraph{kMetaGraphFields};
const Message kMetaInfo{kMetaInfoFields};
const Message kGraph{kGraphFields};
const Message kNode{kNodeFields, true};
const Message kAttrEntry{kAttrEntryFields};
const Message kAttr{kAttrFields};
const Message kAttrList{kAttrListFields};
const Message kNameAttrs{kNameAttrsFields};
const Message kShape{kShapeFields};
const Message kDim{kDimFields};
const Message kTensor{kTensorFields};
const Message kLibrary{kLibraryFields};
const Message kFunction{kFunctionFields, true};
const Message kRetEntry{kRetEntryFields};
const Message kOp{kOpFields};
const Message kArg{kArgFields};
const Message kHandleData{kHandleDataFields};
const Message kSignatureEntry{kSignatureEntryFields};
const Message kSignature{kSignatureFields};
const Message kTensorInfoEntry{kTensorInfoEntryFields};
const Message kTensorInfo{kTensorInfoFields};
const Message kObjects{kObjectsFields};
const Message kObject{kObjectFields};
const Message kVariable{kVariableFields};
// clang-format on

}  // namespace

namespace {

/// From the first field on, comments left out.
std::string_view from_first_field(std::string_view text) {
  for (;;) {
    const std::size_t start = text.find_first_not_of(" \t\r\n");
    if (start == std::string_view::npos) return {};
    text.remove_prefix(start);
    if (text[0] != '#') return text;
    text.remove_prefix(std::min(text.find('\n'), text.size()));
  }
}

}  // namespace

std::optional<WireForm> form_of_text(std::string_view text) {
  text = from_first_field(text);
  if (text.starts_with("saved_model_schema_version") || text.starts_with("meta_graphs")) return WireForm::SavedModel;
  if (text.starts_with("meta_info_def") || text.starts_with("graph_def")) return WireForm::MetaGraph;
  return std::nullopt;
}

Result<WireModel> text_to_wire(std::string_view text, Diagnostics& diags) {
  const WireForm form = form_of_text(text).value_or(WireForm::Graph);
  const Message& message = form == WireForm::SavedModel  ? kSavedModel
                           : form == WireForm::MetaGraph ? kMetaGraph
                                                         : kGraph;
  auto bytes = proto_text::to_wire(text, message, proto_text::UnknownFields::Skip, diags);
  if (!bytes) return Failure{};
  return WireModel{std::move(*bytes), form};
}

}  // namespace perfc::tf
