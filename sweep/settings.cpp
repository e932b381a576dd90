#include "sweep/settings.h"

#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "ir/support/input_file.h"

namespace perfc {
namespace {

namespace fs = std::filesystem;
using SettingsJson = nlohmann::ordered_json;

/// FNV-1a, 64 bits: tells files apart, and protects from nothing.
std::string digest_of(std::string_view bytes) {
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  for (const char c : bytes) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
  return fmt::format("{:016x}", hash);
}

SettingsJson model_json(const SweepModel& m) {
  std::error_code error;
  SettingsJson out{{"name", m.name}};
  if (fs::is_directory(m.path, error)) return out;
  out["bytes"] = fs::file_size(m.path, error);
  if (!m.from_git) out["changed"] = fs::last_write_time(m.path, error).time_since_epoch().count();
  return out;
}

}  // namespace

Result<std::string> sweep_settings(const PredictOptions& o, const SweepPlan& plan, std::string_view version,
                                   Diagnostics& diags) {
  SettingsJson files = SettingsJson::object();
  for (const std::string* path : {&o.device_file, &o.smi_file, &o.host, &o.stack, &o.predictor}) {
    std::error_code error;
    if (path->empty() || !fs::is_regular_file(*path, error)) continue;
    Diagnostics of_file(*path);
    const auto file = InputFile::open(*path, of_file);
    diags.append(of_file);
    if (!file) return Failure{};
    files[*path] = digest_of(file->bytes());
  }
  SettingsJson batches = SettingsJson::array(), runs = batches, devices = batches, models = batches;
  for (const auto& b : plan.batches) batches.push_back(b ? SettingsJson(*b) : SettingsJson(nullptr));
  for (const Request& r : plan.runs)
    runs.push_back(fmt::format("{} {}{}", def(r.exec.runtime).name, name(r.exec.precision),
                               r.dtype_from == DtypeFrom::Runtime ? " or the model's 16 bits" : ""));
  for (const Device& d : plan.devices) devices.push_back(d.name);
  for (const SweepModel& m : plan.models) models.push_back(model_json(m));
  const SettingsJson out{{"schema", kSweepSchema},
                         {"perfc", version},
                         {"batch", batches},
                         {"runtime and dtype", runs},
                         {"device", devices},
                         {"shape", o.shapes},
                         {"signature", o.signature},
                         {"dim", o.dims},
                         {"batch-axis", o.batch_axes},
                         {"value", o.values},
                         {"trip-count", o.trip_counts},
                         {"dynamic", o.dynamic},
                         {"bound", o.bounds},
                         {"host", o.host},
                         {"stack", o.stack},
                         {"layout", o.layout},
                         {"norms", o.norms},
                         {"task", o.task},
                         {"optimizer", o.optimizer},
                         {"pacing", o.pacing},
                         {"cudnn-benchmark", o.cudnn_benchmark},
                         {"predictor", o.predictor},
                         {"opaque", o.opaque},
                         {"fold-batch-norm", o.fold},
                         {"files", files},
                         {"models", models}};
  return out.dump(1, ' ', false, SettingsJson::error_handler_t::replace) + "\n";
}

}  // namespace perfc
