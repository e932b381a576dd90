#pragma once
/// A PaddlePaddle program as its file has it: what the readers of ProgramDesc
/// (`.pdmodel`, `__model__`) and of PIR JSON have in common. Names point into
/// the file's bytes or into `Program::texts`.
#include <tsl/robin_map.h>

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ir/attrs.h"
#include "ir/support/diagnostics.h"

namespace perfc::paddle {

template <class T>
using NameMap = tsl::robin_map<std::string_view, T, std::hash<std::string_view>, std::equal_to<>,
                               std::allocator<std::pair<std::string_view, T>>, /*StoreHash=*/true>;

enum class Dialect : std::uint8_t {
  Descriptor,  ///< ProgramDesc: slots and values have names, values may be written again
  Pir,         ///< operands and results by position, each value written once
};

/// Values under one name of the operator's schema; PIR has positions only.
struct Slot {
  std::string_view name;
  std::vector<std::string_view> values;
};

struct Operation {
  std::string_view type = {};  ///< "conv2d", without a dialect's prefix
  std::vector<Slot> inputs = {}, outputs = {};
  std::vector<std::pair<std::string_view, Attr>> attrs = {};
  std::vector<std::uint32_t> blocks = {};  ///< indices into `Program::blocks`, not checked
  std::string_view scope = {};             ///< "/Encoder/Linear/": PIR's struct_name
  SourceLoc loc = {};

  const Attr* attr(std::string_view name) const;
};

/// What the file declares of a value.
struct Variable {
  enum class Role : std::uint8_t { Value, Weight };
  Type type = {};                ///< None when the file is silent, or of a list
  std::vector<Type> items = {};  ///< Pir: of a list of tensors
  Role role = Role::Value;
  std::string_view label = {};  ///< of weights, "conv2d_0.w_0"
  SourceLoc loc = {};
};

struct Block {
  std::int64_t parent = -1;  ///< Descriptor: the block whose names it sees
  NameMap<Variable> vars;
  std::vector<std::string_view> args;  ///< Pir: what the region is given
  std::vector<Operation> ops;
  std::vector<std::string_view> results;  ///< Pir: what it yields
};

struct Program {
  Dialect dialect = Dialect::Descriptor;
  std::vector<Block> blocks;  ///< the first is the main one
  std::deque<std::string> texts;
};

/// What readers refuse to hold, so that hostile files end in a diagnostic.
inline constexpr std::size_t kMaxBlocks = 10'000;
inline constexpr std::size_t kMaxListLength = std::size_t{1} << 20;
inline constexpr int kMaxDepth = 64;  ///< blocks within blocks

/// Element type by the number of framework.proto's VarType.Type; Undefined when perfc has none such.
DType dtype_of(std::int64_t var_type);
/// By Paddle's name: "float32", "bfloat16"; PIR's types: "t_f32".
DType dtype_of(std::string_view name);

/// Reads a ProgramDesc message.
Result<Program> read_descriptor(std::string_view bytes, Diagnostics&);

}  // namespace perfc::paddle
