#pragma once
/// Branch and bound over what models take.
#include <functional>
#include <unordered_map>
#include <unordered_set>

#include "mig/covers.h"

namespace perfc {

/// Whether instances go onto some GPUs, and how. Remembers what does not.
class GpuPacker {
 public:
  GpuPacker(const MigPartitions& partitions, const std::vector<MigPrices>& prices)
      : partitions_(partitions), prices_(prices) {}

  /// GPUs that these need at least.
  int at_least(const MigCounts&) const;
  /// A partition per GPU, full ones first; quick, not always the fewest.
  std::vector<MigCounts> quick(MigCounts) const;
  /// Onto at most `gpus` GPUs. Empty: it cannot be, or, where `steps` became 0, was not found.
  std::vector<MigCounts> onto(const MigCounts&, int gpus, std::uint64_t& steps);

 private:
  bool search(const MigCounts&, int gpus, std::vector<MigCounts>& out, std::uint64_t& steps);
  const MigPartitions& partitions_;
  const std::vector<MigPrices>& prices_;
  std::unordered_set<std::string> impossible_;
};

/// Who has a slice.
struct TakenSlice {
  std::size_t profile = 0;
  std::vector<std::size_t> models;
};
/// What every model took.
struct Taken {
  std::vector<TakenSlice> slices;
  std::vector<MigCounts> gpus;
  double work_w = 0;
};

/// One problem at given rates.
class PackSearch {
 public:
  explicit PackSearch(const PackProblem&);
  PackSearch(const PackSearch&) = delete;
  PackSearch& operator=(const PackSearch&) = delete;

  /// A model that nothing serves.
  std::optional<std::size_t> unservable() const;
  /// Sets of slices so large that no plan has them.
  bool too_large() const;
  /// Proven lower bounds: GPUs, and W.
  int least_gpus() const { return least_gpus_; }
  double least_power_w() const { return least_power_w_; }

  enum class Answer { Yes, No, GaveUp };
  /// A plan on at most `gpus` GPUs; `steps` are spent.
  Answer fit(int gpus, Taken& out, std::uint64_t& steps);
  /// The plan of least power on at most `gpus` GPUs: No, if there is none; GaveUp: `out` may have one (its GPUs are not
  /// empty), that may not be the best.
  Answer least_power(int gpus, Taken& out, std::uint64_t& steps);
  double power_w(const Taken& t) const { return t.work_w + problem_.idle_w * static_cast<double>(t.gpus.size()); }

 private:
  struct State;
  void prepare_bounds(double watts_per_gpu);
  bool descend(State&, std::size_t depth);
  bool leaf(State&);
  bool hopeless(const State&, std::size_t depth) const;
  bool seen(State&, std::size_t depth);
  double share_work_w(const TakenSlice&, std::size_t model, bool& fits) const;
  Answer run(State&, Taken& out, std::uint64_t& steps);
  bool quick(int gpus, bool watts, Taken& out) const;
  Taken taken(const std::vector<const Cover*>&) const;

  /// Bound by one price vector: by depth, what the models from there on cost at least. `utilisation`: a shared slice's
  /// price is spread over its utilisation, else over its memory; only with sharing.
  struct Bound {
    const MigPrices* prices;
    bool utilisation;
    std::vector<double> rest;
  };

  const PackProblem& problem_;
  std::vector<Covers> covers_;
  std::vector<MigPrices> prices_;
  std::vector<std::size_t> order_;   ///< models, those that cost most first
  std::vector<Bound> bounds_;        ///< in GPUs, or W
  std::vector<double> rest_work_w_;  ///< by depth, at least
  int least_gpus_ = 0;
  double least_power_w_ = 0;
  GpuPacker packer_;
};

}  // namespace perfc
