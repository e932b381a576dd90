#pragma once
/// The PyTorch front end: TorchScript written as JSON by `python -m perfc.export`
/// and torch.export's .pt2 archives. TorchScript archives (.pt) are recognised
/// and refused with a word on how to convert them: their code is Python text.
#include "frontends/frontend.h"

namespace perfc::torch {

bool sniff_json(std::string_view head);
Result<Graph> import_json(const Source&, const ImportOptions&, Diagnostics&);

bool sniff_archive(std::string_view head);
Result<Graph> import_archive(const Source&, const ImportOptions&, Diagnostics&);

/// Operators of ATen, torchvision and quantized by the name that both forms use,
/// and what of Python's the import itself evaluates.
std::vector<OpCoverage> coverage();

}  // namespace perfc::torch
