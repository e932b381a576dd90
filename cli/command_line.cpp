#include "cli/command_line.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cmath>
#include <sstream>

namespace perfc::cli {
namespace {

template <class... F>
struct Overloaded : F... {
  using F::operator()...;
};
template <class... F>
Overloaded(F...) -> Overloaded<F...>;  // for clang before 17

CLI::Option* add_target(CLI::App& app, const Option& o) {
  return std::visit(Overloaded{
                        [&](std::monostate) { return app.add_option(o.names, o.help); },
                        [&](bool* flag) { return app.add_flag(o.names, *flag, o.help); },
                        [&](auto* value) { return app.add_option(o.names, *value, o.help); },
                    },
                    o.target);
}

/// A check with a message of its own; `in_help`: what help says behind the option's type.
CLI::Validator demand(std::string what, std::string in_help, std::function<bool(const std::string&)> holds) {
  return CLI::Validator(
      [what = std::move(what), holds = std::move(holds)](const std::string& text) {
    return holds(text) ? std::string() : fmt::format("'{}' is not {}", text, what);
      },
      std::move(in_help));
}

/// All of a text as a number; empty: it is none, or not finite.
template <class T>
std::optional<T> as_number(const std::string& text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || !std::isfinite(static_cast<double>(value)))
    return std::nullopt;
  return value;
}

CLI::Validator positive() {
  return demand("a positive number", "POSITIVE", [](const std::string& text) {
    const auto v = as_number<double>(text);
    return v && *v > 0;
  });
}

CLI::Validator whole() {
  return demand("a whole number", "",
                [](const std::string& text) { return as_number<std::uint64_t>(text).has_value(); });
}

CLI::Validator whole_between(int least, int most) {
  return demand(fmt::format("a whole number from {} to {}", least, most), fmt::format("INT in [{} - {}]", least, most),
                [=](const std::string& text) {
    const auto v = as_number<int>(text);
    return v && *v >= least && *v <= most;
  });
}

CLI::Validator real_between(double least, double most) {
  return demand(fmt::format("a number from {} to {}", least, most), fmt::format("FLOAT in [{:g} - {:g}]", least, most),
                [=](const std::string& text) {
    const auto v = as_number<double>(text);
    return v && *v >= least && *v <= most;
  });
}

void add_demand(CLI::Option& option, const Demand& demand) {
  std::visit(Overloaded{
                 [](const Anything&) {},
                 [&](const Positive&) { option.check(positive()); },
                 [&](const WholeBetween& d) { option.check(whole_between(d.least, d.most)); },
                 [&](const RealBetween& d) { option.check(real_between(d.least, d.most)); },
                 [&](const OneOf& d) { option.check(CLI::IsMember(d.choices)); },
                 [&](const ReadBy& reader) { option.check(reader, ""); },
             },
             demand);
}

bool takes_whole_numbers(const Target& target) {
  return std::holds_alternative<std::uint64_t*>(target) || std::holds_alternative<std::vector<std::uint64_t>*>(target);
}

void fill(CLI::App& app, const Command& command) {
  if (!command.footer.empty()) app.footer(command.footer);  // before its commands, which inherit it
  if (!command.version.empty()) app.set_version_flag("--version", command.version);
  if (!command.run) app.require_subcommand(1);
  for (const Option& o : command.options) {
    CLI::Option* option = add_target(app, o);
    if (o.needed) option->required();
    if (o.separator) option->delimiter(*o.separator);
    if (o.tells_default) option->capture_default_str();
    if (takes_whole_numbers(o.target) && std::holds_alternative<Anything>(o.demand)) option->check(whole());
    add_demand(*option, o.demand);
  }
  for (const Command& c : command.commands) fill(*app.add_subcommand(c.name, c.help), c);
}

/// The innermost command that was read, those on the way to it appended to `chosen`.
const CLI::App& innermost(const CLI::App& root, const Command& command, std::vector<const Command*>& chosen) {
  const CLI::App* app = &root;
  const Command* at = &command;
  while (!app->get_subcommands().empty()) {
    app = app->get_subcommands().front();
    const auto is_it = [&](const Command& c) { return c.name == app->get_name(); };
    at = &*std::find_if(at->commands.begin(), at->commands.end(), is_it);
    chosen.push_back(at);
  }
  return *app;
}

}  // namespace

std::vector<std::string> names_of(const std::vector<Command>& commands) {
  std::vector<std::string> names;
  names.reserve(commands.size());
  for (const Command& c : commands) names.push_back(c.name);
  return names;
}

std::vector<std::string> long_names(const Command& command) {
  std::vector<std::string> out{"--help"};
  if (!command.version.empty()) out.emplace_back("--version");
  for (const Option& o : command.options) {
    for (std::istringstream names(o.names); names;) {
      std::string name;
      if (std::getline(names, name, ',') && name.starts_with("--")) out.push_back(std::move(name));
    }
  }
  return out;
}

CommandLine read_command_line(const Command& root, std::vector<std::string> words) {
  CommandLine line;
  CLI::App app{root.help};
  app.name(root.name);
  fill(app, root);
  std::reverse(words.begin(), words.end());  // CLI11 takes them from the back
  try {
    app.parse(std::move(words));
    innermost(app, root, line.chosen);
  } catch (const CLI::Success& e) {
    std::ostringstream out;
    app.exit(e, out);
    line.answer = out.str();
  } catch (const CLI::ParseError& e) {
    const CLI::App& at = innermost(app, root, line.chosen);
    line.error = {e.what(), at.remaining(true), dynamic_cast<const CLI::ExtrasError*>(&e) != nullptr};
  }
  return line;
}

}  // namespace perfc::cli
