/// `perfc counters …`: profiles of runs and relative performance across machines.
/// Each subcommand of the group lives in a file of its own, counters_NAME.cpp.
#include "cli/counters.h"

namespace perfc::cli {

void add_counters(CLI::App& app, Action& action) {
  CLI::App* group = app.add_subcommand("counters", "Read profiles of runs; predict performance across machines");
  group->require_subcommand(1);
  add_counters_show(*group, action);
  add_counters_names(*group, action);
  add_counters_eval(*group, action);
  add_counters_train(*group, action);
  add_counters_predict(*group, action);
  add_counters_adapt(*group, action);
  add_counters_schedule(*group, action);
}

}  // namespace perfc::cli
