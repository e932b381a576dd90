#include "features/schema.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "features/columns.h"
#include "features/node_schemas.h"
#include "ir/support/csv.h"

namespace perfc {
namespace {

constexpr double kSmallestDeviation = 1e-6;  ///< of a column, relative to its mean

constexpr NodeSchema kSchemas[] = {
    {"perfc-op", "per operator: kernel category, work, bytes, geometry", op_columns, op_row},
    {"dippm", "the 32 columns of DIPPM (arXiv 2303.11733)", dippm_columns, dippm_row},
};

double first_batch(const Graph& g) {
  for (ValueId p : g.params()) {
    const Type& t = g.type(p);
    if (t.is_tensor() && t.ranked() && t.rank() > 0) {
      return t.shape()[0].known() ? static_cast<double>(t.shape()[0].value()) : 0;
    }
  }
  return 0;
}

double tvm_gmacs(const Graph& g) {
  double macs = 0;
  for (NodeId id = 0; id < g.size(); ++id) {
    const Node& n = g.node(id);
    if (n.kind == NodeKind::Call && def(n.op).tvm_counts) macs += op_cost(g, id).macs / 1e9;
  }
  return macs;
}

double calls_of(const Graph& g, OpId what) {
  return static_cast<double>(std::ranges::count_if(g.nodes(), [&](const Node& n) { return n.is(what); }));
}

constexpr ColumnDef<Graph> kDippmStatic[] = {
    {"batch", "1", "leading dim of the first input", first_batch},
    {"gmacs", "1e9 MAC", "MACs of conv2d, conv2d_transpose, dense and batch_matmul, as TVM counts", tvm_gmacs},
    {"conv2d", "1", "number of nn.conv2d", [](const Graph& g) { return calls_of(g, op("nn.conv2d")); }},
    {"dense", "1", "number of nn.dense", [](const Graph& g) { return calls_of(g, op("nn.dense")); }},
    {"relu", "1", "number of nn.relu", [](const Graph& g) { return calls_of(g, op("nn.relu")); }},
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
  std::vector<Column> columns;
  append_columns(kDippmStatic, columns);
  return columns;
}

std::vector<double> dippm_static(const Graph& g) {
  std::vector<double> out(std::size(kDippmStatic));
  fill_columns(kDippmStatic, g, out);
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
