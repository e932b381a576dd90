#include "devices/host.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "devices/device.h"
#include "graphs.h"
#include "kernel_plan.h"
#include "learning/predictors.h"
#include "whitebox/whitebox.h"

namespace perfc {
namespace {

constexpr std::string_view kOneHost = R"({"schema": "perfc.hosts/1", "hosts": [{"name": "mine", "eager_us": {"view": 1,
  "inner": 2, "kernel": 3, "product": 4, "convolution": 5, "normalization": 6, "composite": 7}, "compiled_us": 8,
  "interval": 1.2}]})";

std::string replaced(std::string_view text, std::string_view what, std::string_view by) {
  std::string out(text);
  out.replace(out.find(what), what.size(), by);
  return out;
}

std::string errors_of(const std::string& text) {
  Diagnostics diags("host.json");
  EXPECT_FALSE(parse_host(text, diags));
  return diags.str();
}

Host builtin(std::string_view name) {
  Diagnostics diags("test");
  auto found = find_host(name, diags);
  EXPECT_TRUE(found) << diags.str();
  return found ? *found : Host{};
}

Device device(std::string_view name, const Host& host) {
  Diagnostics diags("test");
  auto found = DeviceTable::builtin().find(name, diags);
  EXPECT_TRUE(found) << diags.str();
  found->host = host;
  return *found;
}

/// A layer of a transformer and one of a convolutional network, at batch 1.
Prediction whitebox_of(const Device& d, ExecMode mode = ExecMode::Eager) {
  const Graph g = graph_of(R"(def @main(%x: Tensor[(1, 64, 14, 14), float32]) {
  %1 = weight : Tensor[(64, 64, 3, 3), float32];
  %2 = nn.conv2d(%x, %1, padding=[1, 1, 1, 1]);
  %3 = nn.relu(%2);
  %4 = weight : Tensor[(14, 64), float32];
  %5 = nn.dense(%3, %4);
  %6 = nn.softmax(%5, axis=-1);
  (%6)
})");
  Diagnostics diags("test");
  const auto model = prepare_whitebox(g, {.precision = Precision::Amp, .mode = mode}, OpaquePolicy::Refuse, diags);
  EXPECT_TRUE(model) << diags.str();
  return (*model)->on(d);
}

TEST(Host, FilesHaveOneHostWithEveryCost) {
  Diagnostics diags("host.json");
  const auto host = parse_host(kOneHost, diags);
  ASSERT_TRUE(host) << diags.str();
  HostCalls calls;
  calls.add(HostCall::Inner, 10);
  calls.add(HostCall::Composite, 2);
  EXPECT_EQ(host->us(calls, ExecMode::Eager), 10 * 2 + 2 * 7);
  // Compiled, libraries' calls take the wrapper longer, and generated kernels have a cost of their own.
  const double run = 2.65 * 3;  // of the graph, whatever it calls
  EXPECT_NEAR(host->us(calls, ExecMode::Compiled), run + 1.4 * (10 * 2 + 2 * 7), 1e-9);
  calls.add(HostCall::Kernel, 5);
  EXPECT_NEAR(host->us(calls, ExecMode::Compiled), run + 1.4 * (10 * 2 + 2 * 7) + 5 * 8, 1e-9);
  EXPECT_EQ(host->us({}, ExecMode::Compiled), 0);
  EXPECT_EQ(host->us(calls, ExecMode::Eager), 10 * 2 + 2 * 7 + 5 * 3);
  EXPECT_EQ(errors_of(replaced(kOneHost, "\"inner\": 2, ", "")),
            "host.json: error: hosts[0].eager_us.inner: is missing\n");
  EXPECT_EQ(errors_of(replaced(kOneHost, "\"inner\": 2", "\"inner\": 2, \"iner\": 2")),
            "host.json: error: hosts[0].eager_us.iner: is not a field (did you mean 'inner'?)\n");
  EXPECT_EQ(errors_of(replaced(kOneHost, "1.2", "0.5")),
            "host.json: error: hosts[0].interval: is 0.5, must lie in [1, 100]\n");
  EXPECT_EQ(errors_of(R"({"schema": "perfc.hosts/1", "hosts": []})"),
            "host.json: error: hosts: has 0 entries; --host takes a file of one\n");
}

