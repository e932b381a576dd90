#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "pipeline/text_style.h"

namespace perfc {
namespace {

constexpr std::size_t kMostDynamic = 5;  ///< nodes whose dims data decides that are listed by name

std::string heading(const Report& r) {
  std::string precision(name(r.exec.precision));
  if (const auto of = framework_of(r.exec.precision); !of.empty()) precision += fmt::format(" ({})", of);
  if (r.dtype_from == DtypeFrom::File) precision += " (the model's)";
  const RuntimeDef& runtime = def(r.exec.runtime);
  return fmt::format("{} · batch {} · {} · {}, {}{}{}{} · {}", r.model, r.features.batch, r.device.title, runtime.title,
                     precision, runtime.own_layout ? "" : fmt::format(" {}", name(r.exec.layout)),
                     r.exec.norms == Norms::Half ? " half norms" : "",
                     unusual_pacing(r.exec).empty() ? "" : fmt::format(", runs {}", unusual_pacing(r.exec)),
                     r.prediction.predictor);
}

/// "  key       value            note"
std::string line(const Style& s, std::string_view key, std::string_view value, std::string_view note) {
  return fmt::format("  {:<9} {:<16} {}\n", key, value, s.dim(note));
}

/// "; with --host server-2024 2.4 ms, server-2020 6.7 ms"
std::string other_hosts(const Report& r) {
  std::string out;
  for (const Report::OnHost& o : r.hosts)
    out += fmt::format("{} {} {}", out.empty() ? "; with --host" : ",", o.host, in_ms(o.latency_ms));
  return out;
}

std::string latency_lines(const Report& r, const Style& s) {
  const Prediction& p = r.prediction;
  std::string out =
      line(s, "latency", in_ms(p.latency_ms),
           fmt::format("90 % interval {} … {}; device {}, host {}; {}/s", in_ms(p.latency_lo_ms),
                       in_ms(p.latency_hi_ms), in_ms(p.device_ms), in_ms(p.host_ms), scaled(r.throughput_per_s())));
  const RuntimeDef& runtime = def(r.exec.runtime);
  const bool of_entry = runtime.run_us == 0;
  out += line(s, "host", of_entry ? r.device.host.name : "-",
              fmt::format("{:g} {} of {:.1f} µs, {}{}", p.host_calls, runtime.dispatches, p.host_us_per_call(),
                          of_entry ? r.device.host.framework : runtime.title, other_hosts(r)));
  return out;
}

/// What bounds the run as a whole, and what helps where that is the host.
std::string bound_lines(const Report& r, const Style& s) {
  if (!r.prediction.host_bound()) {
    const BoundShares of = bound_shares(r);
    return line(s, "bound by", "device",
                fmt::format("{:.0f} % of device time in kernels bound by arithmetic, {:.0f} % by memory, {:.0f} % by "
                            "launches",
                            100 * of.compute, 100 * of.memory, 100 * of.launch));
  }
  std::string out = line(s, "bound by", "host",
                         fmt::format("the device waits {:.0f} % of the time{}", 100 * r.waiting(),
                                     r.alternatives.empty() ? "" : "; what helps:"));
  for (const Report::Alternative& a : r.alternatives) {
    out +=
        fmt::format("    {:<18} {:>10} {:>9}/s  {}\n", a.options, in_ms(a.latency_ms), scaled(a.throughput_per_s()),
                    s.dim(fmt::format("{:.3g} × the samples per second", a.throughput_per_s() / r.throughput_per_s())));
  }
  return out;
}

/// How the other runtimes compare.
std::string runtimes_line(const Report& r, const Style& s) {
  if (r.runtimes.empty()) return "";
  std::string others;
  for (const Report::OnRuntime& o : r.runtimes) {
    const std::string width = o.precision == r.exec.precision ? "" : fmt::format(" in {}", name(o.precision));
    others += fmt::format("{}{} {}{}", others.empty() ? "" : ", ", def(o.runtime).name, in_ms(o.latency_ms), width);
  }
  return line(s, "runtime", def(r.exec.runtime).name, fmt::format("others (--runtime): {}", others));
}

std::string memory_line(const Report& r, const Style& s) {
  const MemoryBreakdown& m = r.prediction.memory;
  return line(
      s, "memory", fmt::format("{:.0f} MiB", m.total_mib()),
      fmt::format("90 % interval {:.0f} … {:.0f}; context {:.0f} + weights {:.0f}{} + activations {:.0f} + workspace "
                  "{:.0f}{}; the device has {:.0f}",
                  r.prediction.memory_lo_mib, r.prediction.memory_hi_mib, m.context_mib, m.weights_mib,
                  r.exec.task == Task::Train ? fmt::format(" + gradients {:.0f} + {} {:.0f}", m.gradients_mib,
                                                           name(r.exec.optimizer), m.optimizer_mib)
                                             : "",
                  m.activations_mib, m.workspace_mib,
                  m.search_mib > 0 ? fmt::format(" + cuDNN's search {:.0f}", m.search_mib) : "", r.device.memory_mib));
}

std::string stack_line(const Report& r, const Style& s) {
  const Stack& stack = r.device.stack;
  return line(s, "stack", stack.name,
              fmt::format("{}{}{}: its context is uncertain by a factor of {:g} (--stack)", stack.framework,
                          stack.cuda.empty() ? "" : ", ", stack.cuda, stack.interval));
}

std::string energy_line(const Report& r, const Style& s) {
  const Prediction& p = r.prediction;
  return line(s, "energy", fmt::format("{:.3g} J", p.energy_j),
              fmt::format("per batch, 90 % interval {:.3g} … {:.3g} J; {:.3g} J per sample; {:.0f} W on average",
                          p.energy_lo_j, p.energy_hi_j, r.energy_j_per_sample(), p.power_w));
}

/// What the table of profiles leaves open.
std::string mig_notes(const Report& r, const Style& s) {
  std::string out;
  const auto& options = r.mig->options;
  const double whole = r.prediction.memory.needed_mib();
  if (r.device.stack.context_kib_per_thread > 0) {
    out += fmt::format("    {}\n", s.dim(fmt::format("needs: less than the whole device's {:.0f} MiB, for the context "
                                                     "grows with the SMs, of which a slice has fewer",
                                                     whole)));
  }
  if (std::ranges::any_of(options, [](const MigOption& o) { return o.profile.name.ends_with("+me"); }))
    out += fmt::format("    {}\n", s.dim("+me: with media engines (NVDEC, NVJPG, OFA), which one slice of a GPU can "
                                         "have"));
  return out;
}

std::string mig_lines(const Report& r, const Style& s) {
  if (!r.mig) return "";
  std::string out = line(s, "MIG", r.mig->profile.value_or("none"), r.mig->why);
  out += s.dim(fmt::format("    {:<12} {:>11} {:>6} {:>14}  {:>9} {:>9}\n", "profile", "latency", "slices",
                           "samples/s, all", "needs MiB", "has MiB"));
  for (const MigOption& o : r.mig->options) {
    out += fmt::format("    {:<12} {:>11} {:>6} {:>14}  {:>9.0f} {:>9.0f}{}\n", o.profile.name, in_ms(o.latency_ms),
                       o.profile.max_instances, scaled(o.throughput_per_s), o.memory_mib, o.profile.memory_mib,
                       o.why.empty() ? "" : "  " + s.dim(o.why));
  }
  return out + mig_notes(r, s);
}

/// Which dims the data decides, what they were taken to be, and what rests on that.
std::string dynamic_lines(const Report& r, const Style& s) {
  if (!r.dynamic) return "";
  const Report::Dynamic& d = *r.dynamic;
  std::string out = line(s, "dynamic", kDynamicDims[static_cast<std::size_t>(d.taken)],
                         fmt::format("{:.1f} % of device time rests on dims that data decides: {} with all at their "
                                     "least, {} at their most (--dynamic, --bound)",
                                     100 * d.depends, in_ms(d.device_least_ms), in_ms(d.device_upper_ms)));
  std::vector<const Report::DynamicNode*> largest;
  for (const Report::DynamicNode& n : d.nodes) largest.push_back(&n);
  const auto extent = [](const Report::DynamicNode* n) {
    return n->extents.empty() ? 0 : std::ranges::max(n->extents);
  };
  std::ranges::stable_sort(largest, [&](const auto* a, const auto* b) { return extent(a) > extent(b); });
  for (std::size_t i = 0; i < largest.size() && i < kMostDynamic; ++i) {
    const Report::DynamicNode& n = *largest[i];
    out += fmt::format("    {:>10}  {}\n", extent(&n),
                       s.dim(fmt::format("{}{}{}: {}", n.op, n.name.empty() ? "" : " ", n.name, n.by)));
  }
  if (largest.size() > kMostDynamic)
    out +=
        fmt::format("    {}\n", s.dim(fmt::format("and {} more nodes; --json has all", largest.size() - kMostDynamic)));
  if (!d.not_covered.empty()) out += fmt::format("  {} {}\n", s.warn("not in the interval:"), d.not_covered);
  return out;
}

std::string slowest_lines(const Report& r, std::size_t top, const Style& s) {
  if (top == 0 || r.hot_ops.empty()) return "";
  std::string out = fmt::format("  {}\n", s.dim("slowest operators, with their shares of device time"));
  for (std::size_t i = 0; i < r.hot_ops.size() && i < top; ++i) {
    const Report::HotOp& h = r.hot_ops[i];
    out += fmt::format("    {:>5.1f} %  {:>10.1f} µs  {:<8} {}\n", 100 * h.share, h.time_us, name(h.bound),
                       h.name.empty() ? h.op : fmt::format("{:<24} {}", h.op, s.dim(h.name)));
  }
  return out;
}

std::string one(const Report& r, std::size_t top, const Style& s) {
  const Prediction& p = r.prediction;
  std::string out;
  if (!r.fits()) out += s.alarm("OUT OF MEMORY: " + memory_verdict(r)) + "\n";
  out += s.bold(heading(r)) + "\n";
  out += latency_lines(r, s) + bound_lines(r, s) + runtimes_line(r, s) + memory_line(r, s) + stack_line(r, s) +
         energy_line(r, s);
  out += line(s, "model", fmt::format("{}MACs", scaled(r.features.macs)),
              fmt::format("{} params, {} operators", scaled(r.features.params), r.features.nodes));
  if (!p.method.empty()) out += line(s, "predictor", p.predictor, p.method);
  out += dynamic_lines(r, s) + mig_lines(r, s) + slowest_lines(r, top, s);
  for (const std::string& n : p.novelty) out += fmt::format("  {} {}\n", s.warn("unfamiliar:"), n);
  for (const std::string& w : p.warnings) out += fmt::format("  {} {}\n", s.warn("warning:"), w);
  return out;
}

}  // namespace

std::string scaled(double v) {
  const char* suffix[] = {"", "K", "M", "G", "T", "P"};
  int i = 0;
  while (std::abs(v) >= 1000 && i < 5) {
    v /= 1000;
    ++i;
  }
  return fmt::format("{:.4g}{}", v, suffix[i]);
}

std::string in_ms(double v) { return v < 10 ? fmt::format("{:.3f} ms", v) : fmt::format("{:.2f} ms", v); }

std::string to_text(const std::vector<Report>& reports, std::size_t top, Colour colour) {
  const Style s{colour};
  std::string out;
  if (reports.size() > 1) out += table_text(reports, s);
  if (is_sweep(reports)) return out;
  if (reports.size() > 1) out += "\n";
  for (std::size_t i = 0; i < reports.size(); ++i) out += (i ? "\n" : "") + one(reports[i], top, s);
  return out;
}

}  // namespace perfc
