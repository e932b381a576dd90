#pragma once
/// Every predictor by name: "default" (the corrected whitebox with the weights that
/// are built in), "whitebox", or the path of a checkpoint.
#include "gnn/models/pmgns.h"
#include "gnn/task.h"
#include "pipeline/pipeline.h"

namespace perfc {

inline constexpr std::string_view kDefaultName = "default", kWhiteboxName = "whitebox";

/// Learned predictors fill in what their outputs cover and leave the rest to the
/// whitebox. Refuses checkpoints whose columns this program does not extract.
Result<std::unique_ptr<Predictor>> open_predictor(const std::string& name_or_path, OpaquePolicy, Diagnostics&);

/// The request's predictor: by name, or from its checkpoint.
Result<std::unique_ptr<Predictor>> find_predictor(const Request&, Diagnostics&);
/// A request from end to end, one report per device. Fails as a whole if any device fails.
Result<std::vector<Report>> predict(const Request&, Diagnostics&);

/// Outputs of one sample, in the network's units.
std::vector<double> run(Pmgns<float>&, const GraphSample&, ThreadPool&);

}  // namespace perfc
