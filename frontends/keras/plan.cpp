#include "frontends/keras/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <queue>

namespace perfc::keras {
namespace {

constexpr int kMaxListDepth = 16;
constexpr std::size_t kMostArguments = 1 << 16;

std::string_view text_of(const json::Element& e, std::string_view name) {
  return json::text(json::member(e, name)).value_or(std::string_view{});
}

class PlanReader {
 public:
  PlanReader(std::string_view what, Diagnostics& diags) : what_(what), diags_(diags) {}

  Result<Plan> read(const json::Element& config, bool sequential) {
    const auto layers = json::array(json::member(config, "layers"));
    if (!layers) return diags_.error(fmt::format("{}: the config has no list of layers", what_));
    plan_.sequential = sequential;
    for (const json::Element& e : *layers) {
      LayerInfo l{.class_name = text_of(e, "class_name"),
                  .module = text_of(e, "module"),
                  .registered_name = text_of(e, "registered_name")};
      const auto own = json::member(e, "config");
      if (l.class_name.empty() || !own)
        return diags_.error(fmt::format("{}: a layer without a class or a config", what_));
      l.config = *own;
      l.name = text_of(e, "name");
      if (l.name.empty()) l.name = text_of(l.config, "name");
      if (!sequential && !by_name_.emplace(l.name, plan_.layers.size()).second)
        return diags_.error({}, l.name, fmt::format("{}: two layers have this name", what_));
      plan_.layers.push_back(std::move(l));
    }
    if (sequential) return std::move(plan_);
    std::size_t i = 0;
    for (const json::Element& e : *layers) {
      if (!read_calls(e, plan_.layers[i++])) return Failure{};
    }
    if (!endpoints(config, "input_layers", plan_.inputs) || !endpoints(config, "output_layers", plan_.outputs) ||
        !order())
      return Failure{};
    if (plan_.outputs.empty()) return diags_.error(fmt::format("{}: the model has no outputs", what_));
    return std::move(plan_);
  }

 private:
  Failure odd(std::string_view layer, std::string_view why) {
    return diags_.error({}, layer, fmt::format("{}: {}", what_, why));
  }

  Result<Argument> tensor(std::string_view layer, std::string_view from, std::int64_t call, std::int64_t output) {
    const auto found = by_name_.find(from);
    if (found == by_name_.end()) return odd(layer, fmt::format("is fed by '{}', which is no layer", from));
    if (call < 0 || output < 0 || output >= static_cast<std::int64_t>(kMostOutputs))
      return odd(layer, fmt::format("is fed by output {} of call {} of '{}'", output, call, from));
    return Argument{.kind = Argument::Kind::Tensor,
                    .layer = found->second,
                    .call = static_cast<std::size_t>(call),
                    .output = static_cast<std::size_t>(output)};
  }

  /// {"class_name": "__keras_tensor__", "config": {"shape", "dtype", "keras_history": [layer, call, output]}}.
  Result<Argument> keras_tensor(const json::Element& config, std::string_view layer) {
    const auto history = json::array(json::member(config, "keras_history"));
    if (!history || history->size() != 3) return odd(layer, "an operand without a history");
    const auto from = json::text(history->at(0).value());
    const auto call = json::integer(history->at(1).value()), output = json::integer(history->at(2).value());
    if (!from || !call || !output) return odd(layer, "an operand without a history");
    auto out = tensor(layer, *from, *call, *output);
    const auto dims = json::array(json::member(config, "shape"));
    const auto dtype = dtype_from_name(text_of(config, "dtype"));
    if (!out || !dims || !dtype || dims->size() > 64) return out;
    Shape shape;
    for (const json::Element& d : *dims) {
      const auto extent = json::integer(d);
      shape.push_back(extent && *extent >= 0 ? Dim(*extent) : Dim::unknown());
    }
    plan_.layers[out->layer].declared[out->call * kMostOutputs + out->output] = Type::tensor(*dtype, std::move(shape));
    return out;
  }

