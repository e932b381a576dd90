/// `perfc sweep`: a table of predictions that grows as they are made. docs/sweep.md.
#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <set>
#include <thread>

#include "cli/sweep/rows_in_order.h"
#include "cli/sweep/settings.h"
#include "compare/comparison.h"
#include "ir/support/text.h"

namespace perfc::cli {
namespace {

struct SweepArguments : PredictOptions {
  std::string output;
  std::uint64_t threads = 0;
  bool overwrite = false, quiet = false;
};

std::vector<std::string> words_of(std::string_view list) {
  std::vector<std::string> out;
  do out.emplace_back(next_word(list, ','));
  while (!list.empty());
  return out;
}

/// A run per runtime and dtype of the lists that --runtime, --mode and --dtype are. Empty: wrong, which was printed.
std::vector<Request> runs_of(const PredictOptions& o) {
  std::vector<Request> runs;
  std::set<std::pair<Runtime, Precision>> known;
  for (const std::string& runtime : words_of(o.runtime)) {
    for (const std::string& mode : words_of(o.mode)) {
      for (const std::string& dtype : words_of(o.dtype)) {
        PredictOptions one = o;
        one.runtime = runtime;
        one.mode = mode;
        one.dtype = dtype;
        auto request = to_request(one, Batches::Several);
        if (!request) return {};
        if (known.insert({request->exec.runtime, request->exec.precision}).second) runs.push_back(std::move(*request));
      }
    }
  }
  return runs;
}

/// "all" among devices: every one of the table, those of the device file first.
bool name_all_devices(Request& request) {
  const auto all = std::ranges::find(request.devices, "all");
  if (all == request.devices.end()) return true;
  Diagnostics diags;
  const auto table = device_table(request, diags);
  print(diags);
  if (!table) return false;
  request.devices.erase(all);
  for (const Device& d : table->all()) request.devices.push_back(d.name);
  return true;
}

/// The models of files and folders, each once; false: something is no model or cannot be read, which was printed.
/// `rank`: 0 says what is left out.
bool find_models(const SweepArguments& o, std::size_t rank, SweepPlan& plan) {
  std::set<std::string> known;
  for (const std::string& given : o.models) {
    if (given == "-") return fail(kBadInput, "-: a sweep reads files and folders, not standard input"), false;
    Diagnostics diags(given);
    auto set = open_model_set(given, diags);
    print(diags);
    if (!set) return false;
    for (const auto& [file, path] : set->files) {
      std::error_code error;
      if (!std::filesystem::exists(path, error))
        return fail(kBadInput, fmt::format("{}: no such file or folder", printable(given))), false;
      const std::string name =
          printable(set->folder ? fmt::format("{}{}{}", given, given.ends_with('/') ? "" : "/", file) : file);
      if (set->folder && !is_model(path)) {
        if (rank == 0) say("{}: note: left out: it is named as a model and is none\n", name);
        continue;
      }
      if (known.insert(name).second) plan.models.push_back({name, path, !set->checked_out.path().empty()});
    }
    plan.opened.push_back(std::move(*set));
  }
  return !plan.models.empty() || (fail(kBadInput, fmt::format("no model in {}", fmt::join(o.models, ", "))), false);
}

/// Units from `first` on, of every so many-th model as there are ranks; false: the predictor cannot be opened, which was
/// printed.
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

/// What to predict; none: something is wrong, which was printed, and `code` is what to exit with.
std::optional<SweepPlan> plan_of(const SweepArguments& o, std::size_t rank, int& code) {
  SweepPlan plan;
  code = kBadUsage;
  plan.runs = runs_of(o);
  if (plan.runs.empty()) return std::nullopt;
  code = kBadInput;
  plan.batches = to_batches(o);
  if (!name_all_devices(plan.runs.front())) return std::nullopt;
  auto devices = devices_of(o, plan.runs.front(), code);
  if (!devices) return std::nullopt;
  for (Device& d : *devices) {
    // GPUs of a host share a name, and differ in what is free.
    const auto same = [&](const Device& known) { return known.name == d.name && known.memory_mib == d.memory_mib; };
    if (std::ranges::none_of(plan.devices, same)) plan.devices.push_back(std::move(d));
  }
  code = kBadInput;
  if (!find_models(o, rank, plan)) return std::nullopt;
  return plan;
}

/// A rank other than 0: makes its share of the rows when rank 0 has begun the table.
int help_to_sweep(const SweepArguments& o, Ranks& ranks) {
  std::string begun;
  ranks.tell_all(begun);
  int code = kFine;
  const auto plan = plan_of(o, ranks.rank(), code);
  if (!plan) return code;
  const auto settings = sweep_settings(o, *plan);
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
  int code = kFine;
  const auto made_plan = plan_of(o, 0, code);
  if (!made_plan) return code;
  const SweepPlan& plan = *made_plan;
  const auto settings = sweep_settings(o, plan);
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
