/// The main graph and functions: their nodes, decoded once, and what the names of inputs refer to.
#include <fmt/format.h>

#include <algorithm>

#include "frontends/tf/importer.h"

namespace perfc::tf {

std::pair<std::string_view, std::uint32_t> split_output(std::string_view name) {
  const std::size_t colon = name.rfind(':');
  if (colon == std::string_view::npos) return {name, 0};
  std::uint32_t index = 0;
  for (char c : name.substr(colon + 1)) {
    if (c < '0' || c > '9' || index > 100000) return {name, 0};
    index = index * 10 + static_cast<std::uint32_t>(c - '0');
  }
  return {name.substr(0, colon), index};
}

Status Importer::index_body(Body& body, const std::vector<Bytes>& records) {
  Damage damage;
  body.nodes.reserve(records.size());
  body.by_name.reserve(records.size());
  for (std::size_t i = 0; i < records.size(); ++i) {
    auto n = decode_node(records[i], damage);
    if (!n) return damaged(damage);
    if (n->name.empty() || n->op.empty()) {
      return diags_->error(place(*n, static_cast<std::int64_t>(i)), n->name, "node without a name or an operator");
    }
    if (!body.by_name.emplace(n->name, static_cast<std::uint32_t>(i)).second) {
      return diags_->error(place(*n, static_cast<std::int64_t>(i)), n->name,
                           "a second node of this name; names must be unique");
    }
    body.nodes.push_back(std::move(*n));
  }
  return index_frames(body);
}

Result<Body> Importer::decode_main() {
  Body body;
  if (!meta_.graph) return diags_->error("the file holds no graph");
  for (const auto& [name, record] : meta_.graph->functions) {
    if (!functions_.emplace(name, record).second) { return diags_->error({}, name, "the function is defined twice"); }
  }
  if (!index_body(body, meta_.graph->nodes)) return Failure{};
  main_nodes_ = body.nodes.size();
  has_variables_ = std::any_of(body.nodes.begin(), body.nodes.end(), [](const NodeView& n) {
    return n.op == "VarHandleOp" || n.op == "VariableV2" || n.op == "Variable";
  });
  return body;
}

Result<const Body*> Importer::function_body(std::string_view name) {
  const auto done = bodies_.find(name);
  if (done != bodies_.end()) return static_cast<const Body*>(done->second.get());
  const auto record = functions_.find(name);
  if (record == functions_.end()) return static_cast<const Body*>(nullptr);
  Damage damage;
  auto function = decode_function(record->second, damage);
  if (!function) return damaged(damage);
  auto body = std::make_unique<Body>();
  body->is_function = true;
  for (std::size_t i = 0; i < function->args.size(); ++i) {
    body->arguments.emplace(function->args[i].name, static_cast<std::uint32_t>(i));
  }
  const std::vector<Bytes> nodes = std::move(function->nodes);
  body->function = std::move(*function);
  if (!index_body(*body, nodes)) return Failure{};
  return static_cast<const Body*>(bodies_.emplace(record->first, std::move(body)).first->second.get());
}

namespace {

/// What the name of an input stands for; nothing where no node has it.
std::optional<Ref> find_ref(const Body& body, std::string_view input) {
  std::string_view name = input;
  std::uint32_t index = 0;
  if (body.is_function) {
    // "argument", "node:output" or "node:output:index"; "node" alone in old files.
    const auto argument = body.arguments.find(input);
    if (argument != body.arguments.end()) return Ref{argument->second, 0, true};
    const std::size_t first = input.find(':');
    name = input.substr(0, first);
    const auto node = body.by_name.find(name);
    if (first != std::string_view::npos && node != body.by_name.end()) {
      const auto [output, k] = split_output(input.substr(first + 1));
      index = output_position(body.nodes[node->second].op, output) + k;
    }
  } else {
    std::tie(name, index) = split_output(input);
  }
  const auto node = body.by_name.find(name);
  return node == body.by_name.end() ? std::nullopt : std::optional(Ref{node->second, index, false});
}

}  // namespace

Result<Ref> Importer::resolve(const Body& body, std::string_view input, const SourceLoc& loc, std::string_view user) {
  if (const auto ref = find_ref(body, input)) return *ref;
  return diags_->error(loc, user, fmt::format("reads '{}', which nothing produces", input));
}

Ref Importer::behind_identities(const Body& body, Ref ref) const {
  for (std::size_t steps = 0; !ref.argument && steps < body.nodes.size(); ++steps) {
    const NodeView& n = body.nodes[ref.node];
    if (n.op != "Identity" && n.op != "StopGradient" && n.op != "PreventGradient") break;
    if (n.inputs.empty() || is_control(n.inputs[0])) break;
    // Names were checked when the node was reached; a wrong one ends the chain.
    const auto from = find_ref(body, n.inputs[0]);
    if (!from) break;
    ref = *from;
  }
  return ref;
}

}  // namespace perfc::tf
