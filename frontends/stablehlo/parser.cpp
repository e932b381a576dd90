#include <fmt/format.h>

#include <charconv>

#include "frontends/stablehlo/cursor.h"
#include "frontends/stablehlo/module.h"

namespace perfc::stablehlo {
namespace {

constexpr int kMaxNesting = 64;                 ///< of regions
constexpr std::size_t kMaxNamedResults = 4096;  ///< of "%0:N"

class Parser {
 public:
  Parser(std::string_view text, Diagnostics& diags) : at_(text), diags_(diags) {}

  Result<Module> run() {
    if (!top_level()) return Failure{};
    if (module_.functions.empty()) return diags_.error("holds no function; is it a module of StableHLO?");
    return std::move(module_);
  }

 private:
  Failure error(std::string message) { return diags_.error(at_.place(), {}, std::move(message)); }
  Failure expected(std::string_view what) {
    at_.skip();
    const std::string_view next = at_.rest().substr(0, at_.rest().find_first_of("\n"));
    return error(at_.at_end() ? fmt::format("expected {}, the file ends; is it cut off?", what)
                              : fmt::format("expected {}, got '{}'", what, next.substr(0, 40)));
  }
  Failure jumps() {
    return error("jumps between blocks are not read; write the module before its control flow is lowered to cf");
  }
  bool take(std::string_view what) {
    at_.skip();
    return at_.take(what);
  }
  bool take_word(std::string_view what) {
    at_.skip();
    return at_.take_word(what);
  }
  Status need(std::string_view what) {
    if (!take(what)) return expected(fmt::format("'{}'", what));
    return ok();
  }
  Status skip_balanced(std::string_view& out) {
    if (!at_.balanced(out)) return expected("the end of a bracket or string");
    return ok();
  }

  // ---- The file

  /// Modules, functions and aliases, until a bracket closes or the text ends.
  Status top_level() {
    for (int modules = 0;;) {
      at_.skip();
      if (at_.at_end()) {
        if (modules > 0) return expected("'}'");
        return ok();
      }
      if (at_.take("}")) {
        if (modules-- == 0) return error("'}' without its '{'");
        if (!skip_location()) return Failure{};
      } else if (at_.sees("#") || at_.sees("!")) {
        if (!alias()) return Failure{};
      } else if (at_.sees("{-#")) {
        return ok();  // resources: contents of constants
      } else if (at_.take_word("module") || at_.take_word("builtin.module")) {
        if (!module_header()) return Failure{};
        if (++modules > kMaxNesting) return error("modules are nested too deep");
      } else if (!declaration()) {
        return Failure{};
      }
    }
  }

  Status module_header() {
    if (take("@")) {
      if (!symbol(module_.name)) return Failure{};
    }
    std::string_view skipped;
    if (take_word("attributes")) {
      at_.skip();
      if (at_.peek() != '{') return expected("'{'");
      if (!skip_balanced(skipped)) return Failure{};
    }
    return need("{");
  }

  /// "#loc4 = loc(…)", "#map = …", "!t = …".
  Status alias() {
    const std::size_t start = at_.position();
    at_.advance(1);
    at_.word();
    const std::string_view name = at_.since(start);
    if (!need("=")) return Failure{};
    at_.skip();
    if (at_.take_word("loc")) {
      std::string_view inside;
      if (!location_inside(inside)) return Failure{};
      module_.locations.emplace(name, inside);
      return ok();
    }
    std::string_view skipped;
    if (!at_.until("\n", skipped)) return expected("the end of a bracket or string");
    return ok();
  }

  /// A function, or another operation of the module, which is stepped over.
  Status declaration() {
    Operation o;
    o.loc = at_.place();
    if (at_.take_word("func.func") || at_.take_word("func")) return function(o.loc);
    auto read = operation(0);
    if (!read) return Failure{};
    return generic_functions(*read);
  }

