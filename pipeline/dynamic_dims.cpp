#include "pipeline/dynamic_dims.h"

#include <fmt/format.h>

#include <algorithm>

#include "whitebox/whitebox.h"

namespace perfc {
namespace {

std::vector<Report::DynamicNode> dynamic_nodes(const Graph& graph) {
  std::vector<Report::DynamicNode> out;
  for (const Graph* g : with_bodies(graph)) {
    for (const Node& n : g->nodes()) {
      if (n.kind != NodeKind::Call || !n.attrs.has(kBound)) continue;
      Report::DynamicNode node{std::string(def(n.op).name), n.name, {}, std::string(n.attrs.string_or(kBoundBy, ""))};
      const std::vector<std::int64_t> bounds = n.attrs.ints_or_empty(kBound);
      for (std::size_t i = 2; i < bounds.size(); i += 3) node.extents.push_back(bounds[i]);
      out.push_back(std::move(node));
    }
  }
  return out;
}

/// Widens the intervals to those of another run of the same model.
void cover(const Prediction& other, Prediction& p) {
  p.latency_lo_ms = std::min(p.latency_lo_ms, other.latency_lo_ms);
  p.latency_hi_ms = std::max(p.latency_hi_ms, other.latency_hi_ms);
  p.memory_lo_mib = std::min(p.memory_lo_mib, other.memory_lo_mib);
  p.memory_hi_mib = std::max(p.memory_hi_mib, other.memory_hi_mib);
  p.energy_lo_j = std::min(p.energy_lo_j, other.energy_lo_j);
  p.energy_hi_j = std::max(p.energy_hi_j, other.energy_hi_j);
}

/// Device time by the whitebox alone: the networks' correction differs from graph to graph, and what a longer run takes
/// beside a shorter one is to be physics. 0: it does not predict the graph.
double physical_ms(const Result<Graph>& graph, const Request& request, const Device& device) {
  Diagnostics unsaid;
  const auto model = graph ? prepare_whitebox(*graph, request.exec, request.opaque, unsaid) : Failure{};
  return model ? (*model)->on(device).device_ms : 0;
}

/// The first error of a run that could not be predicted.
std::string why_not(const Diagnostics& diags) {
  for (const Diagnostic& d : diags.all()) {
    if (d.severity == Severity::Error) return to_string(d);
  }
  return "";
}

}  // namespace

void add_dynamic_dims(std::vector<Report>& reports, const Graph& graph, ModelFile& file, const Predictor& predictor,
                      const Request& request) {
  std::vector<Report::DynamicNode> nodes = dynamic_nodes(graph);
  if (nodes.empty()) return;
  for (Report& r : reports) {
    r.dynamic = Report::Dynamic{.taken = request.dynamic, .nodes = nodes};
    r.dynamic->device_least_ms = r.dynamic->device_upper_ms = r.prediction.device_ms;
  }
  const Result<Graph> taken = graph;
  for (const DynamicDims end : {DynamicDims::Least, DynamicDims::Upper}) {
    if (request.dynamic == end) continue;
    Request changed = request;
    changed.dynamic = end;
    Diagnostics unsaid;
    const auto other = file.at(changed, unsaid);
    const auto model = other ? predictor.prepare(*other, changed.exec, unsaid) : Failure{};
    for (Report& r : reports) {
      if (!model) {
        r.dynamic->not_covered = fmt::format("{} dims cannot be predicted: {}",
                                             end == DynamicDims::Least ? "fewer" : "larger", why_not(unsaid));
        continue;
      }
      cover((*model)->on(r.device), r.prediction);
      const double now = physical_ms(taken, request, r.device);
      if (now > 0)
        (end == DynamicDims::Least ? r.dynamic->device_least_ms : r.dynamic->device_upper_ms) *=
            physical_ms(other, changed, r.device) / now;
    }
  }
  for (Report& r : reports) {
    const double now = r.prediction.device_ms;
    r.dynamic->depends = now > 0 ? std::max(0.0, 1 - r.dynamic->device_least_ms / now) : 0;
  }
}

}  // namespace perfc
