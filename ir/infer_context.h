#pragma once
/// What a shape rule, an evaluation rule and a cost rule see of a call.
#include <fmt/format.h>

#include <span>

#include <boost/container/small_vector.hpp>

#include "ir/graph.h"

namespace perfc {

/// A call under construction. Shape rules (`OpDef::infer`) set every result's
/// type or report an error; evaluation rules (`OpDef::eval`) run afterwards and
/// may set results' contents.
class InferContext {
 public:
  struct Operand {
    const Type* type = nullptr;  ///< null: omitted
    const Data* data = nullptr;  ///< null: contents unknown
  };

  InferContext(OpId op, const Attrs& attrs, std::span<const Operand> operands, std::span<const GraphRef> regions,
               std::span<ResultInfo> results, std::span<const Type> declared, Diagnostics& diags, SourceLoc loc,
               std::string_view name)
      : attrs(attrs), op_(op), operands_(operands), regions_(regions), results_(results), declared_(declared),
        diags_(diags), loc_(loc), name_(name) {}

  const Attrs& attrs;

  OpId op() const { return op_; }
  std::size_t operands() const { return operands_.size(); }
  bool has(std::size_t i) const { return i < operands_.size() && operands_[i].type; }
  /// Type of operand i; a `None` type when omitted.
  const Type& type(std::size_t i) const;
  /// Contents of operand i, or null.
  const Data* data(std::size_t i) const { return has(i) ? operands_[i].data : nullptr; }
  /// Contents of operand i when every element is a known integer.
  std::optional<std::vector<std::int64_t>> known_ints(std::size_t i) const;
  const Graph& region(std::size_t i) const { return *regions_[i]; }
  std::size_t regions() const { return regions_.size(); }

  std::size_t results() const { return results_.size(); }
  /// Ignored for results that the call does not ask for.
  void set(std::size_t i, Type type) {
    if (i < results_.size()) results_[i].type = std::move(type);
  }
  const Type& result(std::size_t i) const { return results_[i].type; }
  /// Ignored when larger than `Data::kMaxElements`.
  void set_data(std::size_t i, Data data);
  void set_data_ref(std::size_t i, DataRef data) {
    if (i < results_.size()) results_[i].data = std::move(data);
  }

  /// What the file declares result i to be; `None` when silent. Rules whose
  /// result depends on run-time data need not look: the builder merges it.
  const Type& declared(std::size_t i) const;

  /// Reports "OPERATOR: message" at the call and fails.
  template <class... Args>
  Failure error(fmt::format_string<Args...> text, Args&&... args) const {
    return fail(fmt::format(text, std::forward<Args>(args)...));
  }

 private:
  Failure fail(std::string message) const;

  OpId op_;
  std::span<const Operand> operands_;
  std::span<const GraphRef> regions_;
  std::span<ResultInfo> results_;
  std::span<const Type> declared_;
  Diagnostics& diags_;
  SourceLoc loc_;
  std::string_view name_;
};

/// Work of one call, independent of any device. Sources of the definitions:
/// docs/macs.md. FLOPs of a node = 2 × macs + flops.
class CostContext;
struct OpCost {
  double macs = 0;           ///< multiply–accumulates
  double flops = 0;          ///< elementwise and reduction operations outside the MACs
  double bytes_read = 0;     ///< operands read, each once
  double bytes_written = 0;  ///< results written
  double weight_bytes = 0;   ///< the part of bytes_read that is constant

  /// A part of an operand that the call does not read: matrices of groups without rows, rows of tables of positions.
  struct Unread {
    std::size_t operand = 0;
    double share = 0;
  };
  boost::container::small_vector<Unread, 2> unread;  ///< bytes_read and weight_bytes have none of it
  void leave_unread(const CostContext&, std::size_t operand, double share);
};

/// A finished call in its graph.
class CostContext {
 public:
  CostContext(const Graph& graph, NodeId id) : graph_(graph), node_(graph.node(id)) {}
  const Node& node() const { return node_; }
  const Attrs& attrs() const { return node_.attrs; }
  std::size_t operands() const { return node_.operands.size(); }
  bool has(std::size_t i) const { return i < operands() && node_.operands[i]; }
  const Type& type(std::size_t i) const;
  const Data* data(std::size_t i) const { return has(i) ? graph_.data(node_.operands[i]) : nullptr; }
  /// Operand i is a weight or literal.
  bool constant(std::size_t i) const { return has(i) && graph_.node(node_.operands[i]).kind == NodeKind::Constant; }
  const Type& result(std::size_t i) const { return node_.results[i].type; }
  /// Elements of operand or result i; 0 when not static.
  double elements(std::size_t i) const;
  double result_elements(std::size_t i) const;
  /// Known extent of operand i's dim d (negative counts from the end); 0 if unknown.
  double dim(std::size_t i, int d) const;

 private:
  const Graph& graph_;
  const Node& node_;
};

/// Cost of a call with its rule from the table: the rule's MACs and FLOPs,
/// and bytes from operand and result types unless the rule sets them. Zero for
/// vars and constants. Region bodies are not included; callers multiply them.
OpCost op_cost(const Graph&, NodeId);

}  // namespace perfc
