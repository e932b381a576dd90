#pragma once
/// Patterns of decomposed operators, written like the text form of the IR:
///
///   %m = mean(%x, %axes)
///   %d = subtract(%x, %m)
///   divide(%d, sqrt(add({mean(multiply(%d, %d), %axes2) | mean(power(%d, 2), %axes2)}, %eps)))
///
/// One call or alternative per line; the last line is the root. A name that no
/// line defines stands for any value, the same one wherever it is repeated.
/// A number matches a constant whose elements all have that value, to within
/// 0.1 %. `_` matches an operand that is left out. `{a | b}` matches either.
/// Operands of operators that commute match in both orders. Calls match by
/// operator and number of operands; attributes are left to the caller.
#include <string>
#include <string_view>
#include <vector>

#include "ir/graph.h"
#include "passes/pass.h"

namespace perfc::passes {

/// A graph with what the matcher needs to look up.
struct MatchGraph {
  explicit MatchGraph(const Graph& g, Contents contents = Contents::Types)
      : graph(g), contents(contents), uses(g.use_counts()), weight(g.weight_only()), reader(readers(g)) {}

  const Graph& graph;
  const Contents contents;                    ///< `Kept`: what is not known is not taken for what it usually is
  std::vector<std::uint32_t> uses;            ///< by node
  std::vector<bool> weight;                   ///< by node: computed from constants alone
  std::vector<std::optional<NodeId>> reader;  ///< by node: the last call that reads it

  const Node& node(ValueId v) const { return graph.node(v); }
  const Type& type(ValueId v) const { return graph.type(v); }
  bool is_weight(ValueId v) const { return v && weight[v.node]; }
  /// A constant with one element, which is known where contents are kept.
  bool is_scalar(ValueId v) const;
  /// Its value, or `fallback` when the contents are not known.
  double scalar_or(ValueId v, double fallback) const;

 private:
  static std::vector<std::optional<NodeId>> readers(const Graph&);
};

/// What a pattern found. Its names are the pattern's, which must outlive it.
struct Match {
  NodeId root = 0;
  std::vector<NodeId> interior;  ///< calls that go away with the root, without it
  std::vector<std::pair<std::string_view, ValueId>> names;

  /// Value bound to a name, with or without a definition; empty when the
  /// alternative that mentions it was not taken.
  ValueId operator[](std::string_view name) const;
};

class Pattern {
 public:
  /// The patterns are part of the program: a text that does not parse is a bug
  /// and ends it with a message.
  explicit Pattern(std::string_view text);

  /// Matches with `root` as the last call. Calls inside must have no user
  /// outside the match. Time is bounded by the size of the pattern.
  bool match(const MatchGraph&, NodeId root, Match&) const;

  /// Operators that the root may have.
  const std::vector<OpId>& roots() const { return roots_; }

 private:
  friend class PatternParser;
  friend class PatternMatcher;
  struct Term {
    enum Kind { Call, Number, Any, Missing, Either } kind = Any;
    OpId op;
    double number = 0;
    std::vector<int> children;  // operands of a call, alternatives
  };

  std::vector<Term> terms_;
  std::vector<std::pair<std::string, int>> names_;
  int root_ = -1;
  std::vector<OpId> roots_;
};

}  // namespace perfc::passes
