#include "frontends/torch/python.h"

#include <algorithm>
#include <cmath>

#include "frontends/torch/containers.h"
#include "frontends/torch/higher_order.h"
#include "frontends/torch/numbers.h"
#include "frontends/torch/tensor_facts.h"

namespace perfc::torch {
namespace {

using namespace python;

using Handler = Values (*)(Call&);

bool is_number(const Value& v) { return v.scalar() != nullptr; }

bool identical(const Value& a, const Value& b) {
  if (a.is_none() || b.is_none()) return a.is_none() && b.is_none();
  if (a.scalar() && b.scalar()) return a.scalar()->known() && a.scalar()->number() == b.scalar()->number();
  if (a.tensor() && b.tensor()) return *a.tensor() == *b.tensor();
  return same_key(a, b);
}

Values is_same(Call& c) {
  if (!arity(c, 2)) return Failure{};
  return one(Scalar::truth(identical(c.args[0], c.args[1])));
}
Values is_other(Call& c) {
  if (!arity(c, 2)) return Failure{};
  return one(Scalar::truth(!identical(c.args[0], c.args[1])));
}

bool equal_lists(const List& a, const List& b, bool& known) {
  if (a.items->size() != b.items->size()) return false;
  for (std::size_t i = 0; i < a.items->size(); ++i) {
    const Value &x = (*a.items)[i], &y = (*b.items)[i];
    if (x.scalar() && y.scalar() && !(x.scalar()->known() && y.scalar()->known()) &&
        !(x.scalar()->integer.symbolic() && x.scalar()->integer == y.scalar()->integer)) {
      known = false;
    } else if (!(x.scalar() && x.scalar()->integer.symbolic() && y.scalar()) && !identical(x, y)) {
      return false;
    }
  }
  return true;
}

Values no(Call&) { return one(Scalar::truth(false)); }
Values yes(Call&) { return one(Scalar::truth(true)); }
Values ignored(Call& c) { return std::vector<Value>(c.outputs(), Value::none()); }
Values first_argument(Call& c) {
  if (!arity(c, 1)) return Failure{};
  return one(c.args[0]);
}
/// Of a known whole number its digits, which may be a key; other texts are messages.
Values text(Call& c) {
  const Scalar* s = c.operation.op == "aten::str" && !c.args.empty() ? c.args[0].scalar() : nullptr;
  const bool known = s && s->literal() && !s->is_float() && s->dtype != DType::Bool && s->integer.known();
  return one(Value::text(known ? std::to_string(s->integer.value()) : ""));
}

Values raise(Call& c) {
  const std::string* what = c.args.empty() ? nullptr : c.args[0].string();
  return c.error(fmt::format("the program raises an exception for this input{}{}", what && !what->empty() ? ": " : "",
                             what ? *what : ""));
}

Values uninitialized(Call&) { return one(Value::none()); }

Values get_attribute(Call& c) {
  return c.error("a module's attribute that the export did not resolve; export with `python -m perfc.export`");
}

Values branch(Call& c) { return c.importer.branch(c); }
Values loop(Call& c) { return c.importer.loop(c); }
/// wrap_with_set_grad_enabled, wrap_with_autocast, …: settings, then the graph's arguments.
Values wrapped(Call& c) {
  if (c.operation.blocks.size() != 1) return c.error("needs one subgraph");
  const Block& block = c.operation.blocks[0];
  if (c.args.size() < block.inputs.size()) return c.error("the subgraph lacks arguments");
  return c.importer.inlined(c, block, c.args.size() - block.inputs.size());
}

/// Operations that are Python's whatever their arguments are.
const std::map<std::string_view, Handler>& handlers() {
  static const std::map<std::string_view, Handler> table{
      {"prim::Constant", first_argument},
      {"prim::If", branch},
      {"prim::Loop", loop},
      {"higher_order::cond", branch},
      {"higher_order::while_loop", while_loop},
      {"higher_order::scan", scan},
      {"higher_order::map_impl", map_over},
      {"higher_order::wrap_with_set_grad_enabled", wrapped},
      {"higher_order::wrap_with_autocast", wrapped},
      {"higher_order::wrap", wrapped},
      {"higher_order::tag_activation_checkpoint", wrapped},
      {"torch._functorch.predispatch.lazy_load_decompositions", ignored},
      {kEnterVmap, enter_vmap},
      {kLeaveVmap, leave_vmap},
      {"torch._functorch.predispatch._add_batch_dim", add_batch_dim},
      {"torch._functorch.predispatch._remove_batch_dim", remove_batch_dim},
      {"prim::ListConstruct", make_list},
      {"prim::TupleConstruct", make_tuple},
      {"prim::NamedTupleConstruct", make_tuple},
      {"prim::DictConstruct", make_dict},
      {"prim::ListUnpack", unpack},
      {"prim::TupleUnpack", unpack},
      {"prim::TupleIndex", get_item},
      {"prim::GetAttr", get_attribute},
      {"prim::CallMethod", get_attribute},
      {"prim::NumToTensor", num_to_tensor},
      {"prim::ImplicitTensorToNum", to_scalar},
      {"prim::RaiseException", raise},
      {"prim::Uninitialized", uninitialized},
      {"prim::unchecked_cast", first_argument},
      {"prim::unchecked_unwrap_optional", first_argument},
      {"aten::_unwrap_optional", first_argument},
      {"prim::annotate", first_argument},
      {"prim::dtype", dtype_fact},
      {"prim::device", device_fact},
      {"aten::device", device_fact},
      {"prim::type", device_type},
      {"prim::layout", layout_fact},
      {"prim::is_cuda", no},
      {"prim::is_mkldnn", no},
      {"prim::is_quantized", no},
      {"prim::is_sparse", no},
      {"prim::requires_grad", no},
      {"prim::tolist", tensor_to_list},
      {"prim::Print", ignored},
      {"prim::SetAttr", ignored},
      {"prim::device_guard", ignored},
      {"aten::warn", ignored},
      {"aten::_assert_async", ignored},
      {"aten::_assert_scalar", ignored},
      {"aten::_assert_tensor_metadata", ignored},
      {"aten::_functional_assert_async", ignored},
      {"aten::_linalg_check_errors", ignored},
      {"aten::sym_constrain_range", ignored},
      {"aten::sym_constrain_range_for_size", ignored},
      {"aten::is_grad_enabled", no},
      {"aten::is_autocast_enabled", no},
      {"aten::is_scripting", no},
      {"aten::is_floating_point", is_floating_point},
      {"aten::is_complex", is_complex},
      {"aten::is_contiguous", yes},
      {"aten::dim", rank_of},
      {"aten::size", size},
      {"aten::sym_size", size},
      {"aten::numel", numel},
      {"aten::sym_numel", numel},
      {"aten::item", to_scalar},
      {"aten::_local_scalar_dense", to_scalar},
      {"aten::Int", to_int},
      {"aten::IntImplicit", to_int},
      {"aten::Float", to_float},
      {"aten::FloatImplicit", to_float},
      {"aten::Bool", to_bool},
      {"aten::ScalarImplicit", to_scalar},
      {"aten::__not__", logical_not},
      {"torch.sym_ite", either},
      {"aten::__is__", is_same},
      {"aten::__isnot__", is_other},
      {"aten::__contains__", contains},
      {"aten::__getitem__", get_item},
      {"aten::_set_item", set_item},
      {"aten::len", length},
      {"aten::__range_length", range_number},
      {"aten::__derive_index", range_number},
      {"aten::append", append},
      {"aten::extend", extend},
      {"aten::insert", insert},
      {"aten::pop", pop},
      {"aten::reverse", reverse},
      {"aten::list", copy_list},
      {"aten::dict", copy_dict},
      {"aten::update", update},
      {"prim::isinstance", is_instance},
      {"aten::keys", dict_part},
      {"aten::values", dict_part},
      {"aten::items", dict_part},
      {"aten::format", text},
      {"aten::str", text},
  };
  return table;
}

/// Operations that are Python's on numbers and lists, and ATen's on tensors.
Result<std::optional<std::vector<Value>>> on_numbers(Call& c, std::string_view name) {
  using Some = std::optional<std::vector<Value>>;
  const auto some = [](Values v) -> Result<Some> {
    if (!v) return Failure{};
    return Some(*std::move(v));
  };
  static const std::map<std::string_view, std::string_view> kBinary{
      {"add", "add"},
      {"sub", "sub"},
      {"mul", "mul"},
      {"div", "div"},
      {"truediv", "div"},
      {"floordiv", "floordiv"},
      {"floor_divide", "floordiv"},
      {"remainder", "remainder"},
      {"mod", "remainder"},
      {"pow", "pow"},
      {"eq", "eq"},
      {"ne", "ne"},
      {"lt", "lt"},
      {"le", "le"},
      {"gt", "gt"},
      {"ge", "ge"},
      {"max", "max"},
      {"min", "min"},
      {"sym_max", "max"},
      {"sym_min", "min"},
      {"__and__", "__and__"},
      {"__or__", "__or__"},
      {"__xor__", "__xor__"},
      {"and_", "__and__"},
      {"or_", "__or__"},
  };
  if (name == "slice" && !c.args.empty() && c.args[0].list()) return some(slice_list(c, *c.args[0].list()));
  const auto row = kBinary.find(name);
  if (row != kBinary.end() && c.args.size() >= 2) {
    const Value &a = c.args[0], &b = c.args[1];
    if (is_number(a) && is_number(b)) {
      auto r = binary(c, row->second, *a.scalar(), *b.scalar());
      if (!r) return Failure{};
      return some(one(*r));
    }
    if (a.list() && b.list()) {
      if (name == "add") {
        std::vector<Value> joined = *a.list()->items;
        joined.insert(joined.end(), b.list()->items->begin(), b.list()->items->end());
        return some(container(c, Value::list(std::move(joined))));
      }
      if (name == "eq" || name == "ne") {
        bool known = true;
        const bool same = equal_lists(*a.list(), *b.list(), known);
        if (!known) return c.error("compares lists that are not known when importing");
        return some(one(Scalar::truth(same == (name == "eq"))));
      }
    }
    if (a.list() && is_number(b) && name == "mul") {
      const auto& s = *b.scalar();
      constexpr std::int64_t kMaxItems = 100'000;
      if (!s.integer.known() || s.integer.value() < 0 ||
          s.integer.value() >
              kMaxItems / static_cast<std::int64_t>(std::max<std::size_t>(a.list()->items->size(), 1))) {
        return c.error("repeats a list too often, or as often as is not known when importing");
      }
      std::vector<Value> out;
      for (std::int64_t i = 0; i < s.integer.value(); ++i) {
        out.insert(out.end(), a.list()->items->begin(), a.list()->items->end());
      }
      return some(container(c, Value::list(std::move(out))));
    }
    if ((name == "eq" || name == "ne") && !a.tensor() && !b.tensor()) {
      return some(one(Scalar::truth(identical(a, b) == (name == "eq"))));
    }
    return Some{};
  }
  if (c.args.empty() || !is_number(c.args[0])) {
    if ((name == "max" || name == "min") && c.args.size() == 1 && c.args[0].list()) {
      const auto& items = *c.args[0].list()->items;
      if (items.empty() || !std::all_of(items.begin(), items.end(), is_number))
        return c.error("needs a list of numbers");
      Scalar best = *items[0].scalar();
      for (std::size_t i = 1; i < items.size(); ++i) {
        auto r = binary(c, name, best, *items[i].scalar());
        if (!r) return Failure{};
        best = *r;
      }
      return some(one(best));
    }
    return Some{};
  }
  const Scalar& a = *c.args[0].scalar();
  if (name == "neg") {
    auto r = binary(c, "sub", Scalar::of(std::int64_t{0}), a);
    if (!r) return Failure{};
    return some(one(*r));
  }
  if (name == "ceil")
    return some(rounding(
        c, op("ceil"), [](double x) { return std::ceil(x); }, DType::Int64));
  if (name == "floor")
    return some(rounding(
        c, op("floor"), [](double x) { return std::floor(x); }, DType::Int64));
  if (name == "trunc") return some(convert(c, DType::Int64));
  if (name == "round")
    return some(rounding(
        c, op("round"), [](double x) { return std::nearbyint(x); }, DType::Float64));
  if (name == "sqrt")
    return some(rounding(
        c, op("sqrt"), [](double x) { return std::sqrt(x); }, DType::Float64));
  if (name == "log")
    return some(rounding(
        c, op("log"), [](double x) { return std::log(x); }, DType::Float64));
  if (name == "exp")
    return some(rounding(
        c, op("exp"), [](double x) { return std::exp(x); }, DType::Float64));
  if (name == "abs") {
    auto negative = binary(c, "sub", Scalar::of(std::int64_t{0}), a);
    auto r = negative ? binary(c, "max", a, *negative) : negative;
    if (!r) return Failure{};
    return some(one(*r));
  }
  return Some{};
}

}  // namespace

std::vector<std::string_view> python_operations() {
  std::vector<std::string_view> out{"prim::max", "prim::min"};  // on_numbers reads them as aten's
  for (const auto& [name, handler] : handlers()) out.push_back(name);
  return out;
}

Result<std::optional<std::vector<Value>>> python_operation(Call& c) {
  const std::string_view o = c.operation.op;
  const auto row = handlers().find(o);
  if (row != handlers().end()) {
    auto r = row->second(c);
    if (!r) return Failure{};
    return std::optional(*std::move(r));
  }
  if (o.starts_with("aten::") || o.starts_with("prim::")) return on_numbers(c, o.substr(6));
  return std::optional<std::vector<Value>>{};
}

Result<std::optional<bool>> truth(Call& c, const Value& v) {
  using Some = std::optional<bool>;
  if (const Scalar* s = v.scalar()) {
    const auto n = s->number();
    return n ? Some(*n != 0) : Some{};
  }
  if (const TensorRef* t = v.tensor()) {
    auto id = c.read(*t);
    if (!id) return Failure{};
    const auto n = c.scalar_of(*id, DType::Bool).number();
    return n ? Some(*n != 0) : Some{};
  }
  return c.error(fmt::format("tests {}", v.kind()));
}

}  // namespace perfc::torch
