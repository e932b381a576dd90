#pragma once
/// Reading models. One row per format in `frontends/frontend_table.cpp`.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ir/batch_axis.h"
#include "ir/graph.h"
#include "ir/support/input_file.h"

namespace perfc {

/// What the user says about shapes that the file leaves open.
struct ImportOptions {
  /// `--dim NAME=VALUE`: binds every dim of that name.
  std::vector<std::pair<std::string, std::int64_t>> dims;
  /// `--shape INPUT=d0,d1,…`: replaces the input's shape. An empty name means
  /// the only input.
  std::vector<std::pair<std::string, std::vector<std::int64_t>>> shapes;
  /// `--value INPUT=v0,v1,…`: what an input holds, in words; one fills it.
  std::vector<std::pair<std::string, std::vector<std::string>>> values;
  /// `--batch-axis INPUT=AXIS`: which dim counts samples, where it is not the first.
  std::vector<BatchAxis> batch_axes;
  /// Binds the open batch dim of every input (and every other dim of that
  /// name), so that `--batch N` works on files exported with a dynamic batch.
  std::optional<std::int64_t> open_batch;
  /// If set, what is true after an import in which `open_batch` bound a dim; else the graph is that of any open batch.
  bool* binds_open_batch = nullptr;
  /// `--signature NAME`: which of a SavedModel's signatures is read. Empty:
  /// serving_default, else the only one.
  std::string signature;
};

/// Whether a dim's name says that it counts samples: "batch_size", "bs".
bool names_batch(std::string_view dim);

/// A file's bytes with its name. They outlive the import only.
class Source {
 public:
  static constexpr std::string_view kStandardInput = "<stdin>";  ///< its name
  /// Any file (ir/support/input_file.h); "-" reads standard input.
  static Result<Source> open(const std::string& path, Diagnostics&);
  /// A model. Of a directory it is the graph in it (frontends/folder.h), which diagnostics then
  /// name; weights are never opened. Of a pipe that no front end knows
  /// only the head is read, and weights are stepped over.
  static Result<Source> open_model(const std::string& path, Diagnostics&);
  static Source from_bytes(std::string name, std::string bytes);

  const std::string& name() const { return name_; }
  /// Where the file is, for what lies beside it; empty: it is bytes, whatever their name says, and nothing does.
  std::string path() const { return file_ && name_ != kStandardInput ? name_ : std::string(); }
  std::string_view bytes() const { return file_ ? file_->bytes() : owned_; }

 private:
  Source() = default;
  std::string name_;
  std::string owned_;
  std::optional<InputFile> file_;
};

struct WeightFields;  // frontends/common/piped.h

/// One operator of a front end and what it becomes: IR operators, or words where
/// none remains ("a constant", "its body").
struct OpCoverage {
  std::string source;   ///< "Conv", "com.microsoft.FusedConv", "aten::conv2d"
  std::string becomes;  ///< "nn.conv1d nn.conv2d nn.conv3d"
};

struct FrontendDef {
  std::string_view name;  ///< "onnx"
  std::string_view summary;
  std::string_view extensions;           ///< ".onnx .onnx.pb", space-separated
  bool (*sniff)(std::string_view head);  ///< looks at the first bytes
  Result<Graph> (*import)(const Source&, const ImportOptions&, Diagnostics&);
  /// Every operator that is read, for `perfc ops`; null where another row of
  /// the same framework tells.
  std::vector<OpCoverage> (*coverage)() = nullptr;
  WrittenBy written_by = WrittenBy::Program;
  bool signatures = false;                ///< its models can have several entry points, by name
  const WeightFields* weights = nullptr;  ///< where its weights are, for pipes; null: they are read with the rest
};

std::span<const FrontendDef> frontend_table();

/// The front end of a file, by extension, else by content; null: none reads such a file.
const FrontendDef* frontend_of(const Source&);
/// Imports by the file's front end.
Result<Graph> import_model(const Source&, const ImportOptions&, Diagnostics&);

}  // namespace perfc
