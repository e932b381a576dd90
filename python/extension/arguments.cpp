#include "python/extension/arguments.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <mutex>

#include "learning/predictors.h"

namespace perfc::python {
namespace {

/// "--fold-batch-norm,-f" → "fold_batch_norm"; of "models,--model" → "model".
std::string keyword_of(const Option& option) {
  std::string_view names = option.names;
  const std::size_t dashes = names.find("--");
  if (dashes == std::string_view::npos) return std::string(names);
  std::string out(names.substr(dashes + 2));
  out = out.substr(0, out.find(','));
  std::ranges::replace(out, '-', '_');
  return out;
}

double number_of(PyObject* value, const std::string& keyword, Diagnostics& usage) {
  const double number = PyFloat_AsDouble(value);
  if (!PyErr_Occurred()) return number;
  PyErr_Clear();
  usage.error(fmt::format("{}: a number was expected", keyword));
  return 0;
}

/// The package's Python makes a bool, a number, a str or a list of str of what it was given.
void assign(const Option& option, const std::string& keyword, PyObject* value, Diagnostics& usage) {
  if (auto* const* flag = std::get_if<bool*>(&option.target)) {
    const int truth = PyObject_IsTrue(value);
    check(truth);
    **flag = truth != 0;
  } else if (auto* const* text = std::get_if<std::string*>(&option.target)) {
    **text = text_of(value);
  } else if (auto* const* words = std::get_if<std::vector<std::string>*>(&option.target)) {
    **words = words_of(value);
  } else {
    const double number = number_of(value, keyword, usage);
    if (usage.errors()) return;
    if (const std::string wrong = set_number(option, number); !wrong.empty())
      usage.error(fmt::format("{}: {}", keyword, wrong));
  }
}

}  // namespace

std::vector<std::string> words_of(PyObject* list) {
  if (!PyList_Check(list)) {
    PyErr_SetString(PyExc_TypeError, "a list of str was expected");
    throw Raised{};
  }
  std::vector<std::string> out;
  for (Py_ssize_t i = 0; i < PyList_Size(list); ++i) out.push_back(text_of(PyList_GetItem(list, i)));
  return out;
}

ModelArgument model_argument(PyObject* name, PyObject* path, PyObject* bytes) {
  ModelArgument out{.name = text_of(name), .path = {}, .bytes = {}};
  if (path != Py_None) out.path = text_of(path);
  if (bytes != Py_None) out.bytes = bytes_of(bytes);
  return out;
}

Result<ModelFile> open_model(const ModelArgument& model, const Request& request, Diagnostics& diags) {
  diags.in_file(model.name);
  if (model.bytes) return ModelFile(Source::from_bytes(model.name, *model.bytes));
  Request of_path = request;
  of_path.model = *model.path;
  return ModelFile::open(of_path, diags);
}

Command predict_options(PredictOptions& o) {
  Command command;
  add_setting_options(command, o, Batches::Several);
  return command;
}

PyObject* options(PyObject*, PyObject*) {
  return guarded([] {
    PredictOptions o;
    Ref list(PyList_New(0));
    for (const Option& option : predict_options(o).options)
      check(PyList_Append(list.get(), tuple_of(keyword_of(option), option.help).get()));
    return list;
  });
}

void read_options(PyObject* dict, const Command& command) {
  Diagnostics usage;
  PyObject *key = nullptr, *value = nullptr;
  for (Py_ssize_t at = 0; PyDict_Next(dict, &at, &key, &value);) {
    const std::string keyword = text_of(key);
    const auto option = std::ranges::find(command.options, keyword, keyword_of);
    if (option != command.options.end()) {
      assign(*option, keyword, value, usage);
      continue;
    }
    std::vector<std::string> known;
    for (const Option& o : command.options) known.push_back(keyword_of(o));
    const std::string near = did_you_mean(keyword, known);
    usage.error(fmt::format("unknown option '{}'{}", keyword,
                            near.empty() ? "; there are " + fmt::format("{}", fmt::join(known, ", "))
                                         : fmt::format(" (did you mean '{}'?)", near)));
  }
  if (usage.errors()) raise(Wrong::Usage, usage);
}

Request request_of(const PredictOptions& o, Batches batches) {
  Diagnostics usage;
  auto request = to_request(o, batches, usage);
  if (!request) raise(Wrong::Usage, usage);
  return std::move(*request);
}

std::vector<Device> devices_for(const PredictOptions& o, const Request& request) {
  Diagnostics diags;
  auto found = devices_of(o, request, diags);
  if (found) return std::move(*found);
  const bool in_file = std::ranges::any_of(diags.all(), [](const Diagnostic& d) { return !d.file.empty(); });
  raise(in_file ? Wrong::Model : Wrong::Usage, diags);
}

std::shared_ptr<const Predictor> predictor_for(const Request& request) {
  static std::mutex mutex;
  static std::map<std::pair<std::string, OpaquePolicy>, std::shared_ptr<const Predictor>> kept;
  Diagnostics diags;
  std::shared_ptr<const Predictor> out;
  {
    const WithoutGil others;  // before the mutex: who holds it does not wait for Python
    const std::lock_guard lock(mutex);
    const std::pair key{request.predictor, request.opaque};
    if (const auto at = kept.find(key); at != kept.end()) {
      out = at->second;
    } else if (auto found = find_predictor(request, diags)) {
      out = std::move(*found);
      if (request.predictor == kDefaultName || request.predictor == kWhiteboxName) kept[key] = out;
    }
  }
  if (!out) raise(Wrong::Model, diags);
  return out;
}

}  // namespace perfc::python
