#include "frontends/torch/pt2.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <limits>
#include <unordered_map>

#include "ir/rewriter.h"

namespace perfc::torch {
namespace {

using json::Array;
using json::Element;
using json::Object;

/// torch/_export/serde/schema.py ScalarType → c10::ScalarType
std::int64_t c10_type(std::int64_t serialized) {
  switch (serialized) {
    case 1:
    case 2:
    case 3:
    case 4:
    case 5:
    case 6:
    case 7:
    case 8:
    case 9:
    case 10:
    case 11:
    case 12:
      return serialized - 1;
    case 13:
      return 15;  // bfloat16
    case 28:
      return 27;  // uint16
    case 29:
      return 24;  // float8_e4m3fn
    case 30:
      return 23;  // float8_e5m2
    case 31:
      return 26;  // float8_e4m3fnuz
    case 32:
      return 25;  // float8_e5m2fnuz
    default:
      return -1;
  }
}

/// torch/_export/serde/schema.py MemoryFormat → c10::MemoryFormat
std::int64_t c10_memory_format(std::int64_t serialized) {
  constexpr std::array<std::int64_t, 5> kFormats{-1, 0, 2, 3, 1};
  return serialized >= 0 && serialized < std::ssize(kFormats) ? kFormats[static_cast<std::size_t>(serialized)] : -1;
}

/// The member of a union that is not null.
struct Chosen {
  std::string_view key;
  Element value;
};
std::optional<Chosen> chosen(const Element& e) {
  Object object;
  if (e.get(object)) return std::nullopt;
  for (const auto& [key, value] : object) {
    if (!value.is_null()) return Chosen{key, value};
  }
  return std::nullopt;
}

/// "Symbol('s97', positive=True, integer=True)" or "s97" → "s97"; other
/// expressions have no name.
std::optional<std::string_view> symbol_of(std::string_view expression) {
  constexpr std::string_view kSymbol = "Symbol('";
  if (expression.starts_with(kSymbol)) {
    const std::size_t end = expression.find('\'', kSymbol.size());
    if (end == std::string_view::npos) return std::nullopt;
    const std::size_t close = expression.find(')');
    if (close + 1 != expression.size()) return std::nullopt;
    return expression.substr(kSymbol.size(), end - kSymbol.size());
  }
  const auto word = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  };
  if (expression.empty() || (expression[0] >= '0' && expression[0] <= '9')) return std::nullopt;
  for (char c : expression) {
    if (!word(c)) return std::nullopt;
  }
  return expression;
}

/// Python's operators on symbolic numbers, by the name of TorchScript's.
std::string_view python_name(std::string_view target) {
  static const std::unordered_map<std::string_view, std::string_view> kNames{
      {"_operator.add", "aten::add"},
      {"_operator.sub", "aten::sub"},
      {"_operator.mul", "aten::mul"},
      {"_operator.floordiv", "aten::floordiv"},
      {"_operator.truediv", "aten::div"},
      {"_operator.mod", "aten::remainder"},
      {"_operator.neg", "aten::neg"},
      {"_operator.pow", "aten::pow"},
      {"_operator.getitem", "aten::__getitem__"},
      {"_operator.eq", "aten::eq"},
      {"_operator.ne", "aten::ne"},
      {"_operator.lt", "aten::lt"},
      {"_operator.le", "aten::le"},
      {"_operator.gt", "aten::gt"},
      {"_operator.ge", "aten::ge"},
      {"_operator.and_", "aten::__and__"},
      {"_operator.or_", "aten::__or__"},
      {"_operator.not_", "aten::__not__"},
      {"_operator.pos", "prim::annotate"},
      {"math.ceil", "aten::ceil"},
      {"math.floor", "aten::floor"},
      {"math.trunc", "aten::Int"},
      {"math.sqrt", "aten::sqrt"},
      {"builtins.round", "aten::round"},
      {"builtins.abs", "aten::abs"},
      {"builtins.int", "aten::Int"},
      {"builtins.float", "aten::Float"},
      {"torch.sym_max", "aten::max"},
      {"torch.sym_min", "aten::min"},
      {"torch.sym_int", "aten::Int"},
      {"torch.sym_float", "aten::Float"},
      {"torch.sym_not", "aten::__not__"},
      {"torch._sym_sqrt", "aten::sqrt"},
      {"torch.sym_sqrt", "aten::sqrt"},
  };
  const auto found = kNames.find(target);
  return found == kNames.end() ? std::string_view{} : found->second;
}

class Pt2Reader {
 public:
  Pt2Reader(Program& program, Diagnostics& diags) : program_(program), diags_(diags) {}

