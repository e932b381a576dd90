#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "ir/support/csv.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  perfc::Diagnostics diags("fuzz.csv");
  const auto table = perfc::parse_csv({reinterpret_cast<const char*>(data), size}, diags);
  if (!table && diags.errors() == 0) std::abort();
  if (!table) return 0;
  for (const auto& row : table->rows) {
    if (row.fields.size() != table->head.size()) std::abort();
    for (const std::string& field : row.fields) (void)perfc::parse_number(field);
  }
  return 0;
}
