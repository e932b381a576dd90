#include "cli/sweep/settings.h"

#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "ir/support/input_file.h"
#include "sweep/settings.h"

namespace perfc::cli {

bool same_settings(const std::string& file, const std::string& settings, const std::string& table) {
  const auto refused = [&](const std::string& why) {
    fail(kBadInput, fmt::format("{}: {}; name another file, or give --overwrite", table, why));
    return false;
  };
  using SettingsJson = nlohmann::ordered_json;
  std::error_code error;
  if (!std::filesystem::exists(file, error))
    return refused(fmt::format("is there, but no {} to say what it was made with", file));
  Diagnostics diags(file);
  const auto found = InputFile::open(file, diags);
  if (!found) return print(diags), false;
  if (found->bytes() == settings) return true;
  const SettingsJson now = SettingsJson::parse(settings);
  const SettingsJson then = SettingsJson::parse(found->bytes(), nullptr, false);
  if (!then.is_object() || then.value("schema", SettingsJson()) != kSweepSchema)
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