  /// Functions in the generic form, where "builtin.module" holds them.
  Status generic_functions(Operation& o) {
    if (o.name == "func.func" && !o.regions.empty()) {
      Function f{.name = unquoted(o.find("sym_name").value_or("")), .loc = o.loc, .body = std::move(o.regions[0])};
      f.is_public = unquoted(o.find("sym_visibility").value_or("public")) != "private";
      module_.functions.push_back(std::move(f));
    } else if (o.name == "builtin.module") {
      if (const auto name = o.find("sym_name")) module_.name = unquoted(*name);
      for (Region& r : o.regions) {
        for (Operation& inner : r.operations) {
          if (!generic_functions(inner)) return Failure{};
        }
      }
    }
    return ok();
  }

  Status function(SourceLoc loc) {
    Function f{.loc = loc, .is_public = true};
    if (take_word("public")) f.is_public = true;
    else if (take_word("private") || take_word("nested")) f.is_public = false;
    if (!need("@") || !symbol(f.name) || !need("(")) return Failure{};
    if (!arguments(f.body.arguments, ")")) return Failure{};
    if (take("->") && !function_results(f)) return Failure{};
    std::string_view skipped;
    if (take_word("attributes")) {
      at_.skip();
      if (!skip_balanced(skipped)) return Failure{};
    }
    at_.skip();
    if (!at_.sees("{")) return skip_location();  // declared only
    at_.advance(1);
    if (!operations(f.body, 0) || !skip_location()) return Failure{};
    module_.functions.push_back(std::move(f));
    return ok();
  }

  Status function_results(Function& f) {
    const bool several = take("(");
    if (several && take(")")) return ok();
    do {
      Type type;
      if (!this->type(type)) return Failure{};
      at_.skip();
      std::string_view attributes;
      if (several && at_.peek() == '{' && !skip_balanced(attributes)) return Failure{};
      f.result_names.emplace_back(unquoted(field(attributes, "jax.result_info").value_or("")));
      if (!skip_location()) return Failure{};
    } while (several && take(","));
    return several ? need(")") : ok();
  }

  // ---- Pieces

  Status symbol(std::string_view& out) {
    if (at_.peek() == '"') {
      if (!at_.string(out)) return expected("the end of a string");
      return ok();
    }
    out = at_.word();
    if (out.empty()) return expected("a name");
    return ok();
  }

  Status type(Type& out) {
    at_.skip();
    std::string_view rest = at_.rest();
    const auto type = take_type(rest);
    if (!type) return expected("a type");
    at_.advance(at_.rest().size() - rest.size());
    out = *type;
    return ok();
  }

  Status types(std::vector<Type>& out) {
    do {
      Type t;
      if (!type(t)) return Failure{};
      out.push_back(std::move(t));
    } while (take(","));
    return ok();
  }

  Status location_inside(std::string_view& inside) {
    if (!need("(")) return Failure{};
    if (!at_.until("", inside)) return expected("the end of a bracket or string");
    return need(")");
  }

  Status skip_location() {
    std::string_view inside;
    if (take_word("loc")) return location_inside(inside);
    return ok();
  }

  /// "%arg0: tensor<…> {…} loc(…), …" up to and with `end`.
  Status arguments(std::vector<Argument>& out, std::string_view end) {
    if (take(end)) return ok();
    do {
      Argument a;
      at_.skip();
      if (at_.peek() != '%') {
        if (!type(a.type)) return Failure{};  // of a function that is declared only
      } else if (!ssa_name(a.name) || !need(":") || !type(a.type)) {
        return Failure{};
      }
      at_.skip();
      if (at_.peek() == '{' && !skip_balanced(a.attributes)) return Failure{};
      if (take_word("loc") && !location_inside(a.location)) return Failure{};
      out.push_back(std::move(a));
    } while (take(","));
    return need(end);
  }

  Status ssa_name(std::string_view& out) {
    at_.skip();
    const std::size_t start = at_.position();
    if (!at_.take("%") || at_.word().empty()) return expected("a value such as %0");
    out = at_.since(start);
    return ok();
  }

