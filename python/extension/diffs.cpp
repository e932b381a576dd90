/// perfc._perfc.diff and what it returns.
#include <fmt/format.h>

#include <algorithm>
#include <fstream>

#include "compare/diff.h"
#include "ir/support/output_file.h"
#include "learning/predictors.h"
#include "python/extension/arguments.h"

namespace perfc::python {
namespace {

struct Compared {
  DiffReport report;
  Diagnostics messages;  ///< of all models
};

PyObject* diff_type = nullptr;

PyObject* diff_text_of(PyObject* self, PyObject* arguments) {
  return guarded([&] {
    const char* format = nullptr;
    if (!PyArg_ParseTuple(arguments, "s", &format)) throw Raised{};
    std::vector<std::string> names;
    for (const DiffFormat& f : diff_formats()) {
      if (f.name == format) return object(f.write(held<Compared>(self).report));
      names.emplace_back(f.name);
    }
    Diagnostics usage;
    usage.error(fmt::format("format: '{}' is none of {}", format, fmt::join(names, ", ")));
    raise(Wrong::Usage, usage);
  });
}

PyObject* diff_messages(PyObject* self, PyObject*) {
  return guarded([&] { return diagnostics_list(held<Compared>(self).messages); });
}

PyMethodDef kDiffMethods[] = {{"text", diff_text_of, METH_VARARGS, "In a format of `perfc diff --format`."},
                              {"diagnostics", diff_messages, METH_NOARGS, "What was said of the models."},
                              {nullptr, nullptr, 0, nullptr}};
PyType_Slot kDiffSlots[] = {{Py_tp_dealloc, reinterpret_cast<void*>(deallocate<Compared>)},
                            {Py_tp_new, reinterpret_cast<void*>(no_constructor)},
                            {Py_tp_methods, kDiffMethods},
                            {0, nullptr}};
PyType_Spec kDiffSpec = {"perfc._perfc.Diff", sizeof(Holder<Compared>), 0, Py_TPFLAGS_DEFAULT, kDiffSlots};

/// A model in memory as a file of a folder of its own.
Result<ModelSet> model_set(const ModelArgument& model, Diagnostics& diags) {
  if (model.path) {
    Diagnostics of_file(*model.path);
    auto set = open_model_set(*model.path, of_file);
    diags.append(of_file);
    return set;
  }
  auto folder = TemporaryFolder::make(diags);
  if (!folder) return Failure{};
  const auto path = folder->path() / "model";
  if (!write_file(path.string(), *model.bytes, diags)) return Failure{};
  ModelSet out{.given = model.name};
  out.files[model.name] = path;
  out.checked_out = std::move(*folder);
  return out;
}

struct DiffArguments : PredictOptions {
  std::vector<std::string> price, fail_on;
};

}  // namespace

PyObject* diff(PyObject*, PyObject* arguments) {
  return guarded([&] {
    PyObject *names[2]{}, *paths[2]{}, *bytes[2]{}, *options = nullptr;
    Py_ssize_t top = 0;
    if (!PyArg_ParseTuple(arguments, "(UOO)(UOO)O!n", &names[0], &paths[0], &bytes[0], &names[1], &paths[1], &bytes[1],
                          &PyDict_Type, &options, &top))
      throw Raised{};
    const ModelArgument base = model_argument(names[0], paths[0], bytes[0]);
    const ModelArgument head = model_argument(names[1], paths[1], bytes[1]);
    DiffArguments o;
    Command command = predict_options(o);
    command.option("--price", o.price, "");
    command.option("--fail-on", o.fail_on, "");
    read_options(options, command);
    const Request request = request_of(o, Batches::Several);
    const std::vector<Device> devices = devices_for(o, request);
    Diagnostics usage, diags;
    const auto batches = to_batches(o, usage);
    const auto thresholds = parse_threshold_lists(o.fail_on, usage);
    const auto prices = parse_prices(o.price, devices, usage);
    if (!batches || !thresholds || !prices || !can_be_held(*thresholds, *prices, devices, usage))
      raise(Wrong::Usage, usage);
    const auto predictor = predictor_for(request);
    Compared out{.report = {.top = static_cast<std::size_t>(std::max<Py_ssize_t>(0, top))}, .messages = Diagnostics()};
    bool good = false, of_kind = true;
    {
      const WithoutGil others;
      const auto base_set = model_set(base, diags), head_set = model_set(head, diags);
      of_kind = !base_set || !head_set || of_a_kind(*base_set, *head_set, usage);
      if (base_set && head_set && of_kind) {
        const auto whitebox = make_whitebox(request.opaque);
        const auto tell = [&](const Diagnostics& messages, Told) { out.messages.append(messages); };
        good = static_cast<bool>(
            compare_sets({request, *batches, devices, *predictor, *whitebox, *prices, tell, Draw::Yes}, *base_set,
                         *head_set, out.report, diags));
        out.report.findings = findings(out.report.comparison, *thresholds);
      }
    }
    if (!of_kind) raise(Wrong::Usage, usage);
    const auto& models = out.report.comparison.models;
    // Of a pair of files nothing is left to tell; of folders what could not be read is in the comparison.
    if (good && models.size() == 1 && !models.front().error.empty() && !out.report.comparison.root.size())
      raise(Wrong::Model, out.messages);
    if (!good) raise(Wrong::Model, diags);
    return make_holder(diff_type, std::move(out));
  });
}

void add_diffs(PyObject* module) { diff_type = add_type(module, kDiffSpec, "Diff"); }

}  // namespace perfc::python
