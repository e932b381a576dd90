/// Losses.
#include "frontends/paddle/table.h"

namespace perfc::paddle {
namespace {

/// The reduction that a loss names.
Operand reduced_loss(Call& c, Operand each) {
  const std::string_view how = c.text_or("reduction", "none");
  if (how == "none") return each;
  auto y = c.emit(how == "mean" ? op("mean") : op("sum_axes"), {each}, {{"keepdims", std::int64_t{0}}});
  if (how != "batchmean" || !y) return y;
  return c.emit(op("divide"), {y, c.number(1, c.dtype(*y))});
}

}  // namespace

/// Losses of probabilities or logits against targets, element by element.
Values elementwise_loss(Call& c) {
  const auto x = c.tensor("X|Input"), t = c.tensor("Label|Target|Y");
  if (!x || !t) return Failure{};
  const DType d = c.dtype(*x);
  const std::string_view type = c.operation.type;
  if (type == "kldiv_loss")
    return one(reduced_loss(c, c.emit(op("multiply"), {t, c.emit(op("subtract"), {c.emit(op("log"), {t}), x})})));
  if (type == "sigmoid_cross_entropy_with_logits") {
    // max(x, 0) − x · t + log(1 + e^−|x|)
    auto soft = c.emit(op("nn.softplus"), {c.emit(op("negative"), {c.emit(op("abs"), {x})})});
    return one(c.emit(op("add"),
                      {c.emit(op("subtract"), {c.emit(op("nn.relu"), {x}), c.emit(op("multiply"), {x, t})}), soft}));
  }
  if (type == "huber_loss") {
    const double delta = c.real_or("delta", 1);
    auto e = c.emit(op("subtract"), {t, x});
    auto size = c.emit(op("abs"), {e});
    auto near = c.emit(op("multiply"), {c.emit(op("multiply"), {e, e}), c.number(0.5, d)});
    auto far = c.emit(op("multiply"), {c.emit(op("subtract"), {size, c.number(delta / 2, d)}), c.number(delta, d)});
    auto y = c.emit(op("where"), {c.emit(op("less_equal"), {size, c.number(delta, d)}), near, far});
    if (!y) return Failure{};
    return std::vector<ValueId>{*y, *e};
  }
  // bce_loss, log_loss: −(t · log x + (1 − t) · log(1 − x))
  auto rest = c.emit(op("multiply"), {c.emit(op("subtract"), {c.number(1, d), t}),
                                      c.emit(op("log"), {c.emit(op("subtract"), {c.number(1, d), x})})});
  return one(c.emit(op("negative"), {c.emit(op("add"), {c.emit(op("multiply"), {t, c.emit(op("log"), {x})}), rest})}));
}

/// (Logits, Label) → softmax and loss per sample.
Values softmax_cross_entropy(Call& c) {
  const auto x = c.tensor("Logits"), label = c.tensor("Label");
  const auto rank = c.rank(x);
  if (!rank || !label) return Failure{};
  const auto axis = c.axis(c.integer_or("axis", -1), *rank);
  if (!axis) return Failure{};
  auto p = c.emit(op("nn.softmax"), {x}, {{"axis", *axis}});
  auto log = c.emit(op("log"), {p});
  if (!log) return Failure{};
  const DType d = c.dtype(*log);
  auto target = label;
  if (!c.flag("soft_label")) {
    auto data = std::make_shared<Data>();
    data->elements = std::vector<double>{0, 1};
    const auto classes = c.known_dim(*x, *axis);
    if (!classes) return Failure{};
    auto squeezed = c.type(*label).rank() == static_cast<std::size_t>(*rank) ? c.squeeze(label, {*axis}) : label;
    target = c.emit(
        op("one_hot"),
        {squeezed, c.number(static_cast<double>(*classes), DType::Int64), c.constant({Type::tensor(d, {2}), data})},
        {{"axis", *axis}});
  }
  auto sum = c.emit(op("sum_axes"), {c.emit(op("multiply"), {log, target}), c.int_constant({*axis})});
  auto loss = c.emit(op("negative"), {sum});
  if (!loss) return Failure{};
  return std::vector<ValueId>{*p, *loss};
}

}  // namespace perfc::paddle
