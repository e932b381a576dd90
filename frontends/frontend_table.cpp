#include <array>

#include "frontends/frontend.h"
#include "frontends/keras/keras.h"
#include "frontends/onnx/onnx.h"
#include "frontends/openvino/openvino.h"
#include "frontends/paddle/paddle.h"
#include "frontends/pir/pir.h"
#include "frontends/stablehlo/stablehlo.h"
#include "frontends/tf/tf.h"
#include "frontends/torch/torch.h"

namespace perfc {
namespace {
constexpr std::array kTable{
    FrontendDef{.name = "onnx",
                .summary = "ONNX, binary",
                .extensions = ".onnx .onnx.pb",
                .sniff = onnx::sniff_binary,
                .import = onnx::import_binary,
                .coverage = onnx::coverage,
                .written_by = WrittenBy::Exporter,
                .weights = &onnx::kWeightFields},
    FrontendDef{.name = "onnxtxt",
                .summary = "ONNX, protobuf text",
                .extensions = ".onnxtxt .onnx.pbtxt .onnx.textproto .prototxt",
                .sniff = onnx::sniff_text,
                .import = onnx::import_text,
                .written_by = WrittenBy::Exporter},
    FrontendDef{.name = "tf",
                .summary = "TensorFlow SavedModel or GraphDef, binary",
                .extensions = "saved_model.pb .frozen.pb .graphdef",
                .sniff = tf::sniff_binary,
                .import = tf::import_binary,
                .coverage = tf::coverage,
                .written_by = WrittenBy::Framework,
                .signatures = true,
                .weights = &tf::kWeightFields},
    FrontendDef{.name = "tftxt",
                .summary = "TensorFlow SavedModel or GraphDef, protobuf text",
                .extensions = ".pbtxt .textproto",
                .sniff = tf::sniff_text,
                .import = tf::import_text,
                .written_by = WrittenBy::Framework,
                .signatures = true},
    FrontendDef{.name = "pir",
                .summary = "perfc's text form",
                .extensions = ".pir",
                .sniff = pir::sniff,
                .import = pir::import_text},
    FrontendDef{.name = "torch",
                .summary = "TorchScript as JSON",
                .extensions = ".json",
                .sniff = torch::sniff_json,
                .import = torch::import_json,
                .coverage = torch::coverage},
    FrontendDef{.name = "keras",
                .summary = "Keras 3 archive",
                .extensions = ".keras",
                .sniff = keras::sniff,
                .import = keras::import_archive,
                .coverage = keras::coverage,
                .written_by = WrittenBy::Framework},
    FrontendDef{.name = "pt2",
                .summary = "torch.export archive",
                .extensions = ".pt2 .pt .pth .ptl",
                .sniff = torch::sniff_archive,
                .import = torch::import_archive},
    FrontendDef{.name = "paddle",
                .summary = "PaddlePaddle program, binary",
                .extensions = ".pdmodel __model__",
                .sniff = paddle::sniff_program,
                .import = paddle::import_program,
                .coverage = paddle::coverage,
                .written_by = WrittenBy::Framework},
    FrontendDef{.name = "paddlejson",
                .summary = "PaddlePaddle program, PIR as JSON",
                .extensions = ".json .pir.json",
                .sniff = paddle::sniff_pir,
                .import = paddle::import_pir,
                .written_by = WrittenBy::Framework},
    FrontendDef{.name = "stablehlo",
                .summary = "StableHLO text (JAX, torch_xla)",
                .extensions = ".mlir .stablehlo",
                .sniff = stablehlo::sniff,
                .import = stablehlo::import_text,
                .coverage = stablehlo::coverage,
                .written_by = WrittenBy::Lowered},
    FrontendDef{.name = "openvino",
                .summary = "OpenVINO IR",
                .extensions = ".xml",
                .sniff = openvino::sniff,
                .import = openvino::import_xml,
                .coverage = openvino::coverage,
                .written_by = WrittenBy::Exporter},
};
}  // namespace

std::span<const FrontendDef> frontend_table() { return kTable; }
}  // namespace perfc
