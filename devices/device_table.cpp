#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <iterator>
#include <set>

#include "devices/builtin_devices.h"
#include "devices/device.h"
#include "devices/fields.h"
#include "devices/read_host.h"
#include "devices/read_stack.h"
#include "ir/support/text.h"

namespace perfc {
namespace {

const std::set<std::string> kDtypes{"float64", "float32", "tf32", "float16", "bfloat16", "float8", "int8", "int4"};
const std::set<std::string> kMemoryTypes{"", "ddr", "gddr", "hbm", "lpddr"};
const std::set<std::string> kEfficiencies{
    "matmul", "convolution", "vector_matmul", "vector_convolution", "depthwise", "vector", "bandwidth", "gather",
    "layout", "dense_product", "dense_convolution",
    // factors on a chip class' constants: whitebox/price/matmul_time.h
    "product_launch", "product_tensor", "product_read", "product_write", "product_step", "product_l2", "product_tile",
    "product_power", "product_split"};

std::set<std::string> precision_names() {
  std::set<std::string> out;
  for (const Precision p : kPrecisions) out.emplace(name(p));
  return out;
}

void read_dispatch(Fields& f, Host& host, Diagnostics& diags) {
  for (const char* old : {"host_us_eager", "host_us_compiled"}) {
    if (f.member(old))
      f.complain(old,
                 "dispatch is the host's: name one, as in \"host\": \"server\", or give its costs (docs/devices.md)");
  }
  read_entry_field<Host>(f, kHostEntries, find_host, read_host, host, diags);
}

void read_software(Fields& f, Stack& stack, Diagnostics& diags) {
  for (const char* old : {"context_mib", "context_mib_per_sm", "convolution_mib"}) {
    if (f.member(old)) {
      f.complain(old,
                 "the context is the software stack's: name one, as in \"stack\": \"pytorch-2\", or give its memory "
                 "(docs/devices.md)");
    }
  }
  read_entry_field<Stack>(f, kStackEntries, find_stack, read_stack, stack, diags);
}

/// The calibratable terms, in a device or in the defaults.
void read_terms(Fields& f, Device& d, Diagnostics& diags) {
  f.number("launch_us", d.launch_us, 0, 1e4);
  read_dispatch(f, d.host, diags);
  read_software(f, d.stack, diags);
  f.rates("efficiency", d.efficiency, kEfficiencies, 10);
  f.number("active_power", d.active_power, 0.01, 1);
  f.number("memory_power", d.memory_power, 0.01, 10);
}

constexpr int kMigSlots = 32;  ///< of a GPU at most; today's have 4, 8 or 12

MigProfile read_profile(const json::Element& json, const std::string& path, Diagnostics& diags) {
  MigProfile p;
  Fields f(json, path, diags);
  for (const char* key : {"name", "compute_slices", "memory_slices", "sms", "memory_mib", "max_instances"})
    f.require(key);
  f.text("name", p.name);
  f.integer("compute_slices", p.compute_slices, 1, 8);
  f.integer("memory_slices", p.memory_slices, 1, 8);
  f.integer("sms", p.sms, 1, 4096);
  f.number("memory_mib", p.memory_mib, 1, 1e8);
  f.integer("max_instances", p.max_instances, 1, 64);
  f.integers("starts", p.starts, 0, kMigSlots - 1);
  f.integer("size", p.size, 0, kMigSlots);
  f.integer("ofa", p.ofa, 0, 1);
  f.flag("graphics", p.graphics);
  if (p.starts.empty() != (p.size == 0)) f.complain("starts", "and 'size' are given together, or neither");
  for (const int start : p.starts) {
    if (start + p.size > kMigSlots) f.complain("starts", fmt::format("{} + size is beyond {} slots", start, kMigSlots));
  }
  f.finish();
  return p;
}

Device read_device(const json::Element& json, const std::map<std::string, Device>& defaults, const std::string& path,
                   Diagnostics& diags) {
  Device d;
  std::string kind = "gpu", source;
  if (const auto given = json::text(json::member(json, "kind"))) kind = *given;
  if (const auto base = defaults.find(kind); base != defaults.end()) d = base->second;
  Fields f(json, path, diags);
  for (const char* key : {"name", "vector_tflops", "bandwidth_gb_s", "memory_mib", "tdp_w"}) f.require(key);
  f.text("name", d.name);
  d.title = d.name;
  f.text("title", d.title);
  f.texts("aliases", d.aliases);
  f.text("kind", d.kind);
  if (d.kind != "gpu" && d.kind != "cpu")
    (void)diags.error(fmt::format("{}.kind: must be 'gpu' or 'cpu', is '{}'", path, d.kind));
  f.text("architecture", d.architecture);
  f.text("memory_type", d.memory_type);
  if (!kMemoryTypes.count(d.memory_type))
    (void)diags.error(fmt::format("{}.memory_type: must be one of {}, is '{}'", path,
                                  fmt::join(std::next(kMemoryTypes.begin()), kMemoryTypes.end(), ", "), d.memory_type));
  f.flag("grace", d.grace);
  f.text("source", source);
  f.rates("vector_tflops", d.vector_tflops, kDtypes, 1e6);
  f.rates("matrix_tflops", d.matrix_tflops, kDtypes, 1e6);
  if (!d.vector_tflops.count("float32")) (void)diags.error(fmt::format("{}.vector_tflops.float32: is missing", path));
  f.number("bandwidth_gb_s", d.bandwidth_gb_s, 0.1, 1e6);
  f.number("core_bandwidth_gb_s", d.core_bandwidth_gb_s, 0.1, 1e6);
  f.number("streams", d.streams, 0.05, 1);
  if (d.streams > 0) d.efficiency["bandwidth"] = d.streams;
  f.number("l2_mib", d.l2_mib, 0, 1e5);
  f.integer("sms", d.sms, 1, 100000);
  f.number("boost_clock_mhz", d.boost_clock_mhz, 1, 1e5);
  f.number("exponentials", d.exponentials, 1, 1e4);
  f.number("memory_mib", d.memory_mib, 1, 1e8);
  f.number("tdp_w", d.tdp_w, 0.1, 1e5);
  f.number("idle_w", d.idle_w, 0, 1e5);
  f.integer("calibrated_labels", d.calibrated_labels, 0, 100000000);
  if (d.idle_w > d.tdp_w)
    (void)diags.error(fmt::format("{}.idle_w: {} is more than tdp_w {}", path, d.idle_w, d.tdp_w));
  read_terms(f, d, diags);
  f.rates("interval", d.interval, precision_names(), 100);
  if (const auto profiles = f.list("mig")) {
    d.mig.clear();
    for (const json::Element& profile : *profiles) {
      const std::string at = fmt::format("{}.mig[{}]", path, d.mig.size());
      MigProfile p = read_profile(profile, at, diags);
      if (p.sms > d.sms) (void)diags.error(fmt::format("{}.sms: {} is more than the device's {}", at, p.sms, d.sms));
      d.mig.push_back(std::move(p));
    }
  }
  f.finish();
  return d;
}

std::map<std::string, Device> read_defaults(const json::Element& json, Diagnostics& diags,
                                            std::map<std::string, Device> defaults) {
  for (const char* kind : {"gpu", "cpu"}) {
    const auto terms = json::member(json, kind);
    if (!terms) continue;
    Fields f(*terms, fmt::format("defaults.{}", kind), diags);
    Device& d = defaults[kind];
    d.kind = kind;
    read_terms(f, d, diags);
    f.finish();
  }
  return defaults;
}

}  // namespace

std::string_view name(Precision p) {
  static constexpr std::string_view kNames[] = {"fp32", "tf32", "amp", "fp16", "bf16", "int8", "fp8", "default"};
  return kNames[static_cast<std::size_t>(p)];
}

Result<Precision> find_precision(std::string_view text) {
  for (const Precision p : kPrecisions) {
    if (name(p) == text) return p;
  }
  return Failure{};
}

Result<DeviceTable> DeviceTable::parse(std::string_view text, Diagnostics& diags) {
  return parse(text, builtin().defaults_, diags);
}

Result<DeviceTable> DeviceTable::parse(std::string_view text, const std::map<std::string, Device>& defaults,
                                       Diagnostics& diags) {
  const std::size_t before = diags.errors();
  const auto document = json::Document::parse(text, diags);
  if (!document) return diags.error("not valid JSON; a device file looks like data/devices.json (docs/devices.md)");
  const json::Element root = document->root();
  DeviceTable table;
  Fields top(root, "", diags);
  std::string schema;
  top.require("schema");
  top.require("devices");
  top.text("schema", schema);
  if (!schema.empty() && schema != "perfc.devices/1")
    return diags.error(fmt::format("schema: '{}' is not 'perfc.devices/1'", schema));
  const auto own = json::member(root, "defaults");
  table.defaults_ = own ? read_defaults(*own, diags, defaults) : defaults;
  if (const auto devices = top.list("devices")) {
    std::set<std::string> names;
    for (const json::Element& device : *devices) {
      const std::string at = fmt::format("devices[{}]", table.devices_.size());
      Device d = read_device(device, table.defaults_, at, diags);
      if (!names.insert(lower(d.name)).second) (void)diags.error(fmt::format("{}.name: '{}' occurs twice", at, d.name));
      table.devices_.push_back(std::move(d));
    }
  }
  json::Object fields;
  if (!root.get(fields)) {
    for (const auto& [key, value] : fields) {
      if (key != "schema" && key != "defaults" && key != "devices")
        (void)diags.error(fmt::format("{}: is not a field", key));
    }
  }
  if (diags.errors() > before) return Failure{};
  return table;
}

const DeviceTable& DeviceTable::builtin() {
  static const DeviceTable table = [] {
    Diagnostics diags("devices.json");
    auto parsed = parse(kBuiltinDevices, {}, diags);
    return parsed ? std::move(*parsed) : DeviceTable{};
  }();
  return table;
}

void DeviceTable::add(DeviceTable other) {
  devices_.insert(devices_.begin(), std::make_move_iterator(other.devices_.begin()),
                  std::make_move_iterator(other.devices_.end()));
}

namespace {

/// "4t" of a CPU: 4 threads.
Result<Device> threads_of(const Device& cpu, std::string_view text, Diagnostics& diags) {
  int threads = 0;
  const char* end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, threads);
  if (error != std::errc() || end - at != 1 || *at != 't' || threads < 1 || threads > std::max(cpu.sms, 1))
    return diags.error(fmt::format("'{}' is no number of threads of {}: write {}:1t to {}:{}t", text, cpu.name,
                                   cpu.name, cpu.name, std::max(cpu.sms, 1)));
  return on_threads(cpu, threads);
}

}  // namespace

