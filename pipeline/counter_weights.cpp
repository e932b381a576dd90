#include "pipeline/counter_weights.h"

#include <cstddef>

#include "ir/support/embed_bytes.h"

// PERFC_COUNTER_MODELS is the folder of the checkpoints.
PERFC_EMBED_BYTES(perfc_counters_rajaperf, PERFC_COUNTER_MODELS "/counters_rajaperf.safetensors");
PERFC_EMBED_BYTES(perfc_counters_aiwc, PERFC_COUNTER_MODELS "/counters_aiwc.safetensors");

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
