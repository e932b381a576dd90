#include "gnn/models/pmgns.h"

#include <fmt/format.h>

#include "gnn/layers/linear.h"
#include "gnn/layers/readout.h"
#include "gnn/layers/rowwise.h"

namespace perfc {

namespace {
constexpr std::string_view kPrefix = "pmgns-";
constexpr std::string_view kWithoutGraph = "mlp";
constexpr int kBlocks = 3;
}  // namespace

std::optional<PmgnsOptions> find_pmgns(std::string_view name) {
  if (!name.starts_with(kPrefix)) return {};
  name.remove_prefix(kPrefix.size());
  if (name == kWithoutGraph) return PmgnsOptions{};
  const ConvolutionRow* row = find_convolution(name);
  if (row == nullptr) return {};
  return PmgnsOptions{.convolution = row};
}

std::vector<std::string> pmgns_names() {
  std::vector<std::string> names;
  for (const ConvolutionRow& row : convolutions()) names.push_back(fmt::format("{}{}", kPrefix, row.name));
  names.push_back(fmt::format("{}{}", kPrefix, kWithoutGraph));
  return names;
}

template <class T>
Pmgns<T>::Pmgns(const PmgnsOptions& o) : with_graph_(o.convolution != nullptr), graph_width_(o.graph_hidden) {
  const auto relu = [] { return std::make_unique<Activation<T>>(ActivationKind::Relu); };
  std::uint64_t dropouts = 0;
  const auto dropout = [&] { return std::make_unique<Dropout<T>>(o.dropout, ++dropouts); };

  for (int block = 1; with_graph_ && block <= kBlocks; ++block) {
    const std::size_t in = block == 1 ? o.node_columns : o.graph_hidden;
    graph_.add(fmt::format("graph_conv_{}.convs.0", block), make_convolution<T>(*o.convolution, in, o.graph_hidden));
    graph_.add("relu", relu());
    graph_.add(fmt::format("graph_conv_{}.convs.1", block),
               make_convolution<T>(*o.convolution, o.graph_hidden, o.graph_hidden));
    graph_.add("relu", relu());
    graph_.add("dropout", dropout());
  }
  if (with_graph_) graph_.add("pool", std::make_unique<Readout<T>>(Pool::Sum));

  std::size_t in = (with_graph_ ? o.graph_hidden : 0) + o.static_columns;
  const auto linear = [&](std::string name, std::size_t out) {
    Linear<T>& added = head_.add(std::move(name), std::make_unique<Linear<T>>(in, out));
    added.bias.initial = Initial::fan_in(out);  // the published rule: by the tensor's own last extent
    in = out;
  };
  for (int block = 1; block <= kBlocks; ++block) {
    linear(fmt::format("fc_{}", block), o.linear_hidden);
    head_.add("relu", relu());
    head_.add("dropout", dropout());
  }
  linear("predictor", o.outputs);
  head_.add("positive", std::make_unique<Activation<T>>(ActivationKind::NegativeLogSigmoid));
}

template <class T>
const Matrix<T>& Pmgns<T>::forward(Context& c, const GraphInput<T>& input) {
  if (!with_graph_) return head_.forward(c, input.globals);
  const Matrix<T>& pooled = graph_.forward(c, input.nodes);
  const std::size_t globals = input.globals.columns();
  joined_.resize(pooled.rows(), graph_width_ + globals);
  for (std::size_t g = 0; g < pooled.rows(); ++g) {
    T* row = joined_.data() + g * joined_.columns();
    std::copy_n(pooled.data() + g * graph_width_, graph_width_, row);
    std::copy_n(input.globals.data() + g * globals, globals, row + graph_width_);
  }
  return head_.forward(c, joined_);
}

template <class T>
void Pmgns<T>::backward(Context& c, const Matrix<T>& doutput) {
  const Matrix<T>& djoined = head_.backward(c, doutput);
  if (!with_graph_) return;
  dpooled_.resize(djoined.rows(), graph_width_);
  for (std::size_t g = 0; g < djoined.rows(); ++g) {
    std::copy_n(djoined.data() + g * djoined.columns(), graph_width_, dpooled_.data() + g * graph_width_);
  }
  graph_.backward(c, dpooled_);
}

template <class T>
void Pmgns<T>::visit(const std::string& prefix, const ParameterVisitor<T>& f) {
  graph_.visit(prefix, f);
  head_.visit(prefix, f);
}

template class Pmgns<float>;
template class Pmgns<double>;

}  // namespace perfc
