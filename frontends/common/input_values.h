#pragma once
/// Contents of inputs as the user gives them: `--value rate=16000`, `--value lengths=3,5`, `--value flag=true`.
#include <string>
#include <vector>

#include "frontends/common/input_dims.h"

namespace perfc {

/// What `words` say of an input: numbers, or true and false, as many as it has elements or one that fills it. Its dims
/// must be known.
Result<DataRef> contents(const ModelInput&, const std::vector<std::string>& words, Diagnostics&);

/// The element type of words that nothing else tells: bool, int64 or float32.
DType dtype_of_words(const std::vector<std::string>& words);

}  // namespace perfc
