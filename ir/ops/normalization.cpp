/// Rules for normalisation, softmax, losses.
#include <algorithm>

#include "ir/infer_context.h"
#include "ir/ops/rule_helpers.h"
#include "ir/ops/rules.h"

namespace perfc::rules {
namespace {

/// Dtype of a running statistic or per-channel vector that the operator takes.
Status require_float(const InferContext& c, std::size_t i, std::string_view role) {
  return c.has(i) ? require_dtype(c, i, role, is_float, "floating point") : ok();
}

/// Operand i is a vector of `length`, where both are known.
Status require_vector(const InferContext& c, std::size_t i, std::string_view role, const Dim& length) {
  if (!c.has(i)) return ok();
  if (!require_rank(c, i, role, 1)) return Failure{};
  if (!ranked(c, i)) return ok();
  const Dim& d = c.type(i).shape()[0];
  if (d.known() && length.known() && d != length) {
    return c.error("{} has {} values, {} are needed", role, d.value(), length.value());
  }
  return ok();
}

Dim channels(const InferContext& c, std::size_t axis = 1) {
  return ranked(c, 0) && c.type(0).rank() > axis ? c.type(0).shape()[axis] : Dim::unknown();
}

}  // namespace

/// (X [n, c, …], scale, bias, mean, variance) with the channels on `axis` (1) → Y and, when training, the
/// running and (before opset 14) saved statistics.
Status batch_norm(InferContext& c) {
  if (!require_float(c, 0, "X")) return Failure{};
  // Exports of 0-D and 1-D data do not exist: N and C are always there.
  if (ranked(c, 0) && c.type(0).rank() < 1) return c.error("X must have a rank of at least 1");
  std::size_t axis = 1;
  if (c.attrs.has("axis") && ranked(c, 0)) {
    const auto given = normalize_axis(c, c.attrs.int_or("axis", 1), c.type(0).rank());
    if (!given) return Failure{};
    axis = *given;
  }
  const Dim n = channels(c, axis);
  const char* roles[] = {"X", "scale", "bias", "mean", "variance"};
  const bool spatial = c.attrs.int_or("spatial", 1) != 0;
  for (std::size_t i = 1; i < c.operands(); ++i) {
    if (!require_float(c, i, roles[std::min<std::size_t>(i, 4)])) return Failure{};
    if (spatial && !require_vector(c, i, roles[std::min<std::size_t>(i, 4)], n)) return Failure{};
  }
  if (c.results() > 5) return c.error("has {} results, at most 5 exist", c.results());
  c.set(0, c.type(0));
  for (std::size_t i = 1; i < c.results(); ++i) {
    const std::size_t statistic = 3 + (i - 1) % 2;
    c.set(i, c.has(statistic) ? c.type(statistic) : Type::tensor(c.type(0).dtype(), {n}));
  }
  return ok();
}

/// (X [n, c, …], scale [c], bias [c]).
Status instance_norm(InferContext& c) {
  if (!require_float(c, 0, "X") || !require_rank(c, 0, "X", 3, kAnyRank)) return Failure{};
  for (std::size_t i = 1; i < 3; ++i) {
    const std::string_view role = i == 1 ? "scale" : "bias";
    if (!require_float(c, i, role) || !require_same_dtype(c, 0, i) || !require_vector(c, i, role, channels(c)))
      return Failure{};
  }
  c.set(0, c.type(0));
  return ok();
}

/// (X [n, c, …], scale, bias): one value per channel, or per group before
/// opset 21. com.microsoft's attributes are `groups` and `channels_last`.
Status group_norm(InferContext& c) {
  const std::string_view attribute = c.attrs.has("num_groups") ? "num_groups" : "groups";
  if (!c.attrs.has(attribute)) return c.error("has no attribute 'num_groups'");
  if (!require_float(c, 0, "X") || !require_rank(c, 0, "X", 3, kAnyRank)) return Failure{};
  const std::int64_t groups = c.attrs.int_or(attribute, 0);
  if (groups <= 0) return c.error("num_groups must be positive, is {}", groups);
  // com.microsoft defaults to channels last; ai.onnx has no such attribute.
  const bool last = c.attrs.int_or("channels_last", attribute == "groups" ? 1 : 0) != 0;
  const Dim n = ranked(c, 0) ? (last ? c.type(0).shape().back() : c.type(0).shape()[1]) : Dim::unknown();
  if (n.known() && n.value() % groups != 0)
    return c.error("{} channels do not divide into {} groups", n.value(), groups);
  for (std::size_t i = 1; i < 3; ++i) {
    if (!c.has(i)) continue;
    const std::string_view role = i == 1 ? "scale" : "bias";
    if (!require_float(c, i, role) || !require_rank(c, i, role, 1)) return Failure{};
    if (!ranked(c, i)) continue;
    const Dim& d = c.type(i).shape()[0];
    if (d.known() && n.known() && d != n && !d.is(groups)) {
      return c.error("{} has {} values; {} (channels) or {} (groups) are possible", role, d.value(), n.value(), groups);
    }
  }
  c.set(0, c.type(0));
  return ok();
}

/// (X, scale, bias?) normalised from `axis` on; results Y, mean, 1/deviation.
Status layer_norm(InferContext& c) {
  if (!require_float(c, 0, "X")) return Failure{};
  for (std::size_t i = 1; i < c.operands(); ++i) {
    if (!require_float(c, i, i == 1 ? "scale" : "bias")) return Failure{};
  }
  if (c.results() > 3) return c.error("has {} results, at most 3 exist", c.results());
  const DType statistics = c.attrs.dtype_or("stash_type", DType::Float32);
  c.set(0, c.type(0));
  if (!ranked(c, 0)) {
    for (std::size_t i = 1; i < c.results(); ++i) c.set(i, Type::unranked(statistics));
    return ok();
  }
  Shape shape = c.type(0).shape();
  const auto axis = normalize_axis(c, c.attrs.int_or("axis", -1), shape.size());
  if (!axis) return Failure{};
  for (std::size_t i = 1; i < 3 && i < c.operands(); ++i) {
    if (!ranked(c, i)) continue;
    const Shape& s = c.type(i).shape();
    // Scale and bias broadcast to X without widening it.
    bool fits = s.size() <= shape.size();
    for (std::size_t d = 0; fits && d < s.size(); ++d) {
      const Dim& have = s[s.size() - 1 - d];
      const Dim& want = shape[shape.size() - 1 - d];
      fits = !have.known() || !want.known() || have == want || have.is(1);
    }
    if (!fits) {
      return c.error("{} {} does not broadcast to X {}", i == 1 ? "scale" : "bias", to_string(s), to_string(shape));
    }
  }
  for (std::size_t i = *axis; i < shape.size(); ++i) shape[i] = Dim(1);
  for (std::size_t i = 1; i < c.results(); ++i) c.set(i, Type::tensor(statistics, shape));
  return ok();
}

/// com.microsoft Skip*LayerNormalization: (input, skip, gamma, beta?, bias?) →
/// output, mean, 1/deviation, input + skip + bias. SkipGroupNorm: (X, gamma,
/// beta, skip, bias?) → Y, X + skip + bias.
Status skip_layer_norm(InferContext& c) {
  if (!require_float(c, 0, "input")) return Failure{};
  const bool group = c.op() == op("nn.skip_group_norm");
  const Type& x = c.type(0);
  for (std::size_t i = 1; i < c.operands(); ++i) {
    if (c.has(i) && !group && !require_same_dtype(c, 0, i)) return Failure{};
  }
  if (!group) {
    if (!require_rank(c, 0, "input", 2, 3) || !require_float(c, 1, "skip")) return Failure{};
    if (ranked(c, 0) && ranked(c, 1)) {
      const auto both = broadcast_shapes(c, x.shape(), c.type(1).shape());
      if (!both) return Failure{};
      if (both->size() > x.rank())
        return c.error("skip {} is larger than input {}", to_string(c.type(1)), to_string(x));
    }
    const Dim hidden = ranked(c, 0) ? x.shape().back() : Dim::unknown();
    for (std::size_t i = 2; i < c.operands(); ++i) {
      const std::string_view role = i == 2 ? "gamma" : i == 3 ? "beta" : "bias";
      if (!require_vector(c, i, role, hidden)) return Failure{};
    }
  }
  const std::size_t most = group ? 2 : 4;
  if (c.results() > most) return c.error("has {} results, at most {} exist", c.results(), most);
  c.set(0, x);
  if (group) {
    if (c.results() > 1) c.set(1, x);
    return ok();
  }
  Type statistics = Type::unranked(DType::Float32);
  if (ranked(c, 0)) {
    Shape shape = x.shape();
    shape.back() = Dim(1);
    statistics = Type::tensor(DType::Float32, std::move(shape));
  }
  for (std::size_t i = 1; i < c.results(); ++i) c.set(i, i == 3 ? x : statistics);
  return ok();
}

/// com.microsoft: (input_ids, segment_ids?, word, position, segment?, gamma,
/// beta, mask?, position_ids?) → [batch, seq, hidden], mask index, sum.
Status embed_layer_norm(InferContext& c) {
  if (!require_rank(c, 0, "input_ids", 2) || !require_rank(c, 2, "word_embedding", 2) ||
      !require_rank(c, 3, "position_embedding", 2) || !require_rank(c, 5, "gamma", 1) || !require_rank(c, 6, "beta", 1))
    return Failure{};
  Dim batch, seq, hidden;
  if (ranked(c, 0)) {
    batch = c.type(0).shape()[0];
    seq = c.type(0).shape()[1];
  }
  if (ranked(c, 2)) hidden = c.type(2).shape()[1];
  const Type out = Type::tensor(c.type(2).dtype(), {batch, seq, hidden});
  if (c.results() > 3) return c.error("has {} results, at most 3 exist", c.results());
  c.set(0, out);
  if (c.results() > 1) c.set(1, Type::tensor(DType::Int32, {batch}));
  if (c.results() > 2) c.set(2, out);
  return ok();
}

/// Softmax and kin: X's type; the axis must exist.
Status softmax(InferContext& c) {
  if (!require_tensor(c, 0, "input")) return Failure{};
  if (ranked(c, 0) && c.type(0).rank() > 0 && !normalize_axis(c, c.attrs.int_or("axis", -1), c.type(0).rank()))
    return Failure{};
  c.set(0, c.type(0));
  return ok();
}

/// LpNormalization: p is 1 or 2.
Status lp_norm(InferContext& c) {
  if (!require_float(c, 0, "input")) return Failure{};
  const std::int64_t p = c.attrs.int_or("p", 2);
  if (p != 1 && p != 2) return c.error("p must be 1 or 2, is {}", p);
  if (ranked(c, 0) && !normalize_axis(c, c.attrs.int_or("axis", -1), c.type(0).rank())) return Failure{};
  c.set(0, c.type(0));
  return ok();
}

namespace {

/// Loss over scores [n, classes, …] and labels [n, …], reduced as asked.
Result<Type> reduced_loss(const InferContext& c) {
  const std::string_view reduction = c.attrs.string_or("reduction", "mean");
  if (reduction != "none" && reduction != "mean" && reduction != "sum") {
    return c.error("reduction '{}' is none of none, sum, mean", reduction);
  }
  if (!require_float(c, 0, "scores") || !require_dtype(c, 1, "labels", is_index, "int32 or int64")) return Failure{};
  if (c.has(2) && (!require_float(c, 2, "weights") || !require_same_dtype(c, 0, 2))) return Failure{};
  if (!require_rank(c, 0, "scores", 2, kAnyRank)) return Failure{};
  if (ranked(c, 0) && ranked(c, 1)) {
    const Shape& x = c.type(0).shape();
    const Shape& t = c.type(1).shape();
    if (t.size() + 1 != x.size())
      return c.error("labels {} must have one dim less than scores {}", to_string(t), to_string(x));
    for (std::size_t i = 0; i < t.size(); ++i) {
      if (!same_dim(c, x[i == 0 ? 0 : i + 1], t[i], "dims of scores and labels")) return Failure{};
    }
  }
  if (!require_vector(c, 2, "weights", channels(c))) return Failure{};
  if (reduction != "none") return Type::tensor(c.type(0).dtype(), {});
  return ranked(c, 1) ? c.type(1).with_dtype(c.type(0).dtype()) : Type::unranked(c.type(0).dtype());
}

}  // namespace

Status nll_loss(InferContext& c) {
  auto loss = reduced_loss(c);
  if (!loss) return Failure{};
  c.set(0, std::move(*loss));
  return ok();
}

/// Results: loss, and optionally the log-probabilities.
Status cross_entropy(InferContext& c) {
  auto loss = reduced_loss(c);
  if (!loss) return Failure{};
  if (c.results() > 2) return c.error("has {} results, at most 2 exist", c.results());
  c.set(0, std::move(*loss));
  if (c.results() > 1) c.set(1, c.type(0));
  return ok();
}

/// Mean, variance, normalisation, scale and shift: 8 operations per element.
void normalization_cost(const CostContext& c, OpCost& cost) { cost.flops = 8 * c.result_elements(0); }

/// A row of each table per token, whatever the tables hold; then a norm.
void embed_layer_norm_cost(const CostContext& c, OpCost& cost) {
  const double tables = c.has(4) ? 3 : 2, width = bits(c.result(0).dtype()) / 8.0;
  cost.flops = (8 + tables - 1) * c.result_elements(0);
  cost.bytes_read = tables * c.result_elements(0) * width;
  for (const std::size_t i : {0, 1, 5, 6, 7, 8})
    if (c.has(i)) cost.bytes_read += c.type(i).bytes();
  cost.weight_bytes = std::min(cost.weight_bytes, cost.bytes_read);
}

/// A window of `size` squares per element, and the power.
void lrn_cost(const CostContext& c, OpCost& cost) {
  const double size = static_cast<double>(std::clamp<std::int64_t>(c.attrs().int_or("size", 1), 1, 1 << 20));
  cost.flops = c.result_elements(0) * (2 * size + 6);
}

/// Maximum, subtraction, exponential, sum, division: 5 operations per element.
void softmax_cost(const CostContext& c, OpCost& cost) { cost.flops = 5 * c.elements(0); }

}  // namespace perfc::rules
