#pragma once
/// Every predictor by name: "default" (the corrected whitebox with the weights that
/// are built in), "whitebox", or the path of a checkpoint.
#include "gnn/checkpoint.h"
#include "learning/training.h"
#include "pipeline/pipeline.h"

namespace perfc {

inline constexpr std::string_view kDefaultName = "default", kWhiteboxName = "whitebox";

/// A predictor that is trained: a row of the table in predictors.cpp.
struct LearnedPredictor {
  std::vector<std::string> (*models)();  ///< names of `--model`, and in checkpoints
  Result<std::unique_ptr<Predictor>> (*open)(Checkpoint, OpaquePolicy, Diagnostics&);
  Result<TrainOutcome> (*train)(const TrainRequest&, Communicator&, Diagnostics&);
  Result<RangeTest> (*find_rate)(const TrainRequest&, Diagnostics&);
  std::string_view options;                  ///< of `perfc train` that only this one reads …
  bool (*has_options)(const TrainRequest&);  ///< … and whether a request has any
};
/// What is wrong with a request whose options another predictor than its model's reads; "": nothing.
std::string unread_options(const TrainRequest&);
/// The row that has this model; null: none.
const LearnedPredictor* find_learned(std::string_view model);

/// Names for TrainRequest::model: "corrected" and those of PMGNS.
std::vector<std::string> trainable_models();
/// Trains and, unless stopped on the way, writes the checkpoint and removes the
/// state. Every rank calls it; rank 0 writes the files.
Result<TrainOutcome> train(const TrainRequest&, Communicator&, Diagnostics&);
/// The learning-rate range test on the same data and model.
Result<RangeTest> find_learning_rate(const TrainRequest&, Diagnostics&);

/// Learned predictors fill in what their outputs cover and leave the rest to the
/// whitebox. Refuses checkpoints whose columns this program does not extract.
Result<std::unique_ptr<Predictor>> open_predictor(const std::string& name_or_path, OpaquePolicy, Diagnostics&);

/// The request's predictor: by name, or from its checkpoint.
Result<std::unique_ptr<Predictor>> find_predictor(const Request&, Diagnostics&);
/// A request from end to end, one report per device. Fails as a whole if any device fails.
Result<std::vector<Report>> predict(const Request&, Diagnostics&);

}  // namespace perfc
