/// Parts that a program computed of one sample after the other and joins: `torch.cat([f(x[0]), f(x[1])])`, which an
/// exporter wrote out for the samples of its example.
#include <fmt/format.h>

#include <algorithm>

#include "passes/batch_fixes.h"

namespace perfc::passes {
namespace {

/// Calls from a sample's own entry to the part that is joined.
struct Part {
  NodeId entry = 0;           ///< takes the sample from all of them
  std::vector<NodeId> calls;  ///< what is computed of it, from the first; each reads the one before by operand 0
};
constexpr std::size_t kMostCalls = 64;
constexpr std::int64_t kMostWritten = 65536;  ///< calls that are written out for the samples of the new batch

bool is_constant_int(const Graph& g, ValueId v, std::int64_t wanted) {
  const Data* data = g.data(v);
  return data && data->ints() && data->size() == 1 && data->ints()->front().is(wanted);
}

bool takes_sample(const BatchedCall& c, const Node& n, std::int64_t sample) {
  if (!n.is(op("take")) || !is_constant_int(c.graph(), n.operands[1], sample)) return false;
  const auto& batch = c.batch[n.operands[0]];
  const Type& data = c.graph().type(n.operands[0]);
  return batch && batch->outer == 1 && normalized_axis(n.attrs.int_or("axis", 0), data.rank()) == batch->axis &&
         extent(data, batch->axis) == c.change.from;
}

std::optional<Part> part_of(const BatchedCall& c, ValueId v, std::int64_t sample) {
  Part part;
  while (part.calls.size() <= kMostCalls) {
    const Node& n = c.graph().node(v);
    if (n.kind != NodeKind::Call || n.results.size() != 1 || !n.regions.empty() || n.operands.empty())
      return std::nullopt;
    if (takes_sample(c, n, sample)) {
      part.entry = v.node;
      std::reverse(part.calls.begin(), part.calls.end());
      return part;
    }
    part.calls.push_back(v.node);
    v = n.operands[0];
    if (!v) return std::nullopt;
  }
  return std::nullopt;
}

/// Do two samples go through the same calls with the same weights?
bool alike(const Graph& g, const Part& a, const Part& b) {
  if (a.calls.size() != b.calls.size() || g.node(a.entry).operands[0] != g.node(b.entry).operands[0]) return false;
  const auto same_operand = [&](ValueId x, ValueId y) {
    const Data *p = x ? g.data(x) : nullptr, *q = y ? g.data(y) : nullptr;
    return x == y || (p && q && *p == *q && g.type(x) == g.type(y));
  };
  for (std::size_t i = 0; i < a.calls.size(); ++i) {
    const Node &x = g.node(a.calls[i]), &y = g.node(b.calls[i]);
    if (x.op != y.op || !(x.attrs == y.attrs) || x.operands.size() != y.operands.size() ||
        !(x.results[0].type == y.results[0].type) ||
        !std::equal(x.operands.begin() + 1, x.operands.end(), y.operands.begin() + 1, same_operand))
      return false;
  }
  return true;
}

}  // namespace

Result<bool> unroll_samples(BatchedCall& c) {
  const auto samples = static_cast<std::size_t>(c.change.from);
  if (c.operands.size() != samples) return false;
  std::vector<Part> parts;
  for (std::size_t i = 0; i < samples; ++i) {
    auto part = part_of(c, c.node().operands[i], static_cast<std::int64_t>(i));
    if (!part || (i > 0 && !alike(c.graph(), parts.front(), *part))) return false;
    parts.push_back(*std::move(part));
  }
  const auto calls = static_cast<std::int64_t>(parts.front().calls.size()) + 1;
  if (c.change.to > kMostWritten / calls) {
    return c.error(
        fmt::format("each sample has {} calls of its own, which are written out for at most {} samples; "
                    "export the model with its batch open",
                    calls, kMostWritten / calls));
  }
  for (const Part& part : parts) {
    for (const NodeId id : part.calls) c.of_one[id] = true;
  }
  GraphBuilder& b = c.rewriter.builder();
  c.operands.resize(std::min<std::size_t>(samples, static_cast<std::size_t>(c.change.to)));
  for (std::int64_t i = c.change.from; i < c.change.to; ++i) {
    const Node& entry = c.graph().node(parts.front().entry);
    ValueId of_sample = b.constant(int64_scalar(i), {}, entry.loc);
    CallSpec call{.op = entry.op,
                  .operands = {c.rewriter[entry.operands[0]], of_sample},
                  .attrs = entry.attrs,
                  .name = entry.name,
                  .loc = entry.loc};
    auto made = b.value(std::move(call));
    for (const NodeId id : parts.front().calls) {
      if (!made) return Failure{};
      const Node& n = c.graph().node(id);
      CallSpec next{.op = n.op, .operands = c.rewriter.operands(id), .attrs = n.attrs, .name = n.name, .loc = n.loc};
      next.operands[0] = *made;
      made = b.value(std::move(next));
    }
    if (!made) return Failure{};
    c.operands.push_back(*made);
  }
  return true;
}

}  // namespace perfc::passes
