/// perfc._perfc.sweep_plan and sweep_rows: what a sweep predicts, and the rows of one of its models.
#include "python/extension/arguments.h"
#include "sweep/settings.h"

namespace perfc::python {
namespace {

/// All but the models.
SweepPlan plan_of(const PredictOptions& o) {
  SweepPlan plan;
  Diagnostics usage, diags;
  auto runs = sweep_runs(o, usage);
  auto batches = runs ? to_batches(o, usage) : Failure{};
  if (!batches) raise(Wrong::Usage, usage);
  plan.runs = std::move(*runs);
  plan.batches = std::move(*batches);
  if (!name_all_devices(plan.runs.front(), diags)) raise(Wrong::Model, diags);
  add_devices(devices_for(o, plan.runs.front()), plan);
  return plan;
}

}  // namespace

PyObject* sweep_plan(PyObject*, PyObject* arguments) {
  return guarded([&] {
    PyObject *models = nullptr, *options = nullptr;
    if (!PyArg_ParseTuple(arguments, "OO!", &models, &PyDict_Type, &options)) throw Raised{};
    PredictOptions o;
    read_options(options, predict_options(o));
    SweepPlan plan = plan_of(o);
    Diagnostics diags;
    if (!find_models(words_of(models), plan, diags)) raise(Wrong::Model, diags);
    const auto settings = sweep_settings(o, plan, PERFC_VERSION, diags);
    if (!settings) raise(Wrong::Model, diags);
    Ref list(PyList_New(0));
    for (const SweepModel& m : plan.models) check(PyList_Append(list.get(), tuple_of(m.name, m.path.string()).get()));
    return tuple_of(std::move(list), list_of(plan.left_out), plan.units_per_model() * plan.devices.size(), *settings,
                    kSweepHead);
  });
}

PyObject* sweep_rows(PyObject*, PyObject* arguments) {
  return guarded([&] {
    PyObject *name = nullptr, *path = nullptr, *options = nullptr;
    if (!PyArg_ParseTuple(arguments, "OOO!", &name, &path, &PyDict_Type, &options)) throw Raised{};
    PredictOptions o;
    read_options(options, predict_options(o));
    SweepPlan plan = plan_of(o);
    plan.models.push_back({text_of(name), text_of(path)});
    const auto predictor = predictor_for(plan.runs.front());
    std::string rows;
    {
      const WithoutGil others;
      SweepWorker worker(plan, *predictor, plan.models.front());
      for (std::size_t u = 0; u < plan.units_per_model(); ++u) rows += worker.predict(u).text;
    }
    return object(rows);
  });
}

}  // namespace perfc::python
