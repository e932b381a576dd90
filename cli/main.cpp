#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <sstream>

#include "cli/cli.h"
#include "cli/ranks.h"

namespace {

using namespace perfc;
using namespace perfc::cli;

/// `perfc MODEL …` is short for `perfc predict MODEL …`.
std::vector<std::string> with_subcommand(const Command& root, int argc, char** argv) {
  std::vector<std::string> words(argv + 1, argv + argc);
  if (words.empty()) return words;
  const std::vector<std::string> names = names_of(root.commands);
  const bool named = std::find(names.begin(), names.end(), words[0]) != names.end();
  const bool global = words[0] == "--help" || words[0] == "-h" || words[0] == "--version";
  if (!named && !global) words.insert(words.begin(), "predict");
  return words;
}

/// A first word that is no file but nearly a command: its command.
std::string misspelt_command(const Command& root, const std::string& word) {
  if (word.empty() || word[0] == '-' || word.find_first_of("./") != std::string::npos) return {};
  if (::access(word.c_str(), F_OK) == 0) return {};
  const std::string near = did_you_mean(word, names_of(root.commands));
  return near == word ? std::string() : near;
}

/// " (did you mean '…'?)" where a name is near.
std::string nearest(const std::string& word, const std::vector<std::string>& names) {
  const std::string near = did_you_mean(word, names);
  return near.empty() ? "" : fmt::format(" (did you mean '{}'?)", near);
}

/// A usage error, with the nearest option or command of a group where one was misspelt.
int explain(const Command& root, const CommandLine& line) {
  const UsageError& error = *line.error;
  const Command& command = line.chosen.empty() ? root : *line.chosen.back();
  std::string message = error.message, path;
  for (const Command* c : line.chosen) path += c->name + " ";
  if (!line.chosen.empty() && !command.run) {
    const std::vector<std::string> names = names_of(command.commands);
    const auto& words = error.not_understood;
    message = fmt::format("perfc {}is followed by one of {}{}", path, fmt::join(names, ", "),
                          words.empty() ? "" : nearest(words.front(), names));
  }
  if (error.only_left_over && !error.not_understood.empty()) {
    const std::string& first = error.not_understood.front();
    const std::string word = first.substr(0, first.find('='));
    message = fmt::format("unknown {} '{}'{}", word.starts_with("-") ? "option" : "argument", word,
                          nearest(word, long_names(command)));
  }
  fail(kBadUsage, message);
  say("Run `perfc {}--help` for the options.\n", path);
  return kBadUsage;
}

int print_answer(const std::string& text) {
  auto out = Output::open("");
  out->write(text);
  return out->commit() ? kFine : kBadInput;
}

}  // namespace

int main(int argc, char** argv) {
  keep_standard_descriptors();
  if (const int code = join_ranks(argc, argv)) return code;
  std::signal(SIGPIPE, SIG_IGN);  // a closed pipe is an error of write()
  std::signal(SIGXFSZ, SIG_IGN);  // and so is a file beyond `ulimit -f`
  Command root{"perfc", "Predicts latency, memory, energy and MIG slice of a model from its file."};
  root.version = "perfc " PERFC_VERSION;
  root.footer =
      "`perfc MODEL …` is short for `perfc predict MODEL …`.\n"
      "Exit codes: 0 fine, 1 bad input, 2 bad usage, 3 exceeded: a budget (check), a threshold (diff), memory\n"
      "(--fail-on-oom), or limits that cannot be met (pack, fit).";
  root.commands = {predict_command(),
                   import_command(),
                   opt_command(),
                   devices_command(),
                   mig_command(),
                   pack_command(),
                   fit_command(),
                   diff_command(),
                   check_command(),
                   baseline_command(),
                   ops_command(),
                   sweep_command(),
                   serve_command(),
                   train_command(),
                   eval_command(),
                   counters_command(),
                   completion_command(root),
                   man_command(root)};
  if (argc > 1) {
    const std::string near = misspelt_command(root, argv[1]);
    if (!near.empty()) {
      return fail(kBadUsage, fmt::format("'{}' is neither a file nor a command (did you mean '{}'?)", argv[1], near));
    }
  }
  const CommandLine line = read_command_line(root, with_subcommand(root, argc, argv));
  if (line.answer) return print_answer(*line.answer);
  if (line.error) return explain(root, line);
  return finished(line.chosen.back()->run());
}