  Status run(const Element& root, const json::Document* weights) {
    const auto module = json::member(root, "graph_module");
    const auto graph = module ? json::member(*module, "graph") : std::nullopt;
    const auto signature = module ? json::member(*module, "signature") : std::nullopt;
    if (!graph || !signature)
      return diags_.error("not an exported program: it has no graph_module with a graph and a signature");
    if (weights) read_weights(weights->root());
    if (!types(*graph)) return Failure{};
    if (!inputs(*graph, *signature)) return Failure{};
    if (!operations(*graph, 0, program_.body)) return Failure{};
    if (!outputs(*graph, *signature)) return Failure{};
    if (const auto ranges = json::member(root, "range_constraints")) read_ranges(*ranges);
    program_.decomposed = is_decomposed(root);
    return ok();
  }

 private:
  SourceLoc here() const { return {.node = index_}; }

  /// Programs as torch.export gives them are of the dialect TRAINING; run_decompositions() leaves ATEN, as
  /// torch.export did before 2.5.
  static bool is_decomposed(const Element& root) {
    const auto verifiers = json::array(json::member(root, "verifiers"));
    return verifiers && verifiers->size() > 0 && json::text(verifiers->at(0)) == "ATEN";
  }

  /// Weight → file that holds it, so that tied weights count once.
  void read_weights(const Element& root) {
    const auto config = json::member(root, "config");
    Object object;
    if (!config || config->get(object)) return;
    for (const auto& [name, entry] : object) {
      const auto meta = json::member(entry, "tensor_meta");
      const auto device = meta ? json::member(*meta, "device") : std::nullopt;
      // On the meta device weights have no storage: all of them share the empty one.
      if (device && json::text(json::member(*device, "type")) == "meta") continue;
      if (const auto path = json::text(json::member(entry, "path_name"))) files_.emplace(name, *path);
    }
  }

  void read_ranges(const Element& e) {
    Object object;
    if (e.get(object)) return;
    for (const auto& [name, range] : object) {
      const auto least = json::integer(json::member(range, "min_val")),
                 most = json::integer(json::member(range, "max_val"));
      program_.ranges.push_back({name, least.value_or(0), most.value_or(INT64_MAX)});
    }
  }

  Result<Dim> dim(const Element& e, std::string_view name) {
    if (const auto n = json::integer(e))
      return *n >= 0 ? Result<Dim>(Dim(*n)) : diags_.error(here(), name, fmt::format("negative dim {}", *n));
    const auto c = chosen(e);
    if (!c) return Dim();
    if (c->key == "as_int") {
      const auto n = json::integer(c->value);
      if (!n || *n < 0) return diags_.error(here(), name, "a dim is no extent");
      return Dim(*n);
    }
    if (c->key == "as_expr") {
      const auto text = json::text(json::member(c->value, "expr_str"));
      const auto symbol = text ? symbol_of(*text) : std::nullopt;
      return symbol ? Dim::symbol(*symbol) : Dim();
    }
    return Dim();
  }

