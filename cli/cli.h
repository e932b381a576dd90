#pragma once
/// What the subcommands share. Each lives in its own file and tells `main` what may stand behind it;
/// running it returns the exit code.
#include <fmt/format.h>

#include <iosfwd>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "cli/command_line.h"
#include "ir/support/output_file.h"
#include "learning/dataset.h"
#include "learning/predictors.h"
#include "options/predict_options.h"

namespace perfc::cli {

enum ExitCode { kFine = 0, kBadInput = 1, kBadUsage = 2, kBudgetExceeded = 3 };

Command predict_command();
Command import_command();
Command opt_command();
Command devices_command();
Command mig_command();
Command pack_command();
Command fit_command();
Command diff_command();
Command sweep_command();
Command serve_command();
Command baseline_command();
Command ops_command();
Command check_command();
Command train_command();
Command eval_command();
Command counters_command();
/// Completes what `root` holds when it runs.
Command completion_command(const Command& root);
/// The manual of what `root` holds when it runs.
Command man_command(const Command& root);

// What is wrong with the options of a command that predicts is printed, with the nearest right value.

/// The batches of --batch in their order; empty in place of one: the file's. Of none: a wrong value was printed.
std::vector<std::optional<std::int64_t>> to_batches(const PredictOptions&);
/// What a request whose devices were not found exits with: names are usage, files are input.
int no_devices(const PredictOptions&);

/// The request's devices, or those of the host that nvidia-smi describes; what is wrong is printed. `code`: to exit
/// with where there are none.
Result<std::vector<Device>> devices_of(const PredictOptions&, const Request&, int& code);

/// The request without its model; of several batches it has the first. Wrong values are printed with the nearest
/// right one; empty then, and the caller exits with kBadUsage.
std::optional<Request> to_request(const PredictOptions&, Batches = Batches::One);

/// --device, --dtype, …: which labels of a dataset count.
void add_label_filter(Command&, LabelFilter&);

// What is written, and who reads it: a reader that closed its pipe has read all it wanted, so that nothing is said and
// the exit code is what it would have been. Any other failure is reported and exits with kBadInput.

/// Before anything is opened: a standard descriptor that is closed stays so.
void keep_standard_descriptors();
/// The exit code of a run that would exit with `code`: kBadInput where messages were lost.
int finished(int code);

/// Writes to standard error, which may be closed.
void to_stderr(std::string_view);
template <class... T>
void say(fmt::format_string<T...> format, T&&... values) {
  to_stderr(fmt::format(format, std::forward<T>(values)...));
}
/// The same as a stream.
std::ostream& messages();

/// Prints "perfc: error: …" on standard error; returns `code`.
int fail(int code, const std::string& message);
/// Prints diagnostics on standard error.
void print(const Diagnostics&);
void print_warnings(const Diagnostics&);
/// The warnings that are not among `said`, which then has them too.
void print_new_warnings(const Diagnostics&, std::set<std::string>& said);

/// Where results go: standard output, or an OutputFile.
class Output {
 public:
  /// Opens `path` (empty or "-": standard output) before any long work.
  static std::optional<Output> open(const std::string& path);
  void write(std::string_view text) { text_ += text; }
  /// Writes everything; false: it cannot, which is reported.
  bool commit();
  bool is_terminal() const;

 private:
  Output() = default;
  std::optional<OutputFile> file_;
  std::string text_;
};

/// Colours for a terminal, unless NO_COLOR is set (https://no-color.org).
Colour colour_for(const Output&);

}  // namespace perfc::cli
