#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "gnn/checkpoint.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  perfc::Diagnostics diags("fuzz.safetensors");
  const auto checkpoint = perfc::parse_checkpoint({reinterpret_cast<const char*>(data), size}, diags);
  if (!checkpoint && diags.errors() == 0) std::abort();
  if (!checkpoint) return 0;
  // What was read is written and read again.
  const std::string bytes = perfc::write_checkpoint(*checkpoint);
  const auto again = perfc::parse_checkpoint(bytes, diags);
  if (!again || perfc::write_checkpoint(*again) != bytes) std::abort();
  return 0;
}
