#include "features/node_schemas.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "features/columns.h"
#include "ir/layout.h"

namespace perfc {
namespace {

double known(const Dim& d) { return d.known() ? static_cast<double>(d.value()) : 0.0; }

/// Entries of an attribute, `fallback` where it has fewer.
template <std::size_t N>
std::array<double, N> entries(const Attrs& attrs, std::string_view name, double fallback) {
  std::array<double, N> out;
  out.fill(fallback);
  const auto values = attrs.ints_or_empty(name);
  for (std::size_t i = 0; i < std::min(N, values.size()); ++i) out[i] = static_cast<double>(values[i]);
  return out;
}

/// Spatial extents of a convolution's kernel, from the weight's type.
std::vector<double> kernel_of(const Graph& g, const Node& n) {
  std::vector<double> out;
  if (n.operands.size() < 2) return out;
  const Type& w = g.type(n.operands[1]);
  if (const auto axes = kernel_axes(g, n)) {
    for (std::size_t i : axes->spatial) out.push_back(known(w.shape()[i]));
  }
  return out;
}

// ---- dippm: the 32 columns of the paper

constexpr std::array<std::string_view, 16> kDippmOps{"nn.conv2d",
                                                     "nn.conv2d_transpose",
                                                     "nn.dense",
                                                     "nn.batch_matmul",
                                                     "nn.bias_add",
                                                     "nn.softmax",
                                                     "nn.dropout",
                                                     "nn.layer_norm",
                                                     "reshape",
                                                     "transpose",
                                                     "add",
                                                     "split",
                                                     "multiply",
                                                     "squeeze",
                                                     "nn.adaptive_avg_pool2d",
                                                     "nn.max_pool2d"};

/// What the columns read: zeros where the operator is no 2-D convolution.
struct DippmCall {
  std::array<double, 2> stride{}, dilation{}, kernel{};
  std::array<double, 4> padding{};  ///< top, left, bottom, right
  double groups = 0, channels = 0;
  std::array<double, 4> shape{};  ///< of the result

  DippmCall(const Graph& g, const Node& n) {
    const bool transposed = n.is(op("nn.conv2d_transpose"));
    if (transposed || n.is(op("nn.conv2d"))) be_convolution(g, n, transposed);
    const Type& out = n.results.empty() ? Type() : n.results[0].type;
    if (!out.is_tensor() || !out.ranked()) return;
    for (std::size_t i = 0; i < std::min(shape.size(), out.rank()); ++i) shape[i] = known(out.shape()[i]);
  }

 private:
  void be_convolution(const Graph& g, const Node& n, bool transposed) {
    stride = entries<2>(n.attrs, "strides", 1);
    padding = entries<4>(n.attrs, "padding", 0);
    dilation = entries<2>(n.attrs, "dilation", 1);
    groups = static_cast<double>(n.attrs.int_or("groups", 1));
    const Type& w = g.type(n.operands[1]);
    if (const auto axes = kernel_axes(g, n)) channels = known(w.shape()[axes->outer]) * (transposed ? groups : 1);
    const std::vector<double> extents = kernel_of(g, n);
    std::copy_n(extents.begin(), std::min(kernel.size(), extents.size()), kernel.begin());
  }
};

constexpr ColumnDef<DippmCall> kDippm[] = {
    {"stride_h", "elements", "stride of a 2-D convolution", [](const DippmCall& c) { return c.stride[0]; }},
    {"stride_w", "elements", "stride of a 2-D convolution", [](const DippmCall& c) { return c.stride[1]; }},
    {"padding_top", "elements", "padding of a 2-D convolution", [](const DippmCall& c) { return c.padding[0]; }},
    {"padding_left", "elements", "padding of a 2-D convolution", [](const DippmCall& c) { return c.padding[1]; }},
    {"padding_bottom", "elements", "padding of a 2-D convolution", [](const DippmCall& c) { return c.padding[2]; }},
    {"padding_right", "elements", "padding of a 2-D convolution", [](const DippmCall& c) { return c.padding[3]; }},
    {"dilation_h", "elements", "dilation of a 2-D convolution", [](const DippmCall& c) { return c.dilation[0]; }},
    {"dilation_w", "elements", "dilation of a 2-D convolution", [](const DippmCall& c) { return c.dilation[1]; }},
    {"groups", "1", "groups of a 2-D convolution", [](const DippmCall& c) { return c.groups; }},
    {"channels", "1", "result channels of a 2-D convolution", [](const DippmCall& c) { return c.channels; }},
    {"kernel_h", "elements", "kernel extent of a 2-D convolution", [](const DippmCall& c) { return c.kernel[0]; }},
    {"kernel_w", "elements", "kernel extent of a 2-D convolution", [](const DippmCall& c) { return c.kernel[1]; }},
    {"shape_0", "elements", "dim of the output shape, padded with zeros or cut to 4",
     [](const DippmCall& c) { return c.shape[0]; }},
    {"shape_1", "elements", "dim of the output shape, padded with zeros or cut to 4",
     [](const DippmCall& c) { return c.shape[1]; }},
    {"shape_2", "elements", "dim of the output shape, padded with zeros or cut to 4",
     [](const DippmCall& c) { return c.shape[2]; }},
    {"shape_3", "elements", "dim of the output shape, padded with zeros or cut to 4",
     [](const DippmCall& c) { return c.shape[3]; }},
};

// ---- perfc-op: what the cost model knows of an operator

constexpr std::size_t kCategoryCount = static_cast<std::size_t>(Category::Opaque) + 1;

struct OpCall {
  const Graph& g;
  const Node& n;
  Category category;
  OpCost cost;
  const Type* out;      ///< of the first result; null: no tensor
  double elements = 0;  ///< of it

