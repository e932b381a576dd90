#pragma once
/// All that is told of a model at one batch.
#include "pipeline/model_file.h"

namespace perfc {

/// Whether reports say how else the model could be run (pipeline/alternatives.h), which takes further predictions.
enum class Alternatives { Untold, Told };

/// `predict` of the file at the request's batch, with what is known of dims that data decides, of the largest batch
/// where the device's memory does not hold the run, and of alternatives.
Result<std::vector<Report>> full_reports(ModelFile&, const std::vector<Device>&, const Predictor&, Request,
                                         Alternatives, Diagnostics&);

/// The figures of `full_reports` alone, for tables of many models: without MIG profiles, operators, static features and
/// the largest batch. The request's runtime runs on all of the devices (`can_run`).
Result<std::vector<Report>> figures_only(ModelFile&, const std::vector<Device>&, const Predictor&, Request,
                                         Diagnostics&);

/// Reports of a model at several batches, each by device, in the order in which they are told: by device, then batch.
std::vector<Report> by_device(std::vector<std::vector<Report>> of_batches);

}  // namespace perfc