  Status count(char sign, std::size_t& out) {
    if (at_.peek() != sign || !std::isdigit(static_cast<unsigned char>(at_.rest().substr(0, 2).back()))) return ok();
    at_.advance(1);
    const std::string_view digits = at_.word();
    const auto [end, code] = std::from_chars(digits.data(), digits.data() + digits.size(), out);
    if (code != std::errc{} || end != digits.data() + digits.size() || out > kMaxNamedResults)
      return error(fmt::format("'{}' is no number of results", digits.substr(0, 40)));
    return ok();
  }

  // ---- Operations

  /// Operations up to and with the "}" of their region.
  Status operations(Region& region, int depth) {
    if (depth > kMaxNesting) return error(fmt::format("regions are nested deeper than {}", kMaxNesting));
    at_.skip();
    if (at_.sees("^") && !block_header(region)) return Failure{};
    for (;;) {
      at_.skip();
      if (at_.take("}")) return ok();
      if (at_.sees("^")) return jumps();
      if (at_.at_end()) return expected("'}'");
      auto o = operation(depth);
      if (!o) return Failure{};
      region.operations.push_back(std::move(*o));
    }
  }

  Status block_header(Region& region) {
    at_.advance(1);
    at_.word();
    if (take("(") && !arguments(region.arguments, ")")) return Failure{};
    return need(":");
  }

  Result<Operation> operation(int depth) {
    Operation o;
    at_.skip();
    o.loc = at_.place();
    while (at_.peek() == '%') {
      ResultName r;
      if (!ssa_name(r.name) || !count(':', r.count)) return Failure{};
      o.results.push_back(r);
      if (!take(",")) {
        if (!need("=")) return Failure{};
        break;
      }
      at_.skip();
    }
    at_.skip();
    if (at_.peek() == '"') {
      if (!at_.string(o.name)) return expected("the end of a string");
    } else {
      o.name = at_.word();
    }
    if (o.name.empty()) return expected("an operation");
    if (o.name.starts_with("cf.")) return jumps();
    if (!tail(o, depth) || !trailing_regions(o, depth)) return Failure{};
    if (take_word("loc") && !location_inside(o.location)) return Failure{};
    order_reduction(o);
    return o;
  }

  /// Operands, attributes and regions up to the types, and those.
  Status tail(Operation& o, int depth) {
    for (int open = 0;;) {
      const std::size_t before = at_.position();
      at_.skip();
      const char c = at_.peek();
      // Operations without types end with their line.
      const bool next_line = at_.since(before).find('\n') != std::string_view::npos;
      if (open == 0 && next_line && (c == '%' || c == '"' || c == '^' || is_word(c))) return ok();
      if (c == '\0' || c == '}' || (open == 0 && at_.sees("loc("))) return open == 0 ? ok() : expected("')'");
      if (c == '%') {
        if (!operand(o, open)) return Failure{};
      } else if (c == '(') {
        at_.advance(1);
        at_.skip();
        if (at_.peek() == '{') {
          if (!region_list(o, depth)) return Failure{};
        } else {
          ++open;
        }
      } else if (c == ')') {
        if (open-- == 0) return error("')' without its '('");
        at_.advance(1);
      } else if (c == ':' && open == 0) {
        at_.advance(1);
        return signature(o);
      } else if (c == '@') {
        at_.advance(1);
        if (!symbol(o.symbol)) return Failure{};
      } else if (at_.sees("<{")) {
        at_.advance(1);
        if (!dictionary(o) || !need(">")) return Failure{};
      } else if (c == '{') {
        if (is_dictionary() ? !dictionary(o) : !region(o, depth)) return Failure{};
      } else if (!word_or_attribute(o)) {
        return Failure{};
      }
    }
  }

  Status operand(Operation& o, int open) {
    Operand v;
    if (!ssa_name(v.name) || !count('#', v.result)) return Failure{};
    at_.skip();
    if (open > 0 && at_.peek() == '=') {
      at_.advance(1);
      named_.push_back(v.name);
      return ok();
    }
    o.operands.push_back(v);
    return ok();
  }

