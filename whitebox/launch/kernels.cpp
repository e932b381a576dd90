#include "whitebox/launch/kernels.h"

#include <fmt/format.h>

#include <algorithm>

#include "ir/control_flow.h"
#include "ir/eager_marks.h"
#include "ir/params_behind.h"
#include "whitebox/launch/compiled.h"
#include "whitebox/launch/eager.h"
#include "whitebox/launch/epilogues.h"
#include "whitebox/launch/session.h"

namespace perfc {
namespace {

/// What decides how often a loop with a limit runs, before it runs; a loop without one ends by what it computes.
std::vector<ValueId> limit_and_condition(const Node& loop) {
  if (loop.operands.size() < 2 || !loop.operands[0]) return {};
  return {loop.operands[0], loop.operands[1]};
}

/// Why a value has no known shape, and which option gives it one.
std::string open_type(const Graph& g, const Node& n, const Type& type) {
  const std::string_view what = n.kind == NodeKind::Call ? def(n.op).name : "value";
  if (n.is(op("loop"))) {
    return fmt::format("how often this loop runs is not known, so that it gives {}; say it with --trip-count {}=N",
                       to_string(type), n.name);
  }
  if (n.is(op("if"))) {
    return fmt::format("which branch runs is not known, so that it gives {}{}", to_string(type),
                       value_flags(g, {n.operands.front()}));
  }
  const bool has_rule = n.kind == NodeKind::Call && def(n.op).bound;
  return fmt::format(
      "{} has the open type {}; bind it with --dim NAME=VALUE, --shape INPUT=… or --batch; where data "
      "decides it, with {}--bound {}=N",
      what, to_string(type), has_rule ? "--dynamic typical or " : "",
      n.kind != NodeKind::Call || n.name.empty() ? "NODE" : n.name);
}

Status check_static(const Graph& g, Diagnostics& diags) {
  bool good = true;
  for (const Node& n : g.nodes()) {
    for (const ResultInfo& r : n.results) {
      if (r.type.is_static() || !good) continue;
      (void)diags.error(n.loc, n.name, open_type(g, n, r.type));
      good = false;
    }
  }
  return good ? ok() : Status(Failure{});
}

Status plan(const Graph& g, const ExecConfig& config, double repeat, const NodeId* owner, KernelPlan& out,
            Diagnostics& diags);

/// Which branch runs is not known: the one with more work counts.
Status plan_dearer_branch(const Graph& g, NodeId id, const ExecConfig& config, double repeat, NodeId owner,
                          KernelPlan& out, Diagnostics& diags) {
  const Node& n = g.node(id);
  KernelPlan best;
  double most = -1;
  for (const GraphRef& body : n.regions) {
    KernelPlan branch;
    if (!plan(*body, config, repeat, &owner, branch, diags)) return Failure{};
    double work = 0;
    for (const Kernel& k : branch.kernels) work += k.repeat * (2 * k.work.macs + k.work.flops + k.traffic.bytes);
    if (work > most) {
      most = work;
      best = std::move(branch);
    }
  }
  const auto offset = static_cast<std::uint32_t>(out.kernels.size());
  for (const auto& [from, to] : best.edges) out.edges.emplace_back(from + offset, to + offset);
  out.kernels.insert(out.kernels.end(), best.kernels.begin(), best.kernels.end());
  for (HostCalls calls : best.dispatched) out.dispatched.push_back(calls += out.host_calls);
  out.host_calls += best.host_calls;
  out.warnings.insert(out.warnings.end(), best.warnings.begin(), best.warnings.end());
  out.warnings.push_back(fmt::format("'{}': which branch runs is not known{}; the dearer one is counted", n.name,
                                     value_flags(g, {n.operands.front()})));
  return ok();
}

Status plan_bodies(const Graph& g, const ExecConfig& config, double repeat, const NodeId* owner, KernelPlan& out,
                   Diagnostics& diags) {
  for (NodeId id = 0; id < g.size(); ++id) {
    const Node& n = g.node(id);
    if (n.regions.empty()) continue;
    const NodeId reported = owner ? *owner : id;
    out.host_calls.add(HostCall::Kernel, repeat);
    if (n.is(op("if"))) {
      if (!plan_dearer_branch(g, id, config, repeat, reported, out, diags)) return Failure{};
      continue;
    }
    const SymInt trips = trip_count(g, id);
    if (!trips.known())
      out.warnings.push_back(
          n.is(op("loop"))
              ? fmt::format(
                    "'{}': how often this loop runs is not known{}; one round is counted, --trip-count {}=N says "
                    "how many",
                    n.name, value_flags(g, limit_and_condition(n)), n.name)
              : fmt::format("'{}': {} runs an unknown number of times; counted once", n.name, def(n.op).name));
    const double times = repeat * (trips.known() ? static_cast<double>(trips.value()) : 1.0);
    for (const GraphRef& body : n.regions) {
      if (!plan(*body, config, times, &reported, out, diags)) return Failure{};
    }
  }
  return ok();
}

/// Plugins of TensorRT in what another runtime runs.
void warn_of_plugins(const Graph& g, const ExecConfig& config, KernelPlan& out) {
  const RuntimeDef& runtime = def(config.runtime);
  if (runtime.suppression == Suppression::TensorRt) return;
  for (const Node& n : g.nodes()) {
    if (n.attrs.has(kPlugin))
      out.warnings.push_back(fmt::format("'{}': {} is TensorRT's alone, {} has no such operator; counted are {}",
                                         n.name, n.attrs.string_or(kPlugin, ""), runtime.title,
                                         runtime.mlas ? "the bytes that it reads and writes"
                                                      : "TensorRT's kernels (--runtime tensorrt has no others)"));
  }
}

Status plan(const Graph& g, const ExecConfig& config, double repeat, const NodeId* owner, KernelPlan& out,
            Diagnostics& diags) {
  if (!check_static(g, diags)) return Failure{};
  warn_of_plugins(g, config, out);
  const PlannedGraph planned(g, config);
  const KernelMaker maker(planned, repeat, owner);
  PlanWriter writer(g, repeat, out);
  const std::size_t first = out.kernels.size();
  if (def(config.runtime).session) plan_session(planned, maker, writer);
  else config.mode == ExecMode::Compiled ? plan_compiled(planned, maker, writer) : plan_eager(planned, maker, writer);
  writer.connect();
  fuse_epilogues(def(config.runtime).epilogue, first, out);
  return plan_bodies(g, config, repeat, owner, out, diags);
}

}  // namespace

double float_bytes(Precision p) {
  return p == Precision::Fp16 || p == Precision::Bf16 || quantises_layers(p) ? 2.0 : 4.0;
}

Result<KernelPlan> plan_kernels(const Graph& graph, const ExecConfig& config, Diagnostics& diags) {
  KernelPlan out;
  if (!plan(graph, config, 1.0, nullptr, out, diags)) return Failure{};
  return out;
}

}  // namespace perfc
