#include "frontends/torch/torchscript.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "ir/rewriter.h"

namespace perfc::torch {
namespace {

using json::Array;
using json::Element;
using json::Object;

constexpr std::int64_t kVersion = 1;

class TorchScriptReader {
 public:
  explicit TorchScriptReader(Diagnostics& diags) : diags_(diags) {}

  Result<Program> run(const Element& root) {
    Object top;
    if (root.get(top)) return diags_.error("not TorchScript JSON: the text is no object");
    if (json::text(json::member(root, "format")) != "torchscript-json") {
      return diags_.error(
          "not TorchScript JSON: \"format\" is not \"torchscript-json\"; export with `python -m perfc.export MODEL`");
    }
    const auto version = json::integer(json::member(root, "version"));
    if (version != kVersion) {
      return diags_.error(fmt::format("TorchScript JSON of version {}; perfc reads version {}",
                                      version ? fmt::format("{}", *version) : "unknown", kVersion));
    }
    Program program;
    program.name = std::string(json::text(json::member(root, "model")).value_or(""));
    const auto nodes = json::array(json::member(root, "nodes"));
    const auto outputs = json::array(json::member(root, "outputs"));
    if (!nodes) return diags_.error("has no array \"nodes\"");
    if (!outputs) return diags_.error("has no array \"outputs\"");
    if (const auto parameters = json::array(json::member(root, "parameters"))) {
      for (const Element& p : *parameters) {
        if (!parameter(p, program)) return Failure{};
      }
    }
    if (const auto inputs = json::array(json::member(root, "inputs"))) {
      if (!values(*inputs, "inputs", program.body.inputs)) return Failure{};
    }
    if (!operations(*nodes, 0, program.body.nodes)) return Failure{};
    for (const Element& o : *outputs) {
      auto name = json::text(o);
      if (!name) name = json::text(json::member(o, "name"));
      if (!name) return diags_.error("an entry of \"outputs\" is neither a name nor a value");
      program.body.outputs.push_back({.kind = Arg::Kind::Ref, .text = *name});
      program.output_names.emplace_back(*name);
    }
    return program;
  }

 private:
  SourceLoc here() const { return {.node = index_}; }

  /// Dims: a number, null, or the name of a symbol.
  Result<Type> tensor_type(const Element& e, std::string_view name) {
    DType dtype = DType::Undefined;
    if (const auto d = json::text(json::member(e, "dtype"))) {
      dtype = dtype_of(*d);
      if (dtype == DType::Undefined) return diags_.error(here(), name, fmt::format("unknown dtype '{}'", *d));
    }
    const auto dims = json::array(json::member(e, "shape"));
    if (!dims) return dtype == DType::Undefined ? Type() : Type::unranked(dtype);
    Shape shape;
    for (const Element& d : *dims) {
      if (const auto n = json::integer(d)) {
        if (*n < 0) return diags_.error(here(), name, fmt::format("negative dim {}", *n));
        shape.emplace_back(*n);
      } else if (const auto symbol = json::text(d)) {
        shape.push_back(Dim::symbol(*symbol));
      } else if (d.is_null()) {
        shape.emplace_back();
      } else {
        return diags_.error(here(), name, "a dim is neither an integer, a name nor null");
      }
    }
    return Type::tensor(dtype, std::move(shape));
  }

  Status value(const Element& e, std::string_view where, Declared& out) {
    const auto name = json::text(json::member(e, "name"));
    if (!name) return diags_.error(here(), {}, fmt::format("an entry of \"{}\" has no name", where));
    out.name = *name;
    out.type = json::text(json::member(e, "type")).value_or("");
    auto type = tensor_type(e, *name);
    if (!type) return Failure{};
    out.tensor = *std::move(type);
    return ok();
  }

  Status values(const Array& list, std::string_view where, std::vector<Declared>& out) {
    out.reserve(list.size());
    for (const Element& e : list) {
      if (!value(e, where, out.emplace_back())) return Failure{};
    }
    return ok();
  }

  Status parameter(const Element& e, Program& program) {
    Declared d;
    if (!value(e, "parameters", d)) return Failure{};
    if (!d.tensor) return diags_.error({}, d.name, "the parameter has neither dtype nor shape");
    program.parameters.push_back({.name = d.name, .label = std::string(d.name), .literal = {d.tensor, nullptr}});
    return ok();
  }

  Status operations(const Array& list, int depth, std::vector<Operation>& out) {
    if (depth > kMaxRegionDepth) {
      return diags_.error(here(), {}, fmt::format("blocks are nested deeper than {}", kMaxRegionDepth));
    }
    out.reserve(list.size());
    for (const Element& e : list) {
      ++index_;
      if (!operation(e, depth, out.emplace_back())) return Failure{};
    }
    return ok();
  }

