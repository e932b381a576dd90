#include "counters/derive.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "counters/names.h"
#include "counters/readers/reader.h"

namespace perfc {
namespace {

constexpr std::string_view kFloat =
    "float.scalar32 float.scalar64 float.128x32 float.128x64 float.256x32 float.256x64 ?float.512x32 ?float.512x64";
/// Counts of all classes make the total where it was not counted itself.
constexpr std::string_view kThreadClasses =
    "thread.integer thread.float32 thread.float64 thread.memory thread.control ?thread.float16 ?thread.conversion "
    "?thread.exchange ?thread.other";
constexpr std::string_view kWaveMemory = "wave.vector_loads wave.vector_stores wave.scalar_loads wave.shared";
constexpr std::string_view kWave =
    "wave.vector wave.scalar wave.vector_loads wave.vector_stores wave.scalar_loads wave.shared ?wave.branches";
constexpr std::string_view kWarpMemory =
    "warp.global_loads warp.global_stores warp.local_loads warp.local_stores warp.shared_loads warp.shared_stores";

constexpr Formula kFormulas[] = {
    // column                     numerator                                              denominator
    {Counter::Instructions, "instructions", ""},
    {Counter::Instructions, "warp.instructions", ""},
    {Counter::Instructions, kWave, ""},
    {Counter::IntegerRatio, "given.integer_ratio", ""},
    {Counter::IntegerRatio, "integer", "instructions"},
    {Counter::IntegerRatio, "thread.integer", "thread.instructions"},
    {Counter::IntegerRatio, "thread.integer", kThreadClasses},
    {Counter::FloatRatio, "given.float_ratio", ""},
    {Counter::FloatRatio, "float", "instructions"},
    {Counter::FloatRatio, "float.scalar float.vector", "instructions"},
    {Counter::FloatRatio, kFloat, "instructions"},
    {Counter::FloatRatio, "thread.float32 thread.float64 ?thread.float16", "thread.instructions"},
    {Counter::FloatRatio, "thread.float32 thread.float64 ?thread.float16", kThreadClasses},
    {Counter::MemoryRatio, "given.memory_ratio", ""},
    {Counter::MemoryRatio, "memory", "instructions"},
    {Counter::MemoryRatio, "loads stores", "instructions"},
    {Counter::MemoryRatio, "thread.memory", "thread.instructions"},
    {Counter::MemoryRatio, "thread.memory", kThreadClasses},
    {Counter::MemoryRatio, "warp.memory", "warp.instructions"},
    {Counter::MemoryRatio, kWarpMemory, "warp.instructions"},
    {Counter::MemoryRatio, kWaveMemory, kWave},
    {Counter::ControlRatio, "given.control_ratio", ""},
    {Counter::ControlRatio, "branches", "instructions"},
    {Counter::ControlRatio, "thread.control", "thread.instructions"},
    {Counter::ControlRatio, "thread.control", kThreadClasses},
    {Counter::ControlRatio, "warp.control", "warp.instructions"},
    {Counter::ControlRatio, "wave.branches", kWave},
    {Counter::IndependentRatio, "given.independent_ratio", ""},
    {Counter::IndependentRatio, "simd", "instructions"},
    {Counter::CacheMissRatio, "given.cache_miss_ratio", ""},
    {Counter::CacheMissRatio, "l1.misses", "l1.accesses -l1.misses"},
    {Counter::CacheMissRatio, "l1.load_misses", "l1.load_hits"},
    {Counter::CacheMissRatio, "l1.load_misses", "l1.loads -l1.load_misses"},
    {Counter::CacheMissRatio, "l1.load_misses", "loads -l1.load_misses"},
    {Counter::CacheMissRatio, "l2.misses", "l2.hits"},
    {Counter::CacheMissRatio, "l2.misses", "l2.accesses -l2.misses"},
    {Counter::CacheMissRatio, "llc.misses", "llc.hits"},
    {Counter::CacheMissRatio, "llc.misses", "llc.accesses -llc.misses"},
    {Counter::CacheMissRatio, "gpu.l2_misses", "gpu.l2_hits"},
    {Counter::CacheMissRatio, "1 -gpu.l2_hit_share", "gpu.l2_hit_share"},
    {Counter::CacheMissRatio, "1 -gpu.l1_hit_share", "gpu.l1_hit_share"},
    {Counter::BranchMissRatio, "given.branch_miss_ratio", ""},
    {Counter::BranchMissRatio, "branch_misses", "branches"},
    {Counter::PageLevels, "page_levels", ""},
    {Counter::PageFaults, "page_faults", ""},
    {Counter::PageFaults, "page_faults.minor page_faults.major", ""},
    {Counter::CpuToGpuBandwidth, "to_gpu.bytes", "to_gpu.seconds"},
    {Counter::CpuToGpuBandwidth, "to_gpu.bytes", "copy.seconds"},
    {Counter::CpuToGpuBandwidth, "to_gpu.rate", ""},
    {Counter::CpuToGpuBandwidth, "to_gpu.bytes", "gpu.seconds"},
    {Counter::GpuToCpuBandwidth, "from_gpu.bytes", "from_gpu.seconds"},
    {Counter::GpuToCpuBandwidth, "from_gpu.bytes", "copy.seconds"},
    {Counter::GpuToCpuBandwidth, "from_gpu.rate", ""},
    {Counter::GpuToCpuBandwidth, "from_gpu.bytes", "gpu.seconds"},
    {Counter::Threads, "threads", ""},
    {Counter::Threads, "streams", ""},
    {Counter::WarpBlocks, "given.warp_blocks", ""},
    {Counter::WarpBlocks, "blocks", ""},
    {Counter::IoBytes, "given.io_bytes", ""},
    {Counter::IoBytes, "io.read io.written", ""},
    {Counter::FileDescriptors, "files_opened", ""},
};

struct Term {
  std::string_view quantity;  ///< "1": the number
  double sign = 1;
  bool optional = false;
};

template <class Use>
void for_each_term(std::string_view sum, Use use) {
  while (!sum.empty()) {
    const std::size_t end = std::min(sum.find(' '), sum.size());
    Term t{.quantity = sum.substr(0, end)};
    if (t.quantity.front() == '-') t.sign = -1;
    t.optional = t.quantity.front() == '?';
    if (t.sign < 0 || t.optional) t.quantity.remove_prefix(1);
    use(t);
    sum.remove_prefix(std::min(end + 1, sum.size()));
  }
}

using Values = std::map<std::string_view, Measured>;

struct Sum {
  double value = 0;
  std::string text;
  int terms = 0;
};

/// Nothing where a needed quantity was not measured.
std::optional<Sum> evaluate(std::string_view expression, const Values& values) {
  Sum out;
  bool complete = true;
  for_each_term(expression, [&](const Term& t) {
    const auto found = values.find(t.quantity);
    const bool one = t.quantity == "1";
    if (!one && found == values.end()) {
      complete &= t.optional;
      return;
    }
    out.value += t.sign * (one ? 1 : found->second.value);
    out.text += fmt::format("{}{}",
                            out.terms++ == 0 ? ""
                            : t.sign < 0     ? " - "
                                             : " + ",
                            one ? "1" : found->second.counter);
  });
  if (!complete) return {};
  return out;
}

std::string quoted(const Sum& s) { return s.terms > 1 ? "(" + s.text + ")" : s.text; }

/// The first name of the quantity in one of two families; empty for none.
std::string_view name_for(std::string_view quantity, std::string_view family, std::string_view also) {
  for (const CounterName& n : counter_names()) {
    if (n.quantity == quantity && (n.family == family || n.family == also)) return n.name;
  }
  return {};
}

/// Counters of the families that complete the first formula that they can; empty for none.
std::string needed_from(Counter column, std::string_view family, std::string_view also, const Values& values) {
  for (const Formula& f : kFormulas) {
    if (f.column != column) continue;
    std::vector<std::string_view> names;
    bool known = true;
    for (const std::string_view side : {f.numerator, f.denominator}) {
      for_each_term(side, [&](const Term& t) {
        if (t.optional || t.quantity == "1" || values.contains(t.quantity)) return;
        const std::string_view name = name_for(t.quantity, family, also);
        known &= !name.empty();
        if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
      });
    }
    if (known && !names.empty()) return fmt::format("{}", fmt::join(names, ", "));
  }
  return {};
}

/// What a run with the same tool would have to count: counters that it has
/// everywhere, else those of each vendor.
std::string lacking(Counter column, std::string_view families, const Values& values) {
  const std::string_view own = families.substr(0, families.find(' '));
  std::string needed = needed_from(column, own, own, values);
  if (!needed.empty()) return "not measured; needs " + needed;
  for (std::string_view rest = families.substr(std::min(own.size() + 1, families.size())); !rest.empty();) {
    const std::size_t end = std::min(rest.find(' '), rest.size());
    const std::string_view family = rest.substr(0, end);
    const std::string names = needed_from(column, family, own, values);
    if (!names.empty()) needed += fmt::format("{}{} ({})", needed.empty() ? "" : " or ", names, family);
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return needed.empty() ? "not measured; this tool has no counter for it" : "not measured; needs " + needed;
}

/// Names of one quantity that count different parts, and not the same thing twice.
bool adds_up(std::string_view a, std::string_view b) {
  const auto pmu = [](std::string_view name) {
    return name.find('/') == std::string_view::npos ? std::string_view() : name.substr(0, name.find('/'));
  };
  return !pmu(a).empty() && !pmu(b).empty() && pmu(a) != pmu(b) && canonical_name(a) == canonical_name(b);
}

Values measured_quantities(const Profile& profile) {
  struct Found {
    const CounterName* row;
    std::size_t metric;
  };
  std::map<std::string_view, Found> best;
  Values values;
  for (std::size_t m = 0; m < profile.metrics.size(); ++m) {
    const Metric& metric = profile.metrics[m];
    const CounterName* row = find_counter_name(metric.name);
    const auto total = profile.total(m);
    if (!row || !total) continue;
    const std::string_view unit = !metric.unit.empty()                 ? metric.unit
                                  : !unit_in_name(metric.name).empty() ? unit_in_name(metric.name)
                                                                       : row->unit;
    if (unit == "?") continue;
    const double value = *total * base_unit(unit) * row->factor;
    const auto [at, fresh] = best.try_emplace(row->quantity, Found{row, m});
    if (fresh) {
      values[row->quantity] = {std::string(row->quantity), value, metric.name};
    } else if (at->second.row == row && adds_up(profile.metrics[at->second.metric].name, metric.name)) {
      values[row->quantity].value += value;
      values[row->quantity].counter += " + " + metric.name;
    } else if (row < at->second.row) {
      at->second = {row, m};
      values[row->quantity] = {std::string(row->quantity), value, metric.name};
    }
  }
  return values;
}

}  // namespace

Derived derive(const Profile& profile) {
  Derived out;
  const Values values = measured_quantities(profile);
  for (const auto& [name, m] : values) out.measured.push_back(m);
  const ReaderDef* reader = find_reader(profile.format);
  for (const Formula& f : kFormulas) {
    std::string& how = out.how[static_cast<std::size_t>(f.column)];
    if (out.record[f.column]) continue;
    const auto numerator = evaluate(f.numerator, values);
    const auto denominator = evaluate(f.denominator, values);
    if (!numerator || !denominator) continue;
    const bool quotient = !f.denominator.empty();
    const std::string text = quotient ? quoted(*numerator) + " / " + quoted(*denominator) : numerator->text;
    if (quotient && denominator->value <= 0) {
      if (how.empty()) how = fmt::format("{}: the denominator is {:g}", text, denominator->value);
    } else if (out.record.set(f.column, quotient ? numerator->value / denominator->value : numerator->value)) {
      how = text;
    } else if (how.empty()) {
      how = fmt::format("{}: {:g} measures nothing", text, numerator->value);
    }
  }
  for (std::size_t c = 0; c < kCounterCount; ++c) {
    if (out.how[c].empty())
      out.how[c] = lacking(static_cast<Counter>(c), reader ? reader->families : std::string_view(), values);
  }
  return out;
}

std::span<const Formula> formulas() { return kFormulas; }

}  // namespace perfc
