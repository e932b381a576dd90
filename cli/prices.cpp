#include "cli/prices.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/cli.h"
#include "ir/support/csv.h"

namespace perfc::cli {

std::optional<Prices> prices_of(const std::vector<std::string>& given_prices, const std::vector<Device>& devices) {
  Prices out;
  for (const std::string& text : given_prices) {
    const std::size_t equals = text.rfind('=');
    const auto per_h = equals == std::string::npos ? std::nullopt : parse_number(text.substr(equals + 1));
    if (!per_h || !(*per_h > 0)) {
      fail(kBadUsage, fmt::format("--price: '{}' is not DEVICE=PRICE with a positive price per hour", text));
      return std::nullopt;
    }
    Diagnostics unsaid;
    const std::string given = text.substr(0, equals);
    const auto known = DeviceTable::builtin().find(given, unsaid);  // by alias too
    const std::string device = known ? known->name : given;
    if (std::ranges::find(devices, device, &Device::name) == devices.end()) {
      fail(kBadUsage, fmt::format("--price: '{}' is none of the devices that are predicted for", given));
      return std::nullopt;
    }
    out[device] = *per_h;
  }
  return out;
}

}  // namespace perfc::cli