  Status operation(const Element& e, int depth, Operation& out) {
    out.index = index_;
    Object object;
    if (e.get(object)) return diags_.error(here(), {}, "the node is no object");
    std::optional<Element> attributes, blocks;
    for (const auto& [key, member] : object) {
      if (key == "op") {
        out.op = json::text(member).value_or("");
      } else if (key == "inputs") {
        const auto names = json::array(member);
        if (!names) return diags_.error(here(), {}, "\"inputs\" is no array");
        out.args.reserve(names->size());
        for (const Element& name : *names) {
          const auto text = json::text(name);
          if (!text) return diags_.error(here(), {}, "an entry of \"inputs\" is no name");
          out.args.push_back({.kind = Arg::Kind::Ref, .text = *text});
        }
      } else if (key == "outputs") {
        const auto list = json::array(member);
        if (!list) return diags_.error(here(), {}, "\"outputs\" is no array");
        if (!values(*list, "outputs", out.outputs)) return Failure{};
      } else if (key == "scope") {
        out.scope = json::text(member).value_or("");
      } else if (key == "source") {
        out.source = json::text(member).value_or("");
      } else if (key == "attributes") {
        attributes = member;
      } else if (key == "blocks") {
        blocks = member;
      }
    }
    if (out.op.empty()) return diags_.error(here(), {}, "the node has no \"op\"");
    if (out.op == "prim::Constant") return constant(attributes, out);
    // The one operation whose attribute decides what it gives: prim::isinstance.
    const bool asks = out.op == "prim::isinstance" && attributes;
    if (const auto types = asks ? json::member(*attributes, "types") : std::nullopt) {
      if (!immediate(*types, 0, {}, out.args.emplace_back())) return Failure{};
    }
    if (const auto list = json::array(blocks)) {
      for (const Element& b : *list) {
        if (!block(b, depth + 1, out.blocks.emplace_back())) return Failure{};
      }
    }
    return ok();
  }

  Status block(const Element& e, int depth, Block& out) {
    if (const auto inputs = json::array(json::member(e, "inputs"))) {
      if (!values(*inputs, "inputs", out.inputs)) return Failure{};
    }
    if (const auto nodes = json::array(json::member(e, "nodes"))) {
      if (!operations(*nodes, depth, out.nodes)) return Failure{};
    }
    const auto outputs = json::array(json::member(e, "outputs"));
    if (!outputs) return diags_.error(here(), {}, "a block has no array \"outputs\"");
    for (const Element& o : *outputs) {
      auto name = json::text(o);
      if (!name) name = json::text(json::member(o, "name"));
      if (!name) return diags_.error(here(), {}, "an output of a block is no name");
      out.outputs.push_back({.kind = Arg::Kind::Ref, .text = *name});
    }
    return ok();
  }

  /// A constant is an operation with one immediate argument.
  Status constant(const std::optional<Element>& attributes, Operation& out) {
    const std::string_view name = out.outputs.empty() ? std::string_view{} : out.outputs[0].name;
    const auto value = attributes ? json::member(*attributes, "value") : std::nullopt;
    Arg arg;
    if (value && !immediate(*value, 0, name, arg)) return Failure{};
    if (!out.outputs.empty()) {
      const Declared& d = out.outputs[0];
      if (d.type == "bool" && arg.kind == Arg::Kind::Int) arg.kind = Arg::Kind::Bool;
      if (d.type == "float" && arg.kind == Arg::Kind::Int) {
        arg = {.kind = Arg::Kind::Float, .real = static_cast<double>(arg.integer)};
      }
      const bool tensor = d.type.empty() || d.type == "Tensor";
      const bool number = arg.kind == Arg::Kind::Int || arg.kind == Arg::Kind::Float || arg.kind == Arg::Kind::Bool;
      if (tensor && number && d.tensor.is_tensor()) to_tensor(d.tensor, arg);
    }
    out.args.clear();
    out.args.push_back(std::move(arg));
    return ok();
  }

  /// A bare number that stands for a tensor of one element.
  void to_tensor(const Type& type, Arg& arg) {
    const auto count = type.elements();
    auto data = std::make_shared<Data>();
    if (is_float(type.dtype())) {
      data->elements = std::vector<double>{arg.kind == Arg::Kind::Float ? arg.real : static_cast<double>(arg.integer)};
    } else {
      data->elements = std::vector<SymInt>{arg.kind == Arg::Kind::Float ? SymInt::unknown() : SymInt(arg.integer)};
    }
    arg = {.kind = Arg::Kind::Tensor,
           .tensor = std::make_shared<const Literal>(Literal{type, count == 1 ? DataRef(data) : nullptr})};
  }

