#pragma once
/// The operator table: one row per operator, everything the compiler knows of it.
///
/// To add an operator: add a row to the file of its category in `ir/ops/table/`, name its rules
/// (`ir/ops/rules.h` lists those that exist; write a new one in the file of its category in `ir/ops/`).
/// `perfc ops`, the importers' one-to-one mapping, the text form, autocast, autograd, fusion, the list
/// of kernels and the docs read this table. Source operators whose structure differs get a translator
/// in their front end instead of a spelling here. An operator whose spellings stand here needs no other file.
///
/// A row that leaves out a column which has no default fails `OpTable.RowsAreComplete`, which names both.
///
/// Operand order and semantics are those of the newest ONNX operator set where
/// one exists (the importer brings older forms into them); names are Relay's.
#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "ir/support/result.h"

namespace perfc {

/// Names a row: a hash of its name, so that code which asks for an operator does not depend on the table.
/// Only valid in this build: text forms and checkpoints use names.
struct OpId {
  std::uint32_t hash = 0;  ///< 0: none
  explicit constexpr operator bool() const { return hash != 0; }
  friend auto operator<=>(const OpId&, const OpId&) = default;
};

/// FNV-1a, 32 bits. No two names of the table have one hash (OpTable.NamesHashApart).
constexpr std::uint32_t operator_hash(std::string_view name) {
  std::uint32_t hash = 0x811c9dc5;
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 0x01000193;
  return hash;
}

/// `op("nn.conv2d")`. Every name that a source writes stands in the table: tests/operators/names_test.py.
consteval OpId op(std::string_view name) { return OpId{operator_hash(name)}; }

class InferContext;
class CostContext;
struct DimBound;
struct OpCost;
namespace rules {
struct AttentionGeometry;
struct SuppressionGeometry;
}  // namespace rules

/// What kind of kernel runs it; the cost model prices by this.
enum class Category : std::uint8_t {
  Elementwise,
  Activation,
  Convolution,
  MatMul,
  Attention,
  Recurrent,
  Normalization,
  Softmax,
  Pooling,
  Reduction,
  Resize,
  DataMovement,
  Gather,
  Scatter,
  Sort,
  Shape,  ///< views and shape arithmetic: no kernel
  Quantize,
  Random,
  Signal,
  Loss,
  Control,
  Sequence,
  Text,
  Classical,
  Training,
  Opaque,
};
std::string_view name(Category);

/// Element types that the operands may have, as far as `infer` asks this column (`check_takes`,
/// ir/ops/elementwise.cpp).
enum class Takes : std::uint8_t {
  Unset,
  Anything,  ///< or `infer` has checks of its own
  Float,
  Numeric,
  NumericOrBool,
  Signed,
  Integer,
  IntegerOrBool,
  Bool,
};

/// In which width AMP runs it: PyTorch's lists of autocast operators
/// (aten/src/ATen/autocast_mode.h; docs "Autocast Op Reference").
enum class Autocast : std::uint8_t {
  Unset,
  Half,           ///< casts float32 operands to 16 bits: matrix products, what consists of them, PReLU
  Float32,        ///< casts operands to float32
  WritesFloat32,  ///< reads 16 bits as they are, writes float32 (autocast sets the operator's `dtype`)
  Float32Norm,    ///< Float32, unless `ExecConfig::norms` says otherwise
  Promotes,       ///< in the widest of its operands' types
  Widest,         ///< the same, by casting the others first
  FollowsData,    ///< in the type of its first operand, whatever its parameters have
};

/// What autograd keeps of a call for its backward pass (PyTorch's tools/autograd/derivatives.yaml).
enum class Keeps : std::uint8_t {
  Unset,
  Nothing,       ///< linear in its operands
  Result,        ///< the derivative is computed from the result
  First,         ///< the first operand
  All,           ///< every operand
  Factors,       ///< of a product: the factor of each operand that needs a gradient
  Divisor,       ///< the divisor, and the dividend where the divisor needs a gradient
  FirstAndRows,  ///< the first operand, mean and deviation of each row
  FirstAndResult,
  FirstAndPositions,  ///< the first operand, an index per result element
  Positions,          ///< an index per result element
  Indices,            ///< every operand but the first
  Mask,               ///< a byte per result element
  Gates,              ///< the first operand, the result, `saved_states` values per result element
  Attention,          ///< operands and result; written out, the scores
};

/// How a compiler that fuses (TorchInductor) treats it.
enum class Fusion : std::uint8_t {
  Unset,
  Never,           ///< a kernel of its own: products, library calls, control flow
  Pointwise,       ///< joins its neighbours' kernel
  PointwiseTwice,  ///< the same; reads its operand twice (x · σ(x)), which is kept in memory for it
  Moves,           ///< joins: copies, gathers, views
  Window,          ///< begins a kernel: each result reads a few elements (pooling)
  AxisReduction,   ///< joins; a kernel holds one, unless it is so short that it is written out
  Reduction,       ///< joins; a kernel holds one
};

/// What eager PyTorch launches for it on CUDA.
enum class Launch : std::uint8_t {
  Unset,
  View,              ///< nothing, unless a strided operand has to be copied
  StridedView,       ///< nothing: the result reads the operand's memory in other steps
  ViewIfContiguous,  ///< nothing where the operand lies in order, else a copy
  ViewByIndex,       ///< StridedView where the indices are constant and in equal steps, else Kernel
  Kernel,            ///< one kernel; before it, those of `before`
};

/// How results lie when the data is channels last (PyTorch: "memory format preserving").
enum class MemoryFormat : std::uint8_t { Unset, Preserved, Contiguous, ByRule };

/// Whether the result is the operand's elements, unchanged.
enum class Moves : std::uint8_t {
  No,
  Reshapes,  ///< in the same order, under another shape
  Permutes,
  Copies,
  Part,            ///< some of them
  Converts,        ///< each in another element type
  UnlessTraining,  ///< a copy, unless a model trains; then each is scaled or 0
};
/// Whether each element of the result is the operand's element of the same place.
constexpr bool keeps_elements(Moves m) {
  return m == Moves::Copies || m == Moves::Converts || m == Moves::UnlessTraining;
}

/// What it may do to attention's scores, between their product and their softmax.
enum class OnScores : std::uint8_t {
  Nothing,  ///< does not stand there
  Scales,   ///< by a scalar operand
  Masks,    ///< adds or selects by another operand
};

/// Of a comparison a ? b: in which orders of a and b it holds.
struct HoldsFor {
  bool less = false, equal = false, greater = false;
  bool unordered = false;  ///< one of them is not a number
  /// `order`: below, at or above 0 as a is less than, equal to or greater than b.
  constexpr bool operator()(int order) const { return order < 0 ? less : order > 0 ? greater : equal; }
};

/// How the gradient of a result becomes those of its operands.
enum class Gradient : std::uint8_t {
  Computed,
  Same,         ///< it is that of each operand, or a sum of it where that was broadcast
  SameInSum,    ///< the same, of any number of operands in one kernel
  SameOfFirst,  ///< it is that of the first; the others' are sums of it
  View,         ///< it is that of the first, in another order
  PerOperand,   ///< a kernel for each, and the sums
};

/// How eager PyTorch's kernel wants its first operand to lie, where it does not take any.
enum class Wants : std::uint8_t { Anything, Rows, ChannelsFirst };

/// The operator on floats that one on quantised values stands for (ONNX, QLinearConv: "dequantize, compute, quantize").
struct OnFloats {
  OpId op = {};
  std::int8_t first = 0;  ///< of the operands that hold data: the first …
  std::int8_t step = 3;   ///< … and how far apart they are; 3: each has its scale and zero point behind it
  std::int8_t count = 1;  ///< how many there are; −1: to the end
  std::int8_t bias = -1;  ///< operand that is a bias; −1: none
  bool selects = false;   ///< operand 0 is a condition and stands before the data
};

using InferFn = Status (*)(InferContext&);
using EvalFn = void (*)(InferContext&);
using CostFn = void (*)(const CostContext&, OpCost&);
/// How large a dim of a result can be that `infer` left open because data decides it; none: nobody knows.
using BoundFn = std::optional<DimBound> (*)(const InferContext&, std::size_t result, std::size_t axis);
using AttentionFn = std::optional<rules::AttentionGeometry> (*)(const CostContext&);
using SuppressionFn = std::optional<rules::SuppressionGeometry> (*)(const CostContext&);

/// How PyTorch runs an operator on CUDA; `ir/ops/table/rows.h` has the usual kinds.
struct Runs {
  Autocast autocast = Autocast::Unset;
  Keeps keeps = Keeps::Unset;
  Fusion fusion = Fusion::Unset;
  Launch launch = Launch::Unset;
  MemoryFormat format = MemoryFormat::Unset;
};

/// How many operands a call has. −1 as the most: any number.
struct Arity {
  std::int16_t least = -1, most = -2;  ///< not set
};

/// How ONNX Runtime's CPU provider runs it, with MLAS' kernels (onnxruntime/core/optimizer, onnxruntime/core/mlas).
struct Mlas {
  /// Clocks of a core with two 256-bit multiply-adds a clock, per element of the larger of its first operand and its
  /// result, of pooling per element of a window; 0: it takes as long as its elements take to move. Measured:
  /// `studies/cpu/operators.csv`.
  double clocks = 0;
  double row_clocks = 0;    ///< … and per row of the last axis
  bool one_thread = false;  ///< however many there are
  bool blocked = false;     ///< takes and gives data in blocks of channels, where all its operands lie so
  bool in_conv = false;     ///< a convolution's or a dense layer's kernel computes it on its result
};

/// What else ONNX Runtime does with it (onnxruntime/core/optimizer, onnxruntime/contrib_ops/cuda/bert).
struct Session {
  bool in_fused_conv = false;  ///< FusedConv computes it on its result (conv_add_act_fusion.cc)
  bool takes_bias = false;     ///< its kernel adds a dense layer's bias (bias_gelu_fusion.cc)
  bool unfolded = false;       ///< runs though it is computed from weights alone (constant_folding.cc)
  bool projects = false;       ///< attention that multiplies its input by the weights of Q, K and V first (operand 1)
  std::int8_t padding = 0;     ///< of attention: the operand that says which keys are padding; 0: none
};

struct OpDef {
  std::string_view name;
  /// ONNX operators this stands for one-to-one, space-separated; "ms:" marks
  /// com.microsoft, "ml:" ai.onnx.ml, "tr:" ai.onnx.preview.training, "pv:" ai.onnx.preview.
  std::string_view onnx = {};
  /// The same of PyTorch, TensorFlow and Paddle (`Spelling`). Spellings that need a translator stand in the front end.
  std::string_view aten = {}, tf = {}, paddle = {};
  Category category = Category::Opaque;
  Arity operands = {};
  std::int16_t results = 1;  ///< −1: as many as the call asks for
  Takes takes = Takes::Unset;
  InferFn infer = nullptr;
  EvalFn eval = nullptr;  ///< propagates contents of small tensors; `no_contents` where it never does
  CostFn cost = nullptr;
  Runs runs = {};
  // Few operators have these.
  BoundFn bound = nullptr;  ///< of operators whose results' dims depend on data (ir/dim_bounds.h)
  Moves moves = Moves::No;
  bool picks = false;         ///< each element of result 0 is one of operand 0, some perhaps several times, some not
  bool splits_bias = false;   ///< operand 2 is a bias that PyTorch's kernel leaves to another one: convolutions, dense
  bool transposed = false;    ///< a convolution backwards: its weight is (in, out / groups, …)
  bool rounds = false;        ///< to whole numbers: of an integer, it is the integer
  bool dims_only = false;     ///< reads its operand's type, not its elements
  HoldsFor holds = {};        ///< of comparisons
  bool commutes = false;      ///< its two operands may change places
  bool by_numbers = false;    ///< PyTorch hands its kernel operands of one element but the first as numbers
  bool not_negative = false;  ///< result 0 has no element below 0, whatever the operands
  bool tvm_counts = false;    ///< TVM's count of MACs, which the DIPPM data has, includes it
  OnScores on_scores = OnScores::Nothing;
  Gradient gradient = Gradient::Computed;
  Wants wants = Wants::Anything;
  Session session = {};
  Mlas mlas = {};
  /// Clocks of an SM per element of result 0 that TorchInductor's kernels compute beside their loads and stores; 0:
  /// few. Measured: studies/hopper/fit_generated.py.
  double generated_clocks = 0;
  std::int8_t saved_states = 0;         ///< of Keeps::Gates
  AttentionFn attention = nullptr;      ///< of attention that one kernel computes: its measures (ir/ops/attention.h)
  SuppressionFn suppression = nullptr;  ///< of a suppression of boxes: its measures (ir/ops/suppression.h)
  std::int8_t mask = 0;             ///< of attention of queries, keys and values: the operand that is a mask; 0: none
  OnFloats on_floats = {};          ///< of quantised operators
  bool scans = false;               ///< a result per element: of it and all before it along an axis
  OpId kernel = {};                 ///< operator whose kernel runs instead of one of its own; empty: none
  std::array<OpId, 2> before = {};  ///< operators whose kernels run first, on its first operand; empty: none
};

/// How a front end writes a row's operator one-to-one: "sqrt", "leaky_relu(self negative_slope=alpha)".
/// Without parentheses: the operands in order, one or two of them (PyTorch's self and other, Paddle's X and Y).
/// In them, the source's parameters:
///   x         an operand; of PyTorch's, x? may be None, x# is a list of ints (TensorFlow's have no names)
///   x=attr    the attribute `attr`; x= the attribute of the same name; of Paddle's, ~x=attr is a real
///   -x        (PyTorch) changes neither shape nor work
/// Paddle's may have several names, x|y; "pir:" and "old:" before the operator's bind it to one form of programs.
struct Spelling {
  const OpDef* row = nullptr;
  std::string_view name, parameters = {};
  bool bare = true;  ///< without parentheses
};
/// All of a column, in the order of the rows: `spellings(&OpDef::tf)`.
std::vector<Spelling> spellings(std::string_view OpDef::*column);

/// Operators that differ in the number of spatial dims alone.
struct OpFamily {
  std::array<OpId, 3> members;
  /// `dims`: 1 to 3.
  constexpr OpId with_dims(std::size_t dims) const { return members[dims - 1]; }
};
/// `family("nn.conv?d")`: '?' stands for the number of dims.
consteval OpFamily family(std::string_view name) {
  OpFamily out;
  for (std::size_t dims = 1; dims <= 3; ++dims) {
    std::array<char, 64> member{};
    for (std::size_t i = 0; i < name.size(); ++i) member[i] = name[i] == '?' ? static_cast<char>('0' + dims) : name[i];
    out.members[dims - 1] = OpId{operator_hash({member.data(), name.size()})};
  }
  return out;
}

/// The row; "opaque" where an id names none.
const OpDef& def(OpId);
/// Whether the id names a row.
bool is_operator(OpId);

/// All rows, in the order of the documentation.
std::span<const OpDef* const> op_table();
/// Place of a row in it.
std::size_t index_of(OpId);

/// Run-time look-up by name; `false` result when there is none.
Result<OpId> find_op(std::string_view name);
/// Run-time look-up by ONNX spelling ("Conv", "ms:FusedConv").
Result<OpId> find_onnx_op(std::string_view spelling);

}  // namespace perfc
