#pragma once
/// One call of a layer or operation while it is translated: settings of its config, what it is given, its weights, and
/// the means to add to the graph.
#include <fmt/format.h>

#include "frontends/common/emitter.h"
#include "frontends/keras/importer.h"

namespace perfc::keras {

/// An argument with its tensors looked up.
struct Value {
  using Kind = Argument::Kind;
  Kind kind = Kind::None;
  ValueId tensor;
  std::int64_t integer = 0;
  double real = 0;
  std::string_view text;
  std::vector<Value> items;

  static Value of(ValueId v) { return {.kind = Kind::Tensor, .tensor = v}; }
  bool is_number() const { return kind == Kind::Integer || kind == Kind::Real || kind == Kind::Bool; }
  double number() const { return kind == Kind::Real ? real : static_cast<double>(integer); }
};

class Call : public Emitter {
 public:
  Call(Importer& importer, const LayerInfo& layer, std::size_t call, std::string path, std::vector<Value> args,
       std::vector<std::pair<std::string_view, Value>> named, int depth);

  Importer& importer;
  const LayerInfo& layer;
  std::size_t call;  ///< which of the layer's calls
  std::string path;  ///< of its weights: "encoder/dense"
  std::vector<Value> args;
  std::vector<std::pair<std::string_view, Value>> named;
  int depth;

  // ---- What the call is given
  /// All tensors of argument i: itself, or the items of a list.
  std::vector<ValueId> tensors(std::size_t i = 0) const;
  Operand tensor(std::size_t i = 0) const;
  /// Argument i or the named one; null when neither is given.
  const Value* argument(std::size_t i, std::string_view name) const;
  /// The tensor under a name; an empty id when there is none.
  ValueId tensor_named(std::string_view name) const;

  // ---- Settings; the fallback stands in where one is left out, null or of another kind.
  std::optional<json::Element> setting(std::string_view name) const { return json::member(layer.config, name); }
  bool given(std::string_view name) const;
  std::int64_t integer_or(std::string_view name, std::int64_t fallback) const;
  double real_or(std::string_view name, double fallback) const;
  bool flag(std::string_view name, bool fallback) const;
  std::string_view text_or(std::string_view name, std::string_view fallback) const;
  /// A list of integers, or one for all of `n`.
  Result<Ints> ints(std::string_view name, std::size_t n, std::int64_t fallback) const;
  /// A list of integers of any length; one integer is a list of it.
  Ints list_or(std::string_view name, Ints fallback) const;

  // ---- Types
  /// What the layer computes in and what its weights are kept in (its dtype policy).
  DType compute() const { return compute_; }
  DType variable() const { return variable_; }
  /// A weight in the type that the layer computes in.
  Operand weight(std::string_view name, const Ints& shape) const;
  bool channels_last() const { return text_or("data_format", "channels_last") == "channels_last"; }

  /// The layer inside of a wrapper, called with these tensors.
  Values inner(const json::Element& layer, std::string_view suffix, std::vector<ValueId> tensors) const;

  /// For forms that no operator of the IR stands for: the layer becomes opaque.
  Values unpriced();
  bool opaque = false;  ///< `unpriced` was asked for

 private:
  DType compute_ = DType::Float32, variable_ = DType::Float32;
};

/// A layer as a wrapper's config holds it.
std::optional<LayerInfo> layer_info(const std::optional<json::Element>&);

/// One result as `Values`.
inline Values one(const Operand& v) {
  if (!v) return Failure{};
  return std::vector<ValueId>{*v};
}

}  // namespace perfc::keras
