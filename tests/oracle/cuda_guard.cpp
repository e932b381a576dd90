// Lets a CPU build of torch dispatch tensors that say they are on CUDA: its registry of device guards has none for
// CUDA, so that anything that switches devices (indexing, autograd) would fail. Loaded by dispatch.py.
#include <c10/core/impl/DeviceGuardImplInterface.h>

extern "C" void register_no_op_cuda_guard() {
  using namespace c10::impl;
  auto& guard = device_guard_impl_registry[static_cast<std::size_t>(c10::DeviceType::CUDA)];
  if (!guard.load()) guard.store(new NoOpDeviceGuardImpl<c10::DeviceType::CUDA>());
}
