#pragma once
/// Where the tensors of an ONNX file are: what a writer copies the contents of weights from.
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

#include "frontends/frontend.h"

namespace perfc::onnx {

/// TensorProto records, by what the constants that they become have as `SourceLoc::offset`: the place of the
/// initializer, or of the Constant node. They live as long as this and the source.
struct TensorRecords {
  std::string message;  ///< of text files: their wire format
  std::unordered_map<std::int64_t, std::string_view> by_offset;
  std::int64_t opset = 0;  ///< the file's version of ai.onnx
};

/// Of every graph, body and function of the file; none of a source that is no ONNX model. Only headers are looked at.
Result<TensorRecords> tensor_records(const Source&, Diagnostics&);

/// The number of an element type in TensorProto.DataType; 0 where ONNX has none.
std::int32_t onnx_number(DType);

}  // namespace perfc::onnx
