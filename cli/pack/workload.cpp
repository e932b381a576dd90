#include "cli/pack/workload.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "cli/yaml_predict.h"
#include "compare/comparison.h"
#include "pipeline/model_file.h"

namespace perfc::cli {
namespace {

constexpr const char* kNeeds[] = {"media", "graphics"};

bool read_workload_entry(const YAML::Node& node, const std::string& file, WorkloadEntry& e) {
  if (!node.IsMap()) return complain(file, node, "a mapping with 'model' was expected");
  PredictKeys keys(e.predict);
  keys.texts.insert({{"model", &e.model}, {"name", &e.name}, {"needs", &e.needs}});
  bool good = true;
  for (const auto& item : node) {
    const auto key = item.first.as<std::string>();
    const YAML::Node& value = item.second;
    double number = 0;
    if (const auto read = keys.read(key, value, file); read != PredictKeys::Read::Unknown) {
      good = read == PredictKeys::Read::Good && good;
    } else if (key == "rate") {
      good = read_positive(file, key, value, e.rate_per_s) && good;
    } else if (key == "max_latency_ms") {
      if (read_positive(file, key, value, number)) e.max_latency_ms = number;
      else good = false;
    } else if (key == "replicas") {
      int replicas = 0;
      if (!YAML::convert<int>::decode(value, replicas) || replicas < 1 || replicas > kMostPackGpus)
        good = complain(file, value, fmt::format("'replicas' must be a whole number from 1 to {}", kMostPackGpus));
      else e.replicas = replicas;
    } else {
      std::vector<std::string> known = keys.names();
      known.insert(known.end(), {"rate", "max_latency_ms", "replicas"});
      good = unknown_key(file, item.first, known);
    }
  }
  if (!e.needs.empty() && std::ranges::find(kNeeds, e.needs) == std::end(kNeeds))
    good = complain(file, node, fmt::format("'needs' is media or graphics, not '{}'", e.needs));
  return good;
}

/// All that makes a prediction.
std::string key_of(const WorkloadEntry& e) {
  PredictOptions o = e.predict;
  const PredictKeys keys(o);
  std::string key = e.path;
  for (const auto& [name, text] : keys.texts) key += fmt::format("\n{}={}", name, *text);
  for (const auto& list : {o.dims, o.shapes, o.values, o.batch_axes, o.trip_counts, o.bounds})
    key += fmt::format("\n{}", fmt::join(list, "\t"));
  return key + fmt::format("\n{} {} {}", o.fold, o.cudnn_benchmark, o.device_file);
}

}  // namespace

void add_slice_options(Command& c, SliceOptions& o) {
  c.option("--utilisation", o.limits.utilisation, "Share of the time that a slice may work [0.7]")
      .must_be(RealBetween{0.01, 0.99});
  c.option("--headroom", o.limits.headroom, "Share of a slice's memory to keep free [0.05]")
      .must_be(RealBetween{0.0, 0.9});
  c.option(
      "--certain", o.certain,
      "Hold the upper ends of the 90 % intervals of latency and memory against the limits, not what is most likely");
}

bool read_workload(const std::string& path, const WorkloadEntry& defaults, std::vector<WorkloadEntry>& out) {
  namespace fs = std::filesystem;
  return read_yaml(path, [&](const YAML::Node& root) {
    if (!root.IsMap() || !root["models"] || !root["models"].IsSequence() || root["models"].size() == 0) {
      fail(kBadInput, fmt::format("{}: needs a list 'models' (docs/pack.md)", path));
      return false;
    }
    bool good = true;
    WorkloadEntry base = defaults;
    for (const auto& item : root) {
      const auto key = item.first.as<std::string>();
      if (key == "models") continue;
      if (key != "defaults") good = unknown_key(path, item.first, {"defaults", "models"});
      else good = read_workload_entry(item.second, path, base) && good;
    }
    if (!base.model.empty() || !base.name.empty()) good = complain(path, root, "'defaults' has no 'model' and 'name'");
    for (const YAML::Node& node : root["models"]) {
      WorkloadEntry e = base;
      const bool read = read_workload_entry(node, path, e);
      if (read && e.model.empty()) complain(path, node, "'model' is missing");
      good = good && read && !e.model.empty();
      e.path = fs::path(e.model).is_absolute() ? e.model : (fs::path(path).parent_path() / e.model).string();
      out.push_back(std::move(e));
    }
    return good;
  });
}

void name_entries(std::vector<WorkloadEntry>& entries) {
  std::map<std::string, int> times, at;
  for (WorkloadEntry& e : entries) {
    if (e.name.empty()) e.name = std::filesystem::path(e.model).stem().string();
    e.name = printable(e.name);
    ++times[e.name];
  }
  std::set<std::string> taken;
  for (const auto& [name, n] : times) taken.insert(name);
  for (WorkloadEntry& e : entries) {
    if (times[e.name] == 1) continue;
    const std::string base = e.name;
    do e.name = fmt::format("{}-{}", base, ++at[base]);
    while (taken.count(e.name));
    taken.insert(e.name);
  }
}

std::optional<std::vector<Report>> WorkloadPredictor::on(const WorkloadEntry& e, const std::vector<Device>& devices,
                                                         int& code) {
  std::string key = key_of(e);
  for (const Device& d : devices) key += "\n" + d.name;
  if (const auto at = known_.find(key); at != known_.end()) return at->second;
  code = kBadUsage;
  auto request = to_request(e.predict);
  if (!request) return std::nullopt;
  code = kBadInput;
  request->model = e.path;
  request->devices = {devices.front().whole()};
  Diagnostics diags(e.path);
  std::vector<Device> on = devices;
  if (!set_surroundings(*request, on, diags)) {
    print(diags);
    return std::nullopt;
  }
  auto& predictor = predictors_[fmt::format("{} {}", request->predictor, static_cast<int>(request->opaque))];
  if (!predictor) {
    auto found = find_predictor(*request, diags);
    if (found) predictor = std::move(*found);
  }
  Result<ModelFile> file = Failure{};
  Result<Graph> graph = Failure{};
  Result<std::vector<Report>> reports = Failure{};
  if (predictor) file = ModelFile::open(*request, diags);
  if (file) graph = file->at(*request, diags);
  if (graph) reports = predict(*graph, on, *predictor, *request, diags);
  if (!reports) {
    print(diags);
    return std::nullopt;
  }
  print_warnings(diags);
  for (Report& r : *reports) r.hot_ops.clear(), r.prediction.ops.clear();  // a plan needs totals only
  return known_[key] = std::move(*reports);
}

ServiceOnSlice service_of(const Report& r, bool certain) {
  const Prediction& p = r.prediction;
  ServiceOnSlice out;
  out.batch_ms = certain ? p.latency_hi_ms : p.latency_ms;
  out.memory_mib = certain ? std::max(p.memory_hi_mib, p.memory.needed_mib()) : p.memory.needed_mib();
  if (p.latency_ms > 0) out.work_w = std::max(0.0, p.energy_j / (p.latency_ms / 1e3) - r.device.idle_w);
  return out;
}

std::string missed_limit(const ServiceDemand& d, const ServiceOnSlice& on, double memory_mib,
                         const ServiceLimits& limits) {
  const double room = memory_mib * (1 - limits.headroom);
  if (!(on.memory_mib < room))
    return fmt::format("needs {:.0f} of {:.0f} MiB ({:.0f} % kept free)", on.memory_mib, memory_mib,
                       limits.headroom * 100);
  if (gather_ms(d, on, 1, limits) < 0) {
    const double wait = *d.max_latency_ms - on.batch_ms - gather_ms(d, on, 1, limits);
    return fmt::format("takes {:.2f} ms (a batch of {} {:.2f}, its wait {:.2f}), more than {:g}", on.batch_ms + wait,
                       d.batch, on.batch_ms, wait, *d.max_latency_ms);
  }
  return {};
}

double missed_by(const ServiceDemand& d, const ServiceOnSlice& on, double memory_mib, const ServiceLimits& limits) {
  double by = on.memory_mib / std::max(1e-9, memory_mib * (1 - limits.headroom));
  if (d.max_latency_ms) by = std::max(by, 1 - gather_ms(d, on, 1, limits) / *d.max_latency_ms);
  return by;
}

bool is_variant(const Device& d, std::size_t profile) {
  const MigProfile& p = d.mig[profile];
  return std::any_of(d.mig.begin(), d.mig.begin() + static_cast<std::ptrdiff_t>(profile), [&](const MigProfile& o) {
    return std::tie(o.sms, o.memory_slices, o.memory_mib) == std::tie(p.sms, p.memory_slices, p.memory_mib);
  });
}

}  // namespace perfc::cli
