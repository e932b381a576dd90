/// Which arguments of the main function are weights, and what they are called.
///
/// XLA knows no weights: jax passes them like inputs, one argument per leaf of a tree. Their names, which jax writes
/// with debug information and jax.export always, are the path in that tree: "params['Dense_0']['kernel']",
/// "model.layers[0].weight", "x", "args[0]". docs/stablehlo.md states the rules.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "frontends/stablehlo/cursor.h"
#include "frontends/stablehlo/importer.h"

namespace perfc::stablehlo {
namespace {

/// What trees of weights are called, by convention of flax, equinox, haiku and torch_xla.
constexpr std::array<std::string_view, 9> kTreesOfWeights{"params",      "variables",  "state",    "weights", "model",
                                                          "batch_stats", "parameters", "graphdef", "module"};

/// What torch_xla calls its modules ("IrToHlo.24"): arguments are in the order in which its graph meets them.
constexpr std::string_view kTorchXla = "IrToHlo";

/// What a path begins with: "params" of "params['Dense_0']", and "args[0]", an argument of its own, as a whole.
std::string_view root_of(std::string_view path) {
  const auto end = path.find_first_of("[.");
  if (end == path.npos) return path;
  const std::string_view root = path.substr(0, end);
  if (root != "args" && root != "kwargs") return root;
  const auto close = path.find(']', end);
  return close == path.npos ? path : path.substr(0, close + 1);
}

std::int64_t leading(const Type& t) {
  return t.is_tensor() && t.ranked() && t.rank() > 0 && t.shape()[0].known() ? t.shape()[0].value() : -1;
}

bool is_open(const Type& t) {
  return t.ranked() && std::ranges::any_of(t.shape(), [](const Dim& d) { return !d.known(); });
}

/// Of a tree with several leaves: weights, unless it looks like a batch of data (integers, or one leading dim of all).
bool tree_of_weights(std::string_view root, const std::vector<const Type*>& leaves) {
  if (std::ranges::find(kTreesOfWeights, root) != kTreesOfWeights.end()) return true;
  const auto open = std::ranges::any_of(leaves, [](const Type* t) { return is_open(*t); });
  const auto floats = std::ranges::all_of(leaves, [](const Type* t) { return is_float(t->dtype()); });
  const bool one_batch = std::ranges::all_of(
      leaves, [&](const Type* t) { return leading(*t) >= 0 && leading(*t) == leading(*leaves[0]); });
  return !open && floats && !one_batch;
}

}  // namespace

std::string_view Importer::label(std::string_view location) const {
  constexpr int kMaxAliases = 8;
  for (int steps = 0; steps < kMaxAliases && location.starts_with('#'); ++steps) {
    const auto it = module_.locations.find(location);
    if (it == module_.locations.end()) break;
    location = it->second;
  }
  Cursor at(location);
  at.skip();
  std::string_view text;
  const bool named = at.peek() == '"' && at.string(text);
  at.skip();
  return named && at.peek() != ':' ? text : std::string_view();  // "file.py":3:4 is a place
}

std::string Importer::name_of(const Argument& a, std::string_view fallback) const {
  const std::string_view name = label(a.location);
  return std::string(name.empty() || name.find('/') != name.npos ? fallback : name);
}

std::string Importer::name_of(const Operation& o) const {
  std::string_view path = label(o.location);
  if (path.starts_with("jit(")) path.remove_prefix(std::min(path.find('/'), path.size() - 1) + 1);
  const auto end = path.rfind('/');
  if (end != path.npos) return std::string(path.substr(0, end));
  return o.results.empty() ? std::string() : std::string(o.results[0].name);
}

/// With symbolic dims, jax.export wraps the function and leaves the names with the one inside.
std::string Importer::forwarded_name(const Function& main, const Argument& a, std::string_view fallback) const {
  const std::string own = name_of(a, {});
  if (!own.empty()) return own;
  for (const Operation& o : main.body.operations) {
    if (o.name != "call" && o.name != "func.call") continue;
    const auto it = functions_.find(o.symbol);
    for (std::size_t i = 0; it != functions_.end() && i < o.operands.size(); ++i) {
      if (o.operands[i].name == a.name && i < it->second->body.arguments.size())
        return name_of(it->second->body.arguments[i], fallback);
    }
  }
  return std::string(fallback);
}

std::vector<Importer::Input> Importer::classify(const Function& main) const {
  const auto& arguments = main.body.arguments;
  std::vector<Input> out;
  bool named = false;
  for (const Argument& a : arguments) {
    const std::string_view fallback = a.name.substr(std::min<std::size_t>(1, a.name.size()));
    out.push_back({forwarded_name(main, a, fallback), false});
    named = named || out.back().name != fallback;
  }
  const auto asked_for = [&](std::string_view name) {
    return std::ranges::any_of(options_.shapes, [&](const auto& s) { return s.first == name; }) ||
           std::ranges::any_of(options_.values, [&](const auto& v) { return v.first == name; }) ||
           std::ranges::any_of(options_.batch_axes, [&](const BatchAxis& a) { return a.input == name; });
  };
  if (named) {
    std::map<std::string_view, std::vector<const Type*>> trees;
    for (std::size_t i = 0; i < out.size(); ++i) trees[root_of(out[i].name)].push_back(&arguments[i].type);
    for (Input& in : out) {
      const std::string_view root = root_of(in.name);
      in.weight = root != in.name && tree_of_weights(root, trees[root]);
    }
  } else if (const auto weights = module_.name.starts_with(kTorchXla) ? weights_by_use(main) : std::vector<bool>();
             !weights.empty()) {
    for (std::size_t i = 0; i < out.size(); ++i) out[i].weight = weights[i];
  } else if (!arguments.empty()) {
    // Without names: weights come first. Data are integers, open dims, and what shares the last one's leading dim.
    const std::int64_t batch = leading(arguments.back().type);
    bool behind = true;
    for (std::size_t i = arguments.size(); i-- > 0;) {
      const Type& t = arguments[i].type;
      const bool same_batch = behind && t.is_tensor() && t.ranked() && t.rank() > 1 && leading(t) == batch;
      const bool last = i + 1 == arguments.size();
      behind = last || same_batch || !is_float(t.dtype());
      out[i].weight = !last && !same_batch && is_float(t.dtype()) && !is_open(t);
    }
  }
  for (Input& in : out) in.weight = in.weight && !asked_for(in.name);
  if (std::ranges::all_of(out, [](const Input& in) { return in.weight; })) {
    for (Input& in : out) in.weight = false;
  }
  return out;
}

Result<Values> Importer::parameters(const Function& main, GraphBuilder& builder) {
  const std::vector<Input> all = classify(main);
  std::vector<ModelInput> inputs;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (!all[i].weight) inputs.push_back({all[i].name, main.body.arguments[i].type, main.loc});
  }
  if (!dims_.apply(inputs, *diags_)) return Failure{};
  Values out;
  std::size_t next = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    Value v{.type = main.body.arguments[i].type};
    DataRef data;
    if (!all[i].weight) {
      v.type = inputs[next].type;
      data = inputs[next++].data;
    }
    if (v.type.is_tensor()) {
      v.base = all[i].weight ? builder.constant({v.type, nullptr}, all[i].name, main.loc)
                             : builder.var(v.type, all[i].name, main.loc, std::move(data));
    }
    for (std::size_t d = 0; v.type.is_tensor() && v.type.ranked() && d < v.type.rank(); ++d)
      v.where.push_back(static_cast<int>(d));
    out.push_back(std::move(v));
  }
  return out;
}

}  // namespace perfc::stablehlo
