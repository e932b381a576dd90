#include "options/command.h"

#include <fmt/format.h>

#include <stdexcept>

namespace perfc {

std::string set_number(const Option& option, double value) {
  if (std::holds_alternative<Positive>(option.demand) && !(value > 0))
    return fmt::format("{:g} is not positive", value);
  if (const auto* range = std::get_if<RealBetween>(&option.demand);
      range && !(value >= range->least && value <= range->most))
    return fmt::format("{:g} is not from {:g} to {:g}", value, range->least, range->most);
  if (auto* const* real = std::get_if<double*>(&option.target)) **real = value;
  else if (auto* const* some = std::get_if<std::optional<double>*>(&option.target)) **some = value;
  else throw std::logic_error(option.names + ": only the command line reads values of its kind");
  return {};
}

}  // namespace perfc
