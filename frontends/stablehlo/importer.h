#pragma once
/// StableHLO → IR. Functions are inlined, regions become those of `if` and `loop`, what nothing needs is dropped.
///
/// XLA's operators do not broadcast and reductions drop their dims: files are full of `broadcast_in_dim` and of
/// reshapes that add and remove dims of extent 1. The IR's operators broadcast as NumPy's do. So a value is a tensor
/// (`base`) and how its dims are placed: nothing is spread before an operator asks for it, and the graph reads like
/// the one that PyTorch or TensorFlow make of the same network.
#include <boost/container/small_vector.hpp>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "frontends/common/emitter.h"
#include "frontends/common/input_dims.h"
#include "frontends/frontend.h"
#include "frontends/stablehlo/module.h"

namespace perfc::stablehlo {

inline constexpr std::size_t kMaxRepeated = 500'000;  ///< operations translated in one import

/// A value of the file. Dim i of `base` is dim `where[i]` of `type`; kDropped: a dim of extent 1 that the value does
/// not have. Dims of the value that nothing is placed in, or a dim of extent 1, are broadcast.
struct Value {
  static constexpr int kDropped = -1;
  using Where = boost::container::small_vector<int, 5>;

  ValueId base;
  Type type;  ///< of the value
  Where where;
  ValueId extents;  ///< the value's shape where the file computes it; may be empty

  bool scalar() const { return where.empty(); }  ///< one number in every element
};
using Values = std::vector<Value>;

/// A part of a tensor that an operation replaces along its first axis (what a scan stacks).
struct Update {
  ValueId tensor, part;
};

/// A graph under construction, within another one or not.
struct Site {
  GraphBuilder& builder;
  Site* outer = nullptr;
  std::map<ValueId, ValueId> captured = {};  ///< outer values by what stands for them here
  std::vector<ValueId> captures = {};        ///< of the outer graph, in order
  std::map<ValueId, Update> updates = {};
  std::map<std::tuple<OpId, ValueId, Emitter::Ints>, ValueId> reductions = {};
  std::map<std::pair<ValueId, DType>, ValueId> casts = {};
};

/// Names of a function or region. A region sees those around it.
struct Scope {
  Site& site;
  const Scope* parent = nullptr;
  int depth = 0;
  std::unordered_map<std::string_view, Values> values = {};
};

class Importer;
struct OpRow;

/// One operation while it is translated.
class Call : public Emitter {
 public:
  Call(Importer&, Scope&, const Operation&);

  Importer& importer;
  Scope& scope;
  const Operation& operation;
  Values operands;
  /// Why the operation is none that is read; the importer then makes an opaque call of it.
  std::string unread;
  Failure unknown(std::string why) {
    unread = std::move(why);
    return Failure{};
  }

  using Emitter::type;
  // ---- Operands
  const Type& type(std::size_t i) const { return operands[i].type; }
  /// The operand as one tensor of its type.
  Result<ValueId> tensor(std::size_t i) const { return tensor(operands[i]); }
  Result<ValueId> tensor(const Value&) const;
  Result<std::vector<ValueId>> tensors(std::size_t from, std::size_t to) const;
  /// The number in every element of an operand.
  std::optional<double> number_of(std::size_t i) const { return number_of(operands[i]); }
  std::optional<double> number_of(const Value&) const;
  std::optional<std::int64_t> integer_of(std::size_t i) const;
  /// Known contents of an operand.
  std::optional<Ints> ints_of(std::size_t i) const;
  /// The call that computes an operand's base, when it is of this operator.
  const Node* made_by(const Value&, OpId) const;

  // ---- Attributes
  /// By the names of the generic and of the short form.
  std::optional<Ints> ints(std::string_view key, std::string_view short_key = {}) const;
  Result<Ints> required(std::string_view key, std::string_view short_key = {}) const;
  Result<std::int64_t> required_integer(std::string_view key, std::string_view short_key = {}) const;

