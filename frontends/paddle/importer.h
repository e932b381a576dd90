#pragma once
/// Paddle programs → IR: names, weights, inputs and outputs, the order of
/// operations, control flow. The translators of single operators see a `Call`.
#include <map>
#include <optional>
#include <set>

#include "frontends/common/input_dims.h"
#include "frontends/frontend.h"
#include "frontends/paddle/program.h"
#include "ir/rewriter.h"

namespace perfc::paddle {

using Values = Result<std::vector<ValueId>>;

/// What a name stands for: one value, or a list of them (PIR's vectors, tensor arrays).
struct Binding {
  enum class Kind : std::uint8_t { One, List } kind = Kind::One;
  std::vector<ValueId> values;
};

/// A conditional block of a ProgramDesc. It is translated when something asks for
/// what it writes: `select_input` for this and the opposite block's values at once.
struct Pending {
  const Operation* operation = nullptr;
  ValueId condition;
};

/// Where names are looked up. Bodies that become regions open a frame each;
/// blocks that are taken run in the frame that they stand in.
struct Frame {
  GraphBuilder& builder;
  const Block* block = nullptr;  ///< declares the types of what is made here
  int depth = 0;
  NameMap<Binding> values = {};
  NameMap<Pending> pending = {};             ///< by name of an output
  std::set<std::string_view> poisoned = {};  ///< their operation failed and was reported
  std::set<const Operation*> done = {};      ///< translated together with an operation before
};

class Call;

class Importer {
 public:
  /// Bounds what control flow that shares blocks can expand to.
  static constexpr std::size_t kMaxOperations = 1'000'000;

  Importer(const Program& program, std::string name, const ImportOptions& options, Diagnostics& diags)
      : program_(program), name_(std::move(name)), dims_(options), diags_(&diags) {}

  Result<Graph> run();

  Dialect dialect() const { return program_.dialect; }

  /// Type that the file declares for the value under this name, with what the
  /// user says of shapes; None where it is silent or --shape contradicts it.
  Type declared(const Frame&, std::string_view name) const;
  /// Items of a list, as far as the file declares them.
  std::size_t declared_items(const Frame&, std::string_view name) const;
  /// A call that nobody knows the cost of, typed from the file's declarations.
  Status opaque(Call&);

  /// The value of a name; weights become constants on first use.
  Result<Binding> look_up(Frame&, std::string_view name, const Operation& reader);

 private:
  Status declare_inputs(Frame&);
  void declare_outputs();
  Status run_block(Frame&, const Block&);
  Status run_operation(Frame&, const Block&, std::size_t index);
  /// Binds results in the order of the row's outputs.
  Status bind_outputs(Call&, const std::vector<ValueId>& results);
  /// A result in the form that the file declares: shapes as int32, one element
  /// instead of a 0-d tensor. Warns where the file says something else.
  Result<ValueId> adapt(Call&, ValueId, std::string_view output);
  const Variable* variable(const Frame&, std::string_view name) const;

  // ---- Control flow (control.cpp): results are bound by these, not returned.
  struct Branch {
    const Block* block = nullptr;  ///< null: gives what the frame holds
    std::vector<std::string_view> results;
  };
  /// Names that a block and those inside it use from outside, and (Descriptor) write there.
  struct Free {
    std::vector<std::string_view> reads, writes;
    bool complete = false;
  };
  struct Region;

  Status branches(Call&);           ///< PIR's `if`
  Status conditional_block(Call&);  ///< ProgramDesc's
  Status select_input(Call&, const Block&, std::size_t index);
  Status while_loop(Call&);
  Status unrolled(Call&, const Block&, std::string_view condition, std::string_view next_condition,
                  const std::vector<std::string_view>& starts, const std::vector<std::string_view>& formals,
                  const std::vector<std::string_view>& nexts, const std::vector<std::string_view>& outputs);
  Status settle(Frame&, std::string_view name);  ///< translates the conditional block that writes `name`
  Status if_call(Call&, ValueId condition, const Branch& then, const Branch& otherwise,
                 const std::vector<std::string_view>& outputs);
  Status fill_branch(Call&, Region&, const Branch&, const std::vector<std::string_view>& outputs,
                     std::vector<ValueId>& results);
  Result<const Block*> block_of(const Call&, std::size_t i) const;
  Result<const Free*> free_names(const Block&, int depth);
  Status add_captures(Frame&, const Block&, std::vector<std::string_view>& names);

  const Program& program_;
  std::string name_;
  InputDims dims_;
  Diagnostics* diags_;                                             ///< swapped while a body is tried
  std::vector<std::pair<std::string_view, std::string>> outputs_;  ///< value, name of the result
  std::map<const Block*, Free> free_;
  std::size_t operations_ = 0;
};

}  // namespace perfc::paddle
