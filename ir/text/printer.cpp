#include "ir/text/printer.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <unordered_set>

#include "ir/tables.h"
#include "ir/text/lexical.h"

namespace perfc {
namespace {

using text::is_identifier;

std::string name_text(std::string_view name) { return is_identifier(name) ? std::string(name) : text::quoted(name); }

std::string symbol_text(const SymInt& s) {
  if (s.known()) return fmt::format("{}", s.value());
  if (!s.symbolic()) return "?";
  const std::string& name = s.symbol_name();
  const bool plain = is_identifier(name) && name != "inf" && name != "nan";
  return plain ? name : text::quoted(name, '\'');
}

std::string shape_text(const Shape& shape) {
  std::string out = "(";
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (i) out += ", ";
    out += symbol_text(shape[i]);
  }
  return out + (shape.size() == 1 ? ",)" : ")");
}

template <class List, class Spell>
std::string list_text(std::string_view empty_kind, const List& list, Spell spell) {
  if (list.empty()) return fmt::format("{}[]", empty_kind);
  std::string out = "[";
  for (const auto& element : list) {
    if (out.size() > 1) out += ", ";
    out += spell(element);
  }
  return out + "]";
}

std::string ints_text(const std::vector<std::int64_t>& v) {
  return list_text("", v, [](std::int64_t i) { return fmt::format("{}", i); });
}
std::string floats_text(const std::vector<double>& v) { return list_text("floats", v, text::real_text); }
std::string strings_text(const std::vector<std::string>& v) {
  return list_text("strings", v, [](const std::string& s) { return text::quoted(s); });
}

std::string data_text(const Data& data) {
  if (const auto* v = data.floats()) return floats_text(*v);
  if (const auto* v = data.strings()) return strings_text(*v);
  return list_text("", *data.ints(), symbol_text);
}

/// "const[1, 2]", "const floats[]", or "weight" when the contents are absent.
std::string contents_text(const Data* data) {
  if (!data) return "weight";
  const std::string list = data_text(*data);
  return fmt::format("const{}{}", list.front() == '[' ? "" : " ", list);
}

struct AttrText {
  std::string operator()(std::int64_t v) const { return fmt::format("{}", v); }
  std::string operator()(double v) const { return text::real_text(v); }
  std::string operator()(const std::string& v) const { return text::quoted(v); }
  std::string operator()(const std::vector<std::int64_t>& v) const { return ints_text(v); }
  std::string operator()(const std::vector<double>& v) const { return floats_text(v); }
  std::string operator()(const std::vector<std::string>& v) const { return strings_text(v); }
  std::string operator()(const Literal& v) const {
    return fmt::format("{}: {}", contents_text(v.data.get()), print_type(v.type));
  }
  std::string operator()(const Type& v) const { return print_type(v); }
};

class Printer {
 public:
  void file(const Graph& graph) {
    write("#[version = \"{}\"]\ndef ", kTextVersion);
    function(graph, 0);
    out_ += '\n';
  }
  std::string take() { return std::move(out_); }

 private:
  template <class... Args>
  void write(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(out_), format, std::forward<Args>(args)...);
  }
  void indent(int depth) { out_.append(static_cast<std::size_t>(depth) * 2, ' '); }

  /// Params that come first and have distinct identifiers for names go by them.
  static bool params_by_name(const Graph& graph) {
    std::unordered_set<std::string_view> seen;
    for (std::size_t i = 0; i < graph.params().size(); ++i) {
      const ValueId p = graph.params()[i];
      const std::string& name = graph.node(p).name;
      if (p.node != i || !is_identifier(name) || !seen.insert(name).second) return false;
    }
    return true;
  }

  void target(const Graph& graph, NodeId id, bool by_name) {
    if (by_name && id < graph.params().size()) {
      write("%{}", graph.node(id).name);
    } else {
      write("%{}", id);
    }
  }

  void value(const Graph& graph, ValueId v, bool by_name) {
    if (!v) {
      out_ += '_';
      return;
    }
    target(graph, v.node, by_name);
    if (graph.node(v).results.size() > 1) write(".{}", v.result);
  }