  Result<Argument> argument(const json::Element& e, std::string_view layer, int depth) {
    if (depth > kMaxListDepth || ++arguments_ > kMostArguments * 16) return odd(layer, "arguments without end");
    using Kind = Argument::Kind;
    switch (e.type()) {
      case simdjson::dom::element_type::BOOL:
        return Argument{.kind = Kind::Bool, .integer = e.get_bool().value() ? 1 : 0};
      case simdjson::dom::element_type::INT64:
        return Argument{.kind = Kind::Integer, .integer = e.get_int64().value()};
      case simdjson::dom::element_type::DOUBLE:
        return Argument{.kind = Kind::Real, .real = e.get_double().value()};
      case simdjson::dom::element_type::STRING:
        return Argument{.kind = Kind::Text, .text = e.get_string().value()};
      case simdjson::dom::element_type::ARRAY: {
        Argument list{.kind = Kind::List};
        const json::Array items = *json::array(e);
        for (const json::Element& item : items) {
          auto a = argument(item, layer, depth + 1);
          if (!a) return Failure{};
          list.items.push_back(*std::move(a));
        }
        return list;
      }
      case simdjson::dom::element_type::OBJECT:
        return object(e, layer, depth);
      default:
        return Argument{};
    }
  }

  Result<Argument> object(const json::Element& e, std::string_view layer, int depth) {
    using Kind = Argument::Kind;
    const std::string_view kind = text_of(e, "class_name");
    const auto config = json::member(e, "config");
    if (kind == "__keras_tensor__" && config) return keras_tensor(*config, layer);
    if (kind == "__ellipsis__") return Argument{.kind = Kind::Ellipsis};
    if (kind == "__slice__" && config) {
      Argument s{.kind = Kind::Slice};
      for (const char* part : {"start", "stop", "step"}) {
        const auto given = json::member(*config, part);
        auto a = given ? argument(*given, layer, depth + 1) : Result<Argument>(Argument{});
        if (!a) return Failure{};
        s.items.push_back(*std::move(a));
      }
      return s;
    }
    if ((kind == "__tuple__" || kind == "__numpy__") && config) {
      const auto value = json::member(*config, kind == "__tuple__" ? "items" : "value");
      return argument(value ? *value : *config, layer, depth + 1);
    }
    if (kind == "DTypePolicy" && config) return Argument{.kind = Kind::Text, .text = text_of(*config, "name")};
    // A dict of tensors: its values in the order of the file.
    Argument list{.kind = Kind::List};
    json::Object members;
    if (e.get(members)) return Argument{};
    for (const auto& [name, value] : members) {
      auto a = argument(value, layer, depth + 1);
      if (!a) return Failure{};
      list.items.push_back(*std::move(a));
    }
    return list;
  }

  /// Keras 2: one call is a list of [layer, call, output, {named}], or a dict of them.
  Result<LayerCall> old_call(const json::Array& entries, std::string_view layer) {
    LayerCall out;
    Argument list{.kind = Argument::Kind::List};
    const bool single = entries.size() > 0 && entries.at(0).value().is_string();
    const auto one = [&](const json::Array& a) -> Status {
      if (a.size() < 3) return odd(layer, "an operand without a history");
      const auto from = json::text(a.at(0).value());
      const auto call = json::integer(a.at(1).value()), output = json::integer(a.at(2).value());
      if (!from || !call || !output) return odd(layer, "an operand without a history");
      auto t = tensor(layer, *from, *call, *output);
      if (!t) return Failure{};
      list.items.push_back(*t);
      json::Object named;
      if (a.size() < 4 || a.at(3).value().get(named)) return ok();
      for (const auto& [name, value] : named) {
        auto v = argument(value, layer, 0);
        if (!v) return Failure{};
        out.named.emplace_back(name, *std::move(v));
      }
      return ok();
    };
    if (single) {
      if (!one(entries)) return Failure{};
    } else {
      for (const json::Element& e : entries) {
        const auto a = json::array(e);
        if (!a || !one(*a)) return a ? Result<LayerCall>(Failure{}) : odd(layer, "an operand without a history");
      }
    }
    out.args.push_back(list.items.size() == 1 ? list.items.front() : std::move(list));
    return out;
  }

