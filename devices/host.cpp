#include "devices/host.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "devices/builtin_devices.h"
#include "devices/read_host.h"

namespace perfc {
namespace {

constexpr double kMostUs = 1e5;
/// What a library's call takes TorchInductor's wrapper, which allocates the result and passes it, over an eager one: 16
/// runs of an H200's models say 1.48. [studies/hopper/fit_generated.py --models]
constexpr double kCompiledCall = 1.4;
/// What a run of a compiled graph takes beside its calls (guards, wrappers of AOTAutograd and TorchInductor), over a
/// call of one kernel: 15.4 µs on an EPYC 9004, PyTorch 2.13, where that takes 5.8. A module of one ReLU on the CPU:
/// 17.7 µs compiled, 2.3 eager. [measured here on 28 November 2026]
constexpr double kCompiledRun = 2.65;
constexpr double kMostInterval = 100;

}  // namespace

HostCalls& HostCalls::operator+=(const HostCalls& other) {
  for (std::size_t i = 0; i < of.size(); ++i) of[i] += other.of[i];
  return *this;
}

double HostCalls::total() const { return std::accumulate(of.begin(), of.end(), 0.0); }

double Host::us(const HostCalls& calls, ExecMode mode) const {
  const double all = std::inner_product(calls.of.begin(), calls.of.end(), eager_us.begin(), 0.0);
  if (mode == ExecMode::Eager) return all;
  constexpr auto kKernel = static_cast<std::size_t>(HostCall::Kernel);
  const double generated = calls.of[kKernel];
  const double run = all > 0 ? kCompiledRun * eager_us[kKernel] : 0;
  return run + compiled_us * generated + kCompiledCall * (all - eager_us[kKernel] * generated);
}

Host Host::slowed(double factor) const {
  Host out = *this;
  for (double& us : out.eager_us) us = std::min(us * factor, kMostUs);
  out.compiled_us = std::min(compiled_us * factor, kMostUs);
  return out;
}

Host geometric_mean(const std::vector<const Host*>& hosts) {
  Host out = *hosts.front();
  out.kinds.clear();
  const auto mean = [&](const auto& of) {
    double sum = 0;
    for (const Host* h : hosts) sum += std::log(std::max(of(*h), 1e-9));
    return std::exp(sum / static_cast<double>(hosts.size()));
  };
  for (std::size_t c = 0; c < out.eager_us.size(); ++c)
    out.eager_us[c] = mean([c](const Host& h) { return h.eager_us[c]; });
  out.compiled_us = mean([](const Host& h) { return h.compiled_us; });
  return out;
}

Host read_host(const json::Element& json, const std::string& path, Diagnostics& diags) {
  Host h;
  Fields f(json, path, diags);
  for (const char* key : {"name", "eager_us", "compiled_us", "interval"}) f.require(key);
  f.text("name", h.name);
  h.title = h.name;
  f.text("title", h.title);
  f.text("framework", h.framework);
  f.texts("kinds", h.kinds);
  f.text("source", h.source);
  if (const auto costs = f.member("eager_us")) {
    Fields eager(*costs, f.at("eager_us"), diags);
    for (std::size_t c = 0; c < kHostCallNames.size(); ++c) {
      eager.require(kHostCallNames[c]);
      eager.number(kHostCallNames[c], h.eager_us[c], 0, kMostUs);
    }
    eager.finish();
  }
  f.number("compiled_us", h.compiled_us, 0, kMostUs);
  f.number("interval", h.interval, 1, kMostInterval);
  f.finish();
  return h;
}

const std::vector<Host>& builtin_hosts() {
  static const std::vector<Host> hosts = [] {
    Diagnostics diags("hosts.json");
    auto parsed = parse_entries<Host>(kBuiltinHosts, kHostEntries, read_host, diags);
    return parsed ? std::move(*parsed) : std::vector<Host>{};
  }();
  return hosts;
}

Result<Host> find_host(std::string_view wanted, Diagnostics& diags) {
  return find_entry(wanted, builtin_hosts(), kHostEntries, diags);
}

Result<Host> parse_host(std::string_view text, Diagnostics& diags) {
  return parse_single_entry<Host>(text, kHostEntries, read_host, diags);
}

}  // namespace perfc
