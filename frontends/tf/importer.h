#pragma once
/// TensorFlow graphs → IR. The importer computes what the outputs of the chosen
/// signature depend on, and nothing else: saving, restoring and other signatures
/// are never looked at. Functions are inlined; control flow of both kinds
/// (functional, and Switch/Merge/Enter/Exit) becomes `if` and `loop`.
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "frontends/common/emitter.h"
#include "frontends/common/input_dims.h"
#include "frontends/frontend.h"
#include "frontends/tf/proto.h"
#include "ir/rewriter.h"

namespace perfc::tf {

inline constexpr int kMaxDepth = kMaxRegionDepth;     ///< of calls and bodies
inline constexpr std::size_t kMaxRepeated = 500'000;  ///< nodes translated in one import beyond those of the main graph

// ---- Values

/// What a resource handle stands for.
struct Variable {
  std::string name;
  Type type;
};

/// A tensor list or tensor array: one tensor per index, all of a type.
struct List {
  DType dtype = DType::Undefined;
  Type element;     ///< None when the file does not say
  SymInt count;     ///< entries
  ValueId dense;    ///< [count, element…], once written as a whole
  ValueId written;  ///< in a loop body: what this round writes
};

struct Value {
  enum class Kind {
    None,  ///< an output that does not exist, or of an operator without effect here
    Tensor,
    Variable,  ///< handle of a variable
    List,
    Handle,  ///< hash tables, iterators, …: only opaque operators take them
  };
  Kind kind = Kind::None;
  ValueId id;  ///< Tensor
  std::shared_ptr<const Variable> variable;
  std::shared_ptr<const List> list;

  static Value tensor(ValueId v) { return {.kind = Kind::Tensor, .id = v}; }
  static Value of(Variable v) {
    return {.kind = Kind::Variable, .variable = std::make_shared<const Variable>(std::move(v))};
  }
  static Value of(List l) { return {.kind = Kind::List, .list = std::make_shared<const List>(std::move(l))}; }
  static Value handle() { return {.kind = Kind::Handle}; }
  bool is_tensor() const { return kind == Kind::Tensor; }
};
using Values = std::vector<Value>;
/// A call's only result.
inline Values one(ValueId v) { return {Value::tensor(v)}; }
inline Result<Values> one(Result<ValueId> v) {
  if (!v) return Failure{};
  return one(*v);
}

/// An input that only orders: "^name".
inline bool is_control(std::string_view input) { return input.starts_with('^'); }
/// "name:0" → name and output. Without a number: output 0.
std::pair<std::string_view, std::uint32_t> split_output(std::string_view name);

// ---- Graphs of the file

/// Where an input comes from: output `index` of a node, or an argument.
struct Ref {
  std::uint32_t node = 0;
  std::uint32_t index = 0;
  bool argument = false;  ///< then `node` counts the arguments
  friend bool operator==(const Ref&, const Ref&) = default;
};

/// One variable of a `while` written with Enter, Merge, Switch, NextIteration, Exit.
struct FrameVariable {
  std::uint32_t enter = 0, merge = 0, switch_ = 0, next = 0;
  std::optional<std::uint32_t> exit;
};
struct LoopFrame {
  std::vector<FrameVariable> variables;
  std::vector<std::uint32_t> constants;    ///< Enter nodes of values that stay
  std::optional<std::uint32_t> condition;  ///< LoopCond
};

/// A Switch met on the way back from a Merge, and the output that was followed.
struct SwitchSeen {
  Ref selector;
  std::uint32_t node = 0, output = 0;
};

/// A Merge that joins the branches of a condition.
struct Joined {
  Ref selector;                                      ///< predicate, or index of the branch
  std::vector<std::vector<std::uint32_t>> switches;  ///< by input of the Merge: Switch nodes whose data it reads
  std::vector<std::uint32_t> branch;                 ///< by input of the Merge: the switches' output it hangs on
  std::vector<SwitchSeen> others;                    ///< switches of enclosing conditions that it reads
};

/// The main graph or a function, its nodes decoded once.
struct Body {
  std::vector<NodeView> nodes;
  std::unordered_map<std::string_view, std::uint32_t> by_name;
  FunctionView function;  ///< of a function
  bool is_function = false;
  std::unordered_map<std::string_view, std::uint32_t> arguments;
  std::unordered_map<std::string_view, LoopFrame> frames;
  std::unordered_map<std::uint32_t, std::string_view> frame_of_exit;
  std::unordered_set<std::uint32_t> loop_merges;
};

// ---- Translation

/// The graph without the calls that translators looked at and replaced.
Graph finish_live(GraphBuilder&, std::string name, const std::vector<ValueId>& results,
                  std::vector<std::string> result_names, Diagnostics&);

/// What SpaceToBatchND made of a value, so that the way back can be seen as dilation.
struct Blocks {
  ValueId source;
  std::vector<std::int64_t> block, pads;
};

/// A graph under construction and what is known of its values.
struct Site {
  GraphBuilder& builder;
  std::unordered_map<std::string, ValueId> weights = {};  ///< by variable
  std::unordered_map<NodeId, Blocks> blocks = {};
  bool in_loop = false;  ///< the body of a loop
};

/// The evaluation of a body at one place.
struct Scope {
  const Body& body;
  Site& site;
  Values arguments;
  std::unordered_map<std::uint32_t, Values> values;   ///< outputs of nodes done, or given
  std::unordered_set<std::uint32_t> poisoned;         ///< their failure has been reported
  std::string prefix;                                 ///< of node names
  const std::vector<AttrView>* attributes = nullptr;  ///< of the call, for placeholders
  int depth = 0;
};

class Importer;
struct OpRow;

/// One node while it is translated.
class Call : public Emitter {
 public:
  Call(Importer&, Scope&, const NodeView&, SourceLoc);

