#pragma once
/// Models: a batch of graphs → one row of outputs per graph.
#include "gnn/module.h"

namespace perfc {

/// What a model reads beside the edges, which are in the context.
template <class T>
struct GraphInput {
  Matrix<T> nodes;    ///< nodes of the batch × columns of the node schema
  Matrix<T> globals;  ///< graphs × columns that describe the whole graph
};

/// Like Module (gnn/module.h), with two inputs; backward ends at the parameters.
template <class T>
class GraphModel {
 public:
  virtual ~GraphModel() = default;
  /// graphs × outputs. The input must live until backward.
  virtual const Matrix<T>& forward(Context&, const GraphInput<T>&) = 0;
  virtual void backward(Context&, const Matrix<T>& doutput) = 0;
  virtual void visit(const std::string& prefix, const ParameterVisitor<T>&) = 0;
};

template <class T>
std::vector<NamedParameter<T>> parameters(GraphModel<T>& m, const std::string& prefix = {}) {
  std::vector<NamedParameter<T>> all;
  m.visit(prefix, [&](const std::string& name, Parameter<T>& p) { all.push_back({name, &p}); });
  return all;
}

}  // namespace perfc
