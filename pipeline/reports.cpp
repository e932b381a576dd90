#include "pipeline/reports.h"

#include <algorithm>

#include "pipeline/alternatives.h"
#include "pipeline/dynamic_dims.h"
#include "pipeline/largest_batch.h"

namespace perfc {

Result<std::vector<Report>> full_reports(ModelFile& file, const std::vector<Device>& devices,
                                         const Predictor& predictor, Request request, Alternatives alternatives,
                                         Diagnostics& diags) {
  request.exec = with_software(request.exec, devices);
  const auto graph = file.at(request, diags);
  if (!graph) return Failure{};
  auto reports = predict(*graph, devices, predictor, request, diags);
  if (!reports) return Failure{};
  add_dynamic_dims(*reports, *graph, file, predictor, request);
  add_largest_batches(*reports, file, request);
  if (alternatives == Alternatives::Told) {
    add_alternatives(*reports, file, predictor, request);
    add_hosts(*reports, file, predictor, request);
    add_runtimes(*reports, file, predictor, request);
  }
  return reports;
}

Result<std::vector<Report>> figures_only(ModelFile& file, const std::vector<Device>& devices,
                                         const Predictor& predictor, Request request, Diagnostics& diags) {
  request.exec = with_software(request.exec, devices);
  const auto graph = file.at(request, diags);
  if (!graph) return Failure{};
  const auto model = predictor.prepare(*graph, request.exec, diags);
  if (!model) return Failure{};
  std::vector<Prediction> predictions = (*model)->on_each(devices);
  std::vector<Report> reports;
  for (std::size_t d = 0; d < devices.size(); ++d) {
    Report r{.model = request.model,
             .exec = request.exec,
             .dtype_from = request.dtype_from,
             .device = devices[d],
             .prediction = std::move(predictions[d])};
    r.features.batch = samples_of(*graph, request);
    r.prediction.ops.clear();
    reports.push_back(std::move(r));
  }
  add_dynamic_dims(reports, *graph, file, predictor, request);
  return reports;
}

std::vector<Report> by_device(std::vector<std::vector<Report>> of_batches) {
  std::vector<Report> out;
  std::size_t devices = 0;
  for (const auto& reports : of_batches) devices = std::max(devices, reports.size());
  for (std::size_t d = 0; d < devices; ++d) {
    for (auto& reports : of_batches)
      if (d < reports.size()) out.push_back(std::move(reports[d]));
  }
  return out;
}

}  // namespace perfc
