/// perfc._perfc.predict and what it returns: reports by device, then batch.
#include <algorithm>
#include <span>

#include "learning/predictors.h"
#include "pipeline/reports.h"
#include "python/extension/arguments.h"
#include "python/extension/array.h"

namespace perfc::python {
namespace {

using Reports = std::vector<Report>;

PyObject* reports_type = nullptr;

/// The arguments (first, count, …) of a method as a part of the reports.
std::span<const Report> part_of(PyObject* self, Py_ssize_t first, Py_ssize_t count) {
  const Reports& all = held<Reports>(self);
  const auto size = static_cast<Py_ssize_t>(all.size());
  if (first < 0 || count < 0 || first > size || count > size - first) {
    PyErr_SetString(PyExc_IndexError, "no such report");
    throw Raised{};
  }
  return {all.data() + first, static_cast<std::size_t>(count)};
}

PyObject* json(PyObject* self, PyObject* arguments) {
  return guarded([&] {
    Py_ssize_t first = 0, count = 0, top = 0;
    if (!PyArg_ParseTuple(arguments, "nnn", &first, &count, &top)) throw Raised{};
    return object(to_json(part_of(self, first, count), static_cast<std::size_t>(std::max<Py_ssize_t>(0, top))));
  });
}

PyObject* reports_text(PyObject* self, PyObject* arguments) {
  return guarded([&] {
    const char* form = nullptr;
    Py_ssize_t first = 0, count = 0, size = 0;
    if (!PyArg_ParseTuple(arguments, "snnn", &form, &first, &count, &size)) throw Raised{};
    const auto part = part_of(self, first, count);
    const Reports reports(part.begin(), part.end());
    const auto lines = static_cast<std::size_t>(std::max<Py_ssize_t>(0, size));
    const std::string_view name = form;
    if (name == "report") return object(to_text(reports, lines, Colour::No));
    if (name == "summary") return object(to_summary(reports, lines, Colour::No));
    if (name == "trace") return object(to_trace(reports));
    if (name == "folded") return object(to_folded(reports));
    PyErr_Format(PyExc_ValueError, "'%s' is none of report, summary, trace, folded", form);
    throw Raised{};
  });
}

/// Kernels in the order of their execution, a column each.
struct Kernels {
  std::vector<double> time_us, flops, bytes;
  std::vector<std::string> op, name;
  std::vector<std::string_view> bound;
};

PyObject* kernels(PyObject* self, PyObject* arguments) {
  return guarded([&] {
    Py_ssize_t index = 0;
    if (!PyArg_ParseTuple(arguments, "n", &index)) throw Raised{};
    const Report& report = part_of(self, index, 1).front();
    const auto k = std::make_shared<Kernels>();
    for (const OpEstimate& e : report.prediction.ops) {
      const NodeNote& node = (*report.nodes)[e.node];
      k->time_us.push_back(e.time_us);
      k->flops.push_back(e.flops);
      k->bytes.push_back(e.bytes);
      k->op.emplace_back(node.op);
      k->name.push_back(node.name);
      k->bound.push_back(perfc::name(e.bound));
    }
    Ref out(PyDict_New());
    set(out, "op", list_of(k->op));
    set(out, "name", list_of(k->name));
    set(out, "bound", list_of(k->bound));
    set(out, "time_us", object(array_of(k, k->time_us)));
    set(out, "flops", object(array_of(k, k->flops)));
    set(out, "bytes", object(array_of(k, k->bytes)));
    return out;
  });
}

PyObject* length(PyObject* self, PyObject*) {
  return guarded([&] { return object(held<Reports>(self).size()); });
}

PyMethodDef kReportMethods[] = {
    {"json", json, METH_VARARGS, "perfc.report/1 of a part: first, count, top."},
    {"text", reports_text, METH_VARARGS,
     "A part as \"report\", \"summary\", \"trace\" or \"folded\": form, first, count, lines."},
    {"kernels", kernels, METH_VARARGS, "Columns of a report's kernels in the order of their execution: index."},
    {"count", length, METH_NOARGS, "How many reports there are."},
    {nullptr, nullptr, 0, nullptr}};
PyType_Slot kReportSlots[] = {{Py_tp_dealloc, reinterpret_cast<void*>(deallocate<Reports>)},
                              {Py_tp_new, reinterpret_cast<void*>(no_constructor)},
                              {Py_tp_methods, kReportMethods},
                              {0, nullptr}};
PyType_Spec kReportsSpec = {"perfc._perfc.Reports", sizeof(Holder<Reports>), 0, Py_TPFLAGS_DEFAULT, kReportSlots};

/// Of a model at every batch, by device, then batch.
Result<Reports> reports_of(const ModelArgument& model, Request request,
                           const std::vector<std::optional<std::int64_t>>& batches, const std::vector<Device>& devices,
                           const Predictor& predictor, Alternatives alternatives, Diagnostics& diags) {
  auto file = open_model(model, request, diags);
  if (!file) return Failure{};
  request.model = model.name;
  std::vector<Reports> of_batches;
  for (const auto& batch : batches) {
    request.batch = batch;
    Diagnostics of_batch(model.name);
    auto found = full_reports(*file, devices, predictor, request, alternatives, of_batch);
    diags.append(of_batch);
    if (!found) return Failure{};
    of_batches.push_back(std::move(*found));
  }
  return by_device(std::move(of_batches));
}

}  // namespace

PyObject* predict(PyObject*, PyObject* arguments) {
  return guarded([&] {
    PyObject *name = nullptr, *path = nullptr, *bytes = nullptr, *options = nullptr;
    int alternatives = 1;
    if (!PyArg_ParseTuple(arguments, "UOOO!p", &name, &path, &bytes, &PyDict_Type, &options, &alternatives))
      throw Raised{};
    const ModelArgument model = model_argument(name, path, bytes);
    PredictOptions o;
    read_options(options, predict_options(o));
    const Request request = request_of(o, Batches::Several);
    const std::vector<Device> devices = devices_for(o, request);
    const auto predictor = predictor_for(request);
    Diagnostics diags(model.name);
    Result<Reports> reports = Failure{};
    {
      const WithoutGil others;
      const auto batches = to_batches(o, diags);
      const auto told = alternatives && batches && batches->size() == 1 ? Alternatives::Told : Alternatives::Untold;
      if (batches) reports = reports_of(model, request, *batches, devices, *predictor, told, diags);
    }
    if (!reports) raise(Wrong::Model, diags);
    return make_holder(reports_type, std::move(*reports));
  });
}

void add_reports(PyObject* module) { reports_type = add_type(module, kReportsSpec, "Reports"); }

}  // namespace perfc::python
