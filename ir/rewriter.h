#pragma once
/// Rebuilding graphs. A pass never mutates: it walks the old graph in
/// execution order and adds to a new one, which re-infers every type.
#include <functional>
#include <optional>
#include <vector>

#include "ir/builder.h"

namespace perfc {

/// Walks one graph and builds its successor. A pass derives nothing: it loops
/// over `source().nodes()` and for each node either calls `copy` or adds calls
/// of its own to `builder()` and `map`s the old values to new ones.
class Rewriter {
 public:
  Rewriter(const Graph& source, Diagnostics& diags);
  /// Adds to a graph under construction: inlines `source`, whose params the
  /// caller maps to values of that graph.
  Rewriter(const Graph& source, GraphBuilder& into);
  Rewriter(const Rewriter&) = delete;
  Rewriter& operator=(const Rewriter&) = delete;

  const Graph& source() const { return source_; }
  GraphBuilder& builder() { return builder_; }

  /// New value that stands for an old one. Empty stays empty.
  ValueId operator[](ValueId old) const;
  void map(ValueId old, ValueId replacement);

  /// Adds the same node with mapped operands and maps its results. Types the
  /// file declared survive only while every operand's type is unchanged and
  /// nothing that was known of its contents is lost or contradicted.
  /// Regions whose param types changed are rebuilt with the new types.
  Status copy(NodeId old);
  /// The same, with other operands (already new ids) or attributes.
  Status copy_with(NodeId old, std::vector<ValueId> operands, Attrs attrs);
  /// The same, with what the caller vouches for about the results.
  Status copy_declared(NodeId old, std::vector<ValueId> operands, Attrs attrs, std::vector<Type> declared);

  /// Mapped operands of an old node.
  std::vector<ValueId> operands(NodeId old) const;
  /// Does `replacement` have the type of `old` and at least its known contents?
  bool refines(ValueId old, ValueId replacement) const;

  /// Do the mapped operands have the same types and contents as the old ones?
  bool unchanged(const Node& n, const std::vector<ValueId>& operands) const;

  /// Params are copied by `copy` with their old type and contents unless set
  /// here first.
  void retype_param(std::size_t index, ResultInfo info);

  /// The successor; not for inlining.
  Graph finish();

 private:
  void index();

  const Graph& source_;
  std::optional<GraphBuilder> own_;
  GraphBuilder& builder_;
  std::vector<std::uint32_t> first_;  // by old node: index of its first result in values_
  std::vector<ValueId> values_;
  std::vector<ResultInfo> params_;          // by param
  std::vector<std::uint32_t> param_index_;  // by old node; only vars have one
};

/// Regions nested deeper than this are refused by everything that rebuilds.
inline constexpr int kMaxRegionDepth = 64;

/// Applies `pass` to every region of a graph, innermost first, then to the
/// graph itself. `pass` sees one flat graph at a time and owns it: where it
/// changes nothing it hands it back, and a graph without regions is not copied.
Result<Graph> for_each_region(Graph, Diagnostics&, const std::function<Result<Graph>(Graph)>& pass);

/// The same graph with other param types; every type is inferred anew.
Result<Graph> retype(const Graph&, const std::vector<ResultInfo>& params, Diagnostics&);

/// Param types of region `index` of a control-flow call with these operands
/// (own operands, then captures). One definition for importers and rewriters.
/// For loops and scans the operands that start carried values may be given
/// with wider types than they have, until the body maps them to themselves.
std::vector<ResultInfo> region_params(OpId op, const Attrs& attrs, std::size_t index,
                                      const std::vector<ResultInfo>& operands, std::size_t region_param_count);

/// Loops and scans may change the type of a carried value from one iteration
/// to the next. Given the body built for `operands`, widens the operands that
/// start carried values to what covers them and the body's results; true:
/// something changed and the body must be built again. Every change loses a
/// dim or a rank for good, so this ends.
bool widen_carried(OpId op, const Attrs& attrs, const Graph& body, std::vector<ResultInfo>& operands);

/// The regions of a control-flow call rebuilt for these operands. Bodies of
/// loops and scans are widened until carried values keep their type.
Result<std::vector<GraphRef>> retype_regions(OpId op, const Attrs& attrs, const std::vector<GraphRef>& regions,
                                             std::vector<ResultInfo> operands, Diagnostics&);

}  // namespace perfc
