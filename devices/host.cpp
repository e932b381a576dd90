#include "devices/host.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "devices/builtin_devices.h"
#include "devices/fields.h"
#include "devices/read_host.h"

namespace perfc {
namespace {

constexpr double kMostUs = 1e5;
constexpr double kMostInterval = 100;

Result<std::vector<Host>> parse_hosts(std::string_view text, Diagnostics& diags) {
  const std::size_t before = diags.errors();
  const auto document = json::Document::parse(text, diags);
  if (!document) return diags.error("not valid JSON; a host file looks like data/hosts.json (docs/devices.md)");
  const json::Element root = document->root();
  Fields top(root, "", diags);
  std::string schema;
  top.require("schema");
  top.require("hosts");
  top.text("schema", schema);
  if (!schema.empty() && schema != "perfc.hosts/1")
    return diags.error(fmt::format("schema: '{}' is not 'perfc.hosts/1'", schema));
  std::vector<Host> hosts;
  if (const auto all = top.list("hosts")) {
    for (const json::Element& host : *all)
      hosts.push_back(read_host(host, fmt::format("hosts[{}]", hosts.size()), diags));
  }
  top.finish();
  if (diags.errors() > before) return Failure{};
  return hosts;
}

}  // namespace

HostCalls& HostCalls::operator+=(const HostCalls& other) {
  for (std::size_t i = 0; i < of.size(); ++i) of[i] += other.of[i];
  return *this;
}

double HostCalls::total() const { return std::accumulate(of.begin(), of.end(), 0.0); }

double Host::us(const HostCalls& calls, ExecMode mode) const {
  if (mode == ExecMode::Compiled) return calls.total() * compiled_us;
  return std::inner_product(calls.of.begin(), calls.of.end(), eager_us.begin(), 0.0);
}

Host Host::slowed(double factor) const {
  Host out = *this;
  for (double& us : out.eager_us) us = std::min(us * factor, kMostUs);
  out.compiled_us = std::min(compiled_us * factor, kMostUs);
  return out;
}

Host geometric_mean(const std::vector<const Host*>& hosts) {
  Host out = *hosts.front();
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
    auto parsed = parse_hosts(kBuiltinHosts, diags);
    return parsed ? std::move(*parsed) : std::vector<Host>{};
  }();
  return hosts;
}

Result<Host> find_host(std::string_view wanted, Diagnostics& diags) {
  std::vector<std::string> known;
  for (const Host& h : builtin_hosts()) {
    if (lower(h.name) == lower(wanted)) return h;
    known.push_back(h.name);
  }
  const std::string near = did_you_mean(lower(wanted), known);
  return diags.error(fmt::format("unknown host '{}'{}; it is {}, or a host file (python -m perfc.measure --host)",
                                 wanted, near.empty() ? "" : fmt::format(" (did you mean '{}'?)", near),
                                 fmt::join(known, ", ")));
}

Result<Host> parse_host(std::string_view text, Diagnostics& diags) {
  auto hosts = parse_hosts(text, diags);
  if (!hosts) return Failure{};
  if (hosts->size() != 1)
    return diags.error(fmt::format("hosts: has {} entries; --host takes a file of one", hosts->size()));
  return std::move(hosts->front());
}

}  // namespace perfc
