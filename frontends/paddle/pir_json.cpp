/// Keys of the format (paddle/fluid/pir/serialize_deserialize): "#" what a thing
/// is, "A" attributes, "I" operands, "O" results, "%" a value's number, "TT" a
/// type, "AT" an attribute, "N" its name, "D" data. Dialects by number: 0 builtin,
/// 1 pd_op, 2 cf. Operation "p" is a parameter in short: A = […, its name].
#include "frontends/paddle/pir_json.h"

#include <fmt/format.h>

namespace perfc::paddle {
namespace {

using json::Element;

/// "conv2d" of "1.conv2d" and of "pd_op.conv2d".
std::string_view without_dialect(std::string_view name) {
  const std::size_t dot = name.find('.');
  return dot == std::string_view::npos ? name : name.substr(dot + 1);
}

class PirReader {
 public:
  explicit PirReader(Diagnostics& diags) : diags_(diags) { out_.dialect = Dialect::Pir; }

  Result<Program> run(const Element& root) {
    const auto program = json::member(root, "program");
    const auto regions = program ? json::array(json::member(*program, "regions")) : std::nullopt;
    if (!regions) return diags_.error("not a PIR program: it holds no regions");
    out_.blocks.reserve(16);
    for (const Element& region : *regions) {
      const auto main = add_region(region, 0);
      if (!main) return Failure{};
    }
    if (out_.blocks.empty()) return diags_.error("not a PIR program: it holds no block");
    return std::move(out_);
  }

 private:
  /// A number of a value as a name that lives as long as the program.
  std::string_view value_name(std::int64_t number) {
    if (number == 0) return {};  // an operand that is left out
    return out_.texts.emplace_back(fmt::format("%{}", number));
  }

  /// Operators of the builtin dialect keep its name: others are called alike.
  std::string_view operator_name(std::string_view what) {
    const bool builtin = what.starts_with("0.") || what.starts_with("builtin.");
    return builtin ? std::string_view(out_.texts.emplace_back(fmt::format("builtin.{}", without_dialect(what))))
                   : without_dialect(what);
  }

  Failure malformed(std::string_view what) {
    return diags_.error({.node = ops_}, {}, fmt::format("malformed program: {}", what));
  }

  /// Index of the region's block. Regions with several blocks (unstructured
  /// control flow) are not written by Paddle.
  Result<std::uint32_t> add_region(const Element& region, int depth) {
    if (depth > kMaxDepth) return diags_.error(fmt::format("blocks are nested deeper than {}", kMaxDepth));
    const auto blocks = json::array(json::member(region, "blocks"));
    if (!blocks || blocks->size() != 1) return malformed("a region must hold one block");
    if (out_.blocks.size() >= kMaxBlocks) return diags_.error(fmt::format("more than {} blocks", kMaxBlocks));
    const auto index = static_cast<std::uint32_t>(out_.blocks.size());
    out_.blocks.emplace_back();
    Block block;
    if (!read_block(blocks->at(0).value_unsafe(), block, depth)) return Failure{};
    out_.blocks[index] = std::move(block);
    return index;
  }

  Status read_block(const Element& e, Block& block, int depth) {
    if (const auto args = json::array(json::member(e, "args"))) {
      for (const Element& arg : *args) {
        const auto number = json::integer(json::member(arg, "#"));
        const auto type = json::member(arg, "TT");
        if (!number || !type) return malformed("a block's argument has no number or type");
        const std::string_view name = value_name(*number);
        block.args.push_back(name);
        block.vars[name] = {.type = read_type(*type), .label = name, .loc = {.node = ops_}};
      }
    }
    const auto ops = json::array(json::member(e, "ops"));
    if (!ops) return malformed("a block without operations");
    for (const Element& o : *ops) {
      if (!read_operation(o, block, depth)) return Failure{};
      ++ops_;
    }
    return ok();
  }

  /// None where perfc has no such type.
  Type read_type(const Element& e) {
    const auto what = json::text(json::member(e, "#"));
    if (!what) return {};
    const auto data = json::array(json::member(e, "D"));
    if (without_dialect(*what) == "t_dtensor" || without_dialect(*what) == "t_selected_rows") {
      if (!data || data->size() < 2) return {};
      const auto dtype = json::text(json::member(data->at(0).value_unsafe(), "#"));
      json::Array dims;
      if (!dtype || data->at(1).get(dims)) return {};
      const DType d = dtype_of(without_dialect(*dtype));
      if (d == DType::Undefined || dims.size() > 64) return {};
      Shape shape;
      for (const Element& dim : dims) {
        const auto n = json::integer(dim);
        shape.push_back(n && *n >= 0 ? Dim(*n) : Dim::unknown());
      }
      return Type::tensor(d, std::move(shape));
    }
    if (without_dialect(*what) == "t_dtensorarray" && data && data->size() > 0) {
      const auto dtype = json::text(json::member(data->at(0).value_unsafe(), "#"));
      const DType d = dtype ? dtype_of(without_dialect(*dtype)) : DType::Undefined;
      if (d != DType::Undefined) return Type::sequence(Type::unranked(d));
    }
    return {};
  }

