#pragma once
/// Reader of torch.export's programs (the JSON inside a .pt2 archive).
///
/// The schema (torch/_export/serde/schema.py) changed names of members over the
/// versions, not their meaning: an argument is a union of which one member is
/// not null, a tensor's type stands in `tensor_values` by its name.
#include "frontends/torch/program.h"
#include "ir/support/json.h"

namespace perfc::torch {

/// `document`: the program. `weights`: names of weights to files that hold them,
/// which tells those that share memory; may be null. Names point into both.
Result<Program> read_exported(const json::Document& document, const json::Document* weights, Diagnostics&);

}  // namespace perfc::torch
