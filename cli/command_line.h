#pragma once
/// The reading of a command line. CLI11 reads; only command_line.cpp includes it.
#include <optional>
#include <string>
#include <vector>

#include "options/command.h"

namespace perfc::cli {

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
