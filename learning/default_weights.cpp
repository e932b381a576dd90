#include "learning/default_weights.h"

#include "ir/support/embed_bytes.h"

PERFC_EMBED_BYTES(perfc_default_weights, PERFC_DEFAULT_WEIGHTS);

namespace perfc {

std::string_view default_weights() {
  return {perfc_default_weights, static_cast<std::size_t>(perfc_default_weights_end - perfc_default_weights)};
}

}  // namespace perfc
