#pragma once
/// What the subcommands share. Each lives in its own file and registers itself
/// on the app that `main` builds; running it returns the exit code.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <functional>
#include <iosfwd>
#include <string>
#include <vector>

#include "ir/support/output_file.h"
#include "learning/dataset.h"
#include "learning/predictors.h"

namespace perfc::cli {

enum ExitCode { kFine = 0, kBadInput = 1, kBadUsage = 2, kBudgetExceeded = 3 };

/// Chosen by the subcommand that was parsed.
using Action = std::function<int()>;

void add_predict(CLI::App&, Action&);
void add_import(CLI::App&, Action&);
void add_opt(CLI::App&, Action&);
void add_devices(CLI::App&, Action&);
void add_mig(CLI::App&, Action&);
void add_ops(CLI::App&, Action&);
void add_check(CLI::App&, Action&);
void add_train(CLI::App&, Action&);
void add_eval(CLI::App&, Action&);
void add_counters(CLI::App&, Action&);
void add_counters_show(CLI::App& group, Action&);
void add_counters_names(CLI::App& group, Action&);
void add_completion(CLI::App&, Action&);

/// Options of every command that predicts, as given.
struct PredictOptions {
  std::vector<std::string> models;
  std::vector<std::string> devices;
  std::string device_file, smi_file;
  std::string batch;               ///< kept as text: "0" and "x" get a message of our own
  std::string dtype = "amp", mode = "eager", layout = "nchw", norms = "full", task = "infer", optimizer = "adam";
  std::string predictor = "default", opaque = "refuse", fold = "auto";
  std::vector<std::string> shapes, dims;
  std::string signature;
  bool cudnn_benchmark = false;
  std::optional<double> max_latency_ms, min_throughput_per_s;
  double headroom = 0.05;
};
void add_shape_options(CLI::App&, PredictOptions&);
void add_predict_options(CLI::App&, PredictOptions&);

/// The request without its model. Wrong values are printed with the nearest
/// right one; empty then, and the caller exits with kBadUsage.
std::optional<Request> to_request(const PredictOptions&);

/// --device, --dtype, …: which labels of a dataset count.
void add_label_filter(CLI::App&, LabelFilter&);

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
