#pragma once
/// OpenVINO IR → IR: inputs, weights, results, bodies. The translators of single layers see a `Call`.
#include <optional>
#include <vector>

#include "frontends/common/input_dims.h"
#include "frontends/frontend.h"
#include "frontends/openvino/model.h"
#include "ir/rewriter.h"

namespace perfc::openvino {

using Values = Result<std::vector<ValueId>>;

/// The values of one net: of each layer, those of its outputs; none where it failed and was reported.
struct Frame {
  GraphBuilder& builder;
  const Net& net;
  int depth = 0;
  std::vector<std::vector<ValueId>> values = {};
};

class Call;

class Importer {
 public:
  /// `name`: of the .xml, in messages. `path`: where it is; the .bin of the same name lies beside it. Empty: none does.
  Importer(const Model& model, std::string name, std::string path, const ImportOptions& options, Diagnostics& diags)
      : model_(model), name_(std::move(name)), path_(std::move(path)), dims_(options), diags_(&diags) {}

  Result<Graph> run();

  /// Type that the file declares for an output, with what the user says of shapes; None where --shape contradicts it.
  Type declared(const Port&) const;
  /// A constant; contents are read from the .bin where shapes can depend on them.
  Result<ValueId> constant(Call&);
  Values loop(Call&);  ///< Loop and TensorIterator
  Values branches(Call&);

 private:
  Status declare_inputs(Frame&);
  Status run_layers(Frame&);
  Result<std::vector<ValueId>> run_layer(Frame&, const Layer&);
  Result<std::vector<ValueId>> opaque(Call&);
  /// Results in the integer types that the file declares; a contradiction is a warning.
  Status settle(Call&, std::vector<ValueId>& results);
  /// Bytes of the .bin, or nothing where it is missing or too short.
  std::optional<std::string_view> weights(std::uint64_t offset, std::uint64_t size);
  /// Translates a body with these parameters, by place in `net.parameters`; its results.
  Values run_body(Frame& inner, const std::vector<ValueId>& parameters);

  const Model& model_;
  std::string name_, path_;
  InputDims dims_;
  Diagnostics* diags_;  ///< swapped while a body is tried
  std::optional<InputFile> bin_;
  bool opened_ = false, missing_reported_ = false;
};

}  // namespace perfc::openvino
