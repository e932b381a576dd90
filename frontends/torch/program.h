#pragma once
/// A PyTorch program as its file has it: what the readers of TorchScript JSON
/// and of .pt2 archives have in common. Names point into the file's text.
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "ir/attrs.h"
#include "ir/support/diagnostics.h"

namespace perfc::torch {

inline constexpr std::size_t kMaxListDepth = 16;  ///< of lists in a file

/// What a node is given: the name of a value, or the thing itself.
struct Arg {
  enum class Kind : std::uint8_t { Ref, None, Int, Float, Bool, Str, List, Tensor, Object };
  Kind kind = Kind::None;
  std::string_view name;                  ///< of the schema's parameter; empty: by position
  std::string_view text;                  ///< Ref: the value's name. Str. Object: what it is, "cpu"
  std::int64_t integer = 0;               ///< Int, Bool. Element types are Int in torch's numbering (c10::ScalarType)
  double real = 0;                        ///< Float
  std::vector<Arg> items;                 ///< List
  std::shared_ptr<const Literal> tensor;  ///< Tensor, with or without contents
};

/// A value that a node or a block makes.
struct Declared {
  std::string_view name;
  std::string_view type;        ///< TorchScript's: "Tensor", "int", "List[int]"; empty: a tensor
  Type tensor;                  ///< as far as the file says; None when it is silent
  std::vector<Declared> items;  ///< a list of tensors by name
  bool on_host = false;         ///< on the CPU, where the program's weights are elsewhere
};

struct Block;

struct Operation {
  std::string_view op;        ///< "aten::conv2d", "prim::If", "torchvision::nms"
  std::string_view overload;  ///< "Tensor", "dim_IntList"; empty where the file has none
  std::vector<Arg> args;
  std::vector<Declared> outputs;
  std::vector<Block> blocks;
  std::string_view scope;   ///< "__module.layer1/__module.layer1.0" or "layer1.0"
  std::string_view source;  ///< "torch/nn/modules/conv.py(560): _conv_forward"
  std::string_view caller;  ///< of a decomposed program, what it called: "function.dropout"
  std::int64_t index = -1;  ///< position in the file, blocks included
};

struct Block {
  std::vector<Declared> inputs;
  std::vector<Operation> nodes;
  std::vector<Arg> outputs;
};

struct Parameter {
  std::string_view name;  ///< in the program
  std::string label;      ///< in the module, "layer1.0.conv1.weight"
  Literal literal;
  bool written_out = false;  ///< torch.tensor(…) of numbers in the program's text
};

/// What an exported program says of a symbolic dim.
struct Range {
  std::string_view symbol;
  std::int64_t least = 0;
  std::int64_t most = INT64_MAX;
  /// torch.export writes sys.maxsize or one less, by version, where nothing bounds a dim.
  bool bounded() const { return most < INT64_MAX - 1; }
};

struct Program {
  std::string name;
  bool decomposed = false;  ///< run_decompositions() wrote operators out as several
  bool sizes_hold = false;  ///< those it declares hold for any data: the program asserts what data decides
  std::vector<Parameter> parameters;
  std::vector<std::pair<std::string_view, std::string_view>> aliases;  ///< other names of parameters
  Block body;
  std::vector<std::string> output_names;
  std::vector<Range> ranges;
  std::vector<std::unique_ptr<std::string>> texts;  ///< names that the file spells otherwise
};

/// Element type by torch's number (c10::ScalarType); Undefined when perfc has
/// none such. Quantised types are their integers.
DType dtype_of(std::int64_t scalar_type);
/// The reverse: what `prim::dtype` gives.
std::int64_t scalar_type_of(DType);
/// By torch's name: "float32", "float", "torch.bfloat16", "quint8".
DType dtype_of(std::string_view name);

}  // namespace perfc::torch
