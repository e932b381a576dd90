#pragma once
/// Measured workloads: their counters, their amounts of work, and their times on machines.
///
/// A dataset is a CSV file, one row per workload (python/perfc/counter_dataset.py writes three):
///
///   column          meaning
///   workload        its name; required
///   application     what it belongs to; empty: the workload
///   suite           what applications belong to; empty: none
///   region          what a profiler calls it, a kernel's or function's name: its words are an input (name_words.h)
///   profiled        what it was profiled on, "cpu" or "gpu", say; `VaeTraining::calibrate_first` asks for it
///   counter:NAME    what a profiler counted; empty: missing
///   work:NAME       an amount of work ≥ 0, of which a machine's time has a share: bytes, operations, launches
///   time:MACHINE    seconds > 0; empty: not measured
///
/// Other columns are refused: a misspelt one would be lost in silence. So are more than `kMostCounters` counters and
/// `kMostWork` kinds of work: models look at them by pairs.
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "features/schema.h"
#include "ir/support/diagnostics.h"

namespace perfc {

inline constexpr std::size_t kMostCounters = 2000, kMostWork = 200;
inline constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();  ///< in counters, work and seconds

struct CounterDataset {
  std::vector<Column> counters, work;  ///< names without their prefix
  std::vector<std::string> machines;
  struct Workload {
    SourceLoc loc;
    std::string name, application, suite, region, profiled;
    std::vector<double> counters;  ///< NaN: missing
    std::vector<double> work;
    std::vector<double> seconds;  ///< NaN: not measured
  };
  std::vector<Workload> workloads;
  std::uint64_t hash = 0;  ///< of the CSV's text

  std::optional<std::size_t> machine(std::string_view name) const;
};

Result<CounterDataset> parse_counter_dataset(std::string_view text, Diagnostics&);
Result<CounterDataset> read_counter_dataset(const std::string& path, Diagnostics&);
/// A file whose head has the column `workload` and one with a dataset's prefix.
bool looks_like_counter_dataset(const std::string& path);

/// What is to be predicted from what: times on `machines`, in natural logarithms,
/// less those on the reference where one is given (it is then known: the workload was
/// profiled there), less their mean over the machines otherwise.
struct CounterProblem {
  const CounterDataset* data = nullptr;
  std::vector<std::size_t> machines;
  std::optional<std::size_t> reference;
  /// Per machine of the dataset and kind of work, seconds per unit by the machine's data sheet; NaN: not known.
  std::vector<std::vector<double>> data_sheet;

  /// Workloads with all the times that `target` needs.
  std::vector<std::size_t> measured() const;
  /// Rows × machines.
  FeatureMatrix target(std::span<const std::size_t> rows) const;
  /// What `target` subtracts: the logarithm of the time that relative times are relative to.
  double base(std::size_t row) const;
};

/// Fills `data_sheet` from a CSV file: `machine`, `work` (a kind), `units_per_s` (what the machine does of it
/// at its peak). Machines and kinds that the dataset has not are left unread: one file serves several datasets.
Status read_data_sheet(const std::string& path, CounterProblem&, Diagnostics&);

/// Machines by name; empty: all but the reference. Unknown names are
/// reported with the known ones.
Result<CounterProblem> make_problem(const CounterDataset&, std::span<const std::string> machines,
                                    const std::string& reference, Diagnostics&);

}  // namespace perfc
