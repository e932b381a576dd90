#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "devices/device.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  perfc::Diagnostics diags("fuzz.json");
  const auto table = perfc::DeviceTable::parse({reinterpret_cast<const char*>(data), size}, diags);
  if (!table && diags.errors() == 0) std::abort();
  return 0;
}