  Importer& importer;
  Scope& scope;
  const NodeView& node;
  Values inputs;  ///< data inputs

  // Inputs
  bool has(std::size_t i) const { return i < inputs.size() && inputs[i].kind != Value::Kind::None; }
  Result<ValueId> tensor(std::size_t i) const;  ///< fails when it is none
  Result<std::vector<ValueId>> tensors(std::size_t from, std::size_t to) const;
  using Emitter::type;
  const Type& type(std::size_t i) const;  ///< None when it is no tensor
  /// Contents when all are known integers.
  std::optional<std::vector<std::int64_t>> known_ints(std::size_t i) const;
  Result<std::vector<std::int64_t>> ints(std::size_t i, std::string_view role) const;  ///< must be known
  Result<std::int64_t> integer(std::size_t i, std::string_view role) const;
  std::optional<std::size_t> rank(std::size_t i) const;

  // Attributes; fallbacks stand in when the attribute is absent or of another kind
  std::optional<AttrValue> attr(std::string_view key) const;
  std::int64_t int_attr(std::string_view key, std::int64_t fallback) const;
  double float_attr(std::string_view key, double fallback) const;
  std::string_view string_attr(std::string_view key, std::string_view fallback) const;
  std::vector<std::int64_t> ints_attr(std::string_view key) const;
  DType dtype_attr(std::string_view key, DType fallback) const;
  std::optional<Type> shape_attr(std::string_view key, DType) const;
  /// What the file says of output i (`_output_shapes`); None when silent or overruled.
  Type declared(std::size_t i, DType) const;

  // Results
  /// The call that stands for the node: `count` of its results.
  Result<Values> finish(OpId, std::vector<ValueId> operands, Attrs = {}, int count = 1) const;
  /// `Emitter::cast`, which costs known integers nothing: shape arithmetic needs no kernel.
  Result<ValueId> cast(ValueId v, DType) const;
};

/// Computes values at a site from values there.
using Step = std::function<Result<Values>(Site&, const Values&)>;

class Importer {
 public:
  /// `file` is what offsets count from; it and the meta graph outlive the importer.
  Importer(Bytes file, const MetaGraphView& meta, const ImportOptions& options, Diagnostics& diags)
      : file_(file), meta_(meta), options_(options), diags_(&diags), dims_(options) {}

  Result<Graph> run();

  Diagnostics& diagnostics() { return *diags_; }
  bool shapes_overridden() const { return dims_.overridden(); }
  const std::set<std::string>& open_dims() const { return dims_.open(); }
  /// Variables are the weights then, and what a Const holds is no parameter.
  bool has_variables() const { return has_variables_; }
  Failure damaged(const Damage&);
  SourceLoc place(const NodeView&, std::int64_t index) const;
  /// Shape of a variable that its node does not tell.
  Type variable_type(std::string_view name) const;

