#pragma once
/// What a monitor sees of a run's memory on a device: the context of its software stack beside what the allocator
/// reserves, and how far off both may be.
#include "whitebox/memory/memory.h"

namespace perfc {

/// Memory, its odds, its 90 % interval and warnings of a prediction.
void add_memory(const MemoryNeeds&, const Device&, Prediction&);

}  // namespace perfc
