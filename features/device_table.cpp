#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "features/builtin_devices.h"
#include "features/device.h"

namespace perfc {
namespace {

using Json = nlohmann::json;

std::string lower(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(), [](unsigned char c) { return std::tolower(c); });
  return out;
}

/// Reads the fields of one JSON object: every wrong, missing or unknown one is
/// reported with its path.
class Fields {
 public:
  Fields(const Json& object, std::string path, Diagnostics& diags)
      : object_(object), path_(std::move(path)), diags_(diags) {
    if (!object_.is_object()) complain("", "must be an object");
  }

  void text(const char* key, std::string& out) {
    if (const Json* v = find(key)) {
      if (v->is_string()) out = v->get<std::string>();
      else complain(key, "must be a string");
    }
  }
  /// A finite number within [least, most].
  void number(const char* key, double& out, double least, double most) {
    if (const Json* v = find(key)) {
      if (!v->is_number() || !std::isfinite(v->get<double>())) return complain(key, "must be a number");
      const double x = v->get<double>();
      if (x < least || x > most) return complain(key, fmt::format("is {}, must lie in [{}, {}]", x, least, most));
      out = x;
    }
  }
  void integer(const char* key, int& out, int least, int most) {
    double x = out;
    number(key, x, least, most);
    if (x != std::floor(x)) return complain(key, "must be a whole number");
    out = static_cast<int>(x);
  }
  void texts(const char* key, std::vector<std::string>& out) {
    if (const Json* v = find(key)) {
      if (!v->is_array()) return complain(key, "must be a list of strings");
      out.clear();
      for (const Json& e : *v) {
        if (!e.is_string()) return complain(key, "must be a list of strings");
        out.push_back(e.get<std::string>());
      }
    }
  }
  /// Name → positive number; names must be among `known`. Keys given replace
  /// those already in `out`.
  void rates(const char* key, std::map<std::string, double>& out, const std::set<std::string>& known, double most) {
    if (const Json* v = find(key)) {
      if (!v->is_object()) return complain(key, "must be an object of numbers");
      for (const auto& [name, rate] : v->items()) {
        const std::string at = fmt::format("{}.{}", key, name);
        if (!known.count(name)) {
          const std::string near = did_you_mean(name, {known.begin(), known.end()});
          complain(at, fmt::format("is not a known name{}", near.empty() ? "" : fmt::format(" (did you mean '{}'?)", near)));
        } else if (!rate.is_number() || !(rate.get<double>() > 0) || rate.get<double>() > most) {
          complain(at, fmt::format("must be a number in (0, {}]", most));
        } else {
          out[name] = rate.get<double>();
        }
      }
    }
  }
  const Json* list(const char* key) {
    const Json* v = find(key);
    if (v && !v->is_array()) {
      complain(key, "must be a list");
      return nullptr;
    }
    return v;
  }
  void require(const char* key) {
    if (object_.is_object() && !object_.contains(key)) complain(key, "is missing");
  }
  /// Call last: what nobody asked for is unknown.
  void finish() {
    if (!object_.is_object()) return;
    for (const auto& [key, value] : object_.items()) {
      if (seen_.count(key)) continue;
      const std::string near = did_you_mean(key, {seen_.begin(), seen_.end()});
      complain(key, fmt::format("is not a field{}", near.empty() ? "" : fmt::format(" (did you mean '{}'?)", near)));
    }
  }

 private:
  const Json* find(const char* key) {
    seen_.insert(key);
    if (!object_.is_object()) return nullptr;
    const auto it = object_.find(key);
    return it == object_.end() ? nullptr : &*it;
  }
  void complain(std::string_view key, std::string message) {
    (void)diags_.error(fmt::format("{}{}{}: {}", path_, key.empty() || path_.empty() ? "" : ".", key, message));
  }

