#pragma once
/// Keyword arguments as the options that the command line has: "fold_batch_norm" is --fold-batch-norm.
#include <optional>

#include "options/predict_options.h"
#include "pipeline/model_file.h"
#include "python/extension/python.h"

namespace perfc::python {

/// A model as it was given: a file, or bytes of one.
struct ModelArgument {
  std::string name;  ///< in reports and diagnostics
  std::optional<std::string> path, bytes;
};
ModelArgument model_argument(PyObject* name, PyObject* path, PyObject* bytes);
/// Opened; Python may be elsewhere.
Result<ModelFile> open_model(const ModelArgument&, const Request&, Diagnostics&);

/// The items of a list of str; raises TypeError for anything else.
std::vector<std::string> words_of(PyObject* list);
/// All options of a prediction, whose values go into `o`.
Command predict_options(PredictOptions& o);
/// Options of a dict by the names of their rows in `command`; raises UsageError for others and for values that they
/// cannot have.
void read_options(PyObject* dict, const Command& command);

/// The request of the options; raises UsageError.
Request request_of(const PredictOptions&, Batches);
/// Its devices; raises UsageError, or ModelError where a file of the request is wrong.
std::vector<Device> devices_for(const PredictOptions&, const Request&);
/// The predictor by name, kept for later calls, or that of a checkpoint, read anew; raises ModelError.
std::shared_ptr<const Predictor> predictor_for(const Request&);

}  // namespace perfc::python
