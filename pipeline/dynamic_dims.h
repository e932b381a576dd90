#pragma once
/// How much of a prediction rests on dims that the data decides.
#include "pipeline/model_file.h"

namespace perfc {

/// For reports on a graph in which such dims were given extents: which, and the same run with all of them at their
/// least and at their most. The 90 % intervals then reach from the lower end of the former to the upper end of the
/// latter. Extents that the request gives stay.
void add_dynamic_dims(std::vector<Report>&, const Graph&, ModelFile&, const Predictor&, const Request&);

}  // namespace perfc
