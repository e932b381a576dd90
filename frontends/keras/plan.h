#pragma once
/// A model's config: its layers, the calls of each (shared layers have several), and what the calls are given.
/// Format: keras/src/models/functional.py (get_config, serialize_node) and sequential.py, Keras 3; TensorFlow 2.12 to
/// 2.15 wrote archives of the same kind with the lists of Keras 2 in `inbound_nodes`.
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ir/support/json.h"
#include "ir/types.h"

namespace perfc::keras {

/// What a call is given: a tensor by the call that makes it, a number, a text, a list, a slice.
struct Argument {
  enum class Kind : std::uint8_t { None, Tensor, Integer, Real, Bool, Text, List, Slice, Ellipsis } kind = Kind::None;
  std::size_t layer = 0, call = 0, output = 0;  ///< Tensor
  std::int64_t integer = 0;                     ///< Integer, Bool
  double real = 0;
  std::string_view text;
  std::vector<Argument> items;  ///< List; of a Slice, start, stop and step
};

struct LayerCall {
  std::vector<Argument> args;
  std::vector<std::pair<std::string_view, Argument>> named;
};

struct LayerInfo {
  std::string_view name, class_name, module, registered_name;
  json::Element config;
  std::vector<LayerCall> calls;
  std::map<std::size_t, Type> declared;  ///< of outputs, by call · kMostOutputs + output, where a user tells
};

inline constexpr std::size_t kMostOutputs = 1 << 10;  ///< of a call
inline constexpr int kMaxModels = 16;                 ///< models within models

struct Plan {
  std::vector<LayerInfo> layers;
  struct Step {
    std::size_t layer, call;
  };
  std::vector<Step> steps;  ///< operands before users
  std::vector<Argument> inputs, outputs;
  bool sequential = false;  ///< every layer feeds the next one
};

/// `config` of a Functional or Sequential; `what` names the model in messages.
Result<Plan> read_plan(const json::Element& config, bool sequential, std::string_view what, Diagnostics&);

}  // namespace perfc::keras