  /// The value of an attribute; nothing for kinds that no operator is read from (places, pointers).
  std::optional<Attr> read_attribute(const Element& e) {
    const auto what = json::text(json::member(e, "#"));
    const auto data = json::member(e, "D");
    if (!what || !data) return std::nullopt;
    if (*what == "0.a_array" || *what == "1.a_intarray" || *what == "0.a_dense_array") return read_list(*data);
    if (without_dialect(*what) == "a_place") return std::nullopt;
    return read_scalar(*data);
  }

  static std::optional<Attr> read_scalar(const Element& e) {
    bool b = false;
    std::int64_t i = 0;
    double d = 0;
    std::string_view s;
    if (!e.get(b)) return Attr(std::int64_t{b});
    if (!e.get(i)) return Attr(i);
    if (!e.get(d)) return Attr(d);
    if (!e.get(s)) return Attr(std::string(s));
    return std::nullopt;
  }

  static std::optional<Attr> read_list(const Element& e) {
    json::Array items;
    if (e.get(items)) return std::nullopt;
    std::vector<std::int64_t> ints;
    std::vector<double> reals;
    std::vector<std::string> strings;
    for (const Element& item : items) {
      if (strings.size() + reals.size() >= kMaxListLength) break;
      const auto inner = json::member(item, "D");
      const auto value = read_scalar(inner ? *inner : item);
      if (!value) return std::nullopt;
      if (const auto* s = std::get_if<std::string>(&*value)) {
        strings.push_back(*s);
      } else if (const auto* d = std::get_if<double>(&*value)) {
        reals.push_back(*d);
      } else {
        ints.push_back(std::get<std::int64_t>(*value));
        reals.push_back(static_cast<double>(ints.back()));
      }
    }
    if (!strings.empty()) return Attr(std::move(strings));
    if (ints.size() == reals.size()) return Attr(std::move(ints));
    return Attr(std::move(reals));
  }

  Status declare(const Element& result, Block& block, Operation& o) {
    const auto number = json::integer(json::member(result, "%"));
    if (!number) return malformed("a result without a number");
    const std::string_view name = value_name(*number);
    o.outputs.push_back({{}, {name}});
    if (name.empty()) return ok();
    const auto type = json::member(result, "TT");
    Variable v{.type = type ? read_type(*type) : Type{}, .label = name, .loc = o.loc};
    if (type && json::text(json::member(*type, "#")) == "0.t_vec") {
      if (const auto items = json::array(json::member(*type, "D"))) {
        for (const Element& item : *items) v.items.push_back(read_type(item));
      }
    }
    block.vars[name] = std::move(v);
    return ok();
  }

  Status read_parameter(const Element& e, Block& block) {
    const auto result = json::member(e, "O");
    const auto number = result ? json::integer(json::member(*result, "%")) : std::nullopt;
    const auto type = result ? json::member(*result, "TT") : std::nullopt;
    if (!number || !type) return malformed("a parameter without a number or type");
    const std::string_view name = value_name(*number);
    std::string_view label = name;
    if (const auto parts = json::array(json::member(e, "A"))) {
      std::string_view s;
      if (parts->size() > 0 && !parts->at(parts->size() - 1).get(s)) label = s;
    }
    Variable v{.type = read_type(*type), .role = Variable::Role::Weight, .label = label, .loc = {.node = ops_}};
    if (!v.type) return diags_.error(v.loc, label, "parameter without an element type");
    block.vars[name] = std::move(v);
    return ok();
  }

  Status read_operation(const Element& e, Block& block, int depth) {
    const auto what = json::text(json::member(e, "#"));
    if (!what) return malformed("an operation without a name");
    if (*what == "p") return read_parameter(e, block);
    Operation o{.type = operator_name(*what), .loc = {.node = ops_}};
    if (const auto attrs = json::array(json::member(e, "A"))) {
      for (const Element& a : *attrs) {
        const auto name = json::text(json::member(a, "N"));
        const auto value = json::member(a, "AT");
        if (!name || !value) continue;
        if (*name == "struct_name") {
          o.scope = json::text(json::member(*value, "D")).value_or("");
          continue;
        }
        if (auto v = read_attribute(*value)) o.attrs.emplace_back(*name, *std::move(v));
      }
    }
    if (const auto operands = json::array(json::member(e, "I"))) {
      for (const Element& i : *operands) {
        const auto number = json::integer(json::member(i, "%"));
        if (!number) return malformed("an operand without a number");
        const std::string_view name = value_name(*number);
        o.inputs.push_back({{}, name.empty() ? std::vector<std::string_view>{} : std::vector{name}});
      }
    }
    if (const auto results = json::array(json::member(e, "O"))) {
      for (const Element& r : *results) {
        if (!declare(r, block, o)) return Failure{};
      }
    }
    if (const auto regions = json::array(json::member(e, "regions"))) {
      for (const Element& r : *regions) {
        auto index = add_region(r, depth + 1);
        if (!index) return Failure{};
        o.blocks.push_back(*index);
      }
    }
    if (o.type == "yield") {
      for (const Slot& s : o.inputs) block.results.push_back(s.values.empty() ? std::string_view{} : s.values[0]);
      return ok();
    }
    block.ops.push_back(std::move(o));
    return ok();
  }

  Diagnostics& diags_;
  Program out_;
  std::int64_t ops_ = 0;  ///< position in the file, regions included
};

}  // namespace

Result<Program> read_pir(const json::Document& document, Diagnostics& diags) {
  return PirReader(diags).run(document.root());
}

}  // namespace perfc::paddle
