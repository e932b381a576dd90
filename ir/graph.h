#pragma once
/// The graph: Relay-like, functional, typed.
///
/// A `Graph` is a function. It owns its nodes in execution order: operands
/// precede users, so walking the vector *is* the post-order walk. Values are
/// named by `ValueId{node, result}`; nobody holds pointers into a graph.
/// Graphs do not change after `GraphBuilder::finish`: passes build new ones.
///
/// Control flow (if, loop, scan, sequence_map) carries its bodies as regions.
/// A region is closed: what it uses from outside comes in through its params.
/// The node's operands are its own, then the captured values (attribute
/// "captures" counts them), and every region's params end with those captures.
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ir/attrs.h"
#include "ir/op_table.h"
#include "ir/support/diagnostics.h"
#include "ir/types.h"

namespace perfc {

using NodeId = std::uint32_t;

struct ValueId {
  NodeId node = kNone;
  std::uint32_t result = 0;

  static constexpr NodeId kNone = 0xffffffffu;
  /// False for an optional operand that is left out.
  explicit operator bool() const { return node != kNone; }
  friend auto operator<=>(const ValueId&, const ValueId&) = default;
};

class Graph;
using GraphRef = std::shared_ptr<const Graph>;
template <class T, std::size_t N>
using SmallVec = boost::container::small_vector<T, N>;

enum class NodeKind : std::uint8_t {
  Var,       ///< a param of the graph
  Constant,  ///< weight or literal; its contents may be absent
  Call,      ///< an operator applied to operands
};

/// Who made the calls of a model file, and so whether PyTorch makes them too.
enum class WrittenBy : std::uint8_t {
  Program,     ///< a PyTorch program: eager execution makes every one of them
  Decomposed,  ///< a PyTorch program, of whose operators some are written out as several
  Exporter,    ///< an exporter, which writes out operators that its format has no name for, and leaves out others
  Framework,   ///< another framework: PyTorch would call an operator where that one computes its parts
  Converter,   ///< an exporter of another framework's models: both
  Lowered      ///< the same, in a format without any calls of libraries: attention too is written out in every file
};
constexpr bool is_pytorch(WrittenBy who) { return who == WrittenBy::Program || who == WrittenBy::Decomposed; }
constexpr bool is_exported(WrittenBy who) { return who == WrittenBy::Exporter || who == WrittenBy::Converter; }

/// A result's type, and its contents as far as propagation knows them.
struct ResultInfo {
  Type type;
  DataRef data;
};

struct Node {
  NodeKind kind = NodeKind::Call;
  OpId op;                        ///< Call only
  SmallVec<ValueId, 3> operands;  ///< may hold empty ids for omitted ones
  Attrs attrs;
  SmallVec<ResultInfo, 1> results;  ///< at least one, except for calls without results
  std::vector<GraphRef> regions;
  std::string name;  ///< from the source; may be empty
  SourceLoc loc;

  bool is(OpId o) const { return kind == NodeKind::Call && op == o; }
};

class Graph {
 public:
  const std::string& name() const { return name_; }
  std::size_t size() const { return nodes_.size(); }
  const Node& node(NodeId id) const { return nodes_[id]; }
  const Node& node(ValueId v) const { return nodes_[v.node]; }
  const std::vector<Node>& nodes() const { return nodes_; }
  const std::vector<ValueId>& params() const { return params_; }
  const std::vector<ValueId>& results() const { return results_; }
  const std::vector<std::string>& result_names() const { return result_names_; }

  const Type& type(ValueId v) const { return nodes_[v.node].results[v.result].type; }
  /// Who made the calls, where the file says so and it is not who usually writes files of its format. Importers say it;
  /// graphs that passes build do not know.
  std::optional<WrittenBy> written_by() const { return written_by_; }
  void set_written_by(WrittenBy who) { written_by_ = who; }

  /// Propagated contents, or null.
  const Data* data(ValueId v) const { return nodes_[v.node].results[v.result].data.get(); }

  /// Number of operand slots (and graph results) that refer to each node.
  std::vector<std::uint32_t> use_counts() const;
  /// Nodes computed from constants alone (weights and functions of weights).
  /// Random generators and captured or passed params are not.
  std::vector<bool> weight_only() const;

 private:
  friend class GraphBuilder;
  std::string name_;
  std::vector<Node> nodes_;
  std::vector<ValueId> params_;
  std::vector<ValueId> results_;
  std::vector<std::string> result_names_;
  std::optional<WrittenBy> written_by_;
};

/// Structural equality: kinds, operators, operands, attributes, types, names,
/// constants' contents, regions. Source locations and propagated contents of
/// calls do not count.
bool operator==(const Graph& a, const Graph& b);

/// The graph and every body below it, outer ones first.
std::vector<const Graph*> with_bodies(const Graph&);
/// Total number of nodes, bodies included.
std::size_t total_nodes(const Graph&);

}  // namespace perfc