TEST(Host, UnknownNamesSuggestTheNearest) {
  Diagnostics diags("test");
  EXPECT_FALSE(find_host("Dekstop", diags));
  EXPECT_NE(diags.str().find("unknown host 'Dekstop' (did you mean 'desktop'?)"), std::string::npos) << diags.str();
}

TEST(Host, DevicesNameOneOrBringTheirOwn) {
  const auto text = [](std::string_view host) {
    return std::string(R"({"schema": "perfc.devices/1", "devices": [{"name": "d", "vector_tflops": {"float32": 1},
      "bandwidth_gb_s": 100, "memory_mib": 1000, "tdp_w": 100)") +
           std::string(host) + "}]}";
  };
  const auto host_of = [&](std::string_view host) {
    Diagnostics diags("d.json");
    const auto table = DeviceTable::parse(text(host), diags);
    return table ? table->all()[0].host.name : diags.str();
  };
  EXPECT_EQ(host_of(""), "server");
  EXPECT_EQ(host_of(R"(, "host": "Desktop")"), "desktop");
  EXPECT_EQ(host_of(R"(, "host": {"name": "own", "eager_us": {"view": 1, "inner": 1, "kernel": 1, "product": 1,
    "convolution": 1, "normalization": 1, "composite": 1}, "compiled_us": 1, "interval": 1})"),
            "own");
  EXPECT_TRUE(host_of(R"(, "host": "serber")").starts_with("d.json: error: devices[0].host: unknown host 'serber'"));
  EXPECT_TRUE(host_of(R"(, "host_us_eager": 8)").starts_with("d.json: error: devices[0].host_us_eager: dispatch is"));
}

TEST(Host, AFasterHostIsNeverSlower) {
  for (const ExecMode mode : {ExecMode::Eager, ExecMode::Compiled}) {
    for (const Device& d : DeviceTable::builtin().all()) {
      double last = 0;
      for (const double factor : {0.1, 1.0, 3.0, 30.0}) {
        const Device slowed = device(d.name, builtin("server").slowed(factor));
        const double now = whitebox_of(slowed, mode).latency_ms;
        EXPECT_GE(now, last) << d.name;
        last = now;
      }
    }
  }
}

TEST(Host, AFasterHostIsNeverSlowerForTheNetworks) {
  Diagnostics diags("test");
  const Request request{.model = std::string(PERFC_SOURCE_DIR) + "/examples/resnet50.onnx", .batch = 8};
  const auto graph = load_graph(request, diags);
  const auto predictor = find_predictor(request, diags);
  ASSERT_TRUE(graph && predictor) << diags.str();
  const auto model = (*predictor)->prepare(*graph, {.precision = Precision::Amp}, diags);
  ASSERT_TRUE(model) << diags.str();
  for (const char* name : {"rtx4090", "a100-40gb"}) {
    double last = 0;
    for (double factor = 0.2; factor < 5; factor *= 1.1) {
      const double now = (*model)->on(device(name, builtin("desktop").slowed(factor))).latency_ms;
      EXPECT_GE(now, last * (1 - 1e-6)) << name << " at " << factor;  // networks compute in float
      last = now;
    }
  }
}

TEST(Host, WithTheHostThatIsGivenTermsOfAnotherHostDoNotCount) {
  Diagnostics diags("test");
  const Request request{.model = std::string(PERFC_SOURCE_DIR) + "/examples/resnet50.onnx",
                        .devices = {"rtx4090", "rtx5090", "a100-40gb"},
                        .host = "server"};
  const auto graph = load_graph(request, diags);
  const auto predictor = find_predictor(request, diags);
  const auto devices = find_devices(request, diags);
  ASSERT_TRUE(graph && predictor && devices) << diags.str();
  const auto model = (*predictor)->prepare(*graph, {.precision = Precision::Amp}, diags);
  ASSERT_TRUE(model) << diags.str();
  for (const Device& d : *devices) EXPECT_EQ((*model)->on(d).host_ms, (*model)->on(devices->front()).host_ms) << d.name;
}