  /// Does "{" begin "key = value", or an operation?
  bool is_dictionary() {
    const std::size_t start = at_.position();
    at_.advance(1);
    at_.skip();
    bool yes = at_.peek() == '}';
    if (!yes) {
      std::string_view key;
      if (at_.peek() == '"') yes = at_.string(key);
      else yes = !at_.word().empty();
      at_.skip();
      yes = yes && (at_.peek() == '=' || at_.peek() == ',' || at_.peek() == '}');
    }
    at_.back_to(start);
    return yes;
  }

  Status dictionary(Operation& o) {
    at_.advance(1);
    if (take("}")) return ok();
    do {
      at_.skip();
      Attribute a;
      if (at_.peek() == '"') {
        if (!at_.string(a.key)) return expected("the end of a string");
      } else {
        a.key = at_.word();
      }
      if (a.key.empty()) return expected("the name of an attribute");
      if (take("=")) {
        at_.skip();
        if (!at_.until(",", a.value)) return expected("the end of a bracket or string");
      }
      o.attributes.push_back(a);
    } while (take(","));
    return need("}");
  }

  Status region(Operation& o, int depth) {
    at_.advance(1);
    Region r;
    if (!operations(r, depth + 1)) return Failure{};
    o.regions.push_back(std::move(r));
    return ok();
  }

  /// "{…}, {…})": the bracket in front was read.
  Status region_list(Operation& o, int depth) {
    do {
      at_.skip();
      if (at_.peek() != '{') return expected("'{'");
      if (!region(o, depth)) return Failure{};
    } while (take(","));
    return need(")");
  }

  /// A keyword, `key = value`, or a value without a key.
  Status word_or_attribute(Operation& o) {
    const std::size_t start = at_.position();
    if (at_.take(",") || at_.take("->") || at_.take(":") || at_.take("=")) return ok();
    std::string_view text;
    if (at_.peek() == '"' || at_.peek() == '[' || at_.peek() == '<' || at_.peek() == '#') {
      if (!value(text)) return Failure{};
      o.attributes.push_back({{}, text});
      return ok();
    }
    const std::string_view word = at_.word();
    if (word.empty()) {
      if (!at_.take("-") && !at_.take("+")) return expected("an operand, an attribute or ':'");
      return ok();
    }
    const std::size_t end = at_.position();
    if (take("=")) {
      if (!value(text)) return Failure{};
      o.attributes.push_back({word, text});
      return ok();
    }
    at_.back_to(end);
    if (at_.peek() == '<') {
      at_.back_to(start);
      if (!value(text)) return Failure{};
      o.attributes.push_back({{}, text});
    } else {
      o.words.push_back(word);
    }
    return ok();
  }

  /// One value, "[…] x […]" and "[…]x[…]->[…]" as a whole. Types of numbers do not belong to it: ":" begins the
  /// operation's types.
  Status value(std::string_view& out) {
    at_.skip();
    const std::size_t start = at_.position();
    std::string_view part;
    for (;;) {
      at_.take("#");
      at_.take("-");
      if (at_.peek() == '"') {
        if (!at_.string(part)) return expected("the end of a string");
      } else {
        at_.word();
        if (std::string_view("[{<(").find(at_.peek()) != std::string_view::npos && !at_.at_end() &&
            !skip_balanced(part))
          return Failure{};
      }
      out = at_.since(start);
      if (out.empty()) return expected("a value");
      if (out.back() != ']') return ok();
      const std::size_t end = at_.position();
      at_.skip();
      if (!at_.take("->") && !at_.take_word("x") && !(at_.sees("x[") && at_.take("x"))) {
        at_.back_to(end);
        return ok();
      }
      at_.skip();
    }
  }

  // ---- Types

