#pragma once
/// How else a model could be run, by prediction.
#include <vector>

#include "pipeline/model_file.h"

namespace perfc {

/// Fills in `Report::alternatives` of the reports that the host bounds: compiled execution, and the batch from which on
/// the device would be busy. Each is predicted as its options would have it; what does not fit, cannot be predicted or
/// brings no more samples per second is left out.
void add_alternatives(std::vector<Report>&, ModelFile&, const Predictor&, const Request&);

/// Fills in `Report::hosts` of the reports that the host bounds.
void add_hosts(std::vector<Report>&, ModelFile&, const Predictor&, Request);

/// Fills in `Report::runtimes`: inference on every other runtime, in its layout, of AMP in float16 where there is no
/// autocast. What cannot be predicted is left out.
void add_runtimes(std::vector<Report>&, ModelFile&, const Predictor&, const Request&);

}  // namespace perfc