TEST(Host, WithOneHostABetterGpuIsNoSlowerAtBatchOne) {
  for (const char* name : {"server", "desktop", "epyc-9004"}) {
    const double t4 = whitebox_of(device("t4", builtin(name))).latency_ms;
    for (const char* better : {"a100-40gb", "a100-80gb", "h100-sxm"})
      EXPECT_LE(whitebox_of(device(better, builtin(name))).latency_ms, t4) << better;
  }
}

/// Clouds put GPUs of one time beside CPUs of that time (docs/devices.md): the order of GPUs must not turn by it.
TEST(Host, ABetterGpuForServersHasNoSlowerHost) {
  const auto at_least = [](const auto& a, const auto& b) {
    return std::ranges::all_of(b, [&](const auto& of) { return a.contains(of.first) && a.at(of.first) >= of.second; });
  };
  const auto server = [](const Device& d) { return d.kind == "gpu" && d.host.name.starts_with("server"); };
  std::size_t pairs = 0;
  for (const Device& a : DeviceTable::builtin().all()) {
    for (const Device& b : DeviceTable::builtin().all()) {
      const bool better = server(a) && server(b) && a.name != b.name && a.bandwidth_gb_s >= b.bandwidth_gb_s &&
                          at_least(a.vector_tflops, b.vector_tflops) && at_least(a.matrix_tflops, b.matrix_tflops);
      if (!better) continue;
      ++pairs;
      EXPECT_LE(a.host.eager_us[2], b.host.eager_us[2]) << a.name << ", " << b.name;
    }
  }
  EXPECT_GT(pairs, 100u);
}

TEST(Host, KindsAreNarrowerEntriesWithinItsInterval) {
  std::size_t kinds = 0;
  for (const Host& h : builtin_hosts()) {
    for (const std::string& name : h.kinds) {
      const Host& kind = builtin(name);
      EXPECT_LT(kind.interval, h.interval) << name;
      for (std::size_t c = 0; c < h.eager_us.size(); ++c)
        EXPECT_LT(std::abs(std::log(kind.eager_us[c] / h.eager_us[c])), std::log(h.interval)) << name;
      EXPECT_LT(std::abs(std::log(kind.compiled_us / h.compiled_us)), std::log(h.interval)) << name;
      ++kinds;
    }
  }
  EXPECT_EQ(kinds, 2u);  // of server
}

TEST(Host, ItsUncertaintyCountsAsFarAsItBoundsTheRun) {
  const TimeInterval host_bound = time_interval(Timeline::queued(1, 10), 1.2, 2);
  EXPECT_NEAR(host_bound.up, 2, 1e-3);
  EXPECT_NEAR(host_bound.down, 2, 0.01);
  const TimeInterval device_bound = time_interval(Timeline::queued(10, 1), 1.2, 2);
  EXPECT_NEAR(device_bound.up, 1.2, 1e-3);
  EXPECT_NEAR(device_bound.down, 1.2, 1e-3);
  // As long as each other: a host twice as slow nearly doubles the time, one twice as fast changes little.
  const TimeInterval both = time_interval(Timeline::queued(10, 10), 1.2, 2);
  EXPECT_GT(both.up, 1.8);
  EXPECT_LT(both.down, 1.2);
}

TEST(Host, AHostBoundRunHasAtLeastTheHostsInterval) {
  Device d = device("rtx4090", builtin("server"));
  const Prediction p = whitebox_of(d);
  ASSERT_TRUE(p.host_bound());
  EXPECT_GE(p.latency_hi_ms / p.latency_ms, d.host.interval * 0.999);
  EXPECT_GT(p.host_calls, 0);
  EXPECT_NEAR(p.host_us_per_call() * p.host_calls, p.host_ms * 1e3, 1e-9);
}

}  // namespace
}  // namespace perfc
