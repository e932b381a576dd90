#include "gnn/layer_table.h"

#include "gnn/layers/gat.h"
#include "gnn/layers/gcn.h"
#include "gnn/layers/gin.h"
#include "gnn/layers/sage.h"

namespace perfc {

namespace {

template <class Layer, class T, auto... Arguments>
std::unique_ptr<Module<T>> make(std::size_t in, std::size_t out) {
  return std::make_unique<Layer>(in, out, Arguments...);
}

template <template <class> class Layer, auto... Arguments>
constexpr ConvolutionRow row(std::string_view name, std::string_view summary) {
  return {.name = name,
          .summary = summary,
          .make = make<Layer<float>, float, Arguments...>,
          .make_double = make<Layer<double>, double, Arguments...>};
}

constexpr ConvolutionRow kConvolutions[] = {
    //                          name    summary
    row<SageConv, RowNorm::L2>("sage", "GraphSAGE: own row and mean of the neighbours', rows of length 1"),
    row<GcnConv>("gcn", "graph convolution: sum over neighbours, scaled by both degrees"),
    row<GatConv>("gat", "graph attention, one head"),
    row<GinConv>("gin", "graph isomorphism network: sum over neighbours, then two linear layers"),
};

}  // namespace

std::span<const ConvolutionRow> convolutions() { return kConvolutions; }

const ConvolutionRow* find_convolution(std::string_view name) {
  for (const ConvolutionRow& r : kConvolutions) {
    if (r.name == name) return &r;
  }
  return nullptr;
}

}  // namespace perfc
