#include "pipeline/counter_weights.h"

#include <cstddef>

// The checkpoints' bytes, as they are. PERFC_COUNTER_MODELS is their folder.
#define PERFC_INCLUDE_BYTES(symbol, file)    \
  __asm__(                                   \
      ".pushsection .rodata\n"               \
      ".balign 16\n"                         \
      ".globl " #symbol "\n" #symbol         \
      ":\n"                                  \
      ".incbin \"" PERFC_COUNTER_MODELS file \
      "\"\n"                                 \
      ".globl " #symbol "_end\n" #symbol     \
      "_end:\n"                              \
      ".popsection\n");                      \
  extern "C" const char symbol[], symbol##_end[]

PERFC_INCLUDE_BYTES(perfc_counters_rajaperf, "/counters_rajaperf.safetensors");
PERFC_INCLUDE_BYTES(perfc_counters_aiwc, "/counters_aiwc.safetensors");

namespace perfc {
namespace {

std::string_view between(const char* begin, const char* end) { return {begin, static_cast<std::size_t>(end - begin)}; }

constexpr BuiltInCounterModel kTable[] = {
    {"rajaperf", [] { return between(perfc_counters_rajaperf, perfc_counters_rajaperf_end); }},
    {"aiwc", [] { return between(perfc_counters_aiwc, perfc_counters_aiwc_end); }},
};

}  // namespace

std::span<const BuiltInCounterModel> built_in_counter_models() { return kTable; }

}  // namespace perfc