  OpCall(const Graph& graph, NodeId id)
      : g(graph), n(graph.node(id)), category(def(n.op).category), cost(op_cost(graph, id)),
        out(!n.results.empty() && n.results[0].type.is_tensor() ? &n.results[0].type : nullptr),
        elements(out ? static_cast<double>(out->elements().value_or(0)) : 0) {}

  double flops() const { return 2 * cost.macs + cost.flops; }
  double bytes() const { return cost.bytes_read + cost.bytes_written; }
};

double product_of(const std::vector<std::int64_t>& extents) {
  double product = 1;
  for (const std::int64_t x : extents) product *= static_cast<double>(x);
  return product;
}

double kernel_volume(const OpCall& c) {
  if (c.category == Category::Pooling) return product_of(c.n.attrs.ints_or_empty("kernel_size"));
  double volume = 1;
  if (c.category == Category::Convolution) {
    for (const double extent : kernel_of(c.g, c.n)) volume *= extent;
  }
  return volume;
}

double groups_of(const OpCall& c) {
  return static_cast<double>(c.n.attrs.int_or("groups", c.category == Category::Convolution ? 1 : 0));
}

constexpr ColumnDef<OpCall> kOp[] = {
    {"macs", "MAC", "multiply–accumulates (docs/macs.md)", [](const OpCall& c) { return c.cost.macs; }},
    {"flops", "FLOP", "2 × macs + elementwise operations", [](const OpCall& c) { return c.flops(); }},
    {"bytes_read", "byte", "operands read, each once", [](const OpCall& c) { return c.cost.bytes_read; }},
    {"bytes_written", "byte", "results written", [](const OpCall& c) { return c.cost.bytes_written; }},
    {"weight_bytes", "byte", "part of bytes_read that is constant",
     [](const OpCall& c) { return c.cost.weight_bytes; }},
    {"intensity", "FLOP/byte", "flops / (bytes_read + bytes_written)",
     [](const OpCall& c) { return c.bytes() > 0 ? c.flops() / c.bytes() : 0; }},
    {"output_elements", "1", "elements of the first result", [](const OpCall& c) { return c.elements; }},
    {"output_rank", "1", "rank of the first result",
     [](const OpCall& c) { return c.out && c.out->ranked() ? static_cast<double>(c.out->rank()) : 0; }},
    {"contraction", "1", "length of the inner product per result element: macs / output_elements",
     [](const OpCall& c) { return c.elements > 0 ? c.cost.macs / c.elements : 0; }},
    {"groups", "1", "groups of a convolution", groups_of},
    {"kernel_volume", "elements", "product of the kernel extents of a convolution or pool", kernel_volume},
    {"stride_volume", "elements", "product of the strides of a convolution or pool",
     [](const OpCall& c) { return product_of(c.n.attrs.ints_or_empty("strides")); }},
    {"operands", "1", "number of operands", [](const OpCall& c) { return static_cast<double>(c.n.operands.size()); }},
    {"dtype_bits", "bit", "storage width of the first result's elements",
     [](const OpCall& c) { return c.out ? static_cast<double>(bits(c.out->dtype())) : 0; }},
};

}  // namespace

const std::vector<Column>& dippm_columns() {
  static const std::vector<Column> columns = [] {
    std::vector<Column> c;
    c.reserve(kDippmOps.size() + std::size(kDippm));
    for (std::string_view o : kDippmOps) {
      c.push_back({fmt::format("op:{}", o), "1", fmt::format("1 where the operator is {}", o)});
    }
    append_columns(kDippm, c);
    return c;
  }();
  return columns;
}

void dippm_row(const Graph& g, NodeId id, std::span<double> row) {
  const Node& n = g.node(id);
  for (std::size_t i = 0; i < kDippmOps.size(); ++i) row[i] = def(n.op).name == kDippmOps[i] ? 1 : 0;
  fill_columns(kDippm, DippmCall(g, n), row.subspan(kDippmOps.size()));
}

const std::vector<Column>& op_columns() {
  static const std::vector<Column> columns = [] {
    std::vector<Column> c;
    for (std::size_t i = 0; i < kCategoryCount; ++i) {
      const std::string_view category = name(static_cast<Category>(i));
      c.push_back({fmt::format("category:{}", category), "1",
                   fmt::format("1 where the operator's kernel is of category {}", category)});
    }
    append_columns(kOp, c);
    return c;
  }();
  return columns;
}

void op_row(const Graph& g, NodeId id, std::span<double> row) {
  const OpCall call(g, id);
  row[static_cast<std::size_t>(call.category)] = 1;
  fill_columns(kOp, call, row.subspan(kCategoryCount));
}

}  // namespace perfc
