#pragma once
/// What a monitor sees of a run's memory on a device: the context of its software stack beside what the allocator
/// reserves, and how far off both may be.
#include "whitebox/memory/memory.h"

namespace perfc {

/// What a run cannot do without, in MiB: the context, and the most that is allocated at once.
double least_mib(const MemoryNeeds&, const Device&);
/// Memory, its odds and its 90 % interval of a prediction.
void add_memory(const MemoryNeeds&, const Device&, Prediction&);

}  // namespace perfc
