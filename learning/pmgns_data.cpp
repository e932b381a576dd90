#include "learning/pmgns_data.h"

#include <fmt/format.h>

#include <cmath>

namespace perfc {

namespace {

constexpr double kMbPerMib = 1.048576;

/// One-hots stay as they are, magnitudes go through a logarithm.
std::vector<Normaliser::Scale> scales_of(const std::vector<Column>& columns) {
  std::vector<Normaliser::Scale> scales;
  scales.reserve(columns.size());
  for (const Column& c : columns)
    scales.push_back(c.name.starts_with("op:") ? Normaliser::Scale::Linear : Normaliser::Scale::Log);
  return scales;
}

FeatureMatrix stacked(std::span<const std::shared_ptr<const PmgnsGraph>> graphs, FeatureMatrix PmgnsGraph::*part) {
  FeatureMatrix all;
  for (const auto& g : graphs) {
    const FeatureMatrix& m = (*g).*part;
    all.columns = m.columns;
    all.rows += m.rows;
    all.values.insert(all.values.end(), m.values.begin(), m.values.end());
  }
  return all;
}

void fit(FeatureTable& table, FeatureMatrix rows) {
  table.normaliser = Normaliser::fit(rows, table.columns, scales_of(table.columns));
}

/// Outputs that the labels know. Normalised: 1 / geometric mean as the factor.
std::vector<OutputColumn> outputs_of(const Dataset& dataset, std::span<const std::size_t> training, Recipe recipe) {
  std::vector<OutputColumn> outputs;
  for (const PmgnsTarget& t : kPmgnsTargets) {
    double logs = 0;
    std::size_t count = 0;
    for (const std::size_t i : training) {
      const double value = pmgns_label(dataset.labels[i], t.label);
      if (std::isnan(value)) continue;
      logs += std::log(value);
      ++count;
    }
    if (count == 0) continue;
    const double mean = std::exp(logs / static_cast<double>(count));
    outputs.push_back({std::string(t.label), std::string(t.unit), recipe == Recipe::Published ? t.factor : 1 / mean});
  }
  return outputs;
}

void normalise(FeatureMatrix& m, const FeatureTable& table) {
  if (table.normaliser) table.normaliser->apply(m);
}

}  // namespace

std::string setting_of(const Label& l) {
  return fmt::format("{}, {}, {}, {}, {}", l.device, name(l.exec.precision), name(l.exec.mode), name(l.exec.layout),
                     l.task);
}

PmgnsGraph pmgns_graph(const Graph& graph) {
  PmgnsGraph g;
  g.nodes = extract(graph, *find_schema("dippm")).matrix;
  g.adjacency = {g.nodes.rows, data_flow_edges(graph)};
  std::vector<double> globals = dippm_static(graph);
  const std::size_t columns = globals.size();
  g.globals = {.rows = 1, .columns = columns, .values = std::move(globals)};
  return g;
}

std::vector<FeatureTable> pmgns_tables() {
  return {{"dippm", find_schema("dippm")->columns(), {}}, {"dippm_static", dippm_static_columns(), {}}};
}

GraphSample pmgns_sample(const PmgnsGraph& graph, std::span<const FeatureTable> tables) {
  FeatureMatrix nodes = graph.nodes, globals = graph.globals;
  normalise(nodes, tables[0]);
  normalise(globals, tables[1]);
  GraphSample s{.adjacency = graph.adjacency, .nodes = Matrix<float>(nodes.rows, nodes.columns)};
  std::transform(nodes.values.begin(), nodes.values.end(), s.nodes.data(),
                 [](double v) { return static_cast<float>(v); });
  s.globals.assign(globals.values.begin(), globals.values.end());
  return s;
}

double pmgns_label(const Label& l, std::string_view output) {
  if (output == "latency") return l.latency_ms;
  if (output == "energy") return l.energy_j;
  return output == "memory" ? l.memory_mib * kMbPerMib : kNotMeasured;
}

Result<PmgnsData> pmgns_data(const Dataset& dataset, const Split& split, Recipe recipe, std::size_t threads,
                             Diagnostics& diags) {
  std::vector<Label> wanted;
  std::vector<std::size_t> index;
  for (std::size_t i = 0; i < dataset.labels.size(); ++i) {
    const Label &l = dataset.labels[i], &first = dataset.labels.front();
    if (setting_of(l) != setting_of(first)) {
      return diags.error(
          l.loc, {},
          fmt::format(
              "PMGNS sees no setting, but this row ran as {} and the first as {}; choose with --device, --dtype, "
              "--mode, --layout",
              setting_of(l), setting_of(first)));
    }
    if (split.at(l.architecture) == Part::Test) continue;
    wanted.push_back(l);
    index.push_back(i);
  }
  if (wanted.empty()) return diags.error("no label is in the training or validation part of the split");
  std::vector<std::shared_ptr<const PmgnsGraph>> graphs(wanted.size());
  const auto left_out = for_each_graph(
      wanted, threads,
      [&](const Graph& graph, std::span<const std::size_t> labels) {
    const auto shared = std::make_shared<const PmgnsGraph>(pmgns_graph(graph));
    for (const std::size_t l : labels) graphs[l] = shared;
      },
      diags);
  if (!left_out) return Failure{};

  std::vector<std::size_t> training;
  std::vector<std::shared_ptr<const PmgnsGraph>> training_graphs;
  for (std::size_t w = 0; w < wanted.size(); ++w) {
    if (!graphs[w] || split.at(wanted[w].architecture) != Part::Training) continue;
    training.push_back(index[w]);
    training_graphs.push_back(graphs[w]);
  }
  if (training.empty()) return diags.error("no label is in the training part of the split");
  PmgnsData data{.tables = pmgns_tables(), .outputs = outputs_of(dataset, training, recipe), .left_out = *left_out};
  if (data.outputs.empty()) return diags.error("the training labels have neither latency, energy nor memory");
  if (recipe == Recipe::Normalised) {
    fit(data.tables[0], stacked(training_graphs, &PmgnsGraph::nodes));
    fit(data.tables[1], stacked(training_graphs, &PmgnsGraph::globals));
  }
  for (std::size_t w = 0; w < wanted.size(); ++w) {
    if (!graphs[w]) continue;
    GraphSample s = pmgns_sample(*graphs[w], data.tables);
    for (const OutputColumn& o : data.outputs)
      s.targets.push_back(static_cast<float>(pmgns_label(wanted[w], o.name) * o.factor));
    (split.at(wanted[w].architecture) == Part::Training ? data.training : data.validation).push_back(std::move(s));
  }
  return data;
}

}  // namespace perfc