  /// Inlines a function.
  Result<Values> call(Call&, std::string_view function, const std::vector<AttrView>& attributes,
                      const Values& arguments);
  /// The same at another site, as a step of control flow.
  Step function_step(Call&, std::string_view function, const std::vector<AttrView>& attributes);
  Result<const Body*> function_body(std::string_view name);

  /// Runs branch `selector` (a bool, or an index) of several on the same values.
  Result<Values> branch(const Call&, Site&, ValueId selector, const std::vector<Step>& branches,
                        const Values& captured);
  /// Repeats `body` on `init` while `condition` holds. `invariant` values are
  /// known to leave the body as they entered.
  Result<Values> loop(const Call&, Site&, const Values& init, const std::vector<bool>& invariant, const Step& condition,
                      const Step& body);

  Result<Values> evaluate(Scope&, const std::vector<Ref>& wanted);
  Result<Ref> resolve(const Body&, std::string_view input, const SourceLoc&, std::string_view user);
  Result<Values> leave_frame(Call&);  ///< Exit
  Result<Values> join(Call&);         ///< Merge
  /// The reference that a chain of identities starts from.
  Ref behind_identities(const Body&, Ref) const;

 private:
  struct Target {
    std::vector<ModelInput> inputs;
    std::vector<std::string> input_nodes;  ///< "name:0"
    std::vector<std::string> outputs;      ///< "name:0"
    std::vector<std::string> output_names;
  };
  Result<Target> from_signature(const SignatureView&);
  Result<Target> from_graph(const Body&);
  Status add_dequeued(const Body&, std::uint32_t node, Target&);
  Result<const SignatureView*> choose_signature();
  Result<Body> decode_main();
  Status index_body(Body&, const std::vector<Bytes>& records);
  Status index_frames(Body&);
  /// Nodes that must be done before node i of this scope.
  Status dependencies(Scope&, std::uint32_t i, std::vector<std::uint32_t>& out);
  Status translate(Scope&, std::uint32_t i);
  Result<Values> value_of(Scope&, Ref);
  Result<const Joined*> joined(const Body&, std::uint32_t merge);
  Result<Joined> look_back(const Body&, std::uint32_t merge, std::optional<std::uint32_t>& inner);
  bool over_budget() const { return evaluated_ > kMaxRepeated + main_nodes_; }
  Result<Values> loop_in_place(const Call&, Site&, const Values&, const Step&, std::int64_t trips);

  Bytes file_;
  const MetaGraphView& meta_;
  std::vector<std::unique_ptr<std::string>> names_;  ///< of inputs, where the file has none
  const ImportOptions& options_;
  Diagnostics* diags_;
  InputDims dims_;
  std::unordered_map<std::string_view, Bytes> functions_;
  std::unordered_map<std::string_view, std::unique_ptr<Body>> bodies_;
  std::unordered_map<const Body*, std::unordered_map<std::uint32_t, Joined>> joined_;
  std::vector<std::string_view> call_stack_;
  std::size_t evaluated_ = 0, main_nodes_ = 0;
  bool has_variables_ = false;
};

// ---- The operator table: frontends/tf/table.cpp, and the spellings in the rows of the IR's operators

using Translator = Result<Values> (*)(Call&, const OpRow&);
struct OpRow {
  std::string_view name;  ///< "Conv2D"
  std::string_view ir;    ///< operators it becomes, space-separated; or words
  Translator translate;
  /// Attributes that pass through, as in the spellings of ir/op_table.h: "tf=ir", "tf=" where the names are one.
  std::string_view attributes = {};
};
const std::vector<OpRow>& op_table();
const OpRow* find_row(std::string_view name);

/// IR attributes that the row's mapping gives.
Attrs mapped_attributes(const Call&, const OpRow&);
/// The first operator that a row names.
OpId row_op(const OpRow&);
/// Position of a named output of an operator ("batch_mean" of FusedBatchNormV3).
std::uint32_t output_position(std::string_view op, std::string_view output);

/// A call that nobody knows the cost of, typed from the file's declarations.
Result<Values> opaque(Call&);

}  // namespace perfc::tf
