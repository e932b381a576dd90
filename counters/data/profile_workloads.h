#pragma once
/// Profiles as workloads: a model's columns by the names that profilers give them.
#include "counters/data/counter_dataset.h"
#include "counters/profile.h"

namespace perfc {

/// What of a profile is one workload.
enum class WorkloadOf : unsigned char {
  WholeRun,
  Region,  ///< each that has values of its own: kernels, rows of a table
};

/// The columns of `names` (counters, work, time on its last machine if `with_reference`) as far as the profile tells
/// them; what it does not is NaN, in `work` and `seconds` too.
///
/// A counter is, in this order: a metric of the same name (`canonical_name`), a column of Table I, a quantity of
/// `counters/names.h` or what a counter of the column's name counts. Amounts of work follow by the rows of
/// `work_table`, else like counters. The time on the reference is the profile's.
CounterDataset workloads_of(const Profile&, const CounterDataset& names, bool with_reference, WorkloadOf);

/// Numbers of one workload by name; NaN: not measured.
class ProfileNumbers {
 public:
  /// `region`: what the profiler calls the workload; may be empty.
  explicit ProfileNumbers(const Profile&, std::string_view region = {});
  /// Has its region's name this word? (name_words.h)
  bool named(std::string_view word) const;
  /// The first of these that was measured.
  double operator()(std::initializer_list<std::string_view> names) const;
  double operator()(std::string_view name) const;
  /// Wall-clock time, else that of kernels, else CPU time by threads; of one repetition where `reps` is told.
  double seconds() const;

 private:
  std::vector<std::pair<std::string, double>> metrics_,
      quantities_;                  ///< by canonical name; by quantity or column of Table I
  std::vector<std::string> words_;  ///< of the region's name
};

/// How an amount of work follows from what is measured. NaN in, NaN out.
struct WorkRow {
  std::string_view work;  ///< a column `work:NAME`
  std::string_view meaning;
  double (*amount)(const ProfileNumbers&);
  enum class From : unsigned char { Numbers, NamesToo } from = From::Numbers;
};
std::span<const WorkRow> work_table();
/// As if regions had no names: no words, and nothing of the work that they tell.
void forget_names(CounterDataset&);

}  // namespace perfc