  void function(const Graph& graph, int depth) {
    const bool by_name = params_by_name(graph);
    write("@{}(", name_text(graph.name()));
    for (std::size_t i = 0; i < graph.params().size(); ++i) {
      const Node& p = graph.node(graph.params()[i]);
      if (i) out_ += ", ";
      target(graph, graph.params()[i].node, by_name);
      write(": {}", print_type(p.results[0].type));
      if (!by_name && !p.name.empty()) write(" @{}", name_text(p.name));
      if (p.results[0].data) write(" = {}", data_text(*p.results[0].data));
    }
    out_ += ") -> (";
    for (std::size_t i = 0; i < graph.results().size(); ++i) {
      if (i) out_ += ", ";
      const std::string& name = graph.result_names()[i];
      if (!name.empty()) write("{}: ", name_text(name));
      out_ += print_type(graph.type(graph.results()[i]));
    }
    out_ += ") {\n";
    for (NodeId id = 0; id < graph.size(); ++id) {
      if (graph.node(id).kind != NodeKind::Var) statement(graph, id, by_name, depth + 1);
    }
    indent(depth + 1);
    out_ += '(';
    for (std::size_t i = 0; i < graph.results().size(); ++i) {
      if (i) out_ += ", ";
      value(graph, graph.results()[i], by_name);
    }
    out_ += ")\n";
    indent(depth);
    out_ += '}';
  }

  void statement(const Graph& graph, NodeId id, bool by_name, int depth) {
    const Node& n = graph.node(id);
    indent(depth);
    write("%{}", id);
    if (n.kind == NodeKind::Constant) {
      const std::string_view mark = n.attrs.has(kTable) ? "table " : n.attrs.has(kZeros) ? "zeros " : "";
      write(" = {}{} : {}", mark, contents_text(n.results[0].data.get()), print_type(n.results[0].type));
    } else {
      if (n.results.size() != 1) write(":{}", n.results.size());
      write(" = {}(", def(n.op).name);
      bool first = true;
      const auto comma = [&] { out_ += std::exchange(first, false) ? "" : ", "; };
      for (ValueId v : n.operands) {
        comma();
        value(graph, v, by_name);
      }
      for (const auto& [name, attr] : n.attrs) {
        comma();
        write("{}={}", name_text(name), print_attr(attr));
      }
      out_ += ") : ";
      result_types(n);
    }
    if (!n.name.empty()) write(" @{}", name_text(n.name));
    if (!n.regions.empty()) {
      out_ += " {\n";
      for (const GraphRef& region : n.regions) {
        indent(depth + 1);
        out_ += "fn ";
        function(*region, depth + 1);
        out_ += '\n';
      }
      indent(depth);
      out_ += '}';
    }
    out_ += ";\n";
  }

  void result_types(const Node& n) {
    if (n.results.size() == 1) {
      out_ += print_type(n.results[0].type);
      return;
    }
    out_ += '(';
    for (std::size_t i = 0; i < n.results.size(); ++i) {
      if (i) out_ += ", ";
      out_ += print_type(n.results[i].type);
    }
    out_ += ')';
  }

  std::string out_;
};

}  // namespace

std::string print_attr(const Attr& attr) { return std::visit(AttrText{}, attr); }

std::string print_type(const Type& type) {
  switch (type.kind()) {
    case TypeKind::None:
      return "None";
    case TypeKind::Tensor:
    case TypeKind::SparseTensor:
      return fmt::format("{}[{}, {}]", type.kind() == TypeKind::Tensor ? "Tensor" : "SparseTensor",
                         type.ranked() ? shape_text(type.shape()) : "*", name(type.dtype()));
    case TypeKind::Sequence:
      return fmt::format("Sequence[{}]", print_type(type.element()));
    case TypeKind::Optional:
      return fmt::format("Optional[{}]", print_type(type.element()));
    case TypeKind::Map:
      return fmt::format("Map[{}, {}]", name(type.dtype()), print_type(type.element()));
    case TypeKind::Opaque:
      return fmt::format("Opaque[{}]", name_text(type.opaque_name()));
  }
  return "None";
}

std::string print_graph(const Graph& graph) {
  Printer printer;
  printer.file(graph);
  return printer.take();
}

}  // namespace perfc
