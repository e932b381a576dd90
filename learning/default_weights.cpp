#include "learning/default_weights.h"

// The checkpoint's bytes, as they are. PERFC_DEFAULT_WEIGHTS is its path.
__asm__(
    ".pushsection .rodata\n"
    ".balign 16\n"
    ".globl perfc_default_weights\n"
    "perfc_default_weights:\n"
    ".incbin \"" PERFC_DEFAULT_WEIGHTS
    "\"\n"
    ".globl perfc_default_weights_end\n"
    "perfc_default_weights_end:\n"
    ".popsection\n");

extern "C" const char perfc_default_weights[], perfc_default_weights_end[];

namespace perfc {

std::string_view default_weights() {
  return {perfc_default_weights, static_cast<std::size_t>(perfc_default_weights_end - perfc_default_weights)};
}

}  // namespace perfc
