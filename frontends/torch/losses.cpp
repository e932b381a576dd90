/// Losses.
#include "frontends/torch/translate.h"

namespace perfc::torch {
namespace {

/// torch's numbers for reductions of losses: none, mean, sum.
Values reduce_loss(Call& c, Result<ValueId> each) {
  const auto how = c.integer_or("reduction", 1);
  if (!each || !how) return Failure{};
  if (*how == 0) return c.result(*each);
  return single(c, c.emit(*how == 1 ? op("mean") : op("sum_axes"), {*each}, {{"keepdims", std::int64_t{0}}}));
}

/// Squares of small differences, magnitudes of others: the attribute says from where, if not from 1.
Values bent_loss(Call& c, OpId o, std::string_view bend, ValueId a, ValueId b) {
  const auto at = c.real_or(bend, 1);
  if (!at) return Failure{};
  Attrs attrs;
  if (*at != 1) attrs.set(bend, *at);
  return reduce_loss(c, c.emit(o, {a, b}, std::move(attrs)));
}

/// A loss times the weights that the call was given.
Result<ValueId> weighted(Call& c, Result<ValueId> loss) {
  const auto weight = c.tensor_or_none("weight");
  if (!weight || !loss || !*weight) return weight ? loss : Failure{};
  return c.emit(op("multiply"), {*loss, *weight});
}

std::string reduction_name(std::int64_t how) { return how == 0 ? "none" : how == 1 ? "mean" : "sum"; }

Result<ValueId> not_below_zero(Call& c, const Result<ValueId>& x) {
  return x ? c.emit(op("maximum"), {x, c.number(0, c.type(*x).dtype())}) : Failure{};
}

}  // namespace

/// mse, l1, smooth_l1, huber: functions of the difference.
Values difference_loss(Call& c) {
  const std::string_view name = c.row->name;
  const DType d = result_type(c, {&c.arg("self"), &c.arg("target")});
  auto a = promoted(c, c.arg("self"), d), b = promoted(c, c.arg("target"), d);
  if (!a || !b) return Failure{};
  if (name == "mse_loss") return reduce_loss(c, c.emit(op("nn.mse_loss"), {*a, *b}));
  if (name == "smooth_l1_loss") return bent_loss(c, op("nn.smooth_l1_loss"), "beta", *a, *b);
  if (name == "huber_loss") return bent_loss(c, op("nn.huber_loss"), "delta", *a, *b);
  auto e = c.emit(op("subtract"), {*a, *b});
  return e ? reduce_loss(c, c.emit(op("abs"), {*e})) : Failure{};
}

Values nll_loss(Call& c) {
  auto x = c.tensor("self"), target = c.tensor("target"), weight = c.tensor_or_none("weight");
  const auto how = c.integer_or("reduction", 1), ignore = c.integer_or("ignore_index", -100);
  if (!x || !target || !weight || !how || !ignore) return Failure{};
  return single(c, c.emit(op("nn.nll_loss"), {*x, *target, *weight},
                          {{"ignore_index", *ignore}, {"reduction", reduction_name(*how)}}));
}

Values cross_entropy(Call& c) {
  auto x = c.tensor("self"), target = c.tensor("target"), weight = c.tensor_or_none("weight");
  const auto how = c.integer_or("reduction", 1), ignore = c.integer_or("ignore_index", -100);
  if (!x || !target || !weight || !how || !ignore) return Failure{};
  if (is_float(c.type(*target).dtype())) {  // probabilities of the classes
    auto log = c.emit(op("nn.log_softmax"), {*x}, {{"axis", std::int64_t{1}}});
    auto each = log ? c.emit(op("multiply"), {*log, *target}) : log;
    auto sum = each ? c.emit(op("sum_axes"), {*each, c.int_constant({1})}, {{"keepdims", std::int64_t{0}}}) : each;
    return reduce_loss(c, sum ? c.emit(op("negative"), {*sum}) : sum);
  }
  return single(c, c.emit(op("nn.cross_entropy"), {*x, *target, *weight},
                          {{"ignore_index", *ignore}, {"reduction", reduction_name(*how)}}));
}

/// −(t · log p + (1 − t) · log(1 − p)), from probabilities or logits.
Values binary_cross_entropy(Call& c) {
  auto x = c.tensor("self"), t = c.tensor("target");
  if (!x || !t) return Failure{};
  const DType d = c.type(*x).dtype();
  if (std::string_view(c.row->name).ends_with("with_logits")) {
    // (1 − t) · x − log σ(x)
    auto rest = c.emit(op("subtract"), {c.number(1, d), *t});
    auto product = rest ? c.emit(op("multiply"), {*rest, *x}) : rest;
    auto log = c.emit(op("nn.log_sigmoid"), {*x});
    const auto of_positives = c.tensor_or_none("pos_weight");
    if (!product || !log || !of_positives) return Failure{};
    if (*of_positives) {  // (1 + (w − 1) · t) · log σ(x)
      auto more = c.emit(op("subtract"), {*of_positives, c.number(1, d)});
      auto factor = more ? c.emit(op("multiply"), {*more, *t}) : more;
      factor = factor ? c.emit(op("add"), {*factor, c.number(1, d)}) : factor;
      log = factor ? c.emit(op("multiply"), {*log, *factor}) : factor;
      if (!log) return Failure{};
    }
    return reduce_loss(c, weighted(c, c.emit(op("subtract"), {*product, *log})));
  }
  return reduce_loss(c, weighted(c, c.emit(op("nn.binary_cross_entropy"), {*x, *t})));
}

/// t · log t − t · x
Values kl_div(Call& c) {
  auto x = c.tensor("self"), t = c.tensor("target");
  const auto log_target = c.flag_or("log_target", false);
  if (!x || !t || !log_target) return Failure{};
  if (*log_target) {
    auto d = c.emit(op("subtract"), {*t, *x});
    auto p = c.emit(op("exp"), {*t});
    return d && p ? reduce_loss(c, c.emit(op("multiply"), {*p, *d})) : Failure{};
  }
  auto product = c.emit(op("multiply"), {*t, *x});
  auto own = c.emit(op("xlogy"), {*t, *t});
  return product && own ? reduce_loss(c, c.emit(op("subtract"), {*own, *product})) : Failure{};
}

// The next ones are aten/src/ATen/native/Loss.cpp's, call by call.

/// max(0, margin + d(anchor, positive) − d(anchor, negative)); swap: or the distance of positive and negative.
Values triplet_margin_loss(Call& c) {
  auto anchor = c.tensor("anchor"), positive = c.tensor("positive"), negative = c.tensor("negative");
  const auto margin = c.real_or("margin", 1), p = c.real_or("p", 2);
  const auto swap = c.flag_or("swap", false);
  if (!anchor || !positive || !negative || !margin || !p || !swap) return Failure{};
  const auto near = distance(c, *anchor, *positive, *p, false);
  auto far = distance(c, *anchor, *negative, *p, false);
  if (*swap) far = c.emit(op("minimum"), {far, distance(c, *positive, *negative, *p, false)});
  if (!near) return Failure{};
  const auto beyond = c.emit(op("add"), {near, c.number(*margin, c.type(*near).dtype())});
  return reduce_loss(c, not_below_zero(c, c.emit(op("subtract"), {beyond, far})));
}

/// max(0, −target · (x₁ − x₂) + margin)
Values margin_ranking_loss(Call& c) {
  auto a = c.tensor("input1"), b = c.tensor("input2"), target = c.tensor("target");
  const auto margin = c.real_or("margin", 0);
  if (!a || !b || !target || !margin) return Failure{};
  const auto product = c.emit(op("multiply"), {c.emit(op("negative"), {target}), c.emit(op("subtract"), {a, b})});
  const auto sum = c.emit(op("add"), {product, c.number(*margin, c.type(*a).dtype())});
  return reduce_loss(c, not_below_zero(c, sum));
}

/// x where the target is 1, max(0, margin − x) where it is −1.
Values hinge_embedding_loss(Call& c) {
  auto x = c.tensor("self"), target = c.tensor("target");
  const auto margin = c.real_or("margin", 1);
  if (!x || !target || !margin) return Failure{};
  const DType d = c.type(*x).dtype(), labels = c.type(*target).dtype();
  const auto zero = [&] { return c.number(0, d); };
  const auto of_label = [&](double label) { return c.emit(op("not_equal"), {target, c.number(label, labels)}); };
  const auto rest = not_below_zero(c, c.emit(op("subtract"), {c.number(*margin, d), x}));
  const auto others = c.emit(op("where"), {of_label(1), rest, zero()});
  return reduce_loss(c, c.emit(op("add"), {others, c.emit(op("where"), {of_label(-1), x, zero()})}));
}

/// 1 − cos where the target is 1, max(0, cos − margin) where it is −1.
Values cosine_embedding_loss(Call& c) {
  auto a = c.tensor("input1"), b = c.tensor("input2"), target = c.tensor("target");
  const auto margin = c.real_or("margin", 0);
  if (!a || !b || !target || !margin) return Failure{};
  const auto rank = c.rank(*target);
  if (!rank) return Failure{};
  const DType d = c.type(*a).dtype(), labels = c.type(*target).dtype();
  const auto product = [&](const Result<ValueId>& x, const Result<ValueId>& y) {
    return c.emit(op("sum_axes"), {c.emit(op("multiply"), {x, y}), c.int_constant({static_cast<std::int64_t>(*rank)})},
                  {{"keepdims", std::int64_t{0}}});
  };
  const auto size = [&](const Result<ValueId>& x) { return c.emit(op("add"), {product(x, x), c.number(1e-12, d)}); };
  const auto sizes = c.emit(op("sqrt"), {c.emit(op("multiply"), {size(a), size(b)})});
  const auto cosine = c.emit(op("divide"), {product(a, b), sizes});
  const auto of_label = [&](double label) { return c.emit(op("equal"), {target, c.number(label, labels)}); };
  const auto near = c.emit(op("subtract"), {c.number(1, d), cosine});
  const auto far = not_below_zero(c, c.emit(op("subtract"), {cosine, c.number(*margin, d)}));
  const auto positives = c.emit(op("where"), {of_label(1), near, c.number(0, d)});
  const auto negatives = c.emit(op("where"), {of_label(-1), far, c.number(0, d)});
  return reduce_loss(c, c.emit(op("add"), {positives, negatives}));
}

/// log(1 + exp(−target · x))
Values soft_margin_loss(Call& c) {
  auto x = c.tensor("self"), target = c.tensor("target");
  if (!x || !target) return Failure{};
  const auto product = c.emit(op("multiply"), {c.emit(op("negative"), {x}), target});
  const auto exponential = c.emit(op("exp"), {product});
  return exponential ? reduce_loss(c, c.emit(op("log1p"), {exponential})) : Failure{};
}

/// exp(x) − target · x, or x − target · log(x + eps)
Values poisson_nll_loss(Call& c) {
  auto x = c.tensor("input"), target = c.tensor("target");
  const auto logarithms = c.flag_or("log_input", true), full = c.flag_or("full", false);
  const auto eps = c.real_or("eps", 1e-8);
  if (!x || !target || !logarithms || !full || !eps) return Failure{};
  if (*full) return c.error("Stirling's term (full=True) is not supported");
  const DType d = c.type(*x).dtype();
  const auto rate = *logarithms ? c.emit(op("exp"), {x}) : x;
  const auto log = *logarithms ? x : c.emit(op("log"), {c.emit(op("add"), {x, c.number(*eps, d)})});
  return reduce_loss(c, c.emit(op("subtract"), {rate, c.emit(op("multiply"), {target, log})}));
}

}  // namespace perfc::torch