  Result<Type> tensor_type(const Element& meta, std::string_view name) {
    const auto serialized = json::integer(json::member(meta, "dtype"));
    const DType dtype = serialized ? dtype_of(c10_type(*serialized)) : DType::Undefined;
    if (dtype == DType::Undefined) {
      return diags_.error(here(), name,
                          fmt::format("unknown element type {}", serialized ? fmt::format("{}", *serialized) : "none"));
    }
    const auto sizes = json::array(json::member(meta, "sizes"));
    if (!sizes) return Type::unranked(dtype);
    Shape shape;
    for (const Element& s : *sizes) {
      auto d = dim(s, name);
      if (!d) return Failure{};
      shape.push_back(*d);
    }
    return Type::tensor(dtype, std::move(shape));
  }

  /// tensor_values of a graph, read when asked for.
  Status types(const Element& graph) {
    Object values;
    const auto member = json::member(graph, "tensor_values");
    if (!member || member->get(values)) return diags_.error("the graph has no tensor_values");
    auto& table = types_.emplace_back();
    for (const auto& [name, meta] : values) table.emplace(name, meta);
    return ok();
  }

  Result<Type> type_of(std::string_view name) {
    const auto found = types_.back().find(name);
    if (found == types_.back().end()) return Type();
    return tensor_type(found->second, name);
  }

  std::optional<std::string_view> device_of(std::string_view name) const {
    const auto found = types_.back().find(name);
    if (found == types_.back().end()) return std::nullopt;
    const auto device = json::member(found->second, "device");
    return device ? json::text(json::member(*device, "type")) : std::nullopt;
  }

  /// The name in {"arg": {"name": …}} or {"arg": {"as_tensor": {"name": …}}}.
  static std::optional<std::string_view> spec_name(const Element& spec) {
    const auto arg = json::member(spec, "arg");
    if (!arg) return std::nullopt;
    if (const auto name = json::text(json::member(*arg, "name"))) return name;
    const auto c = chosen(*arg);
    if (!c) return std::nullopt;
    if (const auto name = json::text(json::member(c->value, "name"))) return name;
    return json::text(json::member(c->value, "as_name"));
  }

  Status inputs(const Element&, const Element& signature) {
    const auto specs = json::array(json::member(signature, "input_specs"));
    if (!specs) return diags_.error("the signature has no input_specs");
    for (const Element& spec : *specs) {
      const auto c = chosen(spec);
      if (!c) return diags_.error("an input has no kind");
      const auto name = spec_name(c->value);
      if (!name) continue;  // constants, tokens
      if (home_.empty()) home_ = device_of(*name).value_or("");
      auto type = type_of(*name);
      if (!type) return Failure{};
      if (c->key == "user_input") {
        const bool number = !*type;
        program_.body.inputs.push_back({.name = *name, .type = number ? "int" : "", .tensor = *std::move(type)});
        continue;
      }
      std::string_view label = *name;
      for (const char* key : {"parameter_name", "buffer_name", "tensor_constant_name"}) {
        if (const auto l = json::text(json::member(c->value, key))) label = *l;
      }
      if (!*type) continue;  // module objects
      const auto file = files_.find(label);
      if (file != files_.end()) {
        const auto [first, fresh] = by_file_.emplace(file->second, program_.parameters.size());
        if (!fresh && program_.parameters[first->second].literal.type == *type) {
          program_.aliases.emplace_back(*name, program_.parameters[first->second].name);
          continue;
        }
      }
      program_.parameters.push_back({.name = *name,
                                     .label = std::string(label),
                                     .literal = {*std::move(type), nullptr},
                                     .written_out = c->key == "tensor_constant"});
    }
    return ok();
  }

  Status outputs(const Element& graph, const Element& signature) {
    const auto specs = json::array(json::member(signature, "output_specs"));
    if (specs) {
      for (const Element& spec : *specs) {
        const auto c = chosen(spec);
        if (!c || (c->key != "user_output" && c->key != "loss_output")) continue;
        if (const auto name = spec_name(c->value)) add_output(*name);
      }
      return ok();
    }
    const auto list = json::array(json::member(graph, "outputs"));
    if (!list) return diags_.error("the graph has no outputs");
    for (const Element& o : *list) {
      const auto c = chosen(o);
      const auto name = c ? json::text(json::member(c->value, "name")) : std::nullopt;
      if (name) add_output(*name);
    }
    return ok();
  }

