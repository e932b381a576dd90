#pragma once
/// What a profiler measured in one run: regions (nodes of the call tree,
/// kernels, ranks) × metrics. What was not measured is absent.
///
/// Region 0 is the whole run; parents stand before their children. A reader
/// fills a `ProfileBuilder`; `finish` adds the values of the whole run.
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ir/support/diagnostics.h"

namespace perfc {

/// How values of parts make the value of the whole.
enum class Combine { Sum, Mean, Max };

/// Which of the regions below it a region's value contains: all, none, or those of
/// the same function (what HPCToolkit calls exclusive; it has no total of its own).
enum class Scope { Inclusive, Exclusive, Function };

struct Metric {
  std::string name;  ///< as in the file
  std::string unit;  ///< as in the file; empty where it tells none
  Combine combine = Combine::Sum;
  Scope scope = Scope::Inclusive;
};

struct Sample {
  std::size_t metric = 0;
  double value = 0;
};

struct Region {
  std::string name;
  std::size_t parent = 0;       ///< of region 0: itself
  double weight = 1;            ///< times that it ran: weight of its values in means
  std::vector<Sample> samples;  ///< by metric, each at most once
};

/// A counter that was asked for and not counted.
struct Unmeasured {
  std::string metric;
  std::string why;  ///< "<not supported>"
};

struct Profile {
  std::string path;
  std::string format;                                      ///< name of the reader
  std::vector<std::pair<std::string, std::string>> about;  ///< machine and tool, as the file tells
  std::vector<Metric> metrics;
  std::vector<Region> regions;
  std::vector<Unmeasured> unmeasured;

  /// Value of the whole run.
  std::optional<double> total(std::size_t metric) const { return value(0, metric); }
  std::optional<double> value(std::size_t region, std::size_t metric) const;
};

class ProfileBuilder {
 public:
  ProfileBuilder(std::string path, std::string_view format);

  void about(std::string_view key, std::string_view value);
  /// Index of the metric of that name; made at its first mention.
  std::size_t metric(Metric);
  /// Names beyond `kMaxName` bytes are cut: nodes share a name that the file holds once.
  std::size_t region(std::string_view name, std::size_t parent = 0);
  static constexpr std::size_t kMaxName = 300;
  void weigh(std::size_t region, double weight) { profile_.regions[region].weight = weight; }
  /// Values of one region and metric combine as the metric says. Numbers that are not finite are dropped.
  void add(std::size_t region, std::size_t metric, double value);
  void unmeasured(std::string metric, std::string why);
  const std::vector<Region>& regions() const { return profile_.regions; }

  /// Combines the values of the whole run where the file does not give them:
  /// exclusive metrics from all regions, inclusive ones from the topmost that
  /// have them. Refuses a profile without any value.
  Result<Profile> finish(Diagnostics&);

 private:
  void merge_samples();
  void add_totals();
  Profile profile_;
  std::map<std::string, std::size_t, std::less<>> metric_index_;
  bool measured_ = false;
};

}  // namespace perfc
