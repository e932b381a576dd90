#pragma once
/// A model predicted as a version that others are held against.
#include "compare/comparison.h"
#include "pipeline/model_file.h"

namespace perfc {

/// The file at the request's batch, with the largest batch of each device.
Result<Version> predict_version(ModelFile&, Request, const std::vector<Device>&, const Predictor&, Diagnostics&);

}  // namespace perfc
