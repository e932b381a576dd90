#include "features/schema.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "ir/layout.h"
#include "ir/support/csv.h"

namespace perfc {
namespace {

constexpr double kSmallestDeviation = 1e-6;  ///< of a column, relative to its mean

double known(const Dim& d) { return d.known() ? static_cast<double>(d.value()) : 0.0; }

double entry(const std::vector<std::int64_t>& v, std::size_t i, double fallback) {
  return i < v.size() ? static_cast<double>(v[i]) : fallback;
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

const std::vector<Column>& dippm_columns() {
  static const std::vector<Column> columns = [] {
    std::vector<Column> c;
    for (std::string_view o : kDippmOps)
      c.push_back({fmt::format("op:{}", o), "1", fmt::format("1 where the operator is {}", o)});
    for (const char* axis : {"h", "w"})
      c.push_back({fmt::format("stride_{}", axis), "elements", "stride of a 2-D convolution"});
    for (const char* side : {"top", "left", "bottom", "right"})
      c.push_back({fmt::format("padding_{}", side), "elements", "padding of a 2-D convolution"});
    for (const char* axis : {"h", "w"})
      c.push_back({fmt::format("dilation_{}", axis), "elements", "dilation of a 2-D convolution"});
    c.push_back({"groups", "1", "groups of a 2-D convolution"});
    c.push_back({"channels", "1", "result channels of a 2-D convolution"});
    for (const char* axis : {"h", "w"})
      c.push_back({fmt::format("kernel_{}", axis), "elements", "kernel extent of a 2-D convolution"});
    for (int i = 0; i < 4; ++i)
      c.push_back({fmt::format("shape_{}", i), "elements", "dim of the output shape, padded with zeros or cut to 4"});
    return c;
  }();
  return columns;
}

void dippm_row(const Graph& g, NodeId id, std::span<double> row) {
  const Node& n = g.node(id);
  for (std::size_t i = 0; i < kDippmOps.size(); ++i) row[i] = def(n.op).name == kDippmOps[i] ? 1 : 0;
  const bool transposed = n.is(op("nn.conv2d_transpose"));
  if (n.is(op("nn.conv2d")) || transposed) {
    const auto strides = n.attrs.ints_or_empty("strides");
    const auto padding = n.attrs.ints_or_empty("padding");
    const auto dilation = n.attrs.ints_or_empty("dilation");
    const std::vector<double> kernel = kernel_of(g, n);
    const auto groups = static_cast<double>(n.attrs.int_or("groups", 1));
    for (std::size_t i = 0; i < 2; ++i) row[16 + i] = entry(strides, i, 1);
    for (std::size_t i = 0; i < 4; ++i) row[18 + i] = entry(padding, i, 0);
    for (std::size_t i = 0; i < 2; ++i) row[22 + i] = entry(dilation, i, 1);
    row[24] = groups;
    const Type& w = g.type(n.operands[1]);
    if (const auto axes = kernel_axes(g, n)) row[25] = known(w.shape()[axes->outer]) * (transposed ? groups : 1);
    for (std::size_t i = 0; i < 2 && i < kernel.size(); ++i) row[26 + i] = kernel[i];
  }
  const Type& out = n.results.empty() ? Type() : n.results[0].type;
  if (out.is_tensor() && out.ranked()) {
    for (std::size_t i = 0; i < 4 && i < out.rank(); ++i) row[28 + i] = known(out.shape()[i]);
  }
}

// ---- perfc-op: what the cost model knows of an operator

constexpr std::size_t kCategoryCount = static_cast<std::size_t>(Category::Opaque) + 1;

const std::vector<Column>& op_columns() {
  static const std::vector<Column> columns = [] {
    std::vector<Column> c;
    for (std::size_t i = 0; i < kCategoryCount; ++i) {
      const auto category = static_cast<Category>(i);
      c.push_back({fmt::format("category:{}", name(category)), "1",
                   fmt::format("1 where the operator's kernel is of category {}", name(category))});
    }
    c.push_back({"macs", "MAC", "multiply–accumulates (docs/macs.md)"});
    c.push_back({"flops", "FLOP", "2 × macs + elementwise operations"});
    c.push_back({"bytes_read", "byte", "operands read, each once"});
    c.push_back({"bytes_written", "byte", "results written"});
    c.push_back({"weight_bytes", "byte", "part of bytes_read that is constant"});
    c.push_back({"intensity", "FLOP/byte", "flops / (bytes_read + bytes_written)"});
    c.push_back({"output_elements", "1", "elements of the first result"});
    c.push_back({"output_rank", "1", "rank of the first result"});
    c.push_back({"contraction", "1", "length of the inner product per result element: macs / output_elements"});
    c.push_back({"groups", "1", "groups of a convolution"});
    c.push_back({"kernel_volume", "elements", "product of the kernel extents of a convolution or pool"});
    c.push_back({"stride_volume", "elements", "product of the strides of a convolution or pool"});
    c.push_back({"operands", "1", "number of operands"});
    c.push_back({"dtype_bits", "bit", "storage width of the first result's elements"});
    return c;
  }();
  return columns;
}

void op_row(const Graph& g, NodeId id, std::span<double> row) {
  const Node& n = g.node(id);
  const OpCost cost = op_cost(g, id);
  row[static_cast<std::size_t>(def(n.op).category)] = 1;
  const double flops = 2 * cost.macs + cost.flops;
  const double bytes = cost.bytes_read + cost.bytes_written;
  const Type& out = n.results.empty() ? Type() : n.results[0].type;
  const auto elements = static_cast<double>(out.is_tensor() ? out.elements().value_or(0) : 0);
  double kernel = 1, stride = 1;
  for (double k : kernel_of(g, n)) kernel *= def(n.op).category == Category::Convolution ? k : 1;
  for (std::int64_t k : n.attrs.ints_or_empty("kernel_size")) {
    if (def(n.op).category == Category::Pooling) kernel *= static_cast<double>(k);
  }
  for (std::int64_t s : n.attrs.ints_or_empty("strides")) stride *= static_cast<double>(s);
  const double values[] = {
      cost.macs,
      flops,
      cost.bytes_read,
      cost.bytes_written,
      cost.weight_bytes,
      bytes > 0 ? flops / bytes : 0,
      elements,
      out.is_tensor() && out.ranked() ? static_cast<double>(out.rank()) : 0,
      elements > 0 ? cost.macs / elements : 0,
      static_cast<double>(n.attrs.int_or("groups", def(n.op).category == Category::Convolution ? 1 : 0)),
      kernel,
      stride,
      static_cast<double>(n.operands.size()),
      out.is_tensor() ? static_cast<double>(bits(out.dtype())) : 0};
  std::copy(std::begin(values), std::end(values), row.begin() + kCategoryCount);
}

constexpr NodeSchema kSchemas[] = {
    {"perfc-op", "per operator: kernel category, work, bytes, geometry", op_columns, op_row},
    {"dippm", "the 32 columns of DIPPM (arXiv 2303.11733)", dippm_columns, dippm_row},
};

std::string number(double v) { return fmt::format("{:.17g}", v); }

/// Row index of every call; other nodes have none.
std::vector<std::size_t> rows_of(const Graph& g, std::size_t none) {
  std::vector<std::size_t> row(g.size(), none);
  std::size_t next = 0;
  for (NodeId id = 0; id < g.size(); ++id) {
    if (g.node(id).kind == NodeKind::Call) row[id] = next++;
  }
  return row;
}

}  // namespace

std::span<const NodeSchema> schemas() { return kSchemas; }

const NodeSchema* find_schema(std::string_view name) {
  for (const NodeSchema& s : kSchemas) {
    if (s.name == name) return &s;
  }
  return nullptr;
}

NodeFeatures extract(const Graph& g, const NodeSchema& schema) {
  NodeFeatures out;
  out.schema = &schema;
  out.matrix.columns = schema.columns().size();
  for (NodeId id = 0; id < g.size(); ++id) {
    const Node& n = g.node(id);
    if (n.kind != NodeKind::Call) continue;
    out.nodes.push_back(id);
    out.labels.push_back(fmt::format("{} {}", def(n.op).name, n.name));
    out.matrix.values.resize(out.matrix.values.size() + out.matrix.columns, 0.0);
    schema.fill(g, id, std::span(out.matrix.values).last(out.matrix.columns));
  }
  out.matrix.rows = out.nodes.size();
  return out;
}

std::vector<std::pair<std::size_t, std::size_t>> data_flow_edges(const Graph& g) {
  const std::size_t none = g.size();
  const std::vector<std::size_t> row = rows_of(g, none);
  std::vector<std::pair<std::size_t, std::size_t>> edges;
  for (NodeId id = 0; id < g.size(); ++id) {
    if (row[id] == none) continue;
    for (ValueId v : g.node(id).operands) {
      if (v && row[v.node] != none) edges.emplace_back(row[v.node], row[id]);
    }
  }
  std::sort(edges.begin(), edges.end());
  edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
  return edges;
}

std::vector<Column> dippm_static_columns() {
  return {{"batch", "1", "leading dim of the first input"},
          {"gmacs", "1e9 MAC", "MACs of conv2d, conv2d_transpose, dense and batch_matmul, as TVM counts"},
          {"conv2d", "1", "number of nn.conv2d"},
          {"dense", "1", "number of nn.dense"},
          {"relu", "1", "number of nn.relu"}};
}

std::vector<double> dippm_static(const Graph& g) {
  std::vector<double> out(5, 0.0);
  for (ValueId p : g.params()) {
    const Type& t = g.type(p);
    if (t.is_tensor() && t.ranked() && t.rank() > 0) {
      out[0] = known(t.shape()[0]);
      break;
    }
  }
  for (NodeId id = 0; id < g.size(); ++id) {
    const Node& n = g.node(id);
    if (n.kind == NodeKind::Call && def(n.op).tvm_counts) out[1] += op_cost(g, id).macs / 1e9;
    out[2] += n.is(op("nn.conv2d"));
    out[3] += n.is(op("nn.dense"));
    out[4] += n.is(op("nn.relu"));
  }
  return out;
}

Normaliser Normaliser::fit(const FeatureMatrix& m, std::vector<Column> columns, const std::vector<Scale>& scale) {
  Normaliser n;
  n.columns_ = std::move(columns);
  n.scale_ = scale;
  n.scale_.resize(m.columns, Scale::Linear);
  n.mean_.assign(m.columns, 0);
  n.deviation_.assign(m.columns, 1);
  for (std::size_t c = 0; c < m.columns && m.rows > 0; ++c) {
    const auto value = [&](std::size_t r) {
      return n.scale_[c] == Scale::Log ? std::log1p(std::max(m.at(r, c), 0.0)) : m.at(r, c);
    };
    double sum = 0, squares = 0;
    for (std::size_t r = 0; r < m.rows; ++r) sum += value(r);
    n.mean_[c] = sum / static_cast<double>(m.rows);
    for (std::size_t r = 0; r < m.rows; ++r) squares += std::pow(value(r) - n.mean_[c], 2);
    const double deviation = std::sqrt(squares / static_cast<double>(m.rows));
    // A constant column stays at 0, one that is constant but for rounding too: checkpoints keep seven digits.
    n.deviation_[c] = deviation > kSmallestDeviation * std::abs(n.mean_[c]) ? deviation : 1;
  }
  return n;
}

Normaliser Normaliser::restore(std::vector<Column> columns, std::vector<Scale> scale, std::vector<double> mean,
                               std::vector<double> deviation) {
  Normaliser n;
  n.columns_ = std::move(columns);
  n.scale_ = std::move(scale);
  n.mean_ = std::move(mean);
  n.deviation_ = std::move(deviation);
  return n;
}

bool Normaliser::apply(FeatureMatrix& m) const {
  if (m.columns != mean_.size()) return false;
  for (std::size_t r = 0; r < m.rows; ++r) {
    for (std::size_t c = 0; c < m.columns; ++c) {
      const double v = scale_[c] == Scale::Log ? std::log1p(std::max(m.at(r, c), 0.0)) : m.at(r, c);
      m.at(r, c) = (v - mean_[c]) / deviation_[c];
    }
  }
  return true;
}

std::string to_csv(const NodeFeatures& f) {
  std::string out = "node";
  for (const Column& c : f.schema->columns()) out += fmt::format(",{}", c.name);
  out += "\n";
  for (std::size_t r = 0; r < f.matrix.rows; ++r) {
    out += csv_quoted(f.labels[r]);
    for (std::size_t c = 0; c < f.matrix.columns; ++c) out += "," + number(f.matrix.at(r, c));
    out += "\n";
  }
  return out;
}

std::string static_csv(const Graph& g) {
  std::string head, row;
  const auto columns = dippm_static_columns();
  const auto values = dippm_static(g);
  for (std::size_t i = 0; i < columns.size(); ++i) {
    head += fmt::format("{}{}", i ? "," : "", columns[i].name);
    row += (i ? "," : "") + number(values[i]);
  }
  return head + "\n" + row + "\n";
}

std::string adjacency_csv(const Graph& g) {
  std::string out = "from,to\n";
  for (const auto& [from, to] : data_flow_edges(g)) out += fmt::format("{},{}\n", from, to);
  return out;
}

}  // namespace perfc
