#pragma once
/// Reader of TorchScript JSON; format: docs/torch.md.
#include "frontends/torch/program.h"
#include "ir/support/json.h"

namespace perfc::torch {

/// The program's names and texts point into the document.
Result<Program> read_torchscript(const json::Document&, Diagnostics&);

}  // namespace perfc::torch
