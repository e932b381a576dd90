#include "counters/data/profile_workloads.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "counters/data/name_words.h"
#include "counters/derive.h"
#include "counters/names.h"

namespace perfc {
namespace {

using Numbers = ProfileNumbers;

double at_least_one(double v) { return v < 1 ? 1 : v; }  // NaN stays NaN
double share(double v) { return v < 0 ? 0 : v > 1 ? 1 : v; }

// The RAJA Performance Suite's Caliper attributes, and what tables of them call them.
double launches(const Numbers& n) { return at_least_one(n({"kernels_per_rep", "kernels_rep"})); }
double bytes(const Numbers& n) { return n({"bytes_per_rep", "bytes_rep"}); }
double iterations(const Numbers& n) { return n({"iterations_per_rep", "iterations_rep"}); }
double seconds(const Numbers& n) { return n.seconds(); }
/// How far a launch is from filling a GPU: 80 multiprocessors x 2048 threads, half full.
double starved(const Numbers& n) {
  constexpr double kSaturatingThreads = 1e5, kMost = 100;
  return std::min(kSaturatingThreads / at_least_one(iterations(n) / launches(n)), kMost);
}

/// Atomic updates of one address wait for each other, which a profile of one CPU thread does not show; names do. How
/// many there are of each address at least: iterations by the doubles that all bytes read and written have room for.
double serial_atomics(const Numbers& n) {
  constexpr double kDoubleReadAndWritten = 16;
  return iterations(n) * (n.named("atomic") ? 1 / at_least_one(bytes(n) / kDoubleReadAndWritten) : 0);
}

// AIWC, and nvprof's metrics.
double instructions(const Numbers& n) {
  return n({"total_instruction_count", "instructions_executed", "instructions"});
}
double items(const Numbers& n) { return at_least_one(n("workitems")); }
double threads(const Numbers& n) {
  return n("grid_x") * n("grid_y") * n("grid_z") * n("block_x") * n("block_y") * n("block_z");
}

constexpr WorkRow kWork[] =
    {
        {"launch", "kernel launches", launches},
        {"bytes", "bytes that are read and written", bytes},
        {"flops", "floating-point operations",
         [](const Numbers& n) {
  return n({"flops_per_rep", "flops_rep", "floating_point_operations_single_precision"});
         }},
        {"iterations", "loop iterations", iterations},
        {"starved_bytes", "bytes × threads that saturate a GPU / threads",
         [](const Numbers& n) { return bytes(n) * starved(n); }},
        {"seconds", "seconds where it was profiled", seconds},
        {"starved_seconds", "seconds × threads that saturate a GPU / threads",
         [](const Numbers& n) { return seconds(n) * starved(n); }},
        {"core_bound_seconds", "seconds that wait for units",
         [](const Numbers& n) { return seconds(n) * share(n("topdown_core_bound")); }},
        {"retiring_seconds", "seconds that retire instructions",
         [](const Numbers& n) { return seconds(n) * share(n("topdown_retiring")); }},
        {"l1_bound_seconds", "seconds that wait for L1",
         [](const Numbers& n) { return seconds(n) * share(n("topdown_l1_bound")); }},
        {"serial_atomics", "atomic updates of one address, if the region's name says that it has such", serial_atomics,
         WorkRow::From::NamesToo},
        {"instructions", "instructions", instructions},
        {"instructions_per_item", "instructions / work-items",
         [](const Numbers& n) { return instructions(n) / items(n); }},
        {"items", "work-items", items},
        {"footprint", "addresses that are touched", [](const Numbers& n) { return n("total_memory_footprint"); }},
        {"scattered", "instructions × entropy of addresses without their 10 lowest bits",
         [](const Numbers& n) { return instructions(n) * n("local_memory_address_entropy_10"); }},
        {"branches", "instructions × mean entropy of branches",
         [](const Numbers& n) { return instructions(n) * n("branch_entropy_average_linear"); }},
        {"dram", "transactions of device memory",
         [](const Numbers& n) { return n("device_memory_read_transactions") + n("device_memory_write_transactions"); }},
        {"l2", "transactions of L2",
         [](const Numbers& n) { return n("l2_read_transactions") + n("l2_write_transactions"); }},
        {"loads", "transactions of global memory",
         [](const Numbers& n) { return n("global_load_transactions") + n("global_store_transactions"); }},
        {"shared", "transactions of shared memory",
         [](const Numbers& n) { return n("shared_load_transactions") + n("shared_store_transactions"); }},
        {"blocks", "thread blocks", [](const Numbers& n) { return n("grid_x") * n("grid_y") * n("grid_z"); }},
        {"seconds_per_thread", "seconds where it was profiled / threads",
         [](const Numbers& n) { return seconds(n) / threads(n); }},
};

double find(const std::vector<std::pair<std::string, double>>& in, std::string_view name) {
  const auto found = std::find_if(in.begin(), in.end(), [&](const auto& p) { return p.first == name; });
  return found == in.end() ? kMissing : found->second;
}

/// The region alone, as if it were the whole run.
Profile region_alone(const Profile& p, std::size_t region) {
  Profile one{.path = p.path, .format = p.format, .metrics = p.metrics};
  one.regions.push_back(p.regions[region]);
  one.regions.front().parent = 0;
  return one;
}

/// The name of the only region with values of its own; empty where there are several.
std::string only_region(const Profile& p) {
  std::string name;
  for (std::size_t r = 1, found = 0; r < p.regions.size(); ++r) {
    if (p.regions[r].samples.empty()) continue;
    if (++found > 1) return {};
    name = p.regions[r].name;
  }
  return name;
}

CounterDataset::Workload workload_of(const Profile& p, std::string region, const CounterDataset& names,
                                     bool with_reference) {
  CounterDataset::Workload w;
  w.region = std::move(region);
  const ProfileNumbers numbers(p, w.region);
  for (const Column& c : names.counters) w.counters.push_back(numbers(c.name));
  for (const Column& k : names.work) {
    const auto row =
        std::find_if(std::begin(kWork), std::end(kWork), [&](const WorkRow& r) { return r.work == k.name; });
    const double amount = row == std::end(kWork) ? numbers(k.name) : row->amount(numbers);
    w.work.push_back(amount >= 0 && std::isfinite(amount) ? amount : kMissing);
  }
  w.seconds.assign(names.machines.size(), kMissing);
  if (with_reference && numbers.seconds() > 0) w.seconds.back() = numbers.seconds();
  return w;
}

}  // namespace

std::span<const WorkRow> work_table() { return kWork; }

void forget_names(CounterDataset& d) {
  for (CounterDataset::Workload& w : d.workloads) {
    w.region.clear();
    for (std::size_t k = 0; k < d.work.size(); ++k) {
      const auto row =
          std::find_if(std::begin(kWork), std::end(kWork), [&](const WorkRow& r) { return r.work == d.work[k].name; });
      if (row != std::end(kWork) && row->from == WorkRow::From::NamesToo) w.work[k] = 0;
    }
  }
}

ProfileNumbers::ProfileNumbers(const Profile& p, std::string_view region) : words_(words_of(region)) {
  for (std::size_t m = 0; m < p.metrics.size(); ++m) {
    const auto total = p.total(m);
    const std::string& unit = p.metrics[m].unit;
    if (total && std::isfinite(*total))
      metrics_.emplace_back(canonical_name(p.metrics[m].name), *total * base_unit(unit));
  }
  const Derived d = derive(p);
  for (std::size_t c = 0; c < kCounterCount; ++c) {
    if (const auto v = d.record.values()[c]) quantities_.emplace_back(counter_columns()[c].name, *v);
  }
  for (const Measured& m : d.measured) quantities_.emplace_back(m.quantity, m.value);
}

bool ProfileNumbers::named(std::string_view word) const {
  return std::binary_search(words_.begin(), words_.end(), word);
}

double ProfileNumbers::operator()(std::string_view name) const {
  if (const double v = find(metrics_, canonical_name(name)); !std::isnan(v)) return v;
  if (const double v = find(quantities_, name); !std::isnan(v)) return v;
  const CounterName* row = find_counter_name(name);
  return row ? find(quantities_, row->quantity) : kMissing;
}

double ProfileNumbers::operator()(std::initializer_list<std::string_view> names) const {
  for (const std::string_view name : names) {
    if (const double v = (*this)(name); !std::isnan(v)) return v;
  }
  return kMissing;
}

double ProfileNumbers::seconds() const {
  double s = find(quantities_, "seconds");
  if (std::isnan(s)) s = (*this)("time_s");
  if (std::isnan(s)) s = find(quantities_, "gpu.seconds");
  if (std::isnan(s)) {
    const double threads = find(quantities_, "threads");
    s = find(quantities_, "cpu_seconds") / (threads >= 1 ? threads : 1);
  }
  const double repetitions = (*this)("reps");
  return repetitions >= 1 ? s / repetitions : s;
}

CounterDataset workloads_of(const Profile& p, const CounterDataset& names, bool with_reference, WorkloadOf of) {
  CounterDataset d{.counters = names.counters, .work = names.work, .machines = names.machines};
  if (of == WorkloadOf::WholeRun) {
    d.workloads.push_back(workload_of(p, only_region(p), names, with_reference));
    d.workloads.back().name = p.path;
    return d;
  }
  for (std::size_t r = 1; r < p.regions.size(); ++r) {
    if (p.regions[r].samples.empty()) continue;
    d.workloads.push_back(workload_of(region_alone(p, r), p.regions[r].name, names, with_reference));
    d.workloads.back().name = p.regions[r].name;
  }
  return d;
}

}  // namespace perfc