Result<Device> DeviceTable::find(std::string_view wanted, Diagnostics& diags) const {
  const std::size_t colon = wanted.find(':');
  const std::string base = lower(wanted.substr(0, colon));
  std::vector<std::string> known;
  const Device* found = nullptr;
  for (const Device& d : devices_) {
    bool hit = lower(d.name) == base || lower(d.title) == base;
    known.push_back(d.name);
    for (const std::string& alias : d.aliases) {
      hit = hit || lower(alias) == base;
      known.push_back(alias);
    }
    if (hit && !found) found = &d;
  }
  if (!found) {
    const std::string near = did_you_mean(base, known);
    return diags.error(fmt::format("unknown device '{}'{}; `perfc devices` lists them, --device-file adds your own",
                                   wanted, near.empty() ? "" : fmt::format(" (did you mean '{}'?)", near)));
  }
  if (colon == std::string_view::npos) return *found;
  const std::string profile = lower(wanted.substr(colon + 1));
  if (found->kind == "cpu") return threads_of(*found, profile, diags);
  std::vector<std::string> profiles;
  for (const MigProfile& p : found->mig) {
    if (p.name == profile) return slice(*found, p);
    profiles.push_back(p.name);
  }
  if (profiles.empty()) return diags.error(fmt::format("device '{}' has no MIG profiles", found->name));
  const std::string near = did_you_mean(profile, profiles);
  return diags.error(fmt::format("device '{}' has no MIG profile '{}'{}; it has {}", found->name, profile,
                                 near.empty() ? "" : fmt::format(" (did you mean '{}'?)", near),
                                 fmt::join(profiles, ", ")));
}

