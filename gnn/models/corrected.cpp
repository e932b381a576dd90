#include "gnn/models/corrected.h"

#include <cmath>

#include <fmt/format.h>

#include "gnn/layers/rowwise.h"
#include "gnn/layers/sage.h"

namespace perfc {

template <class T>
Corrected<T>::Corrected(const CorrectedOptions& o) : options_(o) {
  std::uint64_t dropouts = 0;
  const auto activate = [&] {
    network_.add("relu", std::make_unique<Activation<T>>(ActivationKind::Relu));
    if (o.dropout > 0) network_.add("dropout", std::make_unique<Dropout<T>>(o.dropout, ++dropouts));
  };
  network_.add("kernel", std::make_unique<Linear<T>>(o.features, o.hidden));
  activate();
  if (o.convolutions == 0) {
    network_.add("hidden", std::make_unique<Linear<T>>(o.hidden, o.hidden));
    activate();
  }
  for (std::size_t i = 0; i < o.convolutions; ++i) {
    network_.add(fmt::format("neighbours.{}", i), std::make_unique<SageConv<T>>(o.hidden, o.hidden, RowNorm::None));
    activate();
  }
  Linear<T>& last = network_.add("correction", std::make_unique<Linear<T>>(o.hidden, 2));
  last.weight.initial = last.bias.initial = Initial::constant(0);
  terms_.shape(1 + o.devices, kTerms, Initial::constant(0));
}

template <class T>
T Corrected<T>::term(std::size_t graph, std::size_t column) const {
  const auto row = static_cast<std::size_t>(input_->globals(graph, kTermsColumn));
  return terms_.value(0, column) + (row > 0 && row < terms_.value.rows() ? terms_.value(row, column) : T(0));
}

template <class T>
const Matrix<T>& Corrected<T>::forward(Context& c, const GraphInput<T>& input) {
  input_ = &input;
  const std::size_t nodes = input.nodes.rows(), graphs = input.globals.rows(), width = options_.features;
  features_.resize(nodes, width);
  for (std::size_t i = 0; i < nodes; ++i)
    std::copy_n(input.nodes.data() + i * input.nodes.columns() + kKernelColumns, width, features_.data() + i * width);
  const Matrix<T>& raw = network_.forward(c, features_);
  corrections_.resize(nodes, 2);
  factors_.resize(nodes, 2);
  output_.resize(graphs, 1);
  output_.fill(0);
  device_us_.assign(graphs, 0);
  host_us_.assign(graphs, 0);
  parts_.assign(graphs, {});
  constexpr T most = static_cast<T>(kMostCorrection);
  for (std::size_t g = 0; g < graphs; ++g) {
    for (std::size_t i = c.graph->first(g); i < c.graph->first(g + 1); ++i) {
      for (std::size_t j = 0; j < 2; ++j) corrections_(i, j) = most * std::tanh(raw(i, j) / most);
      const auto kind = static_cast<std::size_t>(input.nodes(i, kKindColumn));
      factors_(i, 0) = std::exp(corrections_(i, 0) + term(g, kind));
      factors_(i, 1) = std::exp(corrections_(i, 1) + term(g, kLaunchTerm));
      device_us_[g] += input.nodes(i, kCountColumn) *
                       (input.nodes(i, kWorkColumn) * factors_(i, 0) + input.nodes(i, kLaunchColumn) * factors_(i, 1) +
                        input.nodes(i, kWaitingColumn));
    }
    host_us_[g] = input.globals(g, kHostColumn) * std::exp(term(g, kHostTerm));
    const std::pair<T, T> sums[] = {
        {T(1), T(0)}, {T(0), T(1)}, {input.globals(g, kDevicePartColumn), input.globals(g, kHostPartColumn)}};
    for (const auto& [of_device, of_host] : sums) {
      const T us = of_device * device_us_[g] + of_host * host_us_[g];
      if (us <= output_(g, 0)) continue;
      output_(g, 0) = us;
      parts_[g] = {of_device, of_host};
    }
  }
  return output_;
}

template <class T>
void Corrected<T>::backward(Context& c, const Matrix<T>& doutput) {
  const GraphInput<T>& input = *input_;
  dcorrections_.resize(input.nodes.rows(), 2);
  constexpr T most = static_cast<T>(kMostCorrection);
  for (std::size_t g = 0; g < output_.rows(); ++g) {
    const auto row = static_cast<std::size_t>(input.globals(g, kTermsColumn));
    const auto add_term = [&](std::size_t column, T gradient) {
      terms_.gradient(0, column) += gradient;
      if (row > 0 && row < terms_.value.rows()) terms_.gradient(row, column) += gradient;
    };
    const T total = output_(g, 0);
    const T ddevice = doutput(g, 0) * parts_[g].first;
    add_term(kHostTerm, doutput(g, 0) * parts_[g].second * host_us_[g]);
    for (std::size_t i = c.graph->first(g); i < c.graph->first(g + 1); ++i) {
      const T count = input.nodes(i, kCountColumn);
      const T dwork = ddevice * count * input.nodes(i, kWorkColumn) * factors_(i, 0);
      const T dlaunch = ddevice * count * input.nodes(i, kLaunchColumn) * factors_(i, 1);
      add_term(static_cast<std::size_t>(input.nodes(i, kKindColumn)), dwork);
      add_term(kLaunchTerm, dlaunch);
      // The pull weighs a kernel by its share of the time, so that it does not depend on the size of graphs.
      const T pull = total > 0 ? static_cast<T>(options_.pull) * std::abs(doutput(g, 0)) * count : T(0);
      const T parts[2] = {dwork + pull * input.nodes(i, kWorkColumn) * corrections_(i, 0),
                          dlaunch + pull * input.nodes(i, kLaunchColumn) * corrections_(i, 1)};
      for (std::size_t j = 0; j < 2; ++j) {
        const T t = corrections_(i, j) / most;
        dcorrections_(i, j) = parts[j] * (1 - t * t);
      }
    }
  }
  network_.backward(c, dcorrections_);
}

template <class T>
void Corrected<T>::visit(const std::string& prefix, const ParameterVisitor<T>& f) {
  network_.visit(prefix, f);
  if (options_.devices > 0) f(prefix + "terms", terms_);
}

template class Corrected<float>;
template class Corrected<double>;

}  // namespace perfc
