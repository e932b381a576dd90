#pragma once
/// Options as data: what they are called, what they are for, what their values have to be and where these go. The
/// command line (cli/command_line.h) and Python's keyword arguments (python/extension/arguments.h) fill them in.
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace perfc {

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

/// Whether a value names a file, which only those may do who could open it themselves.
enum class Names { Something, File, FileOrEntry };

struct Option {
  std::string names;  ///< "--long,-s"; a name without dashes is the value's place: "models,--model"
  std::string help;
  Target target;  ///< none: what reads it keeps it
  Demand demand = Anything{};
  std::optional<char> separator;  ///< of several values in one word
  bool needed = false, tells_default = false;
  Names names_what = Names::Something;

  // What an option has beside its help, behind `Command::option`.
  Option& required() { return needed = true, *this; }
  Option& separated_by(char c) { return separator = c, *this; }
  Option& must_be(Demand d) { return demand = std::move(d), *this; }
  Option& showing_default() { return tells_default = true, *this; }
  Option& that_names(Names n) { return names_what = n, *this; }
};

/// Gives an option its number where no command line does it (Python's keywords, the page's words). Returns what is
/// wrong with it, "" where nothing is. Throws std::logic_error where the option takes no real number.
std::string set_number(const Option&, double value);

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

}  // namespace perfc