  Status immediate(const Element& e, std::size_t depth, std::string_view name, Arg& out) {
    if (depth > kMaxListDepth) return diags_.error(here(), name, "the constant's lists are nested too deeply");
    switch (e.type()) {
      case simdjson::dom::element_type::NULL_VALUE:
        out.kind = Arg::Kind::None;
        return ok();
      case simdjson::dom::element_type::BOOL:
        out.kind = Arg::Kind::Bool;
        out.integer = bool(e) ? 1 : 0;
        return ok();
      case simdjson::dom::element_type::INT64:
        out.kind = Arg::Kind::Int;
        out.integer = std::int64_t(e);
        return ok();
      case simdjson::dom::element_type::UINT64:  // beyond int64
      case simdjson::dom::element_type::DOUBLE:
        out.kind = Arg::Kind::Float;
        out.real = double(e);
        return ok();
      case simdjson::dom::element_type::STRING:
        out.kind = Arg::Kind::Str;
        out.text = std::string_view(e);
        return ok();
      case simdjson::dom::element_type::ARRAY:
        out.kind = Arg::Kind::List;
        for (const Element& item : Array(e)) {
          if (!immediate(item, depth + 1, name, out.items.emplace_back())) return Failure{};
        }
        return ok();
      case simdjson::dom::element_type::OBJECT:
        return special(e, depth, name, out);
    }
    return ok();
  }

  /// {"float": "-inf"}, {"repr": "cpu"}, {"tensor": {…}}
  Status special(const Element& e, std::size_t depth, std::string_view name, Arg& out) {
    if (const auto f = json::text(json::member(e, "float"))) {
      out.kind = Arg::Kind::Float;
      constexpr double inf = std::numeric_limits<double>::infinity();
      if (*f != "inf" && *f != "-inf" && *f != "nan") {
        return diags_.error(here(), name, fmt::format("the constant is a float of '{}'", *f));
      }
      out.real = *f == "inf" ? inf : *f == "-inf" ? -inf : std::nan("");
      return ok();
    }
    if (const auto tensor = json::member(e, "tensor")) {
      auto type = tensor_type(*tensor, name);
      if (!type) return Failure{};
      if (!*type) return diags_.error(here(), name, "the constant tensor has neither dtype nor shape");
      out.kind = Arg::Kind::Tensor;
      Literal literal{*std::move(type), nullptr};
      const auto data = json::member(*tensor, "data");
      if (data && !data->is_null() && !contents(*data, depth, name, literal)) return Failure{};
      out.tensor = std::make_shared<const Literal>(std::move(literal));
      return ok();
    }
    out.kind = Arg::Kind::Object;
    out.text = json::text(json::member(e, "repr")).value_or("object");
    return ok();
  }

  Status contents(const Element& e, std::size_t depth, std::string_view name, Literal& out) {
    std::vector<double> numbers;
    std::vector<SymInt> integers;
    if (!flatten(e, depth, name, numbers, integers)) return Failure{};
    const auto count = out.type.elements();
    if (!count || static_cast<std::size_t>(*count) != numbers.size()) {
      return diags_.error(here(), name,
                          fmt::format("the constant has {} values for {}", numbers.size(), to_string(out.type)));
    }
    if (numbers.size() > static_cast<std::size_t>(Data::kMaxElements)) return ok();
    auto data = std::make_shared<Data>();
    if (is_float(out.type.dtype())) data->elements = std::move(numbers);
    else data->elements = std::move(integers);
    out.data = std::move(data);
    return ok();
  }

  Status flatten(const Element& e, std::size_t depth, std::string_view name, std::vector<double>& numbers,
                 std::vector<SymInt>& integers) {
    if (depth > kMaxListDepth) return diags_.error(here(), name, "the constant's lists are nested too deeply");
    if (const auto list = json::array(e)) {
      for (const Element& item : *list) {
        if (!flatten(item, depth + 1, name, numbers, integers)) return Failure{};
      }
      return ok();
    }
    Arg a;
    if (!immediate(e, depth + 1, name, a)) return Failure{};
    switch (a.kind) {
      case Arg::Kind::Int:
      case Arg::Kind::Bool:
        numbers.push_back(static_cast<double>(a.integer));
        integers.emplace_back(a.integer);
        return ok();
      case Arg::Kind::Float:
        numbers.push_back(a.real);
        integers.emplace_back();
        return ok();
      default:
        return diags_.error(here(), name, "the constant's data are not numbers");
    }
  }

  Diagnostics& diags_;
  std::int64_t index_ = -1;
};

}  // namespace

Result<Program> read_torchscript(const json::Document& document, Diagnostics& diags) {
  return TorchScriptReader(diags).run(document.root());
}

}  // namespace perfc::torch