  const Json& object_;
  std::string path_;
  Diagnostics& diags_;
  std::set<std::string> seen_;
};

const std::set<std::string> kDtypes{"float64", "float32", "tf32", "float16", "bfloat16", "float8", "int8", "int4"};
const std::set<std::string> kPrecisions{"fp32", "tf32", "amp", "fp16", "bf16", "int8"};
const std::set<std::string> kEfficiencies{"matmul", "convolution", "vector_matmul", "vector_convolution", "depthwise", "vector", "bandwidth", "gather", "layout"};

/// The calibratable terms, in a device or in the defaults.
void read_terms(Fields& f, Device& d) {
  f.number("launch_us", d.launch_us, 0, 1e4);
  f.number("host_us_eager", d.host_us_eager, 0, 1e5);
  f.number("host_us_compiled", d.host_us_compiled, 0, 1e5);
  f.number("context_mib", d.context_mib, 0, 1e6);
  f.number("context_mib_per_sm", d.context_mib_per_sm, 0, 1e4);
  f.number("convolution_mib", d.convolution_mib, 0, 1e6);
  f.rates("efficiency", d.efficiency, kEfficiencies, 10);
  f.number("busy_power", d.busy_power, 0.01, 2);
  f.number("memory_power", d.memory_power, 0.1, 10);
  f.number("product_half_depth", d.product_half_depth, 0, 1e5);
  f.number("product_overlap", d.product_overlap, 0, 1);
}

MigProfile read_profile(const Json& json, const std::string& path, Diagnostics& diags) {
  MigProfile p;
  Fields f(json, path, diags);
  for (const char* key : {"name", "compute_slices", "memory_slices", "sms", "memory_mib", "max_instances"}) f.require(key);
  f.text("name", p.name);
  f.integer("compute_slices", p.compute_slices, 1, 8);
  f.integer("memory_slices", p.memory_slices, 1, 8);
  f.integer("sms", p.sms, 1, 4096);
  f.number("memory_mib", p.memory_mib, 1, 1e8);
  f.integer("max_instances", p.max_instances, 1, 64);
  f.finish();
  return p;
}

Device read_device(const Json& json, const std::map<std::string, Device>& defaults, const std::string& path, Diagnostics& diags) {
  Device d;
  std::string kind = "gpu", source;
  if (json.is_object() && json.contains("kind") && json["kind"].is_string()) kind = json["kind"].get<std::string>();
  if (const auto base = defaults.find(kind); base != defaults.end()) d = base->second;
  Fields f(json, path, diags);
  for (const char* key : {"name", "vector_tflops", "bandwidth_gb_s", "memory_mib", "tdp_w"}) f.require(key);
  f.text("name", d.name);
  d.title = d.name;
  f.text("title", d.title);
  f.texts("aliases", d.aliases);
  f.text("kind", d.kind);
  if (d.kind != "gpu" && d.kind != "cpu") (void)diags.error(fmt::format("{}.kind: must be 'gpu' or 'cpu', is '{}'", path, d.kind));
  f.text("architecture", d.architecture);
  f.text("source", source);
  f.rates("vector_tflops", d.vector_tflops, kDtypes, 1e6);
  f.rates("matrix_tflops", d.matrix_tflops, kDtypes, 1e6);
  if (!d.vector_tflops.count("float32")) (void)diags.error(fmt::format("{}.vector_tflops.float32: is missing", path));
  f.number("bandwidth_gb_s", d.bandwidth_gb_s, 0.1, 1e6);
  f.number("l2_mib", d.l2_mib, 0, 1e5);
  f.integer("sms", d.sms, 1, 100000);
  f.number("boost_clock_mhz", d.boost_clock_mhz, 1, 1e5);
  f.number("memory_mib", d.memory_mib, 1, 1e8);
  f.number("tdp_w", d.tdp_w, 0.1, 1e5);
  f.number("idle_w", d.idle_w, 0, 1e5);
  f.integer("calibrated_labels", d.calibrated_labels, 0, 100000000);
  if (d.idle_w > d.tdp_w) (void)diags.error(fmt::format("{}.idle_w: {} is more than tdp_w {}", path, d.idle_w, d.tdp_w));
  read_terms(f, d);
  f.rates("interval", d.interval, kPrecisions, 100);
  if (const Json* profiles = f.list("mig")) {
    d.mig.clear();
    for (std::size_t i = 0; i < profiles->size(); ++i) {
      MigProfile p = read_profile((*profiles)[i], fmt::format("{}.mig[{}]", path, i), diags);
      if (p.sms > d.sms) (void)diags.error(fmt::format("{}.mig[{}].sms: {} is more than the device's {}", path, i, p.sms, d.sms));
      d.mig.push_back(std::move(p));
    }
  }
  f.finish();
  return d;
}

std::map<std::string, Device> read_defaults(const Json& json, Diagnostics& diags, std::map<std::string, Device> defaults) {
  for (const char* kind : {"gpu", "cpu"}) {
    if (!json.is_object() || !json.contains(kind)) continue;
    Fields f(json[kind], fmt::format("defaults.{}", kind), diags);
    Device& d = defaults[kind];
    d.kind = kind;
    read_terms(f, d);
    f.finish();
  }
  return defaults;
}

/// The default terms of the built-in table serve user files too.
const std::map<std::string, Device>& builtin_defaults() {
  static const std::map<std::string, Device> terms = [] {
    Diagnostics diags("devices.json");
    return read_defaults(Json::parse(kBuiltinDevices, nullptr, false)["defaults"], diags, {});
  }();
  return terms;
}

}  // namespace

