#pragma once
/// PyTorch program → IR. `Importer` walks the operations of a program and keeps
/// what its names stand for; what each operator becomes is in `aten_table.cpp`.
#include <algorithm>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "frontends/common/input_dims.h"
#include "frontends/torch/program.h"
#include "frontends/torch/value.h"
#include "ir/rewriter.h"

namespace perfc::torch {

/// Where a name is looked up: the program, or a body that becomes a region.
/// Blocks that are taken or unrolled run in the frame they stand in.
struct Frame {
  GraphBuilder& builder;
  Frame* outer = nullptr;
  int depth = 0;
  std::unordered_map<std::string_view, Value> values{};
  std::set<std::string_view> poisoned{};  ///< their operation failed
  std::map<ValueId, ValueId> captured{};  ///< of `outer` → here
  std::vector<ValueId> captures{};        ///< keys of `captured` that became params, in order
  std::map<const Storage*, std::pair<std::shared_ptr<Storage>, std::shared_ptr<Storage>>> storages{};  ///< outer, here
  /// Copies of containers of `outer`, with what was in them when they were made.
  std::vector<std::pair<List, std::vector<Value>>> copied_lists{};
  std::vector<std::pair<Dict, std::vector<std::pair<Value, Value>>>> copied_dicts{};
};

class Call;

/// Nodes that get the marks of ir/eager_marks.h.
struct EagerMarks {
  std::set<NodeId> launched, inside;
};
/// The graph without what no result depends on: weights that were merged into
/// others, shapes that nothing asked for. Params stay, and what is launched for nothing.
Result<Graph> without_unused(const Graph& graph, Diagnostics& diags, const EagerMarks& marks = {});

class Importer {
 public:
  Importer(const Program& program, const ImportOptions& options, Diagnostics& diags)
      : program_(program), diags_(&diags), dims_(options) {}

  Result<Graph> run();

  /// Runs the operations of a block in `frame` and gives its outputs.
  Result<std::vector<Value>> run_block(Frame& frame, const Block& block);
  Result<std::vector<Value>> arguments(Frame& frame, const std::vector<Arg>& args, const Operation& at);
  Result<Value> look_up(Frame& frame, std::string_view name, const Operation* at);

  // ---- control.cpp: prim::If and prim::Loop
  Result<std::vector<Value>> branch(Call& c);
  Result<std::vector<Value>> loop(Call& c);
  /// Runs a block in place; its inputs are the call's arguments from `first_argument` on.
  Result<std::vector<Value>> inlined(Call& c, const Block& block, std::size_t first_argument);

  const Program& program() const { return program_; }
  Diagnostics& diagnostics() { return *diags_; }
  /// Shapes that the file declares hold: no input was given another one.
  /// Within torch.vmap the file declares the types of single samples.
  bool declared_holds() const { return vmaps_ == 0 && !dims_.overridden(); }
  /// Whether declared sizes that data decides hold for any: not those of a trace.
  bool declared_sizes_hold() const { return declared_holds() && program_.sizes_hold; }
  void enter_vmap() { ++vmaps_; }
  void leave_vmap() { vmaps_ = std::max(vmaps_ - 1, 0); }
  /// How deep the torch.vmap that are open are nested within the first of them.
  std::int64_t vmap_levels() const { return vmap_levels_; }
  Type bind(const Type& t) const { return dims_.bind(t); }

  /// Operations run so far, unrolled ones included; what unrolling may add is bounded.
  static constexpr std::size_t kMaxOperations = 1'000'000;

 private:
  friend class Regions;
  Status declare_inputs(Frame& frame);
  /// Warns of dims outside of what the program was exported for.
  void check_ranges(const std::vector<ModelInput>& inputs);
  /// How deep torch.vmap are nested, if the first of these operations opens one.
  void look_ahead(std::span<const Operation> operations);
  Status run_operation(Frame& frame, const Operation& operation);
  Result<std::vector<Value>> translate(Call& c);
  /// Notes which nodes made the tensors that an operation gives: those from `first` on are its own.
  void note_results(const Call& c, const std::vector<Value>& results, NodeId first);
  /// Warns where results are not what the file declares; takes its sizes where what was made has none.
  void reconcile_with_declared(Call& c, const std::vector<Value>& results);
  Status flatten_output(Frame& frame, const Value& value, const std::string& name, std::vector<ValueId>& results,
                        std::vector<std::string>& names);
  /// A value of an enclosing frame as seen from `frame`.
  Result<Value> capture(Frame& frame, const Value& outer);
  Result<ValueId> capture(Frame& frame, ValueId outer);

  const Program& program_;
  Diagnostics* diags_;  ///< swapped while a body is tried
  InputDims dims_;
  int vmaps_ = 0;  ///< how many torch.vmap are open
  std::int64_t vmap_levels_ = 1;
  std::unordered_map<std::string_view, const Parameter*> parameters_;  ///< by name, aliases included
  std::size_t operations_ = 0;
  std::set<NodeId> tensors_;           ///< of the outermost frame: calls that give what a tensor operator gives
  std::set<NodeId> computed_on_host_;  ///< calls that the file says run on the CPU
  std::set<NodeId> copied_from_host_;  ///< and those that bring their results to where the weights are
  std::set<ValueId> numbers_on_host_;  ///< 0-d tensors that a trace writes for Python's ints
  std::set<ValueId> written_numbers_;  ///< 0-d tensors that a program writes out, and what it computes of them alone
};

}  // namespace perfc::torch
