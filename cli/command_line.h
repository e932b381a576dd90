#pragma once
/// What may stand on a command line, as data, and the reading of it. CLI11 reads; only command_line.cpp
/// includes it.
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace perfc::cli {

/// Where an option's value goes; what stands there before is its default. A bool: a flag, without a value.
using Target = std::variant<std::monostate, bool*, std::string*, std::uint64_t*, double*, std::optional<double>*,
                            std::vector<std::string>*, std::vector<std::uint64_t>*>;

/// What a value has to be.
struct Anything {};
struct Positive {};
struct WholeBetween {
  int least, most;
};
struct RealBetween {
  double least, most;
};
struct OneOf {
  std::vector<std::string> choices;
};
/// A reader of its own: returns what is wrong with the text, "" where nothing is.
using ReadBy = std::function<std::string(const std::string&)>;
using Demand = std::variant<Anything, Positive, WholeBetween, RealBetween, OneOf, ReadBy>;

struct Option {
  std::string names;  ///< "--long,-s"; a name without dashes is the value's place: "models,--model"
  std::string help;
  Target target;  ///< none: what reads it keeps it
  Demand demand = Anything{};
  std::optional<char> separator;  ///< of several values in one word
  bool needed = false, tells_default = false;

  // What an option has beside its help, behind `Command::option`.
  Option& required() { return needed = true, *this; }
  Option& separated_by(char c) { return separator = c, *this; }
  Option& must_be(Demand d) { return demand = std::move(d), *this; }
  Option& showing_default() { return tells_default = true, *this; }
};

struct Command {
  std::string name, help;
  std::function<int()> run = {};  ///< returns the exit code; empty: one of `commands` must follow
  std::vector<Option> options = {};
  std::vector<Command> commands = {};
  std::string footer = {};   ///< of --help; empty: that of the command above
  std::string version = {};  ///< what --version prints; empty: there is no such option

  /// The result can be refined until the next option is added.
  template <class T>
  requires std::is_constructible_v<Target, T*> Option& option(std::string names, T& target, std::string text) {
    return options.emplace_back(Option{std::move(names), std::move(text), Target(&target)});
  }
  /// One whose value `reader` keeps.
  Option& option(std::string names, ReadBy reader, std::string text) {
    return options.emplace_back(Option{std::move(names), std::move(text), {}, std::move(reader)});
  }
};

/// Names of the commands right below.
std::vector<std::string> names_of(const std::vector<Command>&);
/// "--help" and the long names of the options.
std::vector<std::string> long_names(const Command&);

struct UsageError {
  std::string message;
  std::vector<std::string> not_understood;  ///< words that were left over
  bool only_left_over = false;              ///< and nothing else is wrong
};

struct CommandLine {
  std::vector<const Command*> chosen;  ///< below the root, the innermost last
  std::optional<std::string> answer;   ///< asked for by --help or --version: to be printed, nothing to be run
  std::optional<UsageError> error;
};

/// Reads the words behind the program's name into the targets. Without answer and error, `chosen.back()->run` is set.
CommandLine read_command_line(const Command& root, std::vector<std::string> words);

}  // namespace perfc::cli
