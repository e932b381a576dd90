#pragma once
/// The IR as an ONNX file.
///
/// Every operator has a row in `rows.cpp`: the ONNX operator that it is, or the expression of ONNX operators that
/// computes it. What has no form there is an error that names the operator and its place. Every value of the IR keeps
/// its name and has its type in the file.
///
/// Contents of weights are copied from the source, byte by byte, where it has them. Weights that it does not have refer
/// to an external file of the right size, which does not exist (docs/onnx-out.md).
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "frontends/onnx/tensor_records.h"
#include "ir/graph.h"
#include "ir/support/output_file.h"

namespace perfc::backends {

/// The operator set of ai.onnx that files are written in. What 22 adds to it is bfloat16 alone, and onnxruntime has no
/// kernels of 22 for some operators (RandomUniformLike). Operators and element types that came later raise it.
inline constexpr std::int64_t kOpset = 21;

enum class Weights : std::uint8_t {
  Copied,    ///< where the source has them
  Stripped,  ///< those above `kMostKept` bytes are zeros that take no room: sparse tensors without an element
};
inline constexpr std::size_t kMostKept = 1024;

struct OnnxOptions {
  Weights weights = Weights::Copied;
  std::string source_dir;  ///< external data of the source lies below it
  std::string output;      ///< path of the file; external data is named after it
};

/// Contents of one weight: its bytes, or where they are, so that a file of any size is written in little memory.
struct WeightPart {
  std::string bytes;
  FilePart file;  ///< of an empty path: none
};

/// What is written. Above protobuf's 2 GiB the weights are in a file of their own.
struct OnnxFile {
  std::string model;
  std::string weights_name;  ///< beside the model; empty: no such file
  std::vector<WeightPart> weights;
};

Result<OnnxFile> to_onnx(const Graph&, const onnx::TensorRecords&, const OnnxOptions&, Diagnostics&);

/// One operator of the IR and its form: an operator or expression of ONNX, "several" of its operators, or none (then
/// `why_not`, as in docs/onnx-out.md).
struct OnnxForm {
  std::string_view op;
  std::string form;
  std::string_view why_not;
};
std::vector<OnnxForm> onnx_forms();

}  // namespace perfc::backends
