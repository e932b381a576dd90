#include <fmt/format.h>

#include <cmath>

#include "pipeline/pipeline.h"

namespace perfc {
namespace {

struct Style {
  Colour colour;
  std::string bold(std::string_view s) const { return paint("1", s); }
  std::string dim(std::string_view s) const { return paint("2", s); }
  std::string warn(std::string_view s) const { return paint("33", s); }
  std::string paint(const char* code, std::string_view s) const {
    return colour == Colour::Yes ? fmt::format("\x1b[{}m{}\x1b[0m", code, s) : std::string(s);
  }
};

std::string scaled(double v) {
  const char* suffix[] = {"", "K", "M", "G", "T", "P"};
  int i = 0;
  while (std::abs(v) >= 1000 && i < 5) {
    v /= 1000;
    ++i;
  }
  return fmt::format("{:.4g}{}", v, suffix[i]);
}

std::string ms(double v) { return v < 10 ? fmt::format("{:.3f} ms", v) : fmt::format("{:.2f} ms", v); }

std::string heading(const Report& r) {
  std::string precision(name(r.exec.precision));
  if (const auto of = framework_of(r.exec.precision); !of.empty()) precision += fmt::format(" ({})", of);
  return fmt::format("{} · batch {} · {} · {} {} {}{} · {}", r.model, r.features.batch, r.device.title, precision,
                     name(r.exec.mode), name(r.exec.layout), r.exec.norms == Norms::Half ? " half norms" : "",
                     r.prediction.predictor);
}

std::string one(const Report& r, std::size_t top, const Style& s) {
  const Prediction& p = r.prediction;
  std::string out = s.bold(heading(r)) + "\n";
  const auto line = [&](std::string_view key, std::string_view value, std::string_view note) {
    out += fmt::format("  {:<9} {:<16} {}\n", key, value, s.dim(note));
  };
  line("latency", ms(p.latency_ms),
       fmt::format("90 % interval {} … {}; device {}, host {}; {}/s", ms(p.latency_lo_ms), ms(p.latency_hi_ms),
                   ms(p.device_ms), ms(p.host_ms),
                   scaled(p.latency_ms > 0 ? static_cast<double>(r.features.batch) / p.latency_ms * 1e3 : 0)));
  line("host", r.device.host.name,
       fmt::format("{:g} {} of {:.1f} µs, {}; {}", p.host_calls, r.exec.mode == ExecMode::Eager ? "calls" : "kernels",
                   p.host_us_per_call(), r.device.host.framework,
                   p.host_bound() ? "it bounds the run (--host)" : "the device bounds the run"));
  line("memory", fmt::format("{:.0f} MiB", p.memory.total_mib()),
       fmt::format("90 % interval {:.0f} … {:.0f}; context {:.0f} + weights {:.0f}{} + activations {:.0f} + workspace "
                   "{:.0f}{}; the device has {:.0f}",
                   p.memory_lo_mib, p.memory_hi_mib, p.memory.context_mib, p.memory.weights_mib,
                   r.exec.task == Task::Train ? fmt::format(" + gradients {:.0f} + {} {:.0f}", p.memory.gradients_mib,
                                                            name(r.exec.optimizer), p.memory.optimizer_mib)
                                              : "",
                   p.memory.activations_mib, p.memory.workspace_mib,
                   p.memory.search_mib > 0 ? fmt::format(" + cuDNN's search {:.0f}", p.memory.search_mib) : "",
                   r.device.memory_mib));
  line("stack", r.device.stack.name,
       fmt::format("{}{}{}: its context is uncertain by a factor of {:g} (--stack)", r.device.stack.framework,
                   r.device.stack.cuda.empty() ? "" : ", ", r.device.stack.cuda, r.device.stack.interval));
  line("energy", fmt::format("{:.3g} J", p.energy_j),
       fmt::format("90 % interval {:.3g} … {:.3g} J; {:.0f} W on average", p.energy_lo_j, p.energy_hi_j, p.power_w));
  line("model", fmt::format("{}MACs", scaled(r.features.macs)),
       fmt::format("{} params, {} operators", scaled(r.features.params), r.features.nodes));
  if (r.mig) {
    line("MIG", r.mig->profile.value_or("none"), r.mig->why);
    for (const MigOption& o : r.mig->options) {
      out += fmt::format("    {:<12} {:>11} {:>9}/s × {}  {:>7.0f}/{:.0f} MiB  {}\n", o.profile.name, ms(o.latency_ms),
                         scaled(o.throughput_per_s), o.profile.max_instances, o.memory_mib, o.profile.memory_mib,
                         s.dim(o.why));
    }
  }
  if (top > 0 && !r.hot_ops.empty()) {
    out += fmt::format("  {}\n", s.dim("slowest operators"));
    for (std::size_t i = 0; i < r.hot_ops.size() && i < top; ++i) {
      const Report::HotOp& h = r.hot_ops[i];
      out += fmt::format("    {:>5.1f} %  {:>10.1f} µs  {:<8} {:<24} {}\n", 100 * h.share, h.time_us, name(h.bound),
                         h.op, s.dim(h.name));
    }
  }
  for (const std::string& n : p.novelty) out += fmt::format("  {} {}\n", s.warn("unfamiliar:"), n);
  for (const std::string& w : p.warnings) out += fmt::format("  {} {}\n", s.warn("warning:"), w);
  return out;
}

}  // namespace

std::string to_text(const std::vector<Report>& reports, std::size_t top, Colour colour) {
  const Style s{colour};
  std::string out;
  if (reports.size() > 1) {
    std::size_t widest = 6;
    for (const Report& r : reports) widest = std::max(widest, r.device.name.size());
    out += s.bold(fmt::format("{:<{}}  {:>12} {:>25} {:>10} {:>9}  {:<8} {}\n", "device", widest, "latency",
                              "90 % interval", "memory", "energy", "MIG", "model"));
    for (const Report& r : reports) {
      const Prediction& p = r.prediction;
      out += fmt::format("{:<{}}  {:>12} {:>25} {:>6.0f} MiB {:>7.3g} J  {:<8} {}\n", r.device.name, widest,
                         ms(p.latency_ms), fmt::format("{} … {}", ms(p.latency_lo_ms), ms(p.latency_hi_ms)),
                         p.memory.total_mib(), p.energy_j, r.mig ? r.mig->profile.value_or("none") : "-", r.model);
    }
    out += "\n";
  }
  for (std::size_t i = 0; i < reports.size(); ++i) out += (i ? "\n" : "") + one(reports[i], top, s);
  return out;
}

}  // namespace perfc