std::string_view name(Precision p) {
  static constexpr std::string_view kNames[] = {"fp32", "tf32", "amp", "fp16", "bf16", "int8"};
  return kNames[static_cast<std::size_t>(p)];
}

Result<Precision> find_precision(std::string_view text) {
  for (const Precision p : {Precision::Fp32, Precision::Tf32, Precision::Amp, Precision::Fp16, Precision::Bf16, Precision::Int8}) {
    if (name(p) == text) return p;
  }
  return Failure{};
}

Result<DeviceTable> DeviceTable::parse(std::string_view text, std::string file, Diagnostics& diags) {
  (void)file;
  const std::size_t before = diags.errors();
  const Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (json.is_discarded()) return diags.error("not valid JSON; a device file looks like data/devices.json (docs/devices.md)");
  DeviceTable table;
  Fields top(json, "", diags);
  std::string schema;
  top.require("schema");
  top.require("devices");
  top.text("schema", schema);
  if (!schema.empty() && schema != "perfc.devices/1") return diags.error(fmt::format("schema: '{}' is not 'perfc.devices/1'", schema));
  const bool own = json.is_object() && json.contains("defaults");
  const auto defaults = own ? read_defaults(json["defaults"], diags, builtin_defaults()) : builtin_defaults();
  if (const Json* devices = top.list("devices")) {
    std::set<std::string> names;
    for (std::size_t i = 0; i < devices->size(); ++i) {
      Device d = read_device((*devices)[i], defaults, fmt::format("devices[{}]", i), diags);
      if (!names.insert(lower(d.name)).second) (void)diags.error(fmt::format("devices[{}].name: '{}' occurs twice", i, d.name));
      table.devices_.push_back(std::move(d));
    }
  }
  Json ignored;
  if (json.is_object()) {
    for (const auto& [key, value] : json.items()) {
      if (key != "schema" && key != "defaults" && key != "devices") (void)diags.error(fmt::format("{}: is not a field", key));
    }
  }
  if (diags.errors() > before) return Failure{};
  return table;
}

const DeviceTable& DeviceTable::builtin() {
  static const DeviceTable table = [] {
    Diagnostics diags("devices.json");
    auto parsed = parse(kBuiltinDevices, "devices.json", diags);
    return parsed ? std::move(*parsed) : DeviceTable{};
  }();
  return table;
}

void DeviceTable::add(DeviceTable other) {
  devices_.insert(devices_.begin(), std::make_move_iterator(other.devices_.begin()), std::make_move_iterator(other.devices_.end()));
}

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
    return diags.error(fmt::format("unknown device '{}'{}; `perfc devices` lists them, --device-file adds your own", wanted,
                                   near.empty() ? "" : fmt::format(" (did you mean '{}'?)", near)));
  }
  if (colon == std::string_view::npos) return *found;
  const std::string profile = lower(wanted.substr(colon + 1));
  std::vector<std::string> profiles;
  for (const MigProfile& p : found->mig) {
    if (p.name == profile) return slice(*found, p);
    profiles.push_back(p.name);
  }
  if (profiles.empty()) return diags.error(fmt::format("device '{}' has no MIG profiles", found->name));
  const std::string near = did_you_mean(profile, profiles);
  return diags.error(fmt::format("device '{}' has no MIG profile '{}'{}; it has {}", found->name, profile,
                                 near.empty() ? "" : fmt::format(" (did you mean '{}'?)", near), fmt::join(profiles, ", ")));
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
