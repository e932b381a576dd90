#include "compare/versions.h"

#include "pipeline/largest_batch.h"

namespace perfc {

Result<Version> predict_version(ModelFile& file, Request request, const std::vector<Device>& devices,
                                const Predictor& predictor, Diagnostics& diags) {
  auto graph = file.at(request, diags);
  if (!graph) return Failure{};
  auto reports = predict(*graph, devices, predictor, request, diags);
  if (!reports) return Failure{};
  Version out{.graph = std::move(*graph), .reports = std::move(*reports), .largest_batch = {}};
  LargestBatch search(file, request);
  for (const Report& r : out.reports) out.largest_batch.push_back(search.most(r.features.batch, r.device));
  return out;
}

}  // namespace perfc
