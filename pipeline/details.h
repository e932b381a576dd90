#pragma once
/// What a page shows beside a report: the graph, memory over the execution order, other batches, other devices.
#include "pipeline/model_file.h"
#include "whitebox/memory/memory_course.h"

namespace perfc {

struct ModelDetails {
  Graph graph;
  MemoryCourse memory;
};

/// Batches that a page shows around `batch`, ascending, itself among them: powers of two, fewer of graphs with many
/// nodes, so that they take a fraction of a second together.
std::vector<std::int64_t> batches_around(std::int64_t batch, std::size_t nodes);

/// Fills in `Report::details`, `Report::batches` and `Report::devices` of reports on the file at the request's batch.
/// Other batches that the model cannot be had at, and devices that its runtime does not run on, are left out. Other
/// devices have the host and the stack that the request names, or else their own.
Status add_details(std::vector<Report>&, ModelFile&, const Predictor&, Request, Diagnostics&);

}  // namespace perfc
