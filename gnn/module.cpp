#include "gnn/module.h"

#include <cmath>

namespace perfc {

Initial Initial::fan_in(std::size_t inputs) {
  return {Rule::Uniform, 1 / std::sqrt(static_cast<double>(std::max<std::size_t>(inputs, 1)))};
}

Initial Initial::glorot(std::size_t inputs, std::size_t outputs) {
  return {Rule::Uniform, std::sqrt(6.0 / static_cast<double>(std::max<std::size_t>(inputs + outputs, 1)))};
}

template <class T>
void initialise(const std::vector<NamedParameter<T>>& parameters, const Random& random) {
  for (const auto& [name, p] : parameters) {
    const Random stream = random.stream(name);
    for (std::size_t i = 0; i < p->value.size(); ++i) {
      p->value.data()[i] = static_cast<T>(p->initial.rule == Initial::Rule::Constant
                                              ? p->initial.value
                                              : stream.uniform(i, -p->initial.value, p->initial.value));
    }
  }
}

template <class T>
const Matrix<T>& Sequential<T>::forward(Context& c, const Matrix<T>& x) {
  const Matrix<T>* y = &x;
  for (const Named& n : layers_) y = &n.layer->forward(c, *y);
  return *y;
}

template <class T>
const Matrix<T>& Sequential<T>::backward(Context& c, const Matrix<T>& dy) {
  const Matrix<T>* dx = &dy;
  for (auto n = layers_.rbegin(); n != layers_.rend(); ++n) dx = &n->layer->backward(c, *dx);
  return *dx;
}

template <class T>
void Sequential<T>::visit(const std::string& prefix, const ParameterVisitor<T>& f) {
  for (const Named& n : layers_) n.layer->visit(prefix + n.name + ".", f);
}

template void initialise(const std::vector<NamedParameter<float>>&, const Random&);
template void initialise(const std::vector<NamedParameter<double>>&, const Random&);
template class Sequential<float>;
template class Sequential<double>;

}  // namespace perfc
