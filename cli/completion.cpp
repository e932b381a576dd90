#include <fmt/format.h>

#include "cli/cli.h"

namespace perfc::cli {
namespace {

struct Words {
  std::vector<std::string> commands;
  std::map<std::string, std::vector<std::string>> options;  ///< per command
};

Words collect(const CLI::App& app) {
  Words w;
  for (const CLI::App* sub : app.get_subcommands([](const CLI::App*) { return true; })) {
    w.commands.push_back(sub->get_name());
    for (const CLI::Option* o : sub->get_options()) {
      for (const std::string& name : o->get_lnames()) w.options[sub->get_name()].push_back("--" + name);
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
    for (const std::string& o : options) out += fmt::format("complete -c perfc -n '__fish_seen_subcommand_from {}' -l {}\n", command, o.substr(2));
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
