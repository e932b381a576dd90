#include "sweep/plan.h"

#include <algorithm>

#include "ir/support/csv.h"
#include "pipeline/reports.h"

namespace perfc {
namespace {

/// What went wrong first, and how many more errors there are.
std::string first_error(const Diagnostics& diags) {
  for (const Diagnostic& d : diags.all()) {
    if (d.severity != Severity::Error) continue;
    return diags.errors() == 1 ? to_string(d) : fmt::format("{} (and {} more)", to_string(d), diags.errors() - 1);
  }
  return "cannot be predicted";
}

std::string key_text(const SweepKey& k, std::optional<std::int64_t> batch, Precision precision) {
  return fmt::format("{},{},{},{},{}", csv_field(k.model.name), batch ? fmt::to_string(*batch) : "",
                     csv_field(k.device.name), name(precision), def(k.run.exec.runtime).name);
}

std::string failed_row(const SweepKey& k, const std::string& error) {
  constexpr std::size_t kOfKey = 5;
  const std::string without_figures(kSweepColumns - kOfKey, ',');
  return fmt::format("{}{}{}\n", key_text(k, k.batch, k.run.exec.precision), without_figures, csv_field(error));
}

/// `warnings`: on the model, beside those on the device.
std::string row(const SweepKey& k, const Report& r, std::size_t warnings) {
  const Prediction& p = r.prediction;
  return fmt::format("{},{:.6g},{:.6g},{:.6g},{:.6g},{:.6g},{:.6g},{:.6g},{:.6g},{},{},{},\n",
                     key_text(k, r.features.batch, r.exec.precision), p.latency_ms, p.latency_lo_ms, p.latency_hi_ms,
                     p.device_ms, p.host_ms, p.memory.total_mib(), p.energy_j, p.power_w, r.fits(),
                     csv_field(p.predictor), warnings + p.warnings.size());
}

}  // namespace

SweepKey key_of(const SweepPlan& plan, std::size_t row) {
  const std::size_t unit = row / plan.devices.size(), of_model = unit % plan.units_per_model();
  return {plan.models[unit / plan.units_per_model()], plan.batches[of_model / plan.runs.size()],
          plan.runs[of_model % plan.runs.size()], plan.devices[row % plan.devices.size()]};
}

SweepWorker::SweepWorker(const SweepPlan& plan, const Predictor& predictor, const SweepModel& model)
    : plan_(plan), predictor_(predictor), model_(model), opening_(model.name) {
  Request request = plan.runs.front();
  request.model = model.path.string();
  file_ = ModelFile::open(request, opening_);
}

Result<std::vector<Report>> SweepWorker::figures_on(const std::vector<Device>& devices, const Request& request,
                                                    Diagnostics& diags) {
  if (file_) return figures_only(*file_, devices, predictor_, request, diags);
  diags.append(opening_);
  return Failure{};
}

SweepRows SweepWorker::predict(std::size_t unit) {
  Request request = plan_.runs[unit % plan_.runs.size()];
  request.model = model_.name;
  request.batch = plan_.batches[unit / plan_.runs.size()];
  std::vector<std::string> errors(plan_.devices.size());
  std::vector<Device> able;
  for (std::size_t d = 0; d < errors.size(); ++d) {
    Diagnostics diags(model_.name);
    if (can_run(request, plan_.devices[d], diags)) able.push_back(plan_.devices[d]);
    else errors[d] = first_error(diags);
  }
  Diagnostics diags(model_.name);
  const auto reports = able.empty() ? Failure{} : figures_on(able, request, diags);
  SweepRows out;
  for (std::size_t d = 0, next = 0; d < errors.size(); ++d) {
    const SweepKey key{model_, request.batch, plan_.runs[unit % plan_.runs.size()], plan_.devices[d]};
    if (errors[d].empty() && !reports) errors[d] = first_error(diags);
    if (errors[d].empty()) out.text += row(key, (*reports)[next++], diags.warnings());
    else out.text += failed_row(key, errors[d]), ++out.failed;
  }
  return out;
}

}  // namespace perfc