  // ---- Placement
  Value whole(ValueId) const;
  Result<Value> whole(Result<ValueId>) const;
  /// As a tensor whose dims meet the value's from the last one on: what broadcasting operators take.
  Result<ValueId> aligned(const Value&) const;
  /// Element by element over values of one shape.
  Result<Value> pointwise(OpId, std::vector<const Value*>, Attrs = {}) const;
  Result<Value> broadcast(const Value&, const Ints& dims, const Type& to, ValueId extents = {}) const;
  Result<Value> reshaped(const Value&, const Type& to, ValueId extents = {}) const;
  Result<Value> permuted(const Value&, const Ints& perm) const;
  /// Dims in another order; permutations of permutations become one.
  Result<ValueId> transposed(Result<ValueId>, const Ints& perm) const;
  /// A reduction that keeps its dims. Equal ones are computed once, as XLA does: mean and variance each ask for means.
  Result<ValueId> reduction(OpId, ValueId, const Ints& axes) const;
  /// The value without these dims, which have extent 1 in its base, as behind a reduction that kept them.
  Value without(const Value&, const Ints& axes) const;

  /// Type of result i as the file says it, with bound dims.
  Type declared(std::size_t i) const;
  SymInt count(const Value&, const Ints& axes) const;  ///< product of extents
};

/// Which arguments of a function are weights, by what it does with them: kernels of convolutions, second operands of
/// products, tables that are looked up in, what is spread along other dims. Integers, first operands and indices are
/// data; floats that nothing tells of are weights. Empty where no argument is data.
std::vector<bool> weights_by_use(const Function&);

using Translator = Result<Values> (*)(Call&, const OpRow&);
struct OpRow {
  std::string_view name;  ///< "stablehlo.add"
  std::string_view ir;    ///< operators it becomes, space-separated; or words
  Translator translate;
  std::size_t operands = 1;  ///< at least
};
const OpRow* find_row(std::string_view name);
const std::vector<OpRow>& op_table();

inline Result<Values> one(Result<Value> v) {
  if (!v) return Failure{};
  return Values{std::move(*v)};
}

class Importer {
 public:
  Importer(const Module& module, const ImportOptions& options, Diagnostics& diags);
  Result<Graph> run();

  Diagnostics& diagnostics() { return *diags_; }
  const InputDims& dims() const { return dims_; }
  /// What an operation is called: the path of modules that jax writes with debug information, without the operator at
  /// its end; else its first result.
  std::string name_of(const Operation&) const;
  /// The function inlined.
  Result<Values> inlined(const Call&, std::string_view function, const Values& arguments);
  /// Runs a region's operations in a scope whose arguments are set; what its terminator returns.
  Result<Values> run_region(Scope&, const Region&);
  Result<Value> look_up(Scope&, const Operand&, const Operation& reader);
  bool visible(const Scope&, const Operand&) const;
  /// The live part of what was built, without the params at these positions, which it does not use.
  Graph finish(GraphBuilder&, std::string name, const std::vector<ValueId>& results, std::vector<std::string> names,
               const std::vector<std::size_t>& without_params = {});
  /// A value of the outer site as `site` sees it: constants again, others captured.
  Result<Value> enter(Site&, const Site& from, const Value&);

 private:
  struct Input {
    std::string name;
    bool weight = false;
  };
  Result<const Function*> main_function();
  std::vector<Input> classify(const Function& main) const;
  std::string name_of(const Argument&, std::string_view fallback) const;
  /// The string that a location begins with, aliases followed; "" where there is none.
  std::string_view label(std::string_view location) const;
  std::string forwarded_name(const Function& main, const Argument&, std::string_view fallback) const;
  Result<Values> parameters(const Function& main, GraphBuilder&);
  Result<Values> translate(Scope&, const Operation&);
  Result<Values> opaque(Call&);
  ValueId enter(Site&, const Site& from, ValueId);

  const Module& module_;
  const ImportOptions& options_;
  Diagnostics* diags_;
  InputDims dims_;
  std::unordered_map<std::string_view, const Function*> functions_;
  std::vector<std::string_view> call_stack_;
  std::size_t translated_ = 0;
};

}  // namespace perfc::stablehlo