  /// "(T, …) -> T", "(T, …) -> (T, …)", "T -> T", "T, …".
  Status signature(Operation& o) {
    if (take("(")) {
      if (!take(")") && (!types(o.operand_types) || !need(")"))) return Failure{};
    } else if (!types(o.operand_types)) {
      return Failure{};
    }
    if (take("->")) {
      if (!take("(")) {
        Type t;
        if (!type(t)) return Failure{};
        o.result_types.push_back(std::move(t));
        return ok();
      }
      if (take(")")) return ok();
      return types(o.result_types) ? need(")") : Failure{};
    }
    short_signature(o);
    return ok();
  }

  /// Without "->": one type for all, or the results', or the last one is the result's ("select").
  static void short_signature(Operation& o) {
    std::size_t results = 0;
    for (const ResultName& r : o.results) results += r.count;
    if (results == 0 || o.operand_types.empty()) return;
    if (results == o.operand_types.size()) {
      o.result_types = o.operand_types;
    } else {
      o.result_types.assign(results, o.operand_types.back());
    }
    if (o.operand_types.size() == 1) o.operand_types.assign(o.operands.size(), o.operand_types[0]);
  }

  /// What some operations write behind their types: "reducer(…) {…}", "cond {…} do {…}".
  Status trailing_regions(Operation& o, int depth) {
    if (o.name == "stablehlo.while" && !named_.empty()) return loop_regions(o, depth);
    if (!take_word("reducer")) return ok();
    Region r;
    // Pairs (left, right) per operand; the generic form lists all on the left first.
    std::vector<Argument> right;
    while (take("(")) {
      std::vector<Argument> pair;
      if (!arguments(pair, ")")) return Failure{};
      if (pair.size() != 2) return error("a reducer takes pairs of values");
      r.arguments.push_back(std::move(pair[0]));
      right.push_back(std::move(pair[1]));
    }
    r.arguments.insert(r.arguments.end(), right.begin(), right.end());
    if (!need("{") || !operations(r, depth + 1)) return Failure{};
    o.regions.push_back(std::move(r));
    return ok();
  }

  Status loop_regions(Operation& o, int depth) {
    std::vector<Argument> arguments;
    const std::vector<std::string_view> names = std::move(named_);
    named_.clear();
    if (names.size() != o.operand_types.size())
      return error(fmt::format("has {} variables and {} types", names.size(), o.operand_types.size()));
    for (std::size_t i = 0; i < names.size(); ++i) arguments.push_back({names[i], o.operand_types[i], {}, {}});
    if (take_word("attributes")) {
      at_.skip();
      if (at_.peek() != '{' || !dictionary(o)) return expected("attributes");
    }
    for (std::string_view keyword : {"cond", "do"}) {
      if (!take_word(keyword)) return expected(fmt::format("'{}'", keyword));
      if (!need("{")) return Failure{};
      Region r{.arguments = arguments};
      if (!operations(r, depth + 1)) return Failure{};
      o.regions.push_back(std::move(r));
    }
    return ok();
  }

  /// "(%a init: %b), (%c init: %d)" → a, c, b, d, as the generic form has them.
  static void order_reduction(Operation& o) {
    if (o.name != "stablehlo.reduce" || o.words.empty() || o.words[0] != "init") return;
    std::vector<Operand> inputs, initial;
    for (std::size_t i = 0; i < o.operands.size(); ++i) (i % 2 == 0 ? inputs : initial).push_back(o.operands[i]);
    inputs.insert(inputs.end(), initial.begin(), initial.end());
    o.operands = std::move(inputs);
  }

  Cursor at_;
  Diagnostics& diags_;
  Module module_;
  std::vector<std::string_view> named_;  ///< "(%arg = …": what the regions of the operation call its operands
};

}  // namespace

std::optional<std::string_view> Operation::find(std::string_view key) const {
  for (const Attribute& a : attributes) {
    if (a.key == key) return a.value;
  }
  return std::nullopt;
}

Result<Module> parse_module(std::string_view text, Diagnostics& diags) { return Parser(text, diags).run(); }

}  // namespace perfc::stablehlo
