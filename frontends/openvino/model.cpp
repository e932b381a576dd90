#include "frontends/openvino/model.h"

#include <fmt/format.h>
#include <tinyxml2.h>

#include <algorithm>
#include <charconv>
#include <queue>
#include <unordered_map>

#include "ir/support/text.h"

namespace perfc::openvino {
namespace {

using tinyxml2::XMLElement;

constexpr int kMaxBodies = 16;        ///< bodies within bodies
constexpr std::size_t kMaxRank = 64;  ///< dims of a port

std::string_view attribute(const XMLElement& e, const char* name) {
  const char* value = e.Attribute(name);
  return value ? std::string_view(value) : std::string_view{};
}

std::int64_t number(const XMLElement& e, const char* name, std::int64_t fallback) {
  return e.Int64Attribute(name, fallback);
}

SourceLoc place(const XMLElement& e) { return {.line = e.GetLineNum(), .column = 1}; }

/// The elements of a name below another one: `for (const XMLElement& l : each(layers, "layer"))`.
std::vector<const XMLElement*> each(const XMLElement* parent, const char* name) {
  std::vector<const XMLElement*> out;
  for (const XMLElement* e = parent ? parent->FirstChildElement(name) : nullptr; e; e = e->NextSiblingElement(name))
    out.push_back(e);
  return out;
}

class Reader {
 public:
  explicit Reader(Diagnostics& diags) : diags_(diags) {}

  Status net(const XMLElement& e, Net& out, int depth) {
    if (depth > kMaxBodies) return diags_.error(place(e), {}, fmt::format("bodies nested deeper than {}", kMaxBodies));
    out.name = attribute(e, "name");
    out.version = number(e, "version", 0);
    std::vector<Layer> layers;
    for (const XMLElement* l : each(e.FirstChildElement("layers"), "layer")) {
      auto read = layer(*l, depth);
      if (!read) return Failure{};
      layers.push_back(*std::move(read));
    }
    return connect(e, layers) ? sort(e, std::move(layers), out) : Status(Failure{});
  }

 private:
  Result<std::vector<Port>> ports(const XMLElement* parent) {
    std::vector<Port> out;
    for (const XMLElement* p : each(parent, "port")) {
      Port port{.id = number(*p, "id", static_cast<std::int64_t>(out.size())), .names = attribute(*p, "names")};
      const std::string_view precision = attribute(*p, "precision");
      const DType dtype = dtype_of(precision);
      Shape shape;
      for (const XMLElement* d : each(p, "dim")) {
        const std::int64_t extent = d->Int64Text(-1);
        if (extent < -1) return diags_.error(place(*d), {}, fmt::format("a dim of {}", extent));
        if (shape.size() == kMaxRank) return diags_.error(place(*p), {}, fmt::format("more than {} dims", kMaxRank));
        shape.push_back(extent < 0 ? Dim::unknown() : Dim(extent));
      }
      // Numbers and what has no known rank look alike.
      if (dtype != DType::Undefined) port.type = shape.empty() ? Type::unranked(dtype) : Type::tensor(dtype, shape);
      out.push_back(std::move(port));
    }
    return out;
  }

  Result<Layer> layer(const XMLElement& e, int depth) {
    Layer l{.id = number(e, "id", -1),
            .name = attribute(e, "name"),
            .type = attribute(e, "type"),
            .version = attribute(e, "version"),
            .loc = place(e)};
    if (l.id < 0 || l.type.empty()) return diags_.error(l.loc, l.name, "a layer without an id or a type");
    if (const XMLElement* data = e.FirstChildElement("data")) {
      for (const auto* a = data->FirstAttribute(); a; a = a->Next()) l.attributes[a->Name()] = a->Value();
    }
    for (const XMLElement* info : each(e.FirstChildElement("rt_info"), "attribute"))
      l.decompression = l.decompression || attribute(*info, "name") == "decompression";
    auto inputs = ports(e.FirstChildElement("input")), outputs = ports(e.FirstChildElement("output"));
    if (!inputs || !outputs) return Failure{};
    l.inputs = *std::move(inputs);
    l.outputs = *std::move(outputs);
    l.sources.resize(l.inputs.size());
    for (const char* tag : {"body", "then_body", "else_body"}) {
      const XMLElement* body = e.FirstChildElement(tag);
      if (!body) continue;
      Body b{.tag = tag, .net = std::make_unique<Net>()};
      if (!net(*body, *b.net, depth + 1)) return Failure{};
      const std::string prefix(tag, tag == std::string_view("body") ? 0 : 5);  // "then_", "else_"
      port_map(e.FirstChildElement((prefix + "port_map").c_str()), b);
      for (const XMLElement* edge : each(e.FirstChildElement("back_edges"), "edge"))
        b.back_edges.push_back({number(*edge, "from-layer", -1), number(*edge, "to-layer", -1)});
      l.bodies.push_back(std::move(b));
    }
    return l;
  }

  static void port_map(const XMLElement* map, Body& b) {
    for (const XMLElement* e = map ? map->FirstChildElement() : nullptr; e; e = e->NextSiblingElement()) {
      const std::string_view kind = e->Name();
      if (kind != "input" && kind != "output") continue;
      b.ports.push_back({.external = number(*e, "external_port_id", -1),
                         .internal = number(*e, "internal_layer_id", -1),
                         .axis = number(*e, "axis", -1),
                         .start = number(*e, "start", 0),
                         .end = number(*e, "end", -1),
                         .stride = number(*e, "stride", 1),
                         .part = number(*e, "part_size", 1),
                         .output = kind == "output",
                         .purpose = attribute(*e, "purpose")});
    }
  }

