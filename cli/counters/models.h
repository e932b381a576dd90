#pragma once
/// Which counter model a command uses: a built-in one by name, a file, or the built-in one that fits best.
#include <functional>
#include <optional>

#include "cli/cli.h"
#include "counters/models/counter_predictor.h"

namespace perfc::cli {

/// Columns of a model: counters, amounts of work, the time on its reference.
std::size_t columns_of(const CounterPredictor&);
/// How many of them the workload that has most has.
std::size_t columns_found(const CounterDataset& aligned);

struct ChosenCounterModel {
  std::string name;
  CounterPredictor predictor;
};
/// Empty `model`: the built-in one that knows the machines and of whose columns `workloads` has the largest share.
/// Nothing after an error, which is printed; `code` is then the exit code.
std::optional<ChosenCounterModel> choose_counter_model(
    const std::string& model, const std::vector<std::string>& machines,
    const std::function<CounterDataset(const CounterPredictor&)>& workloads, int& code);
/// Of `split_table`, and with what each holds back.
std::vector<std::string> split_names();
std::string described_splits();

/// Of the option `--model`.
std::string counter_model_help();

/// Options of the paper's training, as they stand on the command line.
struct VaeOptionsGiven {
  std::string kl = "linear";
  VaeTraining training;
};
void add_vae_options(Command&, VaeOptionsGiven&);
/// Nothing after an error, which is printed: options that `models` (without vae-dnn) would not heed.
std::optional<VaeTraining> vae_training(const VaeOptionsGiven&, const std::vector<std::string>& models);

}  // namespace perfc::cli
