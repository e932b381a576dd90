#pragma once
/// Reader of TorchScript JSON; format: docs/torch.md.
#include "ir/support/json.h"
#include "frontends/torch/program.h"

namespace perfc::torch {

/// The program's names and texts point into the document.
Result<Program> read_torchscript(const json::Document&, Diagnostics&);

}  // namespace perfc::torch
