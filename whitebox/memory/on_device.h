#pragma once
/// What a monitor sees of a run's memory on a device: the context of its software stack beside what the allocator
/// reserves, and how far off both may be.
#include "whitebox/memory/memory.h"

namespace perfc {

/// What convolutions want there: tensor cores' copies, float32 lanes Winograd's tiles, of which cuDNN has none on
/// Hopper. What MIOpen and oneDNN want is not known: tiles.
ConvolutionWorkspace workspace_on(const Device&, Precision);

/// A model's needs on any device.
class NeedsOnDevices {
 public:
  NeedsOnDevices() = default;
  NeedsOnDevices(const Graph&, const ExecConfig&);
  const MemoryNeeds& on(const Device&) const;

 private:
  Precision precision_ = Precision::Fp32;
  MemoryNeeds usual_, with_tiles_;  ///< with tensor cores' kernels, or those of float32 on Hopper; with Winograd's
};

/// What a run cannot do without, in MiB: the context, and the most that is allocated at once.
double least_mib(const MemoryNeeds&, const Device&);
/// Memory, its odds and its 90 % interval of a prediction.
void add_memory(const MemoryNeeds&, const Device&, Prediction&);

}  // namespace perfc
