#pragma once
/// Layers, graph or not: forward, backward, parameters by name.
///
/// There is no tape. A layer keeps what its backward needs, owns its result and
/// its input gradient, and hands out references to them:
///   const Matrix<T>& y  = layer.forward(context, x);    // x must live until backward
///   const Matrix<T>& dx = layer.backward(context, dy);  // after the forward of the same batch
/// Both references hold until the same function is called again. `backward`
/// *adds* to the gradients of the parameters; `zero_gradients` clears them.
///
/// Rows are nodes, graphs or samples; columns are features. A layer that needs
/// edges takes them from the context, so that every layer has the same face.
///
/// To add a layer: derive from Module, instantiate it for float and double, add
/// a gradient check to tests/unit/gnn_layers_test.cpp; if it passes messages, a
/// row in gnn/layer_table.cpp makes it available to models by name.
#include <functional>
#include <string>
#include <vector>

#include "gnn/graph_batch.h"
#include "gnn/matrix.h"
#include "gnn/random.h"
#include "gnn/threads.h"

namespace perfc {

enum class Mode : unsigned char { Training, Inference };

/// What a pass over one batch shares between layers.
struct Context {
  ThreadPool& threads;
  const GraphBatch* graph = nullptr;  ///< required by layers that pass messages or pool
  Mode mode = Mode::Inference;
  Random random{0};                   ///< of this step; dropout draws from it
  /// Position of the batch's first sample in the step's global batch: dropout is
  /// keyed by sample, so that N ranks with a share each drop what one rank would.
  std::size_t first_sample = 0;
};

/// A trained tensor and the gradient of the loss by it. Vectors have one row.
template <class T>
struct Parameter {
  enum class Kind : unsigned char { Matrix, Vector };
  Kind kind = Kind::Matrix;
  Matrix<T> value, gradient;

  void shape(std::size_t rows, std::size_t columns) {
    value.resize(rows, columns);
    gradient.resize(rows, columns);
    value.fill(0);
    gradient.fill(0);
  }
  void shape(std::size_t columns) {
    kind = Kind::Vector;
    shape(1, columns);
  }
};

template <class T>
using ParameterVisitor = std::function<void(const std::string& name, Parameter<T>&)>;

template <class T>
class Module {
 public:
  virtual ~Module() = default;
  virtual const Matrix<T>& forward(Context&, const Matrix<T>& x) = 0;
  virtual const Matrix<T>& backward(Context&, const Matrix<T>& dy) = 0;

  /// Every parameter, in a fixed order, named `prefix` + "lin_l.weight" or the
  /// like. Saving, loading, initialising, the optimiser and the gradient checks
  /// all come through here, so that none can forget one.
  virtual void visit(const std::string& prefix, const ParameterVisitor<T>&) { (void)prefix; }
};

template <class T>
struct NamedParameter {
  std::string name;
  Parameter<T>* parameter;
};

template <class T>
std::vector<NamedParameter<T>> parameters(Module<T>& m, const std::string& prefix = {}) {
  std::vector<NamedParameter<T>> all;
  m.visit(prefix, [&](const std::string& name, Parameter<T>& p) { all.push_back({name, &p}); });
  return all;
}

template <class T>
void zero_gradients(Module<T>& m) {
  m.visit({}, [](const std::string&, Parameter<T>& p) { p.gradient.fill(0); });
}

}  // namespace perfc
