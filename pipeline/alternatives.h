#pragma once
/// What helps a run whose device waits for its host, by prediction.
#include <vector>

#include "pipeline/model_file.h"

namespace perfc {

/// Fills in `Report::alternatives` of the reports that the host bounds: compiled execution, and the batch from which on
/// the device would be busy. Each is predicted as its options would have it; what does not fit, cannot be predicted or
/// brings no more samples per second is left out.
void add_alternatives(std::vector<Report>&, ModelFile&, const Predictor&, const Request&);

}  // namespace perfc