  void add_output(std::string_view name) {
    program_.body.outputs.push_back({.kind = Arg::Kind::Ref, .text = name});
    program_.output_names.emplace_back(name);
  }

  Status operations(const Element& graph, int depth, Block& block) {
    if (depth > kMaxRegionDepth)
      return diags_.error(here(), {}, fmt::format("graphs are nested deeper than {}", kMaxRegionDepth));
    const auto nodes = json::array(json::member(graph, "nodes"));
    if (!nodes) return diags_.error(here(), {}, "a graph has no nodes");
    block.nodes.reserve(nodes->size());
    for (const Element& n : *nodes) {
      ++index_;
      if (!operation(n, depth, block.nodes.emplace_back())) return Failure{};
    }
    return ok();
  }

  Status operation(const Element& e, int depth, Operation& out) {
    out.index = index_;
    const auto target = json::text(json::member(e, "target"));
    if (!target) return diags_.error(here(), {}, "the node has no target");
    const auto inputs = json::array(json::member(e, "inputs"));
    const auto outputs = json::array(json::member(e, "outputs"));
    if (!inputs || !outputs) return diags_.error(here(), {}, "the node has no inputs or outputs");
    name(*target, out);
    // with_effects(token, operator, arguments…) → token, results…: the operator, in an order that tokens keep.
    std::size_t left_inputs = 0, left_outputs = 0;
    if (out.op == "higher_order::with_effects" && inputs->size() >= 2) {
      Element second;
      const auto inner = inputs->at(1).get(second) ? std::nullopt : json::member(second, "arg");
      const auto c = inner ? chosen(*inner) : std::nullopt;
      const auto carried = c && c->key == "as_operator" ? json::text(c->value) : std::nullopt;
      if (carried) name(*carried, out), left_inputs = 2, left_outputs = 1;
    }
    if (const auto meta = json::member(e, "metadata")) {
      const std::string_view function = json::text(json::member(*meta, "torch_fn")).value_or("");
      out.caller = function.substr(function.find(';') + 1);  // "dropout_1;function.dropout"
      // "key,path,class;key,path,class": the innermost module's path is the place.
      if (auto stack = json::text(json::member(*meta, "nn_module_stack"))) {
        const std::size_t last = stack->rfind(';');
        std::string_view entry = last == std::string_view::npos ? *stack : stack->substr(last + 1);
        const std::size_t first = entry.find(','), second = entry.find(',', first + 1);
        if (first != std::string_view::npos && second != std::string_view::npos)
          out.scope = entry.substr(first + 1, second - first - 1);
      }
      if (auto trace = json::text(json::member(*meta, "stack_trace"))) {
        const std::size_t line = trace->rfind("File \"");
        if (line != std::string_view::npos) out.source = trace->substr(line, trace->find('\n', line) - line);
      }
    }
    for (const Element& input : *inputs) {
      if (left_inputs > 0) {
        --left_inputs;
        continue;
      }
      const auto a = json::member(input, "arg");
      if (!a) return diags_.error(here(), out.op, "an argument is missing");
      Arg arg;
      if (!argument(*a, 0, depth, arg, out)) return Failure{};
      // Arguments of higher-order operators are positions, not names.
      if (!out.blocks.empty() || out.op.starts_with("higher_order::")) {
        if (arg.kind == Arg::Kind::Object && arg.text == "graph") continue;
      } else {
        arg.name = json::text(json::member(input, "name")).value_or("");
      }
      out.args.push_back(std::move(arg));
    }
    for (const Element& output : *outputs) {
      const auto c = chosen(output);
      if (left_outputs > 0) {
        --left_outputs;
        continue;
      }
      if (!c) continue;
      if (!result(*c, 0, out.outputs.emplace_back())) return Failure{};
    }
    return ok();
  }

