#pragma once
/// PIR programs as JSON, what PaddlePaddle 3 saves by default.
#include "ir/support/json.h"
#include "frontends/paddle/program.h"

namespace perfc::paddle {

/// The program's names point into the document's text.
Result<Program> read_pir(const json::Document&, Diagnostics&);

}  // namespace perfc::paddle
