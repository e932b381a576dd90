#pragma once
/// PIR programs as JSON, what PaddlePaddle 3 saves by default.
#include "frontends/paddle/program.h"
#include "ir/support/json.h"

namespace perfc::paddle {

/// The program's names point into the document's text.
Result<Program> read_pir(const json::Document&, Diagnostics&);

}  // namespace perfc::paddle
