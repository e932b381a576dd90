#include "frontends/foreign.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdint>
#include <string>

namespace perfc {
namespace {

using namespace std::string_view_literals;

/// Where a zip archive's directory of members is looked for, counted from its end.
constexpr std::size_t kZipDirectory = std::size_t{1} << 20;

bool starts(std::string_view bytes, std::size_t offset, std::string_view magic) {
  return bytes.size() >= offset && bytes.substr(offset).starts_with(magic);
}

/// A zip archive with a member whose name ends so. Names stand uncompressed in the directory at its end.
bool zip_with(std::string_view bytes, std::string_view member) {
  return bytes.starts_with("PK\x03\x04") &&
         bytes.substr(bytes.size() - std::min(bytes.size(), kZipDirectory)).find(member) != bytes.npos;
}

/// Eight bytes of length, then a JSON object.
bool is_safetensors(std::string_view bytes) {
  if (!starts(bytes, 8, "{\"")) return false;
  std::uint64_t header = 0;
  for (int i = 7; i >= 0; --i) header = header << 8 | static_cast<unsigned char>(bytes[static_cast<std::size_t>(i)]);
  return header >= 2 && header <= bytes.size() - 8;
}

/// Lines "1: …" or "2 {", as protoc prints fields whose names it does not know.
bool is_raw_protobuf_text(std::string_view bytes) {
  const std::size_t digits = std::min(bytes.find_first_not_of("0123456789"), bytes.size());
  const std::string_view rest = bytes.substr(digits);
  if (digits == 0 || digits > 9 || !(rest.starts_with(": ") || rest.starts_with(" {\n"))) return false;
  const std::string_view head = bytes.substr(0, 4096);
  return head.find(" {\n") != head.npos;
}

/// A length in 4 bytes, a JSON object of metadata, then the engine: as Ultralytics writes them.
std::string_view without_metadata(std::string_view bytes) {
  if (!starts(bytes, 4, "{\"")) return bytes;
  std::uint64_t length = 0;
  for (std::size_t i = 4; i-- > 0;) length = length << 8 | static_cast<unsigned char>(bytes[i]);
  return bytes.size() > length + 4 ? bytes.substr(4 + length) : bytes;
}

/// Names of the tags: Netron, source/tensorrt.js.
bool is_tensorrt_engine(std::string_view bytes) {
  const std::string_view engine = without_metadata(bytes);
  return engine.starts_with("ftrt") || engine.starts_with("ptrt");
}

/// Protobuf: a version, then a description, which begins with the feature descriptions of its inputs
/// (apple/coremltools, mlmodel/format/Model.proto). ONNX has the writer's name there.
bool is_core_ml(std::string_view bytes) {
  if (bytes.size() < 16 || bytes[0] != '\x08' || bytes[1] < 1 || bytes[2] != '\x12') return false;
  std::size_t at = 3;
  while (at < 8 && (bytes[at] & '\x80')) ++at;
  return bytes[at + 1] == '\x0a' && bytes[at + 3] == '\x0a';
}

/// Protocols 2 to 5; PyTorch's checkpoints from before 1.6 are such files, too.
bool is_pickle(std::string_view bytes) {
  return bytes.size() > 2 && bytes[0] == '\x80' && bytes[1] >= 2 && bytes[1] <= 5;
}

bool is_html(std::string_view bytes) {
  const std::size_t first = bytes.find_first_not_of(" \t\r\n");
  if (first == bytes.npos) return false;
  std::string head(bytes.substr(first, 14));
  std::ranges::transform(head, head.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return head.starts_with("<html") || head == "<!doctype html";
}

/// LevelDB's table format, which ends with this number (table_format.md): the index of a TensorFlow checkpoint.
bool is_checkpoint_index(std::string_view bytes) {
  return bytes.size() >= 48 && bytes.ends_with("\x57\xfb\x80\x8b\x24\x75\x47\xdb");
}

struct Foreign {
  bool (*matches)(std::string_view bytes);
  std::string_view what;
};

constexpr std::array kForeign{
    Foreign{[](std::string_view b) { return b.starts_with("\x1f\x8b"); },
            "compressed with gzip; unpack it (gunzip, or tar -xzf) and give the model in it"},
    Foreign{[](std::string_view b) {
  return b.starts_with(
      "\xfd"
      "7zXZ\0"sv);
            },
            "compressed with xz; unpack it (xz -d, or tar -xJf) and give the model in it"},
    Foreign{[](std::string_view b) { return b.starts_with("\x28\xb5\x2f\xfd"); },
            "compressed with zstd; unpack it (zstd -d) and give the model in it"},
    Foreign{[](std::string_view b) { return b.starts_with("BZh") && starts(b, 4, "1AY&SY"); },
            "compressed with bzip2; unpack it (bunzip2, or tar -xjf) and give the model in it"},
    Foreign{[](std::string_view b) { return b.starts_with("7z\xbc\xaf\x27\x1c"); },
            "a 7z archive; unpack it and give the model in it"},
    Foreign{[](std::string_view b) { return starts(b, 257, "ustar"); },
            "a tar archive; unpack it (tar -xf) and give the model in it, of a SavedModel the directory"},
    Foreign{
        [](std::string_view b) { return zip_with(b, "saved_model.pb"); },
        "a zip archive of a TensorFlow SavedModel; unpack it (unzip) and give the directory that holds saved_model.pb"},
    Foreign{[](std::string_view b) { return zip_with(b, ".onnx"); },
            "a zip archive of an ONNX model; unpack it (unzip) and give the .onnx file in it"},
    Foreign{[](std::string_view b) { return zip_with(b, ".mlmodel"); },
            "a zip archive of a Core ML model; give the PyTorch or TensorFlow model that it was converted from"},
    Foreign{[](std::string_view b) { return b.starts_with("\x93NUMPY") || zip_with(b, ".npy"); },
            "NumPy arrays, weights without a graph; export the model that they belong to, e.g. to ONNX"},
    Foreign{[](std::string_view b) { return b.starts_with("version https://git-lfs.github.com/spec/"); },
            "a Git LFS pointer, not the file that it stands for; fetch that with git lfs pull"},
    Foreign{is_html,
            "an HTML page, as a server sends it in the place of a file that it does not give; download the "
            "model again"},
    Foreign{[](std::string_view b) { return b.starts_with("\x89HDF\r\n\x1a\n"); },
            "an HDF5 file (Keras .h5), which holds layers and weights but no graph; load it in Keras, call "
            "model.export(\"DIR\") and give DIR"},
    Foreign{[](std::string_view b) { return starts(b, 4, "TFL3"); },
            "a TensorFlow Lite model; give the SavedModel that it was converted from"},
    Foreign{[](std::string_view b) { return starts(b, 4, "ORTM"); },
            "ONNX Runtime's own format (.ort); give the ONNX model that it was converted from"},
    Foreign{[](std::string_view b) { return starts(b, 4, "PTMF") || starts(b, 4, "ET1"); },
            "a PyTorch model for phones (ExecuTorch or Lite Interpreter); export the module with torch.export and give "
            "the .pt2 file"},
    Foreign{
        is_tensorrt_engine,
        "a TensorRT engine, built for one GPU; give the ONNX model that it was built from, with --runtime tensorrt"},
    Foreign{is_core_ml, "a Core ML model; give the PyTorch or TensorFlow model that it was converted from"},
    Foreign{
        [](std::string_view b) { return b.starts_with("ML\xefR"); },
        "MLIR bytecode; write it as text: exported.mlir_module() of jax.export, or stablehlo-opt FILE -o model.mlir"},
    Foreign{[](std::string_view b) { return b.starts_with("HloModule "); },
            "XLA's HLO text; write StableHLO: exported.mlir_module() of jax.export"},
    Foreign{[](std::string_view b) { return b.starts_with("7767517\n"); },
            "an ncnn model; give the ONNX or PyTorch model that it was converted from"},
    Foreign{[](std::string_view b) { return b.starts_with("GGUF"); },
            "weights without a graph (GGUF); export the model that they belong to, e.g. to ONNX"},
    Foreign{is_safetensors,
            "weights without a graph (safetensors); export the model that they belong to, e.g. to ONNX"},
    Foreign{
        is_checkpoint_index,
        "the index of a TensorFlow checkpoint, weights without a graph; give the SavedModel, or the GraphDef beside "
        "it (graph.pbtxt)"},
    Foreign{is_pickle,
            "a Python pickle (weights, or a module by reference): it holds no program. Export the module with "
            "`python -m perfc.export module:factory`"},
    Foreign{
        is_raw_protobuf_text,
        "protobuf text with field numbers instead of names (protoc --decode_raw); give the binary file, or decode it "
        "with its "
        "schema (protoc --decode=tensorflow.SavedModel)"},
    };

}  // namespace

std::optional<std::string_view> foreign_format(std::string_view bytes) {
  const auto it =
      std::find_if(kForeign.begin(), kForeign.end(), [bytes](const Foreign& f) { return f.matches(bytes); });
  return it == kForeign.end() ? std::nullopt : std::optional(it->what);
}

}  // namespace perfc
