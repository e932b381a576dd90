#include <fmt/format.h>
#ifdef PERFC_MIMALLOC
#include <mimalloc.h>
#endif
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <sstream>

#include "cli/cli.h"
#include "cli/ranks.h"

namespace {

using namespace perfc;
using namespace perfc::cli;

#ifdef PERFC_MIMALLOC
/// A third of the time would be page faults otherwise. Before the first constructor: from the first allocation on
/// it is too late for the 32 MiB that most runs live in.
void use_large_pages(int, char**, char**) { mi_option_enable(mi_option_large_os_pages); }
[[gnu::section(".preinit_array"), gnu::used]] void (*const before_constructors)(int, char**, char**) = use_large_pages;
#endif

/// `perfc MODEL …` is short for `perfc predict MODEL …`.
std::vector<std::string> with_subcommand(CLI::App& app, int argc, char** argv) {
  std::vector<std::string> args(argv + 1, argv + argc);
  const auto commands = app.get_subcommands([](CLI::App*) { return true; });
  const bool named = !args.empty() && std::any_of(commands.begin(), commands.end(), [&](const CLI::App* sub) { return sub->get_name() == args[0]; });
  const bool global = !args.empty() && (args[0] == "--help" || args[0] == "-h" || args[0] == "--version");
  if (!args.empty() && !named && !global) args.insert(args.begin(), "predict");
  std::reverse(args.begin(), args.end());  // CLI11 takes them from the back
  return args;
}

/// A first word that is no file but nearly a command: its command.
std::string misspelt_command(CLI::App& app, const std::string& word) {
  if (word.empty() || word[0] == '-' || word.find_first_of("./") != std::string::npos || ::access(word.c_str(), F_OK) == 0) return {};
  std::vector<std::string> names;
  for (const CLI::App* sub : app.get_subcommands([](CLI::App*) { return true; })) names.push_back(sub->get_name());
  const std::string near = did_you_mean(word, names);
  return near == word ? std::string() : near;
}

/// A usage error, with the nearest option or command of a group where one was misspelt.
int explain(const CLI::App& app, const CLI::ParseError& error) {
  std::string message = error.what(), command;
  const CLI::App* sub = &app;
  while (!sub->get_subcommands().empty()) {
    sub = sub->get_subcommands().front();
    command += sub->get_name() + " ";
  }
  const auto of_group = sub->get_subcommands([](const CLI::App*) { return true; });
  if (sub != &app && !of_group.empty()) {
    std::vector<std::string> names;
    for (const CLI::App* c : of_group) names.push_back(c->get_name());
    const std::vector<std::string> rest = sub->remaining(true);
    const std::string near = rest.empty() ? std::string() : did_you_mean(rest.front(), names);
    message = fmt::format("perfc {}is followed by one of {}{}", command, fmt::join(names, ", "), near.empty() ? "" : fmt::format(" (did you mean '{}'?)", near));
  }
  if (dynamic_cast<const CLI::ExtrasError*>(&error)) {
    std::vector<std::string> known;
    for (const CLI::Option* o : sub->get_options()) {
      for (const std::string& name : o->get_lnames()) known.push_back("--" + name);
    }
    for (const std::string& extra : sub->remaining(true)) {
      const std::string word = extra.substr(0, extra.find('='));
      const std::string near = did_you_mean(word, known);
      message = fmt::format("unknown {} '{}'{}", word.starts_with("-") ? "option" : "argument", word,
                            near.empty() ? "" : fmt::format(" (did you mean '{}'?)", near));
      break;
    }
  }
  fail(kBadUsage, message);
  say("Run `perfc {}--help` for the options.\n", command);
  return kBadUsage;
}

}  // namespace

int main(int argc, char** argv) {
  keep_standard_descriptors();
  if (const int code = join_ranks(argc, argv)) return code;
  std::signal(SIGPIPE, SIG_IGN);  // a closed pipe is an error of write()
  std::signal(SIGXFSZ, SIG_IGN);  // and so is a file beyond `ulimit -f`
  CLI::App app{"Predicts latency, memory, energy and MIG slice of a model from its file."};
  app.name("perfc");
  app.set_version_flag("--version", "perfc " PERFC_VERSION);
  app.footer("`perfc MODEL …` is short for `perfc predict MODEL …`.\n"
             "Exit codes: 0 fine, 1 bad input, 2 bad usage, 3 a budget was exceeded.");
  app.require_subcommand(1);
  Action action;
  add_predict(app, action);
  add_import(app, action);
  add_opt(app, action);
  add_devices(app, action);
  add_mig(app, action);
  add_ops(app, action);
  add_check(app, action);
  add_train(app, action);
  add_eval(app, action);
  add_counters(app, action);
  add_completion(app, action);
  if (argc > 1) {
    const std::string near = misspelt_command(app, argv[1]);
    if (!near.empty()) return fail(kBadUsage, fmt::format("'{}' is neither a file nor a command (did you mean '{}'?)", argv[1], near));
  }
  try {
    app.parse(with_subcommand(app, argc, argv));
  } catch (const CLI::Success& e) {
    std::ostringstream text;
    app.exit(e, text, text);  // --help, --version
    auto out = Output::open("");
    out->write(text.str());
    return out->commit() ? kFine : kBadInput;
  } catch (const CLI::ParseError& e) {
    return explain(app, e);
  }
  return finished(action());
}