Device on_threads(const Device& whole, int threads) {
  Device d = whole;
  d.name = fmt::format("{}:{}t", whole.name, threads);
  d.title = fmt::format("{}, {} thread{}", whole.title, threads, threads == 1 ? "" : "s");
  d.aliases.clear();
  d.parent = whole.name;
  const double share = whole.sms > 0 ? static_cast<double>(threads) / whole.sms : 1.0;
  for (auto& [dtype, rate] : d.vector_tflops) rate *= share;
  for (auto& [dtype, rate] : d.matrix_tflops) rate *= share;
  if (d.core_bandwidth_gb_s > 0) d.bandwidth_gb_s = std::min(d.bandwidth_gb_s, threads * d.core_bandwidth_gb_s);
  d.sms = threads;
  return d;
}

double resident_threads(const Device& d) {
  constexpr int kMost = 2048, kGraphics = 1536, kTuring = 1024;  // of an SM
  const bool graphics = (d.architecture == "ampere" && d.memory_type != "hbm") || d.architecture == "ada" ||
                        (d.architecture == "blackwell" && d.memory_type != "hbm");
  return static_cast<double>(d.sms) * (d.architecture == "turing" ? kTuring : graphics ? kGraphics : kMost);
}

Device slice(const Device& whole, const MigProfile& p) {
  Device d = whole;
  d.name = whole.name + ":" + p.name;
  d.title = fmt::format("{} MIG {}", whole.title, p.name);
  d.aliases.clear();
  d.parent = whole.name;
  d.mig_profile = p.name;
  const double compute = whole.sms > 0 ? static_cast<double>(p.sms) / whole.sms : 1.0;
  const double memory = static_cast<double>(p.memory_slices) / 8.0;
  for (auto& [dtype, rate] : d.vector_tflops) rate *= compute;
  for (auto& [dtype, rate] : d.matrix_tflops) rate *= compute;
  d.bandwidth_gb_s *= memory;
  d.l2_mib *= memory;
  d.sms = p.sms;
  d.memory_mib = p.memory_mib;
  // Power of the part of the chip that works for the slice.
  d.tdp_w = whole.idle_w * memory + (whole.tdp_w - whole.idle_w) * (0.5 * compute + 0.5 * memory);
  d.idle_w = whole.idle_w * memory;
  d.mig.clear();
  return d;
}

}  // namespace perfc
