#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "devices/device.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  perfc::Diagnostics diags("fuzz.xml");
  const auto gpus =
      perfc::read_nvidia_smi({reinterpret_cast<const char*>(data), size}, perfc::DeviceTable::builtin(), diags);
  if (!gpus && diags.errors() == 0) std::abort();
  return 0;
}
