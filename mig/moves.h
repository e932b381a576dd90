#pragma once
/// From the instances that exist to those of a plan, with the fewest instances destroyed and created.
#include <cstdint>

#include "mig/pack.h"

namespace perfc {

/// What happens to one GPU, in instances by profile.
struct GpuMoves {
  std::size_t gpu = 0;              ///< of the host's
  MigCounts use;                    ///< what the plan has here
  MigCounts keep, destroy, create;  ///< kept ones may be more than are used
  bool used() const;
  bool untouched() const;     ///< nothing is destroyed or created
  bool from_scratch() const;  ///< nothing is kept, so that the places can be chosen
};

struct MovePlan {
  std::vector<GpuMoves> gpus;  ///< one per GPU of the host
  int moves = 0;               ///< instances destroyed and created
  int bound = 0;               ///< no way to the same instances takes fewer; equal to `moves` where that is proven
};

/// `wanted`: the plan's instances; `current`: what is on each GPU of the host, of which at most `most` may be used.
/// Where instances lie now is not known (nvidia-smi's XML does not say), and neither where the driver puts the next
/// one:
/// instances are created beside kept ones only where that works wherever those lie and whatever the driver chooses.
/// Empty gpus: no way was found within `effort` steps.
MovePlan plan_moves(const MigPartitions&, const MigCounts& wanted, const std::vector<MigCounts>& current,
                    std::size_t most, std::uint64_t effort);

/// Gives the plan's slices the GPUs and places of the moves; the start of what is created beside others, or kept, is
/// −1.
void follow(const MigPartitions&, const MovePlan&, Packing&);

}  // namespace perfc
