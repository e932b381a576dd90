#pragma once
/// Values that no sample reaches but that a program made for its batch: positions of the samples, masks expanded to
/// them, zero states.
///
/// A call that meets samples says which operands have to follow the batch. From there the demand goes up, through calls
/// that keep the dim, to where the program states the old batch: the end of an `arange`, the target of an expansion.
/// Changed there, all in between follows by itself, as in a program that was exported at the new batch.
#include "ir/graph.h"
#include "ir/ops/einsum.h"
#include "passes/batch_dim.h"

namespace perfc::passes {

/// The labels of an einsum's dims; nothing where an operand's rank is not known.
std::optional<rules::Einsum> einsum_of(const Graph& graph, NodeId id);
/// Where a label stands; nothing where the operand lacks it.
std::optional<std::size_t> label_axis(const std::vector<int>& labels, int label);

class BatchDemands {
 public:
  BatchDemands(const Graph& graph, const BatchChange& change);

  /// `v` has to follow the batch, which is in its dim `at`. Nothing where no call made it.
  void add(ValueId v, BatchDim at);
  /// Where a value gets the new batch that its operands do not bring.
  const std::optional<BatchDim>& origin(ValueId v) const { return demands_[first_[v.node] + v.result].origin; }
  /// How many values have to follow; grows as long as there is something new.
  std::size_t size() const { return size_; }

 private:
  struct Operand {
    ValueId value;
    BatchDim at;
  };
  struct Demand {
    bool made = false;
    std::optional<BatchDim> origin;
  };
  std::vector<Operand> above(ValueId v, BatchDim at) const;
  std::vector<Operand> aligned(const Node&, const Type& result, BatchDim at) const;
  std::vector<Operand> above_einsum(NodeId, BatchDim at) const;
  std::vector<Operand> above_view(const Node&, const Type& result, BatchDim at) const;

  const Graph& graph_;
  const BatchChange& change_;
  std::vector<std::uint32_t> first_;  // by node: index of its first result in demands_
  std::vector<Demand> demands_;
  std::size_t size_ = 0;
};

}  // namespace perfc::passes
