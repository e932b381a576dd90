#include "fuzz/import.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return perfc::fuzz::import("fuzz.xml", data, size);
}
