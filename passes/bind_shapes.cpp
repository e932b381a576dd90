#include <fmt/format.h>

#include <map>
#include <set>

#include "passes/passes.h"

namespace perfc::passes {
namespace {

using Bindings = std::map<std::string, std::int64_t, std::less<>>;

/// The type with bound names replaced; containers element by element.
Type bind(const Type& type, const Bindings& values) {
  switch (type.kind()) {
    case TypeKind::Tensor:
    case TypeKind::SparseTensor: {
      if (!type.ranked()) return type;
      Shape shape = type.shape();
      for (Dim& d : shape) {
        if (!d.symbolic()) continue;
        const auto it = values.find(d.symbol_name());
        if (it != values.end()) d = it->second;
      }
      return type.kind() == TypeKind::Tensor ? Type::tensor(type.dtype(), std::move(shape))
                                             : Type::sparse(type.dtype(), std::move(shape));
    }
    case TypeKind::Sequence:
      return Type::sequence(bind(type.element(), values));
    case TypeKind::Optional:
      return Type::optional(bind(type.element(), values));
    case TypeKind::Map:
      return Type::map(type.dtype(), bind(type.element(), values));
    case TypeKind::None:
    case TypeKind::Opaque:
      break;
  }
  return type;
}

std::set<std::string> open_names(const Graph& graph) {
  std::set<std::string> names;
  for (const Node& n : graph.nodes()) {
    for (const ResultInfo& r : n.results) {
      if (!r.type.is_tensor() || !r.type.ranked()) continue;
      for (const Dim& d : r.type.shape()) {
        if (d.symbolic()) names.insert(d.symbol_name());
      }
    }
  }
  return names;
}

Status check(const Bindings& values, const Graph& graph, Diagnostics& diags) {
  const std::set<std::string> names = open_names(graph);
  Status status = ok();
  for (const auto& [name, value] : values) {
    if (value < 0) {
      status = diags.error(fmt::format("dim '{}' cannot be {}", name, value));
    } else if (!names.contains(name)) {
      const std::string near = did_you_mean(name, {names.begin(), names.end()});
      status = diags.error(fmt::format("no dim is named '{}'{}", name,
                                       !near.empty()   ? fmt::format(" (did you mean '{}'?)", near)
                                       : names.empty() ? std::string(": the model has no open dims")
                                                       : fmt::format("; open dims are {}", fmt::join(names, ", "))));
    }
  }
  return status;
}

}  // namespace

Result<Graph> bind_shapes(Graph graph, const PassOptions& options, Diagnostics& diags) {
  if (options.dims.empty()) return graph;
  const Bindings values(options.dims.begin(), options.dims.end());
  if (!check(values, graph, diags)) return Failure{};

  Rewriter rewriter(graph, diags);
  for (std::size_t i = 0; i < graph.params().size(); ++i) {
    const ValueId p = graph.params()[i];
    rewriter.retype_param(i, {bind(graph.type(p), values), graph.node(p).results[p.result].data});
  }
  for (NodeId id = 0; id < graph.size(); ++id) {
    const Node& n = graph.node(id);
    if (n.kind != NodeKind::Call) {
      if (!rewriter.copy(id)) return Failure{};
      continue;
    }
    // A name means the same number everywhere, so what was known of the
    // results stays true with the name replaced.
    std::vector<Type> declared;
    for (const ResultInfo& r : n.results) declared.push_back(bind(r.type, values));
    if (!rewriter.copy_declared(id, rewriter.operands(id), n.attrs, std::move(declared))) return Failure{};
  }
  return rewriter.finish();
}

}  // namespace perfc::passes
