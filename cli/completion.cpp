#include <fmt/format.h>

#include <algorithm>

#include "cli/cli.h"

namespace perfc::cli {
namespace {

struct Words {
  std::vector<std::string> commands;
  std::map<std::string, std::vector<std::string>> options;  ///< per command; of a group also its commands
};

std::vector<const CLI::App*> commands_of(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App*) { return true; });
}

void add_options(const CLI::App& command, std::vector<std::string>& words) {
  for (const CLI::Option* o : command.get_options()) {
    for (const std::string& name : o->get_lnames()) {
      if (std::find(words.begin(), words.end(), "--" + name) == words.end()) words.push_back("--" + name);
    }
  }
}

Words collect(const CLI::App& app) {
  Words w;
  for (const CLI::App* sub : commands_of(app)) {
    w.commands.push_back(sub->get_name());
    std::vector<std::string>& words = w.options[sub->get_name()];
    add_options(*sub, words);
    for (const CLI::App* of_group : commands_of(*sub)) {
      words.push_back(of_group->get_name());
      add_options(*of_group, words);
    }
  }
  return w;
}

std::string bash(const Words& w) {
  std::string cases;
  for (const auto& [command, options] : w.options) cases += fmt::format("    {}) words='{}' ;;\n", command, fmt::join(options, " "));
  return fmt::format(
      "_perfc() {{\n  local cur=${{COMP_WORDS[COMP_CWORD]}} words=''\n  if [ \"$COMP_CWORD\" = 1 ]; then\n"
      "    COMPREPLY=($(compgen -W '{}' -- \"$cur\") $(compgen -f -- \"$cur\"))\n    return\n  fi\n"
      "  case ${{COMP_WORDS[1]}} in\n{}    *) words='{}' ;;\n  esac\n"
      "  COMPREPLY=($(compgen -W \"$words\" -- \"$cur\") $(compgen -f -- \"$cur\"))\n}}\ncomplete -o filenames -F _perfc perfc\n",
      fmt::join(w.commands, " "), cases, fmt::join(w.options.at("predict"), " "));
}

std::string fish(const Words& w) {
  std::string out = fmt::format("complete -c perfc -n __fish_use_subcommand -a '{}'\n", fmt::join(w.commands, " "));
  for (const auto& [command, options] : w.options) {
    for (const std::string& o : options) {
      out += fmt::format("complete -c perfc -n '__fish_seen_subcommand_from {}' {} {}\n", command, o.starts_with("--") ? "-l" : "-a",
                         o.starts_with("--") ? o.substr(2) : o);
    }
  }
  return out;
}

int run(const CLI::App& app, const std::string& shell) {
  const Words words = collect(app);
  auto out = Output::open("");
  if (shell == "bash") {
    out->write(bash(words));
  } else if (shell == "zsh") {
    out->write("autoload -U +X bashcompinit && bashcompinit\n" + bash(words));
  } else if (shell == "fish") {
    out->write(fish(words));
  } else {
    const std::string near = did_you_mean(shell, {"bash", "zsh", "fish"});
    return fail(kBadUsage, fmt::format("no completion for '{}'{}; there are bash, zsh, fish", shell,
                                       near.empty() ? "" : fmt::format(" (did you mean '{}'?)", near)));
  }
  return out->commit() ? kFine : kBadInput;
}

}  // namespace

void add_completion(CLI::App& app, Action& action) {
  auto shell = std::make_shared<std::string>();
  CLI::App* sub = app.add_subcommand("completion", "Print a completion script: bash, zsh or fish");
  sub->add_option("shell", *shell, "bash, zsh or fish")->required();
  sub->callback([&app, shell, &action] { action = [&app, shell] { return run(app, *shell); }; });
}

}  // namespace perfc::cli
