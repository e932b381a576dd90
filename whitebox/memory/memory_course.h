#pragma once
/// Memory over the execution order: how much is in use while each operator runs, and who holds it at the peak.
#include <utility>
#include <vector>

#include "whitebox/memory/caching_allocator.h"
#include "whitebox/memory/memory.h"

namespace perfc {

enum class MemoryPhase : std::uint8_t { Forward, Backward, Update };
std::string_view name(MemoryPhase);

/// What a run takes and gives back, as `memory_needs` writes it down.
struct MemoryLog {
  struct Moment {
    NodeId node;
    MemoryPhase phase;
    std::size_t end;  ///< entries when the node is done
  };
  AllocationLog allocations;
  std::vector<Moment> moments;  ///< of the last run
  std::size_t begin = 0;        ///< entries when it began
  void begin_run() {
    moments.clear();
    begin = allocations.entries.size();
  }
};

/// Memory in use while one operator runs, in bytes.
struct MemoryMoment {
  NodeId node = ValueId::kNone;  ///< none: the optimizer's step
  MemoryPhase phase = MemoryPhase::Forward;
  double most = 0;   ///< at once while it runs …
  double after = 0;  ///< … and when it is done
};

/// The second run, which finds the memory of the first: what a run in steady state is like. Blocks in use, in the
/// allocator's sizes; not the context, nor what the allocator reserves beside them.
struct MemoryCourse {
  std::vector<MemoryMoment> moments;  ///< in order of execution; constants have none
  std::size_t peak = 0;               ///< the moment at which most is in use
  double before = 0;                  ///< in use when the run begins: weights, last results, an optimizer's state
  /// What is in use at the peak, largest first: who took it (a constant's is the weight itself, none: the optimizer),
  /// and bytes.
  std::vector<std::pair<NodeId, double>> held;
};
MemoryCourse memory_course(const Graph&, const ExecConfig&, ConvolutionWorkspace = ConvolutionWorkspace::Copies);

}  // namespace perfc
