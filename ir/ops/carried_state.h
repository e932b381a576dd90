#pragma once
/// States that one call hands to the next: attributes that com.microsoft's convolutions and linear attention share.
#include "ir/infer_context.h"

namespace perfc::rules {

/// Extents of a state, which are `one`'s; with `state_window` one of each of the last tokens, which lead. Fails where
/// the window is negative.
Result<Shape> windowed_state(const InferContext&, Shape one);
/// Tokens whose part in a state is a result of its own (`state_update_capacity`): 0 to 8.
Result<Dim> captured_tokens(const InferContext&);

}  // namespace perfc::rules