  Status connect(const XMLElement& e, std::vector<Layer>& layers) {
    std::unordered_map<std::int64_t, std::size_t> by_id;
    for (std::size_t i = 0; i < layers.size(); ++i) {
      if (!by_id.emplace(layers[i].id, i).second)
        return diags_.error(layers[i].loc, layers[i].name, fmt::format("two layers have the id {}", layers[i].id));
    }
    const auto port = [](const std::vector<Port>& ports, std::int64_t id) {
      return static_cast<std::size_t>(std::ranges::find(ports, id, &Port::id) - ports.begin());
    };
    for (const XMLElement* edge : each(e.FirstChildElement("edges"), "edge")) {
      const auto from = by_id.find(number(*edge, "from-layer", -1)), to = by_id.find(number(*edge, "to-layer", -1));
      if (from == by_id.end() || to == by_id.end())
        return diags_.error(place(*edge), {}, "an edge from or to a layer that is not there");
      Layer& user = layers[to->second];
      const std::size_t output = port(layers[from->second].outputs, number(*edge, "from-port", -1)),
                        input = port(user.inputs, number(*edge, "to-port", -1));
      if (output == layers[from->second].outputs.size() || input == user.inputs.size())
        return diags_.error(place(*edge), user.name, "an edge from or to a port that is not there");
      user.sources[input] = {static_cast<std::ptrdiff_t>(from->second), output};
    }
    return ok();
  }

  /// Operands before users, otherwise as the file has them.
  Status sort(const XMLElement& e, std::vector<Layer> layers, Net& out) {
    std::vector<std::size_t> missing(layers.size(), 0), order;
    std::vector<std::vector<std::size_t>> users(layers.size());
    for (std::size_t i = 0; i < layers.size(); ++i) {
      for (const Layer::Source& s : layers[i].sources) {
        if (s.layer < 0) continue;
        users[static_cast<std::size_t>(s.layer)].push_back(i);
        ++missing[i];
      }
    }
    std::priority_queue<std::size_t, std::vector<std::size_t>, std::greater<>> ready;
    for (std::size_t i = 0; i < layers.size(); ++i) {
      if (missing[i] == 0) ready.push(i);
    }
    std::vector<std::ptrdiff_t> place_of(layers.size(), -1);
    while (!ready.empty()) {
      const std::size_t i = ready.top();
      ready.pop();
      place_of[i] = static_cast<std::ptrdiff_t>(order.size());
      order.push_back(i);
      for (std::size_t user : users[i]) {
        if (--missing[user] == 0) ready.push(user);
      }
    }
    if (order.size() < layers.size()) {
      const auto in_cycle = static_cast<std::size_t>(std::ranges::find(place_of, -1) - place_of.begin());
      return diags_.error(place(e), layers[in_cycle].name, "layers feed each other in a circle");
    }
    for (std::size_t i = 0; i < layers.size(); ++i) {
      const auto at = static_cast<std::size_t>(place_of[i]);
      if (layers[i].type == "Parameter") out.parameters.push_back(at);
      if (layers[i].type == "Result") out.results.push_back(at);
    }
    for (std::size_t i : order) {
      Layer& l = layers[i];
      for (Layer::Source& s : l.sources) {
        if (s.layer >= 0) s.layer = place_of[static_cast<std::size_t>(s.layer)];
      }
      out.layers.push_back(std::move(l));
    }
    return ok();
  }

  Diagnostics& diags_;
};

}  // namespace

DType dtype_of(std::string_view given) {
  static const std::map<std::string, DType, std::less<>> kNames{
      {"f32", DType::Float32},       {"fp32", DType::Float32},      {"f16", DType::Float16},
      {"fp16", DType::Float16},      {"bf16", DType::BFloat16},     {"f64", DType::Float64},
      {"fp64", DType::Float64},      {"i4", DType::Int4},           {"i8", DType::Int8},
      {"i16", DType::Int16},         {"i32", DType::Int32},         {"i64", DType::Int64},
      {"u2", DType::UInt2},          {"u4", DType::UInt4},          {"u8", DType::UInt8},
      {"u16", DType::UInt16},        {"u32", DType::UInt32},        {"u64", DType::UInt64},
      {"boolean", DType::Bool},      {"bool", DType::Bool},         {"string", DType::String},
      {"nf4", DType::Float4E2M1},    {"f4e2m1", DType::Float4E2M1}, {"f8e4m3", DType::Float8E4M3FN},
      {"f8e5m2", DType::Float8E5M2}, {"f8e8m0", DType::Float8E8M0}};
  const auto found = kNames.find(lower(given));
  return found == kNames.end() ? DType::Undefined : found->second;
}

Result<Model> read_model(std::string_view text, Diagnostics& diags) {
  Model model{.document = std::make_shared<tinyxml2::XMLDocument>()};
  if (model.document->Parse(text.data(), text.size()) != tinyxml2::XML_SUCCESS) {
    return diags.error({.line = model.document->ErrorLineNum(), .column = 1}, {},
                       fmt::format("not well-formed XML: {}", model.document->ErrorName()));
  }
  const XMLElement* root = model.document->FirstChildElement("net");
  if (!root) return diags.error("an XML file without <net>; an OpenVINO IR was expected");
  if (!Reader(diags).net(*root, model.net, 0)) return Failure{};
  if (model.net.version < 10) {
    return diags.error(place(*root), {},
                       fmt::format("OpenVINO IR of version {}; 10 and 11 are read: convert the original model again "
                                   "with openvino.convert_model",
                                   model.net.version));
  }
  return model;
}

}  // namespace perfc::openvino