  Status read_calls(const json::Element& e, LayerInfo& l) {
    const auto nodes = json::array(json::member(e, "inbound_nodes"));
    if (!nodes) return ok();
    for (const json::Element& node : *nodes) {
      if (const auto old = json::array(node)) {
        auto call = old_call(*old, l.name);
        if (!call) return Failure{};
        l.calls.push_back(*std::move(call));
        continue;
      }
      LayerCall call;
      const auto args = json::array(json::member(node, "args"));
      if (!args) return odd(l.name, "a call without arguments");
      for (const json::Element& a : *args) {
        auto v = argument(a, l.name, 0);
        if (!v) return Failure{};
        call.args.push_back(*std::move(v));
      }
      json::Object named;
      const auto kwargs = json::member(node, "kwargs");
      if (kwargs && !kwargs->get(named)) {
        for (const auto& [name, value] : named) {
          auto v = argument(value, l.name, 0);
          if (!v) return Failure{};
          call.named.emplace_back(name, *std::move(v));
        }
      }
      l.calls.push_back(std::move(call));
    }
    return ok();
  }

  /// [layer, call, output], a list of them, or a dict of either.
  Status endpoints(const json::Element& config, std::string_view name, std::vector<Argument>& out) {
    const auto given = json::member(config, name);
    return given ? endpoint(*given, name, out, 0) : odd({}, fmt::format("the config has no {}", name));
  }

  Status endpoint(const json::Element& e, std::string_view name, std::vector<Argument>& out, int depth) {
    if (depth > kMaxListDepth) return odd({}, fmt::format("{} nested without end", name));
    if (const auto list = json::array(e)) {
      if (list->size() == 3 && list->at(0).value().is_string() && !list->at(1).value().is_string()) {
        const auto call = json::integer(list->at(1).value()), output = json::integer(list->at(2).value());
        auto t = tensor(name, *json::text(list->at(0).value()), call.value_or(-1), output.value_or(-1));
        if (!t) return Failure{};
        out.push_back(*t);
        return ok();
      }
      for (const json::Element& item : *list) {
        if (!endpoint(item, name, out, depth + 1)) return Failure{};
      }
      return ok();
    }
    json::Object members;
    if (e.get(members)) return odd({}, fmt::format("{} that are no lists", name));
    for (const auto& [key, value] : members) {
      if (!endpoint(value, name, out, depth + 1)) return Failure{};
    }
    return ok();
  }

  static void sources(const Argument& a, std::vector<Plan::Step>& out) {
    if (a.kind == Argument::Kind::Tensor) out.push_back({a.layer, a.call});
    for (const Argument& item : a.items) sources(item, out);  // as deep as kMaxListDepth
  }

  Status order() {
    std::vector<std::size_t> first;  // step of each layer's first call
    std::vector<Plan::Step> all;
    for (std::size_t l = 0; l < plan_.layers.size(); ++l) {
      first.push_back(all.size());
      for (std::size_t c = 0; c < plan_.layers[l].calls.size(); ++c) all.push_back({l, c});
    }
    std::vector<std::size_t> missing(all.size(), 0);
    std::vector<std::vector<std::size_t>> users(all.size());
    for (std::size_t i = 0; i < all.size(); ++i) {
      const LayerCall& call = plan_.layers[all[i].layer].calls[all[i].call];
      std::vector<Plan::Step> from;
      for (const Argument& a : call.args) sources(a, from);
      for (const auto& [name, a] : call.named) sources(a, from);
      for (const Plan::Step& s : from) {
        const LayerInfo& l = plan_.layers[s.layer];
        if (l.calls.empty() && s.call == 0) continue;  // an input
        if (s.call >= l.calls.size())
          return odd(l.name, fmt::format("has {} calls, not {}", l.calls.size(), s.call + 1));
        users[first[s.layer] + s.call].push_back(i);
        ++missing[i];
      }
    }
    std::priority_queue<std::size_t, std::vector<std::size_t>, std::greater<>> ready;
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (missing[i] == 0) ready.push(i);
    }
    while (!ready.empty()) {
      const std::size_t i = ready.top();
      ready.pop();
      plan_.steps.push_back(all[i]);
      for (std::size_t user : users[i]) {
        if (--missing[user] == 0) ready.push(user);
      }
    }
    return plan_.steps.size() == all.size() ? ok() : Status(odd({}, "layers feed each other in a circle"));
  }

  std::string_view what_;
  Diagnostics& diags_;
  Plan plan_;
  std::map<std::string_view, std::size_t> by_name_;
  std::size_t arguments_ = 0;
};

}  // namespace

Result<Plan> read_plan(const json::Element& config, bool sequential, std::string_view what, Diagnostics& diags) {
  return PlanReader(what, diags).read(config, sequential);
}

}  // namespace perfc::keras
