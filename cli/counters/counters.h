#pragma once
/// Subcommands of `perfc counters`, one file each.
#include "cli/cli.h"

namespace perfc::cli {

Command counters_show_command();
Command counters_names_command();
Command counters_eval_command();
Command counters_train_command();
Command counters_predict_command();
Command counters_adapt_command();
Command counters_schedule_command();

}  // namespace perfc::cli
