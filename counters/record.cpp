#include "counters/record.h"

#include <algorithm>
#include <cmath>

namespace perfc {
namespace {

using Scale = Normaliser::Scale;

struct Row {
  Counter counter;
  std::string_view name;
  std::string_view unit;
  Scale scale;
  std::string_view meaning;
};

constexpr Row kRows[] = {
    {Counter::Instructions, "instructions", "1", Scale::Log, "instructions retired; of a GPU, by warps"},
    {Counter::IntegerRatio, "integer_ratio", "1", Scale::Linear, "integer arithmetic of all instructions"},
    {Counter::FloatRatio, "float_ratio", "1", Scale::Linear, "floating-point arithmetic of all instructions"},
    {Counter::MemoryRatio, "memory_ratio", "1", Scale::Linear, "loads and stores of all instructions"},
    {Counter::ControlRatio, "control_ratio", "1", Scale::Linear, "branches, calls and jumps of all instructions"},
    {Counter::IndependentRatio, "independent_ratio", "1", Scale::Linear,
     "instructions that work on independent elements (SIMD) of all instructions"},
    {Counter::CacheMissRatio, "cache_miss_ratio", "1", Scale::Log, "cache misses to hits"},
    {Counter::BranchMissRatio, "branch_miss_ratio", "1", Scale::Linear, "mispredicted of all branches"},
    {Counter::PageLevels, "page_levels", "1", Scale::Linear, "levels of the page table"},
    {Counter::PageFaults, "page_faults", "1", Scale::Log, "page faults"},
    {Counter::CpuToGpuBandwidth, "cpu_to_gpu_bandwidth", "B/s", Scale::Log,
     "bytes copied from host to device by the time that the copies took"},
    {Counter::GpuToCpuBandwidth, "gpu_to_cpu_bandwidth", "B/s", Scale::Log,
     "bytes copied from device to host by the time that the copies took"},
    {Counter::Threads, "threads", "1", Scale::Log, "CPU threads, or GPU streams where no thread was measured"},
    {Counter::WarpBlocks, "warp_blocks", "1", Scale::Log, "thread blocks that kernels were launched with"},
    {Counter::IoBytes, "io_bytes", "B", Scale::Log, "bytes read from and written to files"},
    {Counter::FileDescriptors, "file_descriptors", "1", Scale::Log, "file descriptors opened"},
};
static_assert(std::size(kRows) == kCounterCount);
static_assert(
    [] {
  for (std::size_t i = 0; i < kCounterCount; ++i) {
    if (static_cast<std::size_t>(kRows[i].counter) != i) return false;
  }
  return true;
    }(),
    "rows stand in the order of Counter");

}  // namespace

const std::vector<Column>& counter_columns() {
  static const std::vector<Column> columns = [] {
    std::vector<Column> out;
    for (const Row& r : kRows) out.push_back({std::string(r.name), std::string(r.unit), std::string(r.meaning)});
    return out;
  }();
  return columns;
}

const std::vector<Normaliser::Scale>& counter_scales() {
  static const std::vector<Scale> scales = [] {
    std::vector<Scale> out;
    for (const Row& r : kRows) out.push_back(r.scale);
    return out;
  }();
  return scales;
}

std::optional<Counter> find_counter(std::string_view name) {
  for (const Row& r : kRows) {
    if (r.name == name) return r.counter;
  }
  return {};
}

bool CounterRecord::set(Counter c, double value) {
  if (!std::isfinite(value) || value < 0) return false;
  values_[static_cast<std::size_t>(c)] = value;
  return true;
}

std::size_t CounterRecord::known() const {
  return static_cast<std::size_t>(
      std::count_if(values_.begin(), values_.end(), [](const auto& v) { return v.has_value(); }));
}

}  // namespace perfc
