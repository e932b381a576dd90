#include "cli/sweep/settings.h"

#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "ir/support/input_file.h"

namespace perfc::cli {
namespace {

namespace fs = std::filesystem;
using SettingsJson = nlohmann::ordered_json;
constexpr const char* kSchema = "perfc.sweep/1";

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

std::optional<std::string> sweep_settings(const PredictOptions& o, const SweepPlan& plan) {
  SettingsJson files = SettingsJson::object();
  for (const std::string* path : {&o.device_file, &o.smi_file, &o.host, &o.stack, &o.predictor}) {
    std::error_code error;
    if (path->empty() || !fs::is_regular_file(*path, error)) continue;
    Diagnostics diags(*path);
    const auto file = InputFile::open(*path, diags);
    print(diags);
    if (!file) return std::nullopt;
    files[*path] = digest_of(file->bytes());
  }
  SettingsJson batches = SettingsJson::array(), runs = batches, devices = batches, models = batches;
  for (const auto& b : plan.batches) batches.push_back(b ? SettingsJson(*b) : SettingsJson(nullptr));
  for (const Request& r : plan.runs)
    runs.push_back(fmt::format("{} {}", def(r.exec.runtime).name, name(r.exec.precision)));
  for (const Device& d : plan.devices) devices.push_back(d.name);
  for (const SweepModel& m : plan.models) models.push_back(model_json(m));
  const SettingsJson out{{"schema", kSchema},
                         {"perfc", PERFC_VERSION},
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
                         {"cudnn-benchmark", o.cudnn_benchmark},
                         {"predictor", o.predictor},
                         {"opaque", o.opaque},
                         {"fold-batch-norm", o.fold},
                         {"files", files},
                         {"models", models}};
  return out.dump(1, ' ', false, SettingsJson::error_handler_t::replace) + "\n";
}

bool same_settings(const std::string& file, const std::string& settings, const std::string& table) {
  const auto refused = [&](const std::string& why) {
    fail(kBadInput, fmt::format("{}: {}; name another file, or give --overwrite", table, why));
    return false;
  };
  std::error_code error;
  if (!fs::exists(file, error)) return refused(fmt::format("is there, but no {} to say what it was made with", file));
  Diagnostics diags(file);
  const auto found = InputFile::open(file, diags);
  if (!found) return print(diags), false;
  if (found->bytes() == settings) return true;
  const SettingsJson now = SettingsJson::parse(settings);
  const SettingsJson then = SettingsJson::parse(found->bytes(), nullptr, false);
  if (!then.is_object() || then.value("schema", SettingsJson()) != kSchema)
    return refused(fmt::format("{} has no settings of a sweep", file));
  for (const auto& [key, value] : now.items()) {
    const SettingsJson was = then.value(key, SettingsJson());
    if (was == value) continue;
    if (key != "models" || !was.is_array()) {
      const auto text = [](const SettingsJson& j) {
        return j.dump(-1, ' ', false, SettingsJson::error_handler_t::replace);
      };
      return refused(
          fmt::format("was made with other settings: '{}' was {}, now it is {}", key, text(was), text(value)));
    }
    std::size_t i = 0;
    while (i < was.size() && i < value.size() && was[i] == value[i]) ++i;
    const SettingsJson& differs = i < value.size() ? value[i] : was[i];
    return refused(fmt::format("was made of other models: {} was changed, added or removed",
                               differs.is_object() ? differs.value("name", "one") : "one"));
  }
  return refused(fmt::format("{} has other settings", file));
}

}  // namespace perfc::cli