  /// "torch.ops.aten.add.Tensor" → aten::add, overload Tensor.
  void name(std::string_view target, Operation& out) {
    if (const std::string_view python = python_name(target); !python.empty()) {
      out.op = python;
      return;
    }
    constexpr std::string_view kOps = "torch.ops.";
    if (!target.starts_with(kOps)) {
      out.op = target;
      return;
    }
    std::string_view rest = target.substr(kOps.size());
    const std::size_t dot = rest.find('.');
    const std::string_view space = rest.substr(0, dot);
    rest = dot == std::string_view::npos ? std::string_view{} : rest.substr(dot + 1);
    const std::size_t overload = rest.rfind('.');
    if (overload != std::string_view::npos && space != "higher_order") {
      out.overload = rest.substr(overload + 1);
      rest = rest.substr(0, overload);
    }
    names_.push_back(std::make_unique<std::string>(fmt::format("{}::{}", space, rest)));
    out.op = *names_.back();
  }

  Status result(const Chosen& c, std::size_t depth, Declared& out) {
    if (depth > kMaxListDepth) return diags_.error(here(), {}, "results are nested too deeply");
    Array list;
    if (!c.value.get(list)) {
      out.type = "List[Tensor]";
      for (const Element& item : list) {
        Declared& d = out.items.emplace_back();
        if (const auto name = json::text(json::member(item, "name"))) {
          if (!tensor_result(*name, d)) return Failure{};
        } else if (const auto inner = chosen(item)) {
          if (!result(*inner, depth + 1, d)) return Failure{};
        }
      }
      return ok();
    }
    if (c.key == "as_tensor" || c.key == "as_optional_tensor") {
      if (const auto name = json::text(json::member(c.value, "name"))) return tensor_result(*name, out);
      const auto inner = chosen(c.value);
      return inner ? result(*inner, depth + 1, out) : ok();
    }
    if (const auto name = json::text(json::member(c.value, "as_name"))) {
      out.name = *name;
      out.type = c.key == "as_sym_bool" ? "bool" : c.key == "as_sym_float" ? "float" : "int";
    }
    return ok();
  }

  Status tensor_result(std::string_view name, Declared& out) {
    out.name = name;
    auto type = type_of(name);
    if (!type) return Failure{};
    out.tensor = *std::move(type);
    out.on_host = device_of(name) == "cpu" && home_ != "cpu" && !home_.empty();
    return ok();
  }

  Status items(const Element& e, std::string_view key, std::size_t depth, int level, Arg& out, Operation& at) {
    const auto list = json::array(e);
    if (!list) return diags_.error(here(), at.op, fmt::format("argument {} is no list", key));
    out.kind = Arg::Kind::List;
    for (const Element& item : *list) {
      if (!scalar(item, key, depth, level, out.items.emplace_back(), at)) return Failure{};
    }
    return ok();
  }

