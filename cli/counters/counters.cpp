/// `perfc counters …`: profiles of runs and relative performance across machines.
#include "cli/counters/counters.h"

namespace perfc::cli {

Command counters_command() {
  Command group{"counters", "Read profiles of runs; predict performance across machines"};
  group.commands = {counters_show_command(),    counters_names_command(),   counters_eval_command(),
                    counters_train_command(),   counters_predict_command(), counters_adapt_command(),
                    counters_schedule_command()};
  return group;
}

}  // namespace perfc::cli
