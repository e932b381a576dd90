#include "passes/decomposed.h"

#include <algorithm>
#include <cmath>

namespace perfc::passes {
namespace {

// ---- What patterns do not see: attributes, axes, shapes of weights

/// Axes of a reduction, normalised and sorted; nothing when they are not known
/// or the reduced dims are dropped.
std::optional<std::vector<std::int64_t>> kept_axes(const MatchGraph& g, ValueId reduction) {
  const Node& n = g.node(reduction);
  const Type& type = g.type(n.operands[0]);
  if (!type.ranked() || n.attrs.int_or("keepdims", 1) != 1 || n.operands.size() < 2 || !n.operands[1])
    return std::nullopt;
  const Data* data = g.graph.data(n.operands[1]);
  auto axes = data ? data->known_ints() : std::nullopt;
  if (!axes || axes->empty()) return std::nullopt;
  const auto rank = static_cast<std::int64_t>(type.rank());
  for (std::int64_t& axis : *axes) axis += axis < 0 ? rank : 0;
  std::sort(axes->begin(), axes->end());
  if (axes->front() < 0 || axes->back() >= rank) return std::nullopt;
  return axes;
}

/// Trailing axes without a gap: what layer norms work on.
bool trailing(const std::vector<std::int64_t>& axes, std::size_t rank) {
  for (std::size_t i = 0; i < axes.size(); ++i) {
    if (axes[axes.size() - 1 - i] != static_cast<std::int64_t>(rank - 1 - i)) return false;
  }
  return true;
}

/// A weight with one element per position of the normalised dims.
bool covers(const MatchGraph& g, ValueId weight, ValueId x, std::int64_t first_axis) {
  if (!g.is_weight(weight) || !g.type(weight).is_static()) return false;
  std::int64_t count = 1;
  const Shape& shape = g.type(x).shape();
  for (std::size_t i = static_cast<std::size_t>(first_axis); i < shape.size(); ++i) {
    if (!shape[i].known() || __builtin_mul_overflow(count, shape[i].value(), &count)) return false;
  }
  return g.type(weight).elements() == count;
}

/// A weight with one element per channel, aligned with dim `axis` of x.
bool per_channel(const MatchGraph& g, ValueId weight, ValueId x, std::size_t axis = 1) {
  const Type& type = g.type(weight);
  const Type& data = g.type(x);
  if (!g.is_weight(weight) || !type.is_static() || !data.ranked() || data.rank() <= axis || !data.shape()[axis].known())
    return false;
  const std::int64_t channels = data.shape()[axis].value();
  if (type.elements() != channels) return false;
  const std::size_t channel_dim = data.rank() - axis;  // counted from the end: 1 is the last
  return type.rank() >= channel_dim && type.shape()[type.rank() - channel_dim].is(channels);
}

bool plain(const MatchGraph&, const Match&, Attrs&) { return true; }

bool layer_norm(const MatchGraph& g, const Match& m, Attrs& attrs) {
  const auto mean_axes = kept_axes(g, m["mean"]);
  const auto variance_axes = kept_axes(g, m["variance"]);
  if (!mean_axes || mean_axes != variance_axes || !g.is_scalar(m["epsilon"])) return false;
  const auto covered = [&](ValueId v) { return covers(g, v, m["x"], mean_axes->front()); };
  if (!trailing(*mean_axes, g.type(m["x"]).rank()) || !covered(m["gamma"]) || (m["beta"] && !covered(m["beta"])))
    return false;
  attrs.set("axis", mean_axes->front());
  attrs.set("epsilon", g.scalar_or(m["epsilon"], 1e-5));
  return true;
}

/// Are all elements of v known to be `wanted`?
bool all_are(const MatchGraph& g, ValueId v, double wanted) {
  const Data* data = g.graph.data(v);
  return data && data->floats() && std::ranges::all_of(*data->floats(), [&](double x) { return x == wanted; });
}
bool all_ones(const MatchGraph& g, ValueId v) { return all_are(g, v, 1); }

/// A norm over the last axis without a scale of its own.
bool scaled_layer_norm(const MatchGraph& g, const Match& m, Attrs& attrs) {
  const Type& x = g.type(m["x"]);
  const Node& norm = g.node(m["norm"]);
  if (!x.ranked() || norm.attrs.int_or("axis", 0) != -1 || !all_ones(g, m["ones"])) return false;
  const auto last = static_cast<std::int64_t>(x.rank()) - 1;
  if (!covers(g, m["gamma"], m["x"], last) || !covers(g, m["beta"], m["x"], last)) return false;
  attrs.set("axis", std::int64_t{-1});
  attrs.set("epsilon", norm.attrs.float_or("epsilon", 1e-5));
  return true;
}

bool mean_variance_norm(const MatchGraph& g, const Match& m, Attrs& attrs) {
  const auto mean_axes = kept_axes(g, m["mean"]);
  if (!mean_axes || mean_axes != kept_axes(g, m["variance"]) || !g.is_scalar(m["epsilon"])) return false;
  attrs.set("axes", *mean_axes);
  if (g.contents == Contents::Kept) attrs.set("epsilon", g.scalar_or(m["epsilon"], 0));
  return true;
}

bool rms_norm(const MatchGraph& g, const Match& m, Attrs& attrs) {
  const auto axes = kept_axes(g, m["square"]);
  if (!axes || !g.is_scalar(m["epsilon"]) || !trailing(*axes, g.type(m["x"]).rank()) ||
      !covers(g, m["gamma"], m["x"], axes->front())) {
    return false;
  }
  attrs.set("axis", axes->front());
  attrs.set("epsilon", g.scalar_or(m["epsilon"], 1e-5));
  return true;
}

bool group_norm(const MatchGraph& g, const Match& m, Attrs& attrs) {
  const Type& grouped = g.type(m["grouped"]);
  const auto groups = g.type(m["ones"]).elements();
  if (!groups || !grouped.ranked() || grouped.rank() < 3 || !grouped.shape()[1].is(*groups)) return false;
  if (g.contents == Contents::Kept && !(all_ones(g, m["ones"]) && all_are(g, m["zeros"], 0))) return false;
  if (g.graph.data(m["ones"]) && !all_ones(g, m["ones"])) return false;
  if (!g.is_weight(m["ones"]) || !g.is_weight(m["zeros"]) || !per_channel(g, m["gamma"], m["x"]) ||
      (m["beta"] && !per_channel(g, m["beta"], m["x"]))) {
    return false;
  }
  attrs.set("num_groups", *groups);
  attrs.set("epsilon", g.node(m["norm"]).attrs.float_or("epsilon", 1e-5));
  return true;
}

/// Statistics over all but the first dim and the groups, of channels that come last and are split in groups.
bool group_norm_of_last(const MatchGraph& g, const Match& m, Attrs& attrs) {
  const auto axes = kept_axes(g, m["mean"]);
  const Type &x = g.type(m["x"]), &grouped = g.type(m["grouped"]);
  if (!axes || axes != kept_axes(g, m["squares"]) || !x.ranked() || !grouped.ranked() || x.rank() < 3 ||
      grouped.rank() != x.rank() + 1 || !g.is_scalar(m["epsilon"]))
    return false;
  const Dim& groups = grouped.shape()[x.rank() - 1];
  const std::size_t reduced = axes->size(), last = x.rank() - 1;
  if (!groups.known() || reduced + 2 != grouped.rank() || axes->front() != 1 ||
      axes->back() != static_cast<std::int64_t>(x.rank()) || !per_channel(g, m["gamma"], m["x"], last) ||
      !per_channel(g, m["beta"], m["x"], last))
    return false;
  attrs.set("num_groups", groups.value());
  attrs.set("channels_last", std::int64_t{1});
  attrs.set("epsilon", g.scalar_or(m["epsilon"], 1e-6));
  return true;
}

bool batch_norm(const MatchGraph& g, const Match& m, Attrs& attrs) {
  const auto along = [&](std::size_t axis) {
    for (const char* name : {"gamma", "beta", "mean", "variance"}) {
      if (m[name] && !per_channel(g, m[name], m["x"], axis)) return false;
    }
    return true;
  };
  const Type& x = g.type(m["x"]);
  if (!x.ranked() || x.rank() < 2 || !g.is_scalar(m["epsilon"])) return false;
  // Channels come second, or last.
  if (!along(1)) {
    if (!along(x.rank() - 1)) return false;
    attrs.set("axis", static_cast<std::int64_t>(x.rank() - 1));
  }
  attrs.set("epsilon", g.scalar_or(m["epsilon"], 1e-5));
  return true;
}

bool l2_normalize(const MatchGraph& g, const Match& m, Attrs& attrs) {
  const auto axes = kept_axes(g, m["norm"]);
  if (!axes || axes->size() != 1) return false;
  // A bound that only keeps zeros apart.
  if (g.contents == Contents::Kept && m["low"] && !(g.is_scalar(m["low"]) && g.scalar_or(m["low"], 1) <= 1e-5))
    return false;
  attrs.set("axis", axes->front());
  attrs.set("p", std::int64_t{2});
  return true;
}

bool softmax(const MatchGraph& g, const Match& m, Attrs& attrs) {
  const auto axes = kept_axes(g, m["max"]);
  if (!axes || axes->size() != 1 || axes != kept_axes(g, m["sum"])) return false;
  attrs.set("axis", axes->front());
  return true;
}

bool hard_swish(const MatchGraph& g, const Match& m, Attrs&) {
  if (!m["gate"]) return true;
  const Attrs& attrs = g.node(m["gate"]).attrs;
  return std::abs(attrs.float_or("alpha", 0.2) - 1.0 / 6) < 1e-4 && std::abs(attrs.float_or("beta", 0.5) - 0.5) < 1e-4;
}

bool hard_sigmoid(const MatchGraph&, const Match&, Attrs& attrs) {
  attrs.set("alpha", 1.0 / 6);
  attrs.set("beta", 0.5);
  return true;
}

/// As torch._refs.roll writes one dim.
bool rolled(const MatchGraph& g, const Match& m, Attrs& attrs) {
  const Type& x = g.type(m["x"]);
  const std::int64_t axis = g.graph.node(m.root).attrs.int_or("axis", 0);
  if (!x.is_static() || axis < 0 || axis >= static_cast<std::int64_t>(x.rank())) return false;
  const std::int64_t extent = x.shape()[static_cast<std::size_t>(axis)].value();
  const auto is = [&](const char* name, std::int64_t value) {
    return g.is_scalar(m[name]) && g.scalar_or(m[name], -1) == static_cast<double>(value);
  };
  if (!is("start", 0) || !is("stop", extent) || !is("extent", extent) || !g.is_scalar(m["shift"])) return false;
  attrs.set("axis", axis);
  attrs.set("shift", -static_cast<std::int64_t>(g.scalar_or(m["shift"], 0)));
  return true;
}

/// Only an exporter writes a factor that a program does not, and as a vector of one element.
bool addcmul(const MatchGraph& g, const Match& m, Attrs&) {
  const Type& value = g.type(m["value"]);
  return value.ranked() && value.rank() == 1 && all_are(g, m["value"], 1);
}

bool variance(const MatchGraph& g, const Match& m, Attrs& attrs) {
  const Node& squares = g.node(m["squares"]);
  const auto ints = [&](ValueId v) {
    const Data* data = v ? g.graph.data(v) : nullptr;
    return data ? data->known_ints() : std::nullopt;
  };
  const auto axes = ints(m["axes"]);
  if (!axes || axes != ints(m["axes2"])) return false;
  if (m["count"] && !(g.is_scalar(m["count"]) && g.is_scalar(m["left"]))) return false;
  attrs.set("correction", m["count"] ? g.scalar_or(m["count"], 1) - g.scalar_or(m["left"], 0) : 0.0);
  attrs.set("keepdims", squares.attrs.int_or("keepdims", 1));
  return true;
}

using enum SpeltBy;

constexpr DecomposedOp kDecomposed[] = {
    // Ba et al. 2016, eq. 4; the second form multiplies the scale into the inverse deviation first
    {"nn.layer_norm", "x gamma beta", layer_norm, 1, Exporters, R"(
        %mean = mean(%x, %axes)
        %centred = subtract(%x, %mean)
        %variance = mean({multiply(%centred, %centred) | power(%centred, 2) | squared_difference(%x, %mean)}, %axes2)
        %deviation = {sqrt(add(%variance, %epsilon)) | power(add(%variance, %epsilon), 0.5)}
        %inverse = {reciprocal(%deviation) | divide(1, %deviation) | rsqrt(add(%variance, %epsilon))
                    | power(add(%variance, %epsilon), -0.5)}
        add(multiply({divide(%centred, %deviation) | multiply(%centred, %inverse)}, %gamma), %beta))"},
    {"nn.layer_norm", "x gamma beta", layer_norm, 1, Exporters,
     R"(
        %mean = mean(%x, %axes)
        %centred = subtract(%x, %mean)
        %variance = mean({multiply(%centred, %centred) | power(%centred, 2) | squared_difference(%x, %mean)}, %axes2)
        %deviation = sqrt(add(%variance, %epsilon))
        %inverse = {reciprocal(%deviation) | divide(1, %deviation) | rsqrt(add(%variance, %epsilon))
                    | power(add(%variance, %epsilon), -0.5)}
        %scale = multiply(%inverse, %gamma)
        %shift = multiply({negative(%mean) | multiply(%mean, -1)}, %scale)
        add(multiply(%x, %scale), {subtract(%beta, multiply(%mean, %scale)) | %shift | add(%shift, %beta)}))"},
    // flax: the variance is E[x²] − E[x]², bounded from below; equinox centres twice
    {"nn.layer_norm", "x gamma beta", layer_norm, 1, Exporters, R"(
        %mean = mean(%x, %axes)
        %again = subtract(%x, %mean)
        %variance = mean({multiply(%x, %x) | multiply(%again, %again)}, %axes2)
        %spread = {subtract(%variance, multiply(%mean, %mean)) | %variance}
        %inverse = rsqrt(add({maximum(%spread, 0) | %spread}, %epsilon))
        %centred = subtract(%x, %mean)
        %scaled = {multiply(%centred, multiply(%inverse, %gamma)) | multiply(multiply(%centred, %inverse), %gamma)}
        add(%scaled, %beta))"},
    // OpenVINO's MVN, then scale and shift
    {"nn.layer_norm", "x gamma beta", scaled_layer_norm, 1, Exporters, R"(
        %norm = nn.layer_norm(%x, %ones)
        add(multiply(%norm, %gamma), %beta))"},
    // Wu and He 2018: instances of a reshape to (N, groups, …), then scale and shift per channel
    {"nn.group_norm", "x gamma beta", group_norm, 1, Exporters, R"(
        %grouped = reshape(%x, %shape)
        %norm = nn.instance_norm(%grouped, %ones, %zeros)
        add(multiply(reshape(%norm, %shape2), %gamma), {0 | %beta}))"},
    // flax: statistics per group, repeated for each channel
    {"nn.group_norm", "x gamma beta", group_norm_of_last, 1, Exporters, R"(
        %grouped = reshape(%x, %shape)
        %mean = mean(%grouped, %axes)
        %squares = mean(multiply(%grouped, %grouped), %axes2)
        %spread = maximum(subtract(%squares, multiply(%mean, %mean)), 0)
        %means = expand_dims(reshape(broadcast_to(squeeze(%mean, %d1), %s1), %s2), %d2)
        %variances = reshape(broadcast_to(squeeze(%spread, %d3), %s3), %s4)
        %inverse = expand_dims(rsqrt(add(%variances, %epsilon)), %d4)
        add(multiply(subtract(%x, %means), multiply(%inverse, %gamma)), %beta))"},
    // Ioffe and Szegedy 2015 with the running statistics
    {"nn.batch_norm", "x gamma beta mean variance", batch_norm, 1, Programs, R"(
        %inverse = rsqrt(add(%variance, %epsilon))
        add(multiply(subtract(%x, %mean), multiply(%inverse, %gamma)), %beta))"},
    {"nn.batch_norm", "x gamma beta mean variance", batch_norm, 1, Programs, R"(
        %inverse = rsqrt(add(%variance, %epsilon))
        add(multiply(multiply(subtract(%x, %mean), %inverse), %gamma), %beta))"},
    {"nn.batch_norm", "x gamma beta mean variance", batch_norm, 1, Programs, R"(
        %deviation = sqrt(add(%variance, %epsilon))
        add(multiply(divide(subtract(%x, %mean), %deviation), %gamma), %beta))"},
    {"nn.batch_norm", "x gamma beta mean variance", batch_norm, 1, Programs,
     R"(
        %deviation = sqrt(add(%variance, %epsilon))
        %inverse = {reciprocal(%deviation) | divide(1, %deviation) | rsqrt(add(%variance, %epsilon))}
        %scale = {multiply(%inverse, %gamma) | divide(%gamma, %deviation) | %inverse}
        add(multiply(%x, %scale), {subtract(%beta, multiply(%mean, %scale)) | negative(multiply(%mean, %scale))
                                   | multiply(negative(%mean), %scale))"
     R"( | add(multiply(negative(%mean), %scale), %beta)}))"},
    // Zhang and Sennrich 2019, eq. 4
    {"nn.rms_norm", "x gamma", rms_norm, 1, Programs, R"(
        %square = mean({multiply(%x, %x) | power(%x, 2)}, %axes)
        %root = {sqrt(add(%square, %epsilon)) | power(add(%square, %epsilon), 0.5)}
        %inverse = {reciprocal(%root) | divide(1, %root) | rsqrt(add(%square, %epsilon))
                    | power(add(%square, %epsilon), -0.5)}
        {multiply({divide(%x, %root) | multiply(%x, %inverse)}, %gamma) | multiply(%x, multiply(%inverse, %gamma))})"},
    {"nn.mean_variance_norm", "x", mean_variance_norm, SIZE_MAX, Exporters, R"(
        %mean = mean(%x, %axes)
        %centred = subtract(%x, %mean)
        %variance = mean({multiply(%centred, %centred) | power(%centred, 2) | squared_difference(%x, %mean)}, %axes2)
        %deviation = {sqrt(add(%variance, %epsilon)) | power(add(%variance, %epsilon), 0.5)}
        %inverse = {reciprocal(%deviation) | divide(1, %deviation) | rsqrt(add(%variance, %epsilon))
                    | power(add(%variance, %epsilon), -0.5)}
        {divide(%centred, %deviation) | multiply(%centred, %inverse)})"},
    {"nn.l2_normalize", "x", l2_normalize, SIZE_MAX, Programs, R"(
        %norm = reduce_l2(%x, %axes)
        %bounded = {%norm | clip(%norm, %low) | maximum(%norm, %low)}
        divide(%x, {%bounded | broadcast_to(%bounded, %shape)}))"},
    // Hendrycks and Gimpel 2016: exact, then the tanh and the sigmoid approximation
    {"nn.gelu", "x", plain, SIZE_MAX, Exporters, R"(
        %gate = add(erf({divide(%x, 1.41421356) | multiply(%x, 0.70710678)}), 1)
        {multiply(multiply(%x, %gate), 0.5) | multiply(%x, multiply(%gate, 0.5)) | multiply(%x, divide(%gate, 2))
         | divide(multiply(%x, %gate), 2)})"},
    {"nn.gelu", "x", plain, SIZE_MAX, Exporters,
     "multiply(multiply(%x, 0.5), subtract(1, erf(multiply(%x, -0.70710678))))"},  // OpenVINO, of Keras
    {"nn.gelu", "x", plain, SIZE_MAX, Programs, R"(
        %gate = add(erf({divide(%x, 1.41421356) | multiply(%x, 0.70710678)}), 1)
        {multiply(multiply(%x, 0.5), %gate) | multiply(divide(%x, 2), %gate)})"},
    {"nn.gelu", "x", plain, SIZE_MAX, Programs,
     "multiply(multiply(%x, 0.5), erfc(multiply(negative(%x), 0.70710678)))"},
    {"nn.fast_gelu", "x", plain, SIZE_MAX, Exporters, R"(
        %cube = {power(%x, 3) | multiply(multiply(%x, %x), %x)}
        %gate = add(tanh(multiply(add(%x, multiply(%cube, 0.044715)), 0.79788456)), 1)
        multiply(multiply(%x, %gate), 0.5))"},
    {"nn.fast_gelu", "x", plain, SIZE_MAX, Programs,
     R"(
        %cube = {power(%x, 3) | multiply(multiply(%x, %x), %x)}
        %inner = {multiply(add(%x, {multiply(%cube, 0.044715))"
     R"( | multiply(multiply(multiply(%x, 0.044715), %x), %x)}), 0.79788456)
                  | multiply(multiply(%x, 0.79788456), add(multiply(multiply(%x, 0.044715), %x), 1))
                  | multiply(multiply(%x, 0.79788456), add(multiply(multiply(%x, %x), 0.044715), 1))}
        %gate = add(tanh(%inner), 1)
        {multiply(multiply(%x, %gate), 0.5) | multiply(multiply(%x, 0.5), %gate))"
     R"( | multiply(%x, multiply(%gate, 0.5))})"},
    {"nn.quick_gelu", "x", plain, SIZE_MAX, Programs, "multiply(%x, sigmoid(multiply(%x, 1.702)))"},
    {"nn.silu", "x", plain, SIZE_MAX, Exporters, "{multiply(%x, sigmoid(%x)) | divide(%x, add(exp(negative(%x)), 1))}"},
    // Misra 2019
    {"nn.mish", "x", plain, SIZE_MAX, Exporters, "multiply(%x, tanh({nn.softplus(%x) | log(add(exp(%x), 1))}))"},
    {"nn.softplus", "x", plain, SIZE_MAX, Exporters,
     "{log(add(exp(%x), 1)) | where(greater(%x, 20), %x, log1p(exp(%x)))}"},
    // Howard et al. 2019, section 5.2
    {"nn.hard_swish", "x", hard_swish, SIZE_MAX, Exporters, R"(
        %gate = nn.hard_sigmoid(%x)
        multiply(%x, %gate))"},
    {"nn.hard_swish", "x", plain, SIZE_MAX, Exporters, R"(
        %bounded = {clip(add(%x, 3), 0, 6) | clip(clip(add(%x, 3), 0), _, 6)}
        {divide(multiply(%x, %bounded), 6) | multiply(multiply(%x, %bounded), 0.16666667)
         | multiply(%x, divide(%bounded, 6)) | multiply(%x, multiply(%bounded, 0.16666667))})"},
    {"nn.hard_sigmoid", "x", hard_sigmoid, SIZE_MAX, Exporters, R"(
        %bounded = {clip(add(%x, 3), 0, 6) | clip(clip(add(%x, 3), 0), _, 6)}
        {divide(%bounded, 6) | multiply(%bounded, 0.16666667)})"},
    {"nn.softmax", "x", softmax, SIZE_MAX, Programs, R"(
        %max = max(%x, %axes)
        %exp = exp(subtract(%x, %max))
        %sum = sum_axes(%exp, %axes2)
        divide(%exp, %sum))"},
    {"nn.relu", "x", plain, SIZE_MAX, Exporters, "{maximum(%x, 0) | maximum(0, %x)}"},
    // What exporters write for operators that ONNX has no name for. Those which programs rather write themselves, as
    // √(x² + y²) or a · σ(b), are left as they are: PyTorch runs the parts.
    {"mod", "a b", plain, SIZE_MAX, Exporters, "subtract(%a, multiply(floor(divide(%a, %b)), %b))"},
    {"not_equal", "a b", plain, SIZE_MAX, Exporters, "logical_not(equal(%a, %b))"},
    {"logaddexp", "a b", plain, SIZE_MAX, Exporters, "log(add(exp(%a), exp(%b)))"},
    // torch/onnx/_internal/torchscript_exporter/symbolic_opset9.py, symbolic_helper.py
    {"addcmul", "c a b", addcmul, SIZE_MAX, Exporters, "add(%c, multiply(multiply(%a, %b), %value))"},
    {"variance", "data axes", variance, SIZE_MAX, Exporters, R"(
        %centred = subtract(%data, mean(%data, %axes))
        %squares = mean(multiply(%centred, %centred), %axes2)
        divide(multiply(%squares, %count), %left))"},
    {"variance", "data axes", variance, SIZE_MAX, Exporters, R"(
        %centred = subtract(%data, mean(%data, %axes))
        %squares = mean(multiply(%centred, %centred), %axes2)
        {%squares})"},
    {"roll", "x", rolled, SIZE_MAX, Exporters, "take(%x, mod(add(arange(%start, %stop, 1), %shift), %extent))"},
    {"frac", "x", plain, SIZE_MAX, Exporters, "subtract(%x, multiply(sign(%x), floor(abs(%x))))"},
    {"trunc", "x", plain, SIZE_MAX, Exporters, "multiply(sign(%x), floor(abs(%x)))"},
    {"expm1", "x", plain, SIZE_MAX, Exporters, "subtract(exp(%x), 1)"},
    {"log1p", "x", plain, SIZE_MAX, Exporters, "log(add(%x, 1))"},
    {"log2", "x", plain, SIZE_MAX, Exporters, "{divide(log(%x), 0.69314718) | multiply(log(%x), 1.44269504)}"},
    {"log10", "x", plain, SIZE_MAX, Exporters, "{divide(log(%x), 2.30258509) | multiply(log(%x), 0.43429448)}"},
    {"nn.log_sigmoid", "x", plain, SIZE_MAX, Exporters, "{log(sigmoid(%x)) | negative(nn.softplus(negative(%x)))}"},
    {"rsqrt", "x", plain, SIZE_MAX, Exporters, "{reciprocal(sqrt(%x)) | divide(1, sqrt(%x))}"},
    {"reciprocal", "x", plain, SIZE_MAX, Exporters, "divide(1, %x)"},
};

}  // namespace

std::span<const DecomposedOp> decomposed_ops() { return kDecomposed; }

}  // namespace perfc::passes
