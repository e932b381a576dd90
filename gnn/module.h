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
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "gnn/graph_batch.h"
#include "gnn/matrix.h"
#include "gnn/random.h"
#include "gnn/threads.h"

namespace perfc {

enum class Mode : unsigned char { Training, Inference };

template <class T>
struct Parameter;

/// Takes a step along a gradient as soon as it is known, while it is in the cache (Adam in gnn/optimizer.h).
class ImmediateUpdate {
 public:
  virtual ~ImmediateUpdate() = default;
  /// Moves a parameter's numbers from `first` on along their gradient, which may be overwritten. All of a parameter's
  /// numbers in turn, each once per step; by several threads at a time.
  virtual void update(Parameter<float>&, std::size_t first, std::span<float> gradient) = 0;
};

/// What a pass over one batch shares between layers.
struct Context {
  ThreadPool& threads;
  const GraphBatch* graph = nullptr;  ///< required by layers that pass messages or pool
  Mode mode = Mode::Inference;
  Random random{0};  ///< of this step; dropout draws from it
  /// Position of the batch's first sample in the step's global batch: dropout is
  /// keyed by sample, so that N ranks with a share each drop what one rank would.
  std::size_t first_sample = 0;
  /// If set, `backward` may hand a parameter's gradient over instead of adding it to `Parameter::gradient`, once
  /// nothing in the step reads the parameter any more: the caller promises that every layer goes backward once.
  ImmediateUpdate* update = nullptr;
};

/// How a parameter begins.
struct Initial {
  enum class Rule : unsigned char { Constant, Uniform };
  Rule rule = Rule::Constant;
  double value = 0;  ///< the constant, or the bound of uniform numbers in [−value, value)

  static Initial constant(double value) { return {Rule::Constant, value}; }
  /// ±1/√inputs: PyTorch's default for Linear, and the paper's for PMGNS.
  static Initial fan_in(std::size_t inputs);
  /// ±√(6 / (inputs + outputs)) (Glorot and Bengio, AISTATS 2010).
  static Initial glorot(std::size_t inputs, std::size_t outputs);
};

/// A trained tensor and the gradient of the loss by it. Vectors have one row.
template <class T>
struct Parameter {
  enum class Kind : unsigned char { Matrix, Vector };
  Kind kind = Kind::Matrix;
  Initial initial;
  Matrix<T> value, gradient;

  void shape(std::size_t rows, std::size_t columns, Initial how) {
    initial = how;
    value.resize(rows, columns);
    gradient.resize(rows, columns);
    value.fill(static_cast<T>(how.rule == Initial::Rule::Constant ? how.value : 0));
    gradient.fill(0);
  }
  void shape(std::size_t columns, Initial how) {
    kind = Kind::Vector;
    shape(1, columns, how);
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

/// Gives every parameter its initial values; each draws from a stream of its own
/// name, so that adding a layer does not change the others.
template <class T>
void initialise(const std::vector<NamedParameter<T>>&, const Random&);

/// Layers one after the other. Parameters are named by the name of their layer.
template <class T>
class Sequential : public Module<T> {
 public:
  /// Returns the layer, which the sequence owns.
  template <class Layer>
  Layer& add(std::string name, std::unique_ptr<Layer> layer) {
    Layer& added = *layer;
    layers_.push_back({std::move(name), std::move(layer)});
    return added;
  }
  const Matrix<T>& forward(Context&, const Matrix<T>& x) override;
  const Matrix<T>& backward(Context&, const Matrix<T>& dy) override;
  void visit(const std::string& prefix, const ParameterVisitor<T>&) override;

 private:
  struct Named {
    std::string name;
    std::unique_ptr<Module<T>> layer;
  };
  std::vector<Named> layers_;
};

extern template class Sequential<float>;
extern template class Sequential<double>;

}  // namespace perfc
