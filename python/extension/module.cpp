/// The module perfc._perfc: what the package's Python calls. Its signatures are in python/perfc/_perfc.pyi.
#include "python/extension/python.h"

namespace perfc::python {

std::string text_of(PyObject* value) {
  const Ref bytes(PyUnicode_EncodeFSDefault(value));
  std::string text = bytes_of(bytes.get());
  if (text.find('\0') == std::string::npos) return text;
  PyErr_SetString(PyExc_ValueError, "a null character is in no name");
  throw Raised{};
}

std::string bytes_of(PyObject* value) {
  char* data = nullptr;
  Py_ssize_t size = 0;
  check(PyBytes_AsStringAndSize(value, &data, &size));
  return {data, static_cast<std::size_t>(size)};
}

Ref diagnostics_list(const Diagnostics& diags) {
  Ref list(PyList_New(0));
  constexpr std::string_view kSeverity[] = {"note", "warning", "error"};
  for (const Diagnostic& d : diags.all()) {
    const Ref one = tuple_of(kSeverity[static_cast<std::size_t>(d.severity)], d.file, d.loc.line, d.loc.column,
                             d.loc.node, d.loc.offset, d.name, d.message, to_string(d));
    check(PyList_Append(list.get(), one.get()));
  }
  return list;
}

void raise(Wrong what, const Diagnostics& diags) {
  const Ref errors(PyImport_ImportModule("perfc.errors"));
  const Ref type(PyObject_GetAttrString(errors.get(), what == Wrong::Usage ? "UsageError" : "ModelError"));
  const Ref list = diagnostics_list(diags);
  const Ref error(PyObject_CallFunctionObjArgs(type.get(), list.get(), nullptr));
  PyErr_SetObject(type.get(), error.get());
  throw Raised{};
}

PyObject* no_constructor(PyTypeObject*, PyObject*, PyObject*) {
  PyErr_SetString(PyExc_TypeError, "objects of this type are made by perfc only");
  return nullptr;
}

PyObject* add_type(PyObject* module, PyType_Spec& spec, const char* name) {
  Ref type(PyType_FromSpec(&spec));
  check(PyObject_SetAttrString(module, name, type.get()));
  return type.release();  // lives as long as the process
}

namespace {

PyMethodDef kFunctions[] = {
    {"predict", predict, METH_VARARGS, "Reports of a model: name, path or None, bytes or None, options, alternatives."},
    {"load", load, METH_VARARGS, "A Graph: name, path or None, bytes or None, options, passes or None."},
    {"diff", diff, METH_VARARGS, "A Diff: base and head, each (name, path or None, bytes or None), options, top."},
    {"sweep_plan", sweep_plan, METH_VARARGS,
     "A sweep's models as (name, path), what is left out, rows per model, settings, table head: models, options."},
    {"sweep_rows", sweep_rows, METH_VARARGS, "A model's rows of a sweep as CSV: name, path, options."},
    {"devices", devices, METH_VARARGS, "JSON of \"devices\", \"hosts\" or \"stacks\": the kind, options."},
    {"options", options, METH_NOARGS, "Keywords of a prediction's options, and what they are for."},
    {"format_of", format_of, METH_VARARGS,
     "Name of the front end that reads a model: name, path or None, bytes or None."},
    {nullptr, nullptr, 0, nullptr}};

PyModuleDef kModule = {PyModuleDef_HEAD_INIT,
                       "perfc._perfc",
                       "The compiled part of perfc; use the package perfc.",
                       -1,
                       kFunctions,
                       nullptr,
                       nullptr,
                       nullptr,
                       nullptr};

}  // namespace
}  // namespace perfc::python

PyMODINIT_FUNC PyInit__perfc() {
  using namespace perfc::python;
  return guarded([] {
    Ref module(PyModule_Create(&kModule));
    check(PyModule_AddStringConstant(module.get(), "__version__", PERFC_VERSION));
    add_arrays(module.get());
    add_reports(module.get());
    add_graphs(module.get());
    add_diffs(module.get());
    return module;
  });
}
