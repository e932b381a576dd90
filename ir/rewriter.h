#pragma once
/// Rebuilding graphs. A pass never mutates: it walks the old graph in
/// execution order and adds to a new one, which re-infers every type.
#include <functional>
#include <vector>

#include "ir/builder.h"

namespace perfc {

/// Walks one graph and builds its successor. A pass derives nothing: it loops
/// over `source().nodes()` and for each node either calls `copy` or adds calls
/// of its own to `builder()` and `map`s the old values to new ones.
class Rewriter {
 public:
  Rewriter(const Graph& source, Diagnostics& diags);

  const Graph& source() const { return source_; }
  GraphBuilder& builder() { return builder_; }

  /// New value that stands for an old one. Empty stays empty.
  ValueId operator[](ValueId old) const;
  void map(ValueId old, ValueId replacement);

  /// Adds the same node with mapped operands and maps its results. Types the
  /// file declared survive only while every operand's type is unchanged.
  /// Regions whose param types changed are rebuilt with the new types.
  Status copy(NodeId old);
  /// The same, with other operands (already new ids) or attributes.
  Status copy_with(NodeId old, std::vector<ValueId> operands, Attrs attrs);

  /// Params are copied by `copy` with their old type unless set here first.
  void retype_param(std::size_t index, Type type);

  Graph finish();

 private:
  const Graph& source_;
  GraphBuilder builder_;
  std::vector<std::vector<ValueId>> values_;  // by old node, by result
  std::vector<Type> param_types_;
};

/// Applies `pass` to every region of a graph, innermost first, then to the
/// graph itself. `pass` sees one flat graph at a time.
Result<Graph> for_each_region(const Graph&, Diagnostics&,
                              const std::function<Result<Graph>(const Graph&)>& pass);

/// The same graph with other param types; every type is inferred anew.
Result<Graph> retype(const Graph&, const std::vector<ResultInfo>& params, Diagnostics&);

/// Param types of region `index` of a control-flow call with these operands
/// (own operands, then captures). One definition for importers and rewriters.
/// `iteration_types`: for loops and scans, the carried values' current types.
std::vector<ResultInfo> region_params(OpId op, const Attrs& attrs, std::size_t index,
                                      const std::vector<ResultInfo>& operands,
                                      std::size_t region_param_count);

}  // namespace perfc
