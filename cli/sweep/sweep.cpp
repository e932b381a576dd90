/// `perfc sweep`: a table of predictions that grows as they are made. docs/sweep.md.
#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <thread>

#include "cli/sweep/rows_in_order.h"
#include "sweep/settings.h"

namespace perfc::cli {
namespace {

struct SweepArguments : PredictOptions {
  std::string output;
  std::uint64_t threads = 0;
  bool overwrite = false, quiet = false;
};

/// Units from `first` on, of every so many-th model as there are ranks; false: the predictor cannot be opened, which
/// was printed.
bool predict_units(const SweepPlan& plan, std::size_t first, std::uint64_t threads, const Ranks& ranks,
                   RowsInOrder& rows) {
  const std::size_t per_model = plan.units_per_model(), first_model = first / per_model;
  if (threads == 0) {
    cpu_set_t cores;
    const bool known = ::sched_getaffinity(0, sizeof cores, &cores) == 0;
    threads = known ? static_cast<std::uint64_t>(CPU_COUNT(&cores)) : std::thread::hardware_concurrency();
  }
  const std::size_t models = plan.models.size() - first_model, share = (models + ranks.size() - 1) / ranks.size();
  threads = std::clamp<std::uint64_t>(threads, 1, std::max<std::size_t>(share, 1));
  std::vector<std::unique_ptr<Predictor>> predictors;  // one each: networks work for one at a time
  while (predictors.size() < threads) {
    Diagnostics diags;
    auto predictor = find_predictor(plan.runs.front(), diags);
    print(diags);
    if (!predictor) return false;
    predictors.push_back(std::move(*predictor));
  }
  std::atomic<std::size_t> next = first_model + ranks.rank();
  const std::size_t step = ranks.size();
  std::atomic<bool> wanted = true;
  const auto work = [&](const Predictor& predictor) {
    for (std::size_t m = next.fetch_add(step); m < plan.models.size() && wanted; m = next.fetch_add(step)) {
      SweepWorker worker(plan, predictor, plan.models[m]);
      for (std::size_t u = m == first_model ? first % per_model : 0; u < per_model && wanted; ++u) {
        if (!rows.add(m * per_model + u, worker.predict(u))) wanted = false;
      }
    }
  };
  std::vector<std::thread> others;
  for (std::size_t t = 1; t < threads; ++t) others.emplace_back([&, t] { work(*predictors[t]); });
  work(*predictors.front());
  for (std::thread& t : others) t.join();
  return true;
}

/// As `fail` where no file is to blame.
void tell(const Diagnostics& diags) {
  for (const Diagnostic& d : diags.all()) d.file.empty() ? void(fail(kBadInput, d.message)) : say("{}\n", to_string(d));
}

/// What to predict; none: something is wrong, which was printed, and `code` is what to exit with. Rank 0 says what is
/// left out.
std::optional<SweepPlan> plan_of(const SweepArguments& o, std::size_t rank, int& code) {
  SweepPlan plan;
  Diagnostics usage, diags;
  code = kBadUsage;
  auto runs = sweep_runs(o, usage);
  tell(usage);
  if (!runs) return std::nullopt;
  plan.runs = std::move(*runs);
  code = kBadInput;
  plan.batches = to_batches(o);
  const Status named = name_all_devices(plan.runs.front(), diags);
  print(diags);
  if (!named) return std::nullopt;
  auto devices = devices_of(o, plan.runs.front(), code);
  if (!devices) return std::nullopt;
  add_devices(std::move(*devices), plan);
  code = kBadInput;
  Diagnostics of_models;
  const Status found = find_models(o.models, plan, of_models);
  for (std::size_t i = 0; rank == 0 && i < plan.left_out.size(); ++i)
    say("{}: note: left out: it is named as a model and is none\n", plan.left_out[i]);
  tell(of_models);
  return found ? std::optional(std::move(plan)) : std::nullopt;
}

/// Empty: a file that options name cannot be read, which was printed.
std::optional<std::string> settings_of(const SweepArguments& o, const SweepPlan& plan) {
  Diagnostics diags;
  auto settings = sweep_settings(o, plan, PERFC_VERSION, diags);
  print(diags);
  return settings ? std::optional(std::move(*settings)) : std::nullopt;
}

/// A rank other than 0: makes its share of the rows when rank 0 has begun the table.
int help_to_sweep(const SweepArguments& o, Ranks& ranks) {
  std::string begun;
  ranks.tell_all(begun);
  int code = kFine;
  const auto plan = plan_of(o, ranks.rank(), code);
  if (!plan) return code;
  const auto settings = settings_of(o, *plan);
  if (!settings) return kBadInput;
  const std::size_t end = begun.find('\n');
  if (begun.substr(end + 1) != *settings)
    return fail(kBadInput, fmt::format("rank {} does not find the models, settings and program of rank 0; ranks of a "
                                       "sweep share a file system",
                                       ranks.rank()));
  const std::size_t first = std::strtoull(begun.c_str(), nullptr, 10);
  RowsInOrder rows(nullptr, first, ranks);
  if (!predict_units(*plan, first, o.threads, ranks, rows)) return kBadInput;
  ranks.part();
  return kFine;
}

int run_sweep(const SweepArguments& o, Ranks& ranks) {
  if (ranks.rank() > 0) return help_to_sweep(o, ranks);
  if (o.output.ends_with(".parquet"))
    return fail(kBadUsage, fmt::format("{}: Debian has no library for Parquet, so that the program writes CSV; "
                                       "perfc.sweep(…, output=\"{}\") of the Python package writes it with pyarrow "
                                       "(docs/sweep.md)",
                                       o.output, o.output));
  int code = kFine;
  const auto made_plan = plan_of(o, 0, code);
  if (!made_plan) return code;
  const SweepPlan& plan = *made_plan;
  const auto settings = settings_of(o, plan);
  if (!settings) return kBadInput;
  auto journal = SweepJournal::open(o.output, plan, *settings, o.overwrite ? Existing::Replaced : Existing::Continued);
  if (!journal) return kBadInput;
  const auto start = std::chrono::steady_clock::now();
  std::string begun = fmt::format("{}\n{}", journal->units(), *settings);
  ranks.tell_all(begun);
  RowsInOrder rows(&*journal, journal->units(), ranks);
  if (!predict_units(plan, journal->units(), o.threads, ranks, rows)) return kBadInput;
  rows.await(plan.units());
  if (rows.state() == SweepJournal::Written::Failed) return kBadInput;
  if (rows.state() == SweepJournal::Written::Unread) return ranks.stop(rows.failed() == 0 ? kFine : kBadInput);
  ranks.part();
  const std::size_t kept = journal->units() * plan.devices.size(), failed = journal->failed() + rows.failed();
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (!o.quiet) {
    const std::size_t made = plan.rows() - kept;
    say("{} rows, {} of them with errors{}; {:.1f} s, {:.0f} rows per second\n", plan.rows(), failed,
        kept == 0 ? "" : fmt::format(", {} were there", kept), seconds, static_cast<double>(made) / seconds);
  }
  return failed == 0 ? kFine : kBadInput;
}

}  // namespace

Command sweep_command() {
  auto o = std::make_shared<SweepArguments>();
  Command c{"sweep", "A table of models, batches, devices and dtypes as CSV; continues where it was stopped",
            [o] { return with_ranks([&](Ranks& ranks) { return run_sweep(*o, ranks); }); }};
  c.option("models,--model", o->models, "Model files, folders of them, or git:REF:PATH for either").required();
  add_shape_options(c, *o, Batches::Several);
  add_loop_options(c, *o);
  add_dynamic_options(c, *o);
  add_execution_options(c, *o);
  const std::pair<std::string_view, std::string_view> lists[] = {
      {"--device,-d", "; all: every device that is known"},
      {"--dtype", "; several, as in fp16,amp: each"},
      {"--runtime", "; several: each"},
      {"--mode", "; several: each"},
  };
  for (Option& option : c.options) {
    for (const auto& [names, more] : lists) {
      if (option.names == names) option.help += more;
    }
  }
  c.option("-o,--output", o->output,
           "File that rows are appended to; one that is there under the same settings is continued [standard output]");
  c.option("--overwrite", o->overwrite, "Begin anew whatever is in the file");
  c.option("--threads", o->threads, "Models that are predicted at once [one per core]").must_be(WholeBetween{1, 1024});
  c.option("--quiet,-q", o->quiet, "No summary");
  return c;
}

}  // namespace perfc::cli
