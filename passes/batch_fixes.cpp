#include "passes/batch_fixes.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "ir/ops/rules.h"

namespace perfc::passes {
namespace {

constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kMin = std::numeric_limits<std::int64_t>::min();

/// The dims that a squeeze leaves, in order.
std::vector<std::int64_t> left_by_squeeze(const Graph& g, const Node& n) {
  const Type& type = g.type(n.operands[0]);
  const Data* data = n.operands.size() > 1 && n.operands[1] ? g.data(n.operands[1]) : nullptr;
  const auto* axes = data ? data->ints() : nullptr;
  if (!axes || !type.ranked()) return {};
  std::vector<std::int64_t> out;
  for (std::size_t i = 0; i < type.rank(); ++i) {
    const auto goes = [&](const SymInt& a) { return a.known() && normalized_axis(a.value(), type.rank()) == i; };
    if (std::ranges::none_of(*axes, goes)) out.push_back(static_cast<std::int64_t>(i));
  }
  return out;
}

/// The dim of a call's result that comes to `axis` where the next call that reads it permutes or squeezes it: what a
/// program makes sequence-major it turns back so.
std::size_t before_next_view(const BatchedCall& c, std::size_t axis) {
  constexpr NodeId kNear = 8;  // calls, constants among them
  const Graph& g = c.graph();
  for (NodeId id = c.id + 1; id < g.size() && id <= c.id + kNear; ++id) {
    const Node& n = g.node(id);
    if (n.kind != NodeKind::Call || n.operands.empty() || n.operands[0].node != c.id) continue;
    const auto dims = n.is(op("squeeze"))                  ? left_by_squeeze(g, n)
                      : def(n.op).moves == Moves::Permutes ? n.attrs.ints_or_empty("perm")
                                                           : std::vector<std::int64_t>{};
    return axis < dims.size() && dims[axis] >= 0 ? static_cast<std::size_t>(dims[axis]) : axis;
  }
  return axis;
}

Status fix_reshape(BatchedCall& c) {
  const auto batch = c.batch_of(0);
  if (!batch || !c.hard_coded(1)) return ok();
  auto target = static_shape(c.old_result());
  if (!target || !static_shape(c.old_type(0))) return ok();
  BatchChange change = c.change;
  change.axis = before_next_view(c, change.axis);
  const auto placed = place_batch(c.old_type(0).shape(), *batch, c.old_result().shape(), change);
  const auto scaled = placed ? c.change.scale((*target)[placed->axis]) : std::nullopt;
  if (!scaled) {
    return c.error(
        fmt::format("{} is reshaped to {}, which mixes samples", to_string(c.old_type(0)), to_string(c.old_result())));
  }
  (*target)[placed->axis] = *scaled;
  c.replace(1, *target);
  return ok();
}

Status fix_flatten(BatchedCall& c) {
  // Everything in one row: the batch is in the second dim, where it cannot stay.
  const auto batch = c.batch_of(0);
  if (batch && normalized_axis(c.attrs.int_or("axis", 1), c.old_type(0).rank()).value_or(1) <= batch->axis) {
    return c.error("the batch is flattened into the features");
  }
  return ok();
}

Status fix_squeeze(BatchedCall& c) {
  const auto batch = c.batch_of(0);
  const auto axes = c.hard_coded(1);
  if (!batch || !axes) return ok();
  for (std::int64_t axis : *axes) {
    if (normalized_axis(axis, c.old_type(0).rank()) == batch->axis) return c.error("the batch dim is squeezed away");
  }
  return ok();
}

/// A constant made for the old batch under a target that follows the new one.
Status fix_expanded_constant(BatchedCall& c) {
  const Data* before = c.graph().data(c.node().operands[1]);
  const Data* after = c.rewriter.builder().data(c.operands[1]);
  if (!before || !after || !before->ints() || !after->ints() || before->size() != after->size()) return ok();
  const std::size_t rank = c.old_type(0).rank();
  if (before->size() < rank) return ok();
  for (std::size_t axis = 0; axis < rank; ++axis) {
    const SymInt& old_extent = (*before->ints())[before->size() - rank + axis];
    const SymInt& new_extent = (*after->ints())[before->size() - rank + axis];
    if (old_extent == new_extent || old_extent.is(1) || !new_extent.known()) continue;
    if (old_extent == c.old_type(0).shape()[axis] && !c.fit(0, {axis, 1}, new_extent.value())) return Failure{};
  }
  return ok();
}

Status fix_broadcast_to(BatchedCall& c) {
  const auto batch = c.batch_of(0);
  auto target = c.hard_coded(1);
  if (!batch && c.old_type(0).is_static()) return fix_expanded_constant(c);
  if (!batch || !target) return ok();
  const std::size_t rank = c.old_type(0).rank();
  if (target->size() < rank) return ok();
  std::int64_t& wanted = (*target)[target->size() - rank + batch->axis];
  const std::int64_t before = extent(c.old_type(0), batch->axis);
  if (wanted != before && wanted != 1) return c.error(fmt::format("the batch dim is expanded to {}", wanted));
  wanted = extent(c.new_type(0), batch->axis);
  c.replace(1, *target);
  return ok();
}

/// Shape operands that hold every dim of the result, the batch among them.
template <std::size_t Sizes>
Status fix_sizes(BatchedCall& c) {
  const auto batch = c.batch_of(0);
  if (!batch || !c.has(Sizes)) return ok();
  auto sizes = c.hard_coded(Sizes);
  if (!sizes || c.attrs.has("axes") || batch->axis >= sizes->size()) return ok();
  if ((*sizes)[batch->axis] == extent(c.old_type(0), batch->axis)) {
    (*sizes)[batch->axis] = extent(c.new_type(0), batch->axis);
    c.replace(Sizes, *sizes);
  }
  return ok();
}

Status fix_slice(BatchedCall& c) {
  const auto batch = c.batch_of(0);
  auto starts = c.hard_coded(1);
  auto ends = c.hard_coded(2);
  if (!batch || !starts || !ends || starts->size() != ends->size()) return ok();
  const std::size_t rank = c.old_type(0).rank();
  if (extent(c.old_result(), batch->axis) != extent(c.old_type(0), batch->axis)) return ok();
  const auto axes = c.has(3) ? c.hard_coded(3) : std::nullopt;
  const auto steps = c.has(4) ? c.hard_coded(4) : std::nullopt;
  if ((c.has(3) && !axes) || (c.has(4) && !steps)) return ok();
  for (std::size_t i = 0; i < starts->size(); ++i) {
    const auto axis = normalized_axis(axes && i < axes->size() ? (*axes)[i] : static_cast<std::int64_t>(i), rank);
    if (axis != batch->axis) continue;
    const bool forward = !steps || i >= steps->size() || (*steps)[i] > 0;
    (*starts)[i] = forward ? 0 : kMax;
    (*ends)[i] = forward ? kMax : kMin;
    c.replace(1, *starts);
    c.replace(2, *ends);
  }
  return ok();
}

/// A part that is written into data: where one of them holds samples, the other was made for as many.
Status fix_strided_set(BatchedCall& c) {
  constexpr std::size_t kPart = 5;
  const auto batch = c.batch_of(0) ? c.batch_of(0) : c.batch_of(kPart);
  if (!batch || c.old_type(0).rank() != c.old_type(kPart).rank()) return ok();
  const std::size_t from = c.batch_of(0) ? 0 : kPart, to = from == 0 ? kPart : 0;
  if (extent(c.old_type(0), batch->axis) != extent(c.old_type(kPart), batch->axis)) return ok();
  if (!c.batch_of(to) && !c.fit(to, *batch, extent(c.new_type(from), batch->axis))) return Failure{};
  auto starts = c.hard_coded(1), ends = c.hard_coded(2);
  const auto axes = c.hard_coded(3), steps = c.hard_coded(4);
  if (!starts || !ends || !axes || !steps || starts->size() != axes->size() || ends->size() != axes->size())
    return ok();
  for (std::size_t i = 0; i < axes->size(); ++i) {
    if (normalized_axis((*axes)[i], c.old_type(0).rank()) != batch->axis) continue;
    const bool forward = i >= steps->size() || (*steps)[i] > 0;
    (*starts)[i] = forward ? 0 : kMax;
    (*ends)[i] = forward ? kMax : kMin;
    c.replace(1, *starts);
    c.replace(2, *ends);
  }
  return ok();
}

Status fix_split(BatchedCall& c) {
  const auto batch = c.batch_of(0);
  if (!batch || !c.has(1) || c.node().results.size() != 1) return ok();
  if (normalized_axis(c.attrs.int_or("axis", 0), c.old_type(0).rank()) == batch->axis) {
    c.replace(1, {extent(c.new_type(0), batch->axis)});
  }
  return ok();
}

Status fix_concatenate(BatchedCall& c) {
  const auto unrolled = unroll_samples(c);
  if (!unrolled) return Failure{};
  if (*unrolled) return ok();
  std::optional<BatchDim> batch;
  std::int64_t before = 0;
  std::int64_t after = 0;
  for (std::size_t i = 0; i < c.operands.size() && !batch; ++i) {
    batch = c.batch_of(i);
    if (!batch) continue;
    before = extent(c.old_type(i), batch->axis);
    after = extent(c.new_type(i), batch->axis);
  }
  if (!batch) return ok();
  if (normalized_axis(c.attrs.int_or("axis", 0), c.old_result().rank()) == batch->axis) return ok();
  for (std::size_t i = 0; i < c.operands.size(); ++i) {
    if (c.batch_of(i) || extent(c.old_type(i), batch->axis) != before) continue;
    if (!c.fit(i, *batch, after)) return Failure{};
  }
  return ok();
}

/// Operands that meet dim by dim, aligned at the last one. Those with extent 1
/// broadcast; those made for the old batch are repeated.
Status fix_broadcast(BatchedCall& c, std::size_t ignored_dims) {
  for (std::size_t i = 0; i < c.operands.size(); ++i) {
    const auto batch = c.batch_of(i);
    if (!batch) continue;
    const std::size_t from_end = c.old_type(i).rank() - batch->axis;
    if (from_end <= ignored_dims) continue;
    const std::int64_t before = extent(c.old_type(i), batch->axis);
    if (before == 1) continue;
    for (std::size_t j = 0; j < c.operands.size(); ++j) {
      if (j == i || !c.has(j) || c.batch_of(j) || c.old_type(j).rank() < from_end) continue;
      const std::size_t axis = c.old_type(j).rank() - from_end;
      if (extent(c.old_type(j), axis) != before) continue;
      if (!c.fit(j, {axis, batch->outer}, extent(c.new_type(i), batch->axis))) return Failure{};
    }
  }
  return ok();
}
Status fix_elementwise(BatchedCall& c) { return fix_broadcast(c, 0); }
Status fix_matmul(BatchedCall& c) { return fix_broadcast(c, 2); }

/// Operands whose dims meet by their labels.
Status fix_einsum(BatchedCall& c) {
  const auto equation = einsum_of(c.graph(), c.id);
  if (!equation) return ok();
  for (std::size_t i = 0; i < c.operands.size(); ++i) {
    const auto batch = c.batch_of(i);
    if (!batch || extent(c.old_type(i), batch->axis) == 1) continue;
    for (std::size_t j = 0; j < c.operands.size(); ++j) {
      const auto axis =
          c.batch_of(j) ? std::nullopt : label_axis(equation->operands[j], equation->operands[i][batch->axis]);
      if (!axis || extent(c.old_type(j), *axis) != extent(c.old_type(i), batch->axis)) continue;
      if (!c.fit(j, {*axis, batch->outer}, extent(c.new_type(i), batch->axis))) return Failure{};
    }
  }
  return ok();
}

/// Operands that all have the samples in front.
Status fix_samples(BatchedCall& c) {
  for (std::size_t i = 0; i < c.operands.size(); ++i) {
    const auto batch = c.batch_of(i);
    if (!batch || batch->axis != 0) continue;
    for (std::size_t j = 0; j < c.operands.size(); ++j) {
      if (!c.has(j) || c.batch_of(j) || extent(c.old_type(j), 0) != extent(c.old_type(i), 0)) continue;
      if (!c.fit(j, *batch, extent(c.new_type(i), 0))) return Failure{};
    }
  }
  return ok();
}

/// Index tensors of the data's rank, element by element (gather, scatter).
Status fix_indices(BatchedCall& c) {
  std::optional<BatchDim> batch;
  std::int64_t before = 0;
  std::int64_t after = 0;
  for (std::size_t i = 0; i < c.operands.size() && !batch; ++i) {
    batch = c.batch_of(i);
    if (!batch) continue;
    before = extent(c.old_type(i), batch->axis);
    after = extent(c.new_type(i), batch->axis);
  }
  if (!batch || normalized_axis(c.attrs.int_or("axis", 0), c.old_type(0).rank()) == batch->axis) return ok();
  for (std::size_t i = 0; i < c.operands.size(); ++i) {
    if (!c.has(i) || c.batch_of(i) || extent(c.old_type(i), batch->axis) != before) continue;
    if (!c.fit(i, *batch, after)) return Failure{};
  }
  return ok();
}

/// A strided view written as an index of every element: the new samples'
/// elements need indices of their own. Picking some of the samples stays an
/// error, which the changed result shows.
Status fix_take(BatchedCall& c) {
  const auto batch = c.batch_of(0);
  if (!batch || c.batch_of(1) || normalized_axis(c.attrs.int_or("axis", 0), c.old_type(0).rank()) != batch->axis)
    return ok();
  const Type& indices = c.old_type(1);
  const bool covers =
      indices.is_static() && indices.rank() > 0 && indices.elements() == extent(c.old_type(0), batch->axis);
  if (!covers || !indices.shape()[0].is(c.change.from)) return ok();
  return c.fit(1, {0, 1}, c.change.to);
}

/// Updates of every sample need a place of their own in the data.
Status fix_scatter_nd(BatchedCall& c) {
  const auto batch = c.batch_of(2);
  if (!batch || c.batch_of(0) || c.old_type(0).rank() == 0) return ok();
  const std::size_t axis = batch->axis < c.old_type(0).rank() ? batch->axis : 0;
  if (extent(c.old_type(0), axis) != extent(c.old_type(2), batch->axis)) return ok();
  return c.fit(0, {axis, 1}, extent(c.new_type(2), batch->axis));
}

/// Filters computed per sample run as one grouped convolution over the
/// samples' channels: (N, C, …) becomes (1, N·C, …) with N times the groups.
Status fix_convolution(BatchedCall& c) {
  const auto data = c.batch_of(0);
  const auto filters = c.batch_of(1);
  if (!filters) return ok();
  if (!data || filters->axis != 0 || filters->outer != 1 || c.attrs.has("data_layout") ||
      c.attrs.has("kernel_layout")) {
    return c.error("the filters depend on the samples");
  }
  const auto groups = c.change.scale(c.attrs.int_or("groups", 1) * c.change.from);
  const auto shape = static_shape(c.new_type(0));
  if (!groups || !shape || c.change.from != 1) return c.error("the filters depend on the samples");
  c.attrs.set("groups", *groups);
  if (data->axis == 1) return ok();
  std::vector<std::int64_t> merged = *shape;
  if (data->axis != 0 || __builtin_mul_overflow(merged[0], merged[1], &merged[1]))
    return c.error("the filters depend on the samples");
  merged[0] = 1;
  GraphBuilder& b = c.rewriter.builder();
  auto view = b.value({.op = op("reshape"),
                       .operands = {c.operands[0], b.constant(int64_vector(merged))},
                       .name = c.node().name,
                       .loc = c.node().loc});
  if (!view) return Failure{};
  c.operands[0] = *view;
  return ok();
}

/// The batch came out where a recurrent layer has its steps; said of the first such layer of a graph.
void warn_of_steps(const BatchedCall& c, std::size_t axis) {
  const Node& n = c.node();
  const std::size_t steps = c.attrs.int_or("layout", 0) == 0 ? 0 : 1;
  const auto earlier = [&](const Node& other) {
    return other.kind == NodeKind::Call && def(other.op).category == def(n.op).category;
  };
  const auto& nodes = c.graph().nodes();
  if (axis != steps || std::any_of(nodes.begin(), nodes.begin() + c.id, earlier)) return;
  c.rewriter.builder().diagnostics().warning(
      n.loc, n.name,
      fmt::format("--batch changed the steps of this layer, {} to {}, and not its samples; if the input is time-major, "
                  "say --batch-axis INPUT=1",
                  to_string(c.old_type(0)), to_string(c.new_type(0))));
}

/// Lengths and initial states of a recurrent layer, one per sample.
Status fix_recurrent(BatchedCall& c) {
  const auto batch = c.batch_of(0);
  const std::size_t batch_axis = c.attrs.int_or("layout", 0) == 0 ? 1 : 0;
  if (!batch) return ok();
  if (batch->axis != batch_axis) {
    warn_of_steps(c, batch->axis);
    return ok();
  }
  const std::int64_t before = extent(c.old_type(0), batch_axis);
  const std::int64_t after = extent(c.new_type(0), batch_axis);
  for (std::size_t i = 4; i < c.operands.size() && i <= 6; ++i) {
    const std::size_t axis = i == 4 ? 0 : batch_axis;
    if (!c.has(i) || c.batch_of(i) || extent(c.old_type(i), axis) != before) continue;
    if (!c.fit(i, {axis, 1}, after)) return Failure{};
  }
  return ok();
}

struct Fix {
  OpId op;
  Status (*apply)(BatchedCall&);
};

constexpr Fix kFixes[] = {
    {op("reshape"), fix_reshape},
    {op("nn.batch_flatten"), fix_flatten},
    {op("squeeze"), fix_squeeze},
    {op("broadcast_to"), fix_broadcast_to},
    {op("image.resize2d"), fix_sizes<3>},
    {op("center_crop_pad"), fix_sizes<1>},
    {op("image.affine_grid"), fix_sizes<1>},
    {op("strided_slice"), fix_slice},
    {op("strided_set"), fix_strided_set},
    {op("split"), fix_split},
    {op("concatenate"), fix_concatenate},
    {op("nn.batch_matmul"), fix_matmul},
    {op("nn.sdpa"), fix_matmul},
    {op("einsum"), fix_einsum},
    {op("image.grid_sample"), fix_samples},
    {op("nn.conv1d"), fix_convolution},
    {op("nn.conv2d"), fix_convolution},
    {op("nn.conv3d"), fix_convolution},
    {op("take"), fix_take},
    {op("gather"), fix_indices},
    {op("scatter_elements"), fix_indices},
    {op("scatter_nd"), fix_scatter_nd},
    {op("nn.lstm"), fix_recurrent},
    {op("nn.gru"), fix_recurrent},
    {op("nn.rnn"), fix_recurrent},
};

}  // namespace

BatchDims::BatchDims(const Graph& graph) {
  std::uint32_t total = 0;
  for (const Node& n : graph.nodes()) {
    first_.push_back(total);
    total += static_cast<std::uint32_t>(n.results.size());
  }
  dims_.resize(total);
}

Status fix_for_batch(BatchedCall& call) {
  const Node& n = call.node();
  for (const Fix& fix : kFixes) {
    if (n.op == fix.op) return fix.apply(call);
  }
  const InferFn infer = def(n.op).infer;
  const bool meets =
      infer == rules::broadcast || infer == rules::compare || infer == rules::where || infer == rules::prelu;
  return meets ? fix_elementwise(call) : ok();
}

}  // namespace perfc::passes
