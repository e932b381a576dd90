#include "cli/command_line.h"

#include <CLI/CLI.hpp>
#include <algorithm>
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

void add_demand(CLI::Option& option, const Demand& demand) {
  std::visit(Overloaded{
                 [](const Anything&) {},
                 [&](const Positive&) { option.check(CLI::PositiveNumber); },
                 [&](const WholeBetween& d) { option.check(CLI::Range(d.least, d.most)); },
                 [&](const RealBetween& d) { option.check(CLI::Range(d.least, d.most)); },
                 [&](const OneOf& d) { option.check(CLI::IsMember(d.choices)); },
                 [&](const ReadBy& reader) { option.check(reader, ""); },
             },
             demand);
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
