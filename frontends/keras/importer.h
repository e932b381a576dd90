#pragma once
/// Keras models → IR: inputs, weights, the order of calls, models within models. The translators of single layers see a
/// `Call`.
#include <map>
#include <string>
#include <vector>

#include "frontends/common/input_dims.h"
#include "frontends/frontend.h"
#include "frontends/keras/plan.h"
#include "ir/builder.h"

namespace perfc::keras {

using Operand = Result<ValueId>;
using Values = Result<std::vector<ValueId>>;
using Ints = std::vector<std::int64_t>;

class Call;

class Importer {
 public:
  /// `root`: what config.json holds.
  Importer(const json::Element& root, std::string name, const ImportOptions& options, Diagnostics& diags)
      : root_(root), name_(std::move(name)), dims_(options), diags_(diags), builder_(diags) {}

  Result<Graph> run();

  GraphBuilder& builder() { return builder_; }
  /// The weight of this path; layers that are shared ask for one several times.
  ValueId weight(const std::string& path, const Type&, SourceLoc);
  /// A call of a layer: of a known class its translation, else opaque.
  Values apply(Call&);
  /// A model that is called as a layer.
  Values call_model(const LayerInfo&, const std::string& path, const std::vector<ValueId>& inputs, int depth);

 private:
  Values run_plan(const Plan&, const std::string& path, const std::vector<ValueId>& inputs, int depth);
  Values run_sequence(const Plan&, const std::string& path, ValueId input, int depth);
  /// A call of a layer, which may be a model itself.
  Values run_layer(const LayerInfo&, std::size_t call, const std::string& path, std::vector<struct Value> args,
                   std::vector<std::pair<std::string_view, Value>> named, int depth);
  Values opaque(Call&);
  /// A result that contradicts what the file declares is a warning.
  void check(const Call&, const std::vector<ValueId>& results);
  Type declared(const LayerInfo&, std::size_t call, std::size_t output) const;
  Result<Type> input_type(const LayerInfo&);
  Result<ValueId> sequential_input(const Plan&);

  json::Element root_;
  std::string name_;
  InputDims dims_;
  Diagnostics& diags_;
  GraphBuilder builder_;
  std::map<std::string, ValueId> weights_;
  std::size_t calls_ = 0;
};

}  // namespace perfc::keras
