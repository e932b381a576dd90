#pragma once
/// Subcommands of `perfc counters` that learn and predict.
#include "cli/cli.h"

namespace perfc::cli {

void add_counters_eval(CLI::App& group, Action&);
void add_counters_train(CLI::App& group, Action&);
void add_counters_predict(CLI::App& group, Action&);
void add_counters_adapt(CLI::App& group, Action&);
void add_counters_schedule(CLI::App& group, Action&);

}  // namespace perfc::cli
