#pragma once
/// The only way to make a graph. Values are typed when they are born.
#include <span>
#include <vector>

#include "ir/dim_bounds.h"
#include "ir/graph.h"

namespace perfc {

/// One call to be added.
struct CallSpec {
  OpId op;
  std::vector<ValueId> operands{};
  Attrs attrs{};
  int results = -1;              ///< −1: as many as the operator table says
  std::vector<Type> declared{};  ///< what the source says of the results; may be short
  std::vector<GraphRef> regions{};
  std::string name{};
  SourceLoc loc{};
};

class GraphBuilder {
 public:
  /// Node limit of one graph: files that expand beyond are refused.
  static constexpr std::size_t kMaxNodes = 4'000'000;

  explicit GraphBuilder(Diagnostics& diags) : diags_(diags) {}
  /// Makes room for about so many nodes.
  void reserve(std::size_t nodes) { graph_.nodes_.reserve(nodes); }

  /// Adds a param. `data` is what is known of its contents (captures).
  ValueId var(Type type, std::string name, SourceLoc loc = {}, DataRef data = {});
  ValueId constant(Literal literal, std::string name = {}, SourceLoc loc = {});
  /// Adds a call: checks arity, infers result types, merges them with the
  /// declared ones, propagates contents. The id's node has all results.
  Result<NodeId> call(CallSpec spec);
  /// Adds a call that was inferred before, in another graph, from operands of
  /// the same types and contents: its results are taken over.
  NodeId adopt(const Node& node, const std::vector<ValueId>& operands);
  /// What the operator's rule says of an open dim of a call's result; none: there is no rule, or what it asks is open.
  std::optional<DimBound> bound_of(NodeId, std::size_t result, std::size_t axis) const;
  /// Fixes open dims of the call that was added last: `bounds` and `by` become its attributes of these names.
  void fix_dims(NodeId, std::vector<std::int64_t> bounds, std::string by);
  /// Says what the source declares of a result of the call that was added last, where its rule left dims open.
  void refine(ValueId, const Type& declared);
  /// Shorthand for the first result of a call.
  Result<ValueId> value(CallSpec spec);

  const Node& node(NodeId id) const { return graph_.nodes_[id]; }
  const Type& type(ValueId v) const { return graph_.type(v); }
  const Data* data(ValueId v) const { return graph_.data(v); }
  DataRef data_ref(ValueId v) const { return graph_.nodes_[v.node].results[v.result].data; }
  const std::vector<ValueId>& params() const { return graph_.params_; }
  std::size_t size() const { return graph_.size(); }
  Diagnostics& diagnostics() { return diags_; }

  Graph finish(std::string name, std::vector<ValueId> results, std::vector<std::string> result_names);

 private:
  Diagnostics& diags_;
  Graph graph_;
};

/// Every use refers to an earlier node and an existing result, arity holds,
/// every value is typed, re-inference agrees with the stored types, regions
/// are closed. Reports each violation; an error here is a bug of perfc.
Status verify(const Graph&, Diagnostics&);

}  // namespace perfc
