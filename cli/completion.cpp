#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "cli/cli.h"

namespace perfc::cli {
namespace {

struct Words {
  std::vector<std::string> commands;
  std::map<std::string, std::vector<std::string>> options;  ///< per command; of a group also its commands
};

void append_options(const Command& command, std::vector<std::string>& words) {
  for (std::string& name : long_names(command)) {
    if (std::find(words.begin(), words.end(), name) == words.end()) words.push_back(std::move(name));
  }
}

Words collect(const Command& root) {
  Words w{.commands = names_of(root.commands), .options = {}};
  for (const Command& c : root.commands) {
    std::vector<std::string>& words = w.options[c.name];
    append_options(c, words);
    for (const Command& of_group : c.commands) {
      words.push_back(of_group.name);
      append_options(of_group, words);
    }
  }
  return w;
}

std::string bash(const Words& w) {
  std::string cases;
  for (const auto& [command, options] : w.options)
    cases += fmt::format("    {}) words='{}' ;;\n", command, fmt::join(options, " "));
  return fmt::format(
      "_perfc() {{\n  local cur=${{COMP_WORDS[COMP_CWORD]}} words=''\n  if [ \"$COMP_CWORD\" = 1 ]; then\n"
      "    COMPREPLY=($(compgen -W '{}' -- \"$cur\") $(compgen -f -- \"$cur\"))\n    return\n  fi\n"
      "  case ${{COMP_WORDS[1]}} in\n{}    *) words='{}' ;;\n  esac\n"
      "  COMPREPLY=($(compgen -W \"$words\" -- \"$cur\") $(compgen -f -- \"$cur\"))\n}}\ncomplete -o filenames -F "
      "_perfc perfc\n",
      fmt::join(w.commands, " "), cases, fmt::join(w.options.at("predict"), " "));
}

/// Serves as a file of $fpath, where it is the function's body, and for `source <(perfc completion zsh)`.
std::string zsh(const Words& w) {
  std::string cases;
  for (const auto& [command, options] : w.options)
    cases += fmt::format("    {}) offered=({}) ;;\n", command, fmt::join(options, " "));
  return fmt::format(
      "#compdef perfc\n_perfc() {{\n  local -a offered\n  if (( CURRENT == 2 )); then\n    compadd -- {}\n    _files\n"
      "    return\n  fi\n  case ${{words[2]}} in\n{}    *) offered=({}) ;;\n  esac\n  compadd -- $offered\n  _files\n"
      "}}\nif [[ $funcstack[1] == _perfc ]]; then\n  _perfc \"$@\"\nelse\n  compdef _perfc perfc\nfi\n",
      fmt::join(w.commands, " "), cases, fmt::join(w.options.at("predict"), " "));
}

std::string fish(const Words& w) {
  std::string out = fmt::format("complete -c perfc -n __fish_use_subcommand -a '{}'\n", fmt::join(w.commands, " "));
  for (const auto& [command, options] : w.options) {
    for (const std::string& o : options) {
      out += fmt::format("complete -c perfc -n '__fish_seen_subcommand_from {}' {} {}\n", command,
                         o.starts_with("--") ? "-l" : "-a", o.starts_with("--") ? o.substr(2) : o);
    }
  }
  return out;
}

int run_completion(const Command& root, const std::string& shell) {
  const Words words = collect(root);
  auto out = Output::open("");
  if (shell == "bash") {
    out->write(bash(words));
  } else if (shell == "zsh") {
    out->write(zsh(words));
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

Command completion_command(const Command& root) {
  auto shell = std::make_shared<std::string>();
  Command c{"completion", "Print a completion script: bash, zsh or fish",
            [&root, shell] { return run_completion(root, *shell); }};
  c.option("shell", *shell, "bash, zsh or fish").required();
  return c;
}

}  // namespace perfc::cli