  /// An item of a list, or a bare value, of the kind that the union's member says.
  Status scalar(const Element& e, std::string_view key, std::size_t depth, int level, Arg& out, Operation& at) {
    if (const auto name = json::text(json::member(e, "name")); name && key.find("tensor") != std::string_view::npos) {
      out = {.kind = Arg::Kind::Ref, .text = *name};
      return ok();
    }
    if (const auto name = json::text(json::member(e, "as_name"))) {
      out = {.kind = Arg::Kind::Ref, .text = *name};
      return ok();
    }
    switch (e.type()) {
      case simdjson::dom::element_type::NULL_VALUE:
        return ok();
      case simdjson::dom::element_type::BOOL:
        out = {.kind = Arg::Kind::Bool, .integer = bool(e) ? 1 : 0};
        return ok();
      case simdjson::dom::element_type::INT64:
        if (key.starts_with("as_float")) out = {.kind = Arg::Kind::Float, .real = static_cast<double>(std::int64_t(e))};
        else out = {.kind = Arg::Kind::Int, .integer = std::int64_t(e)};
        return ok();
      case simdjson::dom::element_type::UINT64:
      case simdjson::dom::element_type::DOUBLE:
        out = {.kind = Arg::Kind::Float, .real = double(e)};
        return ok();
      case simdjson::dom::element_type::STRING: {
        const std::string_view s(e);
        constexpr double inf = std::numeric_limits<double>::infinity();
        if (key.starts_with("as_float") || key.starts_with("as_sym_float")) {
          out = {.kind = Arg::Kind::Float, .real = s == "Infinity" ? inf : s == "-Infinity" ? -inf : std::nan("")};
        } else {
          out = {.kind = Arg::Kind::Str, .text = s};
        }
        return ok();
      }
      case simdjson::dom::element_type::ARRAY:
        return items(e, key, depth + 1, level, out, at);
      case simdjson::dom::element_type::OBJECT:
        return argument(e, depth + 1, level, out, at);
    }
    return ok();
  }

  Status argument(const Element& e, std::size_t depth, int level, Arg& out, Operation& at) {
    if (depth > kMaxListDepth) return diags_.error(here(), at.op, "an argument's lists are nested too deeply");
    const auto c = chosen(e);
    if (!c || c->key == "as_none") return ok();
    if (c->key == "as_graph") {
      const auto graph = json::member(c->value, "graph");
      if (!graph) return diags_.error(here(), at.op, "a subgraph is missing");
      out = {.kind = Arg::Kind::Object, .text = "graph"};
      return subgraph(*graph, level + 1, at.blocks.emplace_back());
    }
    if (c->key == "as_scalar_type") {
      const auto n = json::integer(c->value);
      out = {.kind = Arg::Kind::Int, .integer = n ? c10_type(*n) : -1};
      return ok();
    }
    if (c->key == "as_memory_format") {
      const auto n = json::integer(c->value);
      out = {.kind = Arg::Kind::Int, .integer = n ? c10_memory_format(*n) : -1};
      return ok();
    }
    if (c->key == "as_device" || c->key == "as_custom_obj" || c->key == "as_operator") {
      out = {.kind = Arg::Kind::Object, .text = json::text(json::member(c->value, "type")).value_or("object")};
      return ok();
    }
    return scalar(c->value, c->key, depth, level, out, at);
  }

  Status subgraph(const Element& graph, int level, Block& block) {
    if (!types(graph)) return Failure{};
    const auto inputs = json::array(json::member(graph, "inputs"));
    const auto outputs = json::array(json::member(graph, "outputs"));
    if (!inputs || !outputs) return diags_.error(here(), {}, "a subgraph has no inputs or outputs");
    for (const Element& i : *inputs) {
      const auto c = chosen(i);
      if (c && !result(*c, 0, block.inputs.emplace_back())) return Failure{};
    }
    if (!operations(graph, level, block)) return Failure{};
    Operation nowhere;
    for (const Element& o : *outputs) {
      if (!argument(o, 0, level, block.outputs.emplace_back(), nowhere)) return Failure{};
    }
    types_.pop_back();
    return ok();
  }

  Program& program_;
  Diagnostics& diags_;
  std::int64_t index_ = -1;
  std::vector<std::unordered_map<std::string_view, Element>> types_;
  std::string_view home_;  ///< the device of its weights
  std::unordered_map<std::string_view, std::string_view> files_;
  std::unordered_map<std::string_view, std::size_t> by_file_;
  std::vector<std::unique_ptr<std::string>>& names_ = program_.texts;
};

}  // namespace

Result<Program> read_exported(const json::Document& document, const json::Document* weights, Diagnostics& diags) {
  Program program{.sizes_hold = true};
  if (!Pt2Reader(program, diags).run(document.root(), weights)) return Failure{};
  return program;
}

}  // namespace perfc::torch
