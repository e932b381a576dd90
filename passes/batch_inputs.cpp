#include "passes/batch_inputs.h"

#include <fmt/format.h>

#include <algorithm>

#include "ir/infer_context.h"

namespace perfc {
namespace {

/// What decides which dim of a param counts samples.
struct InputCandidate {
  const Type* type;
  BatchPlace place;

  bool has_dim() const { return type->kind() == TypeKind::Tensor && type->ranked() && place.axis.has_value(); }
  const Dim& dim() const { return type->shape()[*place.axis]; }
};

/// Samples come in through params of rank 2 and more; vectors count only where there is nothing else, since a scalar
/// setting often has shape (1).
std::size_t least_rank(const std::vector<InputCandidate>& params) {
  const bool matrices =
      std::ranges::any_of(params, [](const InputCandidate& c) { return c.has_dim() && c.type->rank() >= 2; });
  return matrices ? 2 : 1;
}

/// The named input with the fewest entries; an open one before those, for it is to be bound.
std::optional<std::size_t> first_named(const std::vector<InputCandidate>& params) {
  std::optional<std::size_t> best;
  for (std::size_t i = 0; i < params.size(); ++i) {
    if (!params[i].place.given || !params[i].has_dim()) continue;
    if (!params[i].dim().known()) return i;
    if (!best || params[i].dim().value() < params[*best].dim().value()) best = i;
  }
  return best;
}

/// By node: whether what is in these params, not just their shape, reaches it.
std::vector<bool> reached_from(const Graph& graph, const std::vector<ValueId>& params) {
  std::vector<bool> reached(graph.size(), false);
  for (ValueId p : params) reached[p.node] = true;
  for (NodeId id = 0; id < graph.size(); ++id) {
    const Node& n = graph.node(id);
    if (n.kind != NodeKind::Call || def(n.op).dims_only) continue;
    reached[id] = std::ranges::any_of(n.operands, [&](ValueId v) { return v && reached[v.node]; });
  }
  return reached;
}

/// Share of the work from which on an input counts as one that could hold samples. (our choice)
constexpr double kMuchWork = 0.05;
constexpr std::size_t kMostNamed = 8;  ///< inputs that are looked at one by one

/// What is known of the samples' contents, for another number of them; null where nothing is.
Result<DataRef> contents_for(const Graph& graph, ValueId param, std::size_t axis, std::int64_t elements,
                             Diagnostics& diags) {
  const Data* data = graph.data(param);
  if (!data || elements > Data::kMaxElements || data->size() == 0) return DataRef{};
  const auto before = static_cast<std::int64_t>(data->size());
  return std::visit(
      [&](const auto& values) -> Result<DataRef> {
        const bool alike =
            std::all_of(values.begin(), values.end(), [&](const auto& v) { return v == values.front(); });
        const bool repeats = axis == 0 && (elements % before == 0 || elements < before);
        if (!alike && !repeats) {
          return diags.error(graph.node(param).loc, graph.node(param).name,
                             fmt::format("--value gives {} elements, which do not repeat to the {} of this batch; give "
                                         "one that fills the input, or all",
                                         before, elements));
        }
        Data out;
        auto& filled = out.elements.emplace<std::decay_t<decltype(values)>>();
        for (std::int64_t i = 0; i < elements; ++i) filled.push_back(values[static_cast<std::size_t>(i % before)]);
        return std::make_shared<const Data>(std::move(out));
      },
      data->elements);
}

}  // namespace

std::optional<BatchInputs> batch_inputs(const Graph& graph, const std::vector<BatchAxis>& axes) {
  std::vector<InputCandidate> params;
  for (ValueId p : graph.params()) {
    const Type& t = graph.type(p);
    params.push_back({&t, batch_place(axes, graph.node(p).name, t.is_tensor() && t.ranked() ? t.rank() : 0)});
  }
  const std::size_t min_rank = least_rank(params);
  std::optional<std::size_t> first = first_named(params);
  for (std::size_t i = 0; !first && i < params.size(); ++i) {
    if (params[i].has_dim() && params[i].type->rank() >= min_rank) first = i;
  }
  if (!first) return std::nullopt;

  BatchInputs out{.samples = params[*first].dim(), .first = *first};
  for (const InputCandidate& c : params) {
    const bool follows =
        c.has_dim() &&
        (c.place.given || (c.type->rank() >= (out.samples.is(1) ? min_rank : 1) && c.dim() == out.samples));
    out.axes.push_back(follows ? c.place.axis : std::nullopt);
  }
  return out;
}

void warn_left_behind(const Graph& graph, const BatchInputs& inputs, Diagnostics& diags) {
  std::vector<ValueId> samples, kept;
  for (std::size_t i = 0; i < graph.params().size(); ++i) {
    const ValueId p = graph.params()[i];
    const Type& type = graph.type(p);
    if (inputs.holds_samples(i)) {
      samples.push_back(p);
    } else if (type.is_tensor() && type.ranked() && type.rank() >= 2) {
      kept.push_back(p);
    }
  }
  if (kept.empty()) return;
  const std::vector<bool> sampled = reached_from(graph, samples);
  const auto work = [&](const auto& counts) {
    double macs = 0;
    for (NodeId id = 0; id < graph.size(); ++id) {
      if (counts(id)) macs += op_cost(graph, id).macs;
    }
    return macs;
  };
  const auto alone = [&](const std::vector<ValueId>& params) {
    const std::vector<bool> reached = reached_from(graph, params);
    return work([&](NodeId id) { return reached[id] && !sampled[id]; });
  };
  // Most graphs end here, those whose weights are inputs among them.
  const double total = work([](NodeId) { return true; });
  if (alone(kept) <= kMuchWork * total) return;
  kept.resize(std::min(kept.size(), kMostNamed));
  for (ValueId p : kept) {
    const double of_this = alone({p});
    if (of_this <= kMuchWork * total) continue;
    const Node& n = graph.node(p);
    diags.warning(
        n.loc, n.name,
        fmt::format("this input stays {}: its first dim is not the {} of '{}', which got the batch; {:.0f} % of "
                    "the work reads it alone. If it holds samples, name it and all others that do with "
                    "--batch-axis (--batch-axis all=0); if not, --batch-axis {}=none",
                    to_string(graph.type(p)), inputs.samples.value(), graph.node(graph.params()[inputs.first]).name,
                    100 * of_this / total, n.name));
  }
}

Result<std::vector<ResultInfo>> changed_params(const Graph& graph, const BatchInputs& inputs,
                                               const passes::BatchChange& change, Diagnostics& diags) {
  std::vector<ResultInfo> out;
  for (std::size_t i = 0; i < graph.params().size(); ++i) {
    const ValueId p = graph.params()[i];
    const Type& type = graph.type(p);
    out.push_back({type, graph.node(p).results[p.result].data});
    if (!inputs.holds_samples(i)) continue;
    const std::size_t axis = *inputs.axes[i];
    Shape shape = type.shape();
    if (inputs.samples.known() && shape[axis].known()) {
      const auto extent = change.scale(shape[axis].value());
      if (!extent) {
        return diags.error(
            graph.node(p).loc, graph.node(p).name,
            fmt::format("dim {} of {} is no multiple of the {} samples of '{}'; --batch-axis names inputs "
                        "that hold as many for each sample",
                        axis, to_string(type), change.from, graph.node(graph.params()[inputs.first]).name));
      }
      shape[axis] = *extent;
    } else {
      shape[axis] = change.to;
    }
    out.back().type = Type::tensor(type.dtype(), std::move(shape));
    const auto elements = out.back().type.elements();
    auto data = contents_for(graph, p, axis, elements.value_or(Data::kMaxElements + 1), diags);
    if (!data) return Failure{};
    out.back().data = *std::move(data);
  }
  return out;
}

void say_what_helps(const Graph& graph, const BatchInputs& inputs, const passes::BatchChange& change,
                    Diagnostics& diags) {
  const ValueId first = graph.params()[inputs.first];
  diags.note(
      {}, {},
      fmt::format("the batch was taken to be dim {} of '{}', {}; if another dim counts samples, say --batch-axis "
                  "{}=AXIS. Else export the model with an open batch (torch.export: dynamic_shapes, torch.onnx: "
                  "dynamic_axes) or at {}; without --batch it is predicted at its own {}",
                  *inputs.axes[inputs.first], graph.node(first).name, to_string(graph.type(first)),
                  graph.node(first).name, change.to, change.from));
}

}  // namespace perfc
