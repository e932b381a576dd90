#include "frontends/keras/call.h"

#include <algorithm>

namespace perfc::keras {
namespace {

/// "mixed_float16" computes in float16 and keeps float32; others do both in one type. Quantised policies
/// ("int8_from_float32") compute in the type that they come from.
std::pair<DType, DType> policy(const std::optional<json::Element>& given) {
  std::string_view name = json::text(given).value_or(std::string_view{});
  if (given && name.empty()) {
    const auto config = json::member(*given, "config");
    name = config ? json::text(json::member(*config, "name")).value_or(std::string_view{}) : std::string_view{};
  }
  if (const std::size_t from = name.find("_from_"); from != name.npos) name.remove_prefix(from + 6);
  if (name.starts_with("mixed_")) return {dtype_from_name(name.substr(6)).value_or(DType::Float32), DType::Float32};
  const DType d = dtype_from_name(name).value_or(DType::Float32);
  return {d, d};
}

}  // namespace

Call::Call(Importer& i, const LayerInfo& l, std::size_t n, std::string p, std::vector<Value> a,
           std::vector<std::pair<std::string_view, Value>> k, int d)
    : Emitter(i.builder(), {}, p, std::string(l.class_name)), importer(i), layer(l), call(n), path(std::move(p)),
      args(std::move(a)), named(std::move(k)), depth(d) {
  std::tie(compute_, variable_) = policy(setting("dtype"));
}

std::vector<ValueId> Call::tensors(std::size_t i) const {
  std::vector<ValueId> out;
  if (i >= args.size()) return out;
  if (args[i].kind == Value::Kind::Tensor) out.push_back(args[i].tensor);
  for (const Value& v : args[i].items) {
    if (v.kind == Value::Kind::Tensor) out.push_back(v.tensor);
  }
  return out;
}

Operand Call::tensor(std::size_t i) const {
  const std::vector<ValueId> all = tensors(i);
  if (all.empty()) return error(fmt::format("argument {} is no tensor", i));
  return all.front();
}

const Value* Call::argument(std::size_t i, std::string_view name) const {
  if (i < args.size()) return &args[i];
  const auto found = std::ranges::find(named, name, [](const auto& n) { return n.first; });
  return found == named.end() ? nullptr : &found->second;
}

ValueId Call::tensor_named(std::string_view name) const {
  const Value* v = argument(args.size(), name);
  return v && v->kind == Value::Kind::Tensor ? v->tensor : ValueId{};
}

bool Call::given(std::string_view name) const {
  const auto e = setting(name);
  return e && !e->is_null();
}

std::int64_t Call::integer_or(std::string_view name, std::int64_t fallback) const {
  return json::integer(setting(name)).value_or(fallback);
}

double Call::real_or(std::string_view name, double fallback) const {
  const auto e = setting(name);
  double v = 0;
  return e && !e->get(v) ? v : static_cast<double>(json::integer(e).value_or(0)) + (json::integer(e) ? 0 : fallback);
}

bool Call::flag(std::string_view name, bool fallback) const {
  const auto e = setting(name);
  bool v = false;
  return e && !e->get(v) ? v : fallback;
}

std::string_view Call::text_or(std::string_view name, std::string_view fallback) const {
  return json::text(setting(name)).value_or(fallback);
}

Ints Call::list_or(std::string_view name, Ints fallback) const {
  const auto e = setting(name);
  if (const auto i = json::integer(e)) return {*i};
  const auto list = json::array(e);
  if (!list) return fallback;
  Ints out;
  for (const json::Element& item : *list) out.push_back(json::integer(item).value_or(-1));
  return out;
}

Result<Ints> Call::ints(std::string_view name, std::size_t n, std::int64_t fallback) const {
  Ints out = list_or(name, Ints(n, fallback));
  if (out.size() == 1) out.assign(n, out.front());
  if (out.size() != n) return error(fmt::format("'{}' has {} entries instead of {}", name, out.size(), n));
  return out;
}

Operand Call::weight(std::string_view name, const Ints& shape) const {
  for (std::int64_t d : shape) {
    if (d < 0) return error(fmt::format("its weight '{}' has an extent of {}", name, d));
  }
  const Type type = Type::tensor(variable(), Shape(shape.begin(), shape.end()));
  return cast(importer.weight(fmt::format("{}/{}", path, name), type, loc), compute());
}

std::optional<LayerInfo> layer_info(const std::optional<json::Element>& e) {
  const auto config = e ? json::member(*e, "config") : std::nullopt;
  const auto class_name = e ? json::text(json::member(*e, "class_name")) : std::nullopt;
  if (!config || !class_name) return std::nullopt;
  const auto text = [&](std::string_view name) {
    return json::text(json::member(*e, name)).value_or(std::string_view{});
  };
  return LayerInfo{.name = json::text(json::member(*config, "name")).value_or(std::string_view{}),
                   .class_name = *class_name,
                   .module = text("module"),
                   .registered_name = text("registered_name"),
                   .config = *config};
}

Values Call::inner(const json::Element& element, std::string_view suffix, std::vector<ValueId> given) const {
  const auto info = layer_info(element);
  if (!info) return error("wraps something without a class or a config");
  if (depth >= kMaxModels) return error(fmt::format("layers are nested deeper than {}", kMaxModels));
  const std::string inside = fmt::format("{}/{}{}", path, info->name, suffix);
  if (info->class_name == "Functional" || info->class_name == "Sequential" || info->class_name == "Model")
    return importer.call_model(*info, inside, given, depth + 1);
  std::vector<Value> values;
  values.reserve(given.size());
  for (ValueId v : given) values.push_back(Value::of(v));
  Call c(importer, *info, 0, inside, std::move(values), {}, depth + 1);
  return importer.apply(c);
}

Values Call::unpriced() {
  opaque = true;
  return std::vector<ValueId>{};
}

}  // namespace perfc::keras
