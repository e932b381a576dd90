#include "frontends/onnx/tensor_records.h"

#include <vector>

#include "frontends/onnx/onnx.h"
#include "frontends/onnx/proto.h"
#include "frontends/onnx/text.h"

namespace perfc::onnx {
namespace {

/// Collects records; graphs that are still to be walked wait in a list, however deeply they are nested.
class RecordWalk {
 public:
  explicit RecordWalk(Bytes file, TensorRecords& out) : file_(file), out_(out) {}

  void run() {
    const auto model = decode_model(file_, damage_);
    if (!model || !model->graph) return;
    for (const OpsetView& o : model->opsets) {
      if (o.domain.empty() || o.domain == "ai.onnx") out_.opset = o.version;
    }
    graphs_.push_back(*model->graph);
    for (Bytes record : model->functions) {
      if (const auto function = decode_function(record, damage_)) nodes(function->nodes);
    }
    while (!graphs_.empty()) {
      const Bytes record = graphs_.back();
      graphs_.pop_back();
      const auto graph = decode_graph(record, damage_);
      if (!graph) continue;
      for (Bytes tensor : graph->initializers) add(tensor, tensor);
      nodes(graph->nodes);
    }
  }

 private:
  void nodes(const std::vector<Bytes>& records) {
    for (Bytes record : records) {
      const auto node = decode_node(record, damage_);
      if (!node) continue;
      for (const AttrView& a : node->attributes) {
        if (a.type == AttrType::Graph || a.type == AttrType::Graphs) {
          for (Bytes body : messages(a, a.type == AttrType::Graph ? 6 : 11)) graphs_.push_back(body);
        }
        if (a.type != AttrType::Tensor || node->op_type != "Constant") continue;
        if (const auto value = payload(a, 5)) add(record, value->bytes);
      }
    }
  }

  void add(Bytes place, Bytes tensor) { out_.by_offset.emplace(place.data() - file_.data(), tensor); }

  Bytes file_;
  TensorRecords& out_;
  std::vector<Bytes> graphs_;
  Damage damage_;  ///< the import has reported it
};

}  // namespace

Result<TensorRecords> tensor_records(const Source& source, Diagnostics& diags) {
  TensorRecords out;
  const FrontendDef* frontend = frontend_of(source);
  if (!frontend) return out;
  if (frontend->import == import_text) {
    auto message = text_to_wire(source.bytes(), diags);
    if (!message) return Failure{};
    out.message = std::move(*message);
    RecordWalk(out.message, out).run();
  } else if (frontend->import == import_binary) {
    RecordWalk(source.bytes(), out).run();
  }
  return out;
}

std::int32_t onnx_number(DType dtype) {
  constexpr std::int32_t kMost = 64;
  for (std::int32_t number = 1; number < kMost; ++number) {
    if (dtype != DType::Undefined && dtype_from_onnx(number) == dtype) return number;
  }
  return 0;
}

}  // namespace perfc::onnx
