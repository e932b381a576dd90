#include "web/words.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "ir/support/text.h"

namespace perfc::web {
namespace {

/// Whether `word` is one of "--long,-s".
bool is_name(std::string_view names, std::string_view word) {
  while (!names.empty()) {
    if (next_word(names, ',') == word) return true;
  }
  return false;
}

bool assign(const Option& option, const std::string& name, const std::string& value, Diagnostics& usage) {
  if (auto* const* text = std::get_if<std::string*>(&option.target)) {
    **text = value;
  } else if (auto* const* words = std::get_if<std::vector<std::string>*>(&option.target)) {
    std::string_view rest = value;
    if (!option.separator) (*words)->push_back(value);
    while (option.separator && !rest.empty()) (*words)->emplace_back(next_word(rest, *option.separator));
  } else {
    double number = 0;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
    const bool whole = error == std::errc{} && end == value.data() + value.size();
    const std::string wrong = whole ? set_number(option, number) : fmt::format("'{}' is no number", value);
    if (!wrong.empty()) {
      usage.error(fmt::format("{}: {}", name, wrong));
      return false;
    }
  }
  return true;
}

}  // namespace

bool read_words(const std::vector<std::string>& words, const Command& command, Diagnostics& usage) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    const bool named = words[i].starts_with("-") && words[i] != "-";
    const std::size_t equals = named ? words[i].find('=') : std::string::npos;
    const std::string name = named ? words[i].substr(0, equals) : "models";
    const auto option = std::ranges::find_if(command.options, [&](const Option& o) { return is_name(o.names, name); });
    if (option == command.options.end()) {
      std::vector<std::string> known;
      for (const Option& o : command.options) known.push_back(o.names.substr(0, o.names.find(',')));
      const std::string near = did_you_mean(name, known);
      usage.error(fmt::format("{}: no such option here{}", name,
                              near.empty() ? "" : fmt::format(" (did you mean '{}'?)", near)));
      return false;
    }
    if (auto* const* flag = std::get_if<bool*>(&option->target)) {
      **flag = true;
      continue;
    }
    std::string value = !named ? words[i] : equals == std::string::npos ? "" : words[i].substr(equals + 1);
    if (named && equals == std::string::npos) {
      if (++i == words.size()) {
        usage.error(fmt::format("{}: a value is missing", name));
        return false;
      }
      value = words[i];
    }
    if (!assign(*option, name, value, usage)) return false;
  }
  return true;
}

}  // namespace perfc::web
