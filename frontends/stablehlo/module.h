#pragma once
/// MLIR text as far as modules of StableHLO, CHLO, `func` and `sdy` write it, as data that views the file.
///
/// Both spellings of an operation end up in one form: the generic one,
/// `"stablehlo.slice"(%a) <{…}> ({…}) : (…) -> …`, and the dialects' own, `stablehlo.slice %a [0:4] : …`
/// (LLVM's mlir/docs/LangRef.md; openxla/stablehlo's docs/spec.md and stablehlo/dialect/AssemblyFormat.cpp).
/// What attributes say stays text until a translator asks: constants of any size cost nothing to step over.
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "ir/attrs.h"
#include "ir/support/diagnostics.h"

namespace perfc::stablehlo {

/// "%0#1": result 1 of those that "%0" names.
struct Operand {
  std::string_view name;
  std::size_t result = 0;
};

/// "%0:2 =" names two results at once.
struct ResultName {
  std::string_view name;
  std::size_t count = 1;
};

/// `key = value`; a positional one, as the constant's literal or a slice's ranges, has no key.
struct Attribute {
  std::string_view key, value;
};

struct Argument {
  std::string_view name;
  Type type;
  std::string_view attributes;  ///< "{jax.global_constant = "b"}"
  std::string_view location;    ///< what stands in loc(…)
};

struct Operation;

/// One block: what jumps between blocks is refused.
struct Region {
  std::vector<Argument> arguments;
  std::vector<Operation> operations;
};

struct Operation {
  std::string_view name;  ///< "stablehlo.add"; functions: "func.func"
  SourceLoc loc;
  std::vector<ResultName> results;
  std::vector<Operand> operands;
  std::vector<std::string_view> words;  ///< "GE", "applies", "stablehlo.add", …
  std::vector<Attribute> attributes;
  std::string_view symbol;  ///< "main" of "@main"
  std::vector<Region> regions;
  std::vector<Type> operand_types, result_types;
  std::string_view location;  ///< what stands in loc(…)

  /// Text of an attribute; nothing when it is not there.
  std::optional<std::string_view> find(std::string_view key) const;
};

struct Function {
  std::string_view name;
  SourceLoc loc;
  bool is_public = false;
  std::vector<std::string> result_names;  ///< jax.result_info
  Region body;
};

struct Module {
  std::string_view name;
  std::vector<Function> functions;
  std::unordered_map<std::string_view, std::string_view> locations;  ///< "#loc4" → what stands in its loc(…)
};

/// Reads a module. Errors carry line and column.
Result<Module> parse_module(std::string_view text, Diagnostics&);

// ---- Text of attributes

/// Value of `key` in "key = value, …", which may stand in "{…}", "<…>" or "#dialect.name<…>".
std::optional<std::string_view> field(std::string_view text, std::string_view key);
/// Integers of "[1, 0]", "array<i64: 1, 0>", "dense<[[1, 2], [3, 4]]> : tensor<2x2xi64>", "0 : i64", "true".
/// Nothing where it holds anything else.
std::optional<std::vector<std::int64_t>> integers(std::string_view text);
/// A quoted string's contents without escapes undone, or the text itself.
std::string_view unquoted(std::string_view text);
/// The type that `text` begins with, which is taken off it; nothing when it is none that MLIR prints here.
/// Dims "?" are unknown.
std::optional<Type> take_type(std::string_view& text);

/// Contents of "dense<…>" as far as they are kept (frontends/common/raw_data.h).
struct Dense {
  DataRef data;        ///< null: not kept
  bool splat = false;  ///< one element, which `data` holds, for all
};
/// nullopt: damaged.
std::optional<Dense> dense_contents(std::string_view text, const Type& type);

}  // namespace perfc::stablehlo
