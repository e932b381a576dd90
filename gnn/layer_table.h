#pragma once
/// Layers that pass messages, by name: what `--model pmgns-NAME` can use.
#include <memory>
#include <span>
#include <string_view>

#include "gnn/module.h"

namespace perfc {

/// A graph convolution from `in` to `out` columns with its published defaults
/// (GraphSAGE: mean aggregation and rows of length 1; GAT: one head; GIN: ε = 0).
struct ConvolutionRow {
  std::string_view name;
  std::string_view summary;
  std::unique_ptr<Module<float>> (*make)(std::size_t in, std::size_t out);
  std::unique_ptr<Module<double>> (*make_double)(std::size_t in, std::size_t out);  ///< for gradient checks
};

std::span<const ConvolutionRow> convolutions();
const ConvolutionRow* find_convolution(std::string_view name);

template <class T>
std::unique_ptr<Module<T>> make_convolution(const ConvolutionRow& row, std::size_t in, std::size_t out) {
  if constexpr (std::is_same_v<T, float>) return row.make(in, out);
  else return row.make_double(in, out);
}

}  // namespace perfc
