#include "frontends/torch/tensor_facts.h"

#include "frontends/torch/containers.h"
#include "frontends/torch/numbers.h"
#include "ir/ops/rule_helpers.h"

namespace perfc::torch::python {
namespace {

Result<ValueId> first_tensor(Call& c) {
  if (!arity(c, 1)) return Failure{};
  const TensorRef* t = c.args[0].tensor();
  if (!t) return c.error(fmt::format("asks {} for what a tensor has", c.args[0].kind()));
  return c.read(*t);
}

}  // namespace

Values size(Call& c) {
  auto v = first_tensor(c);
  if (!v) return Failure{};
  const auto rank = c.rank(*v);
  if (!rank) return Failure{};
  if (c.args.size() > 1 && !c.args[1].is_none()) {
    const auto i = position(c, c.args[1], *rank);
    if (!i) return Failure{};
    return one(c.size_of(*v, *i));
  }
  std::vector<Value> out;
  for (std::size_t i = 0; i < *rank; ++i) out.emplace_back(c.size_of(*v, i));
  return one(Value::list(std::move(out)));
}

Values rank_of(Call& c) {
  auto v = first_tensor(c);
  if (!v) return Failure{};
  const auto rank = c.rank(*v);
  if (!rank) return Failure{};
  return one(Scalar::of(static_cast<std::int64_t>(*rank)));
}

Values numel(Call& c) {
  auto v = first_tensor(c);
  if (!v) return Failure{};
  const auto rank = c.rank(*v);
  if (!rank) return Failure{};
  Scalar n = Scalar::of(std::int64_t{1});
  for (std::size_t i = 0; i < *rank; ++i) {
    const Scalar d = c.size_of(*v, i);
    auto product = i == 0 ? Result<Scalar>(d) : binary(c, "mul", n, d);
    if (!product) return Failure{};
    n = *product;
  }
  return one(n);
}

Values dtype_fact(Call& c) {
  auto v = first_tensor(c);
  if (!v) return Failure{};
  return one(Scalar::of(scalar_type_of(c.type(*v).dtype())));
}

Values device_fact(Call&) { return one(PythonObject{"device"}); }

Values device_type(Call&) { return one(Value::text("cuda")); }

Values layout_fact(Call&) { return one(Scalar::of(std::int64_t{0})); }

Values is_floating_point(Call& c) {
  auto v = first_tensor(c);
  if (!v) return Failure{};
  return one(Scalar::truth(is_float(c.type(*v).dtype())));
}

Values is_complex(Call& c) {
  auto v = first_tensor(c);
  if (!v) return Failure{};
  return one(Scalar::truth(rules::is_complex(c.type(*v).dtype())));
}

Values tensor_to_list(Call& c) {
  auto v = first_tensor(c);
  if (!v) return Failure{};
  const Data* d = c.data(*v);
  if (!d || c.type(*v).rank() != 1)
    return c.error("makes a list of a tensor whose contents are not known when importing");
  std::vector<Value> out;
  for (std::size_t i = 0; i < d->size(); ++i) {
    if (d->ints()) out.emplace_back(Scalar{.integer = (*d->ints())[i]});
    else if (d->floats()) out.emplace_back(Scalar::of((*d->floats())[i]));
  }
  return one(Value::list(std::move(out)));
}

}  // namespace perfc::torch::python
