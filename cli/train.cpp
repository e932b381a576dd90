#include <fmt/format.h>

#include <atomic>
#include <charconv>
#include <csignal>

#include "cli/cli.h"
#include "cli/progress.h"
#include "cli/ranks.h"
#include "learning/training.h"

namespace perfc::cli {
namespace {

struct TrainArguments {
  TrainRequest request;
  std::string recipe = "published", schedule, loss;
  std::size_t batch = 0;
  double learning_rate = 0;
  std::string curve;
  bool find_lr = false, resume = false, both = false, quiet = false;
};

std::atomic<bool> interrupted = false;

/// Index of `value` among `choices`; a message with the nearest otherwise.
std::optional<std::size_t> index_of(std::string_view option, const std::string& value,
                                    const std::vector<std::string>& choices) {
  const auto found = std::find(choices.begin(), choices.end(), value);
  if (found != choices.end()) return static_cast<std::size_t>(found - choices.begin());
  const std::string near = did_you_mean(value, choices);
  fail(kBadUsage, fmt::format("{}: '{}' is none of {}{}", option, value, fmt::join(choices, ", "),
                              near.empty() ? "" : fmt::format(" (did you mean '{}'?)", near)));
  return {};
}

/// Fills the request from the options kept as text; false: reported.
bool complete(TrainArguments& o) {
  TrainRequest& r = o.request;
  const auto recipe = index_of("--recipe", o.recipe, {kRecipeNames.begin(), kRecipeNames.end()});
  if (!index_of("--model", r.model, trainable_models()) || !recipe) return false;
  r.pmgns.recipe = static_cast<Recipe>(*recipe);
  if (!o.schedule.empty()) {
    if (!index_of("--schedule", o.schedule, {"constant", "linear", "cosine"})) return false;
    r.schedule = find_schedule(o.schedule);
  }
  if (!o.loss.empty()) {
    const auto loss = index_of("--loss", o.loss, {"huber", "log-ratio"});
    if (!loss) return false;
    r.pmgns.loss = *loss == 0 ? LossKind::Huber : LossKind::LogRatio;
  }
  if (o.batch > 0) r.batch = o.batch;
  if (o.learning_rate > 0) r.learning_rate = o.learning_rate;
  r.resume = o.resume ? Resume::Yes : Resume::No;
  r.corrected.leave_out_both = o.both ? LeaveOutBoth::Yes : LeaveOutBoth::No;
  if (const std::string unread = unread_options(r); !unread.empty()) {
    fail(kBadUsage, unread);
    return false;
  }
  if (o.both && r.corrected.held_out.empty()) {
    fail(kBadUsage, "--leave-out-both: its predictions go to the file of --held-out FILE, which is missing");
    return false;
  }
  if (!o.find_lr && r.out.empty()) {
    fail(kBadUsage, "--out: where shall the checkpoint go?");
    return false;
  }
  return true;
}

int run_range_test(const TrainArguments& o) {
  auto out = Output::open(o.curve);
  if (!out) return kBadInput;
  Diagnostics diags;
  const auto test = find_learning_rate(o.request, diags);
  print(diags);
  if (!test) return kBadInput;
  out->write(to_csv(*test));
  if (test->suggestion > 0) say("suggested: --lr {:.3g}\n", test->suggestion);
  else
    say("the loss falls nowhere between {:.1g} and {:.1g}\n", test->curve.front().learning_rate,
        test->curve.back().learning_rate);
  return out->commit() ? kFine : kBadInput;
}

int run_training(TrainArguments& o, Communicator& ranks) {
  const bool speaks = ranks.rank() == 0;
  ProgressBar bar(!speaks || o.quiet ? ProgressBar::Style::Off : ProgressBar::detect());
  o.request.on_step = [&](const Progress& p) {
    bar.show(p);
    return interrupted ? Next::Stop : Next::GoOn;
  };
  std::signal(SIGINT, [](int) { interrupted = true; });
  std::signal(SIGTERM, [](int) { interrupted = true; });
  Diagnostics diags;
  const auto outcome = train(o.request, ranks, diags);
  bar.finish();
  if (speaks || !outcome) print(diags);
  if (!outcome) return kBadInput;
  if (!speaks) return kFine;
  const TrainReport& r = outcome->report;
  if (r.ending == Ending::Stopped) {
    return fail(kBadInput, fmt::format("stopped after step {}; the same command with --resume goes on", r.steps));
  }
  if (o.quiet) return kFine;
  auto out = Output::open("");
  out->write(fmt::format(
      "{}: {} after {} steps on {} labels ({} for validation, {} left out), best epoch {} with loss {:.4g}\n",
      o.request.out, r.ending == Ending::EarlyStop ? "stopped early" : "trained", r.steps, outcome->training,
      outcome->validation, outcome->left_out, r.best_epoch, r.best_loss));
  return out->commit() ? kFine : kBadInput;
}

int run_train(TrainArguments& o) {
  if (!complete(o)) return kBadUsage;
  if (o.find_lr) return run_range_test(o);
  return with_ranks([&](Communicator& ranks) { return run_training(o, ranks); });
}

}  // namespace

void add_label_filter(Command& c, LabelFilter& f) {
  c.option("--device", f.device, "Only labels of this device");
  c.option("--without-device", f.without_device, "Only labels of other devices");
  c.option("--dtype", f.dtype, "Only labels of this precision");
  c.option("--mode", f.mode, "Only labels of this execution mode");
  c.option("--layout", f.layout, "Only labels of this layout");
  c.option("--task", f.task, "Only labels of this task");
  const ReadBy batches = [&f](const std::string& text) -> std::string {
    const std::size_t dash = text.find('-');
    const auto number = [&](std::string_view part, std::int64_t& to) {
      const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), to);
      return part.empty() || (error == std::errc{} && end == part.data() + part.size() && to > 0);
    };
    const std::string_view all = text;
    const bool good = dash != text.npos && text.size() > 1 && number(all.substr(0, dash), f.least_batch) &&
                      number(all.substr(dash + 1), f.most_batch) && f.least_batch <= f.most_batch;
    return good ? "" : fmt::format("--batches: '{}' is not LEAST-MOST, as in 1-256, -256 or 257-", text);
  };
  c.option("--batches", batches, "LEAST-MOST: only labels of these batch sizes (-256, 257- leave a side open)");
}

Command train_command() {
  auto o = std::make_shared<TrainArguments>();
  TrainRequest& r = o->request;
  Command c{"train", "Train a predictor on measured labels (docs/gnn.md)", [o] { return run_train(*o); }};
  c.option("--data", r.data, "Labels, a CSV file beside its model files (docs/gnn.md)").required();
  c.option("--model", r.model, fmt::format("{} [pmgns-sage]", fmt::join(trainable_models(), ", ")));
  c.option("-o,--out", r.out, "Checkpoint to write; its training state is kept in OUT.state meanwhile");
  c.option("--recipe", o->recipe,
           "published: raw numbers and Huber's loss; normalised: columns, outputs and a loss on ratios [published]");
  c.option("--split", r.split, "CSV with architecture,split (training, validation, test) [70/15/15 % by --seed]");
  add_label_filter(c, r.filter);
  c.option("--device-file", r.corrected.device_file, "corrected: JSON file with devices of your own");
  c.option("--epochs", r.epochs, "Passes over the training labels [10]").must_be(WholeBetween{1, 1000000});
  c.option("--batch", o->batch, "Graphs per step, over all ranks [the recipe's: 1 or 16]")
      .must_be(WholeBetween{1, 1000000});
  c.option("--lr", o->learning_rate, "Learning rate [the recipe's: 2.75e-5 or 1e-3]").must_be(Positive{});
  c.option("--schedule", o->schedule, "constant, linear or cosine [the recipe's: constant or cosine]");
  c.option("--loss", o->loss, "huber or log-ratio [the recipe's]");
  c.option("--patience", r.patience, "Stop after this many epochs without a better validation loss [never]");
  c.option("--folds", r.corrected.folds, "corrected: folds of the families, one network each [5]")
      .must_be(WholeBetween{2, 64});
  c.option("--held-out", r.corrected.held_out,
           "corrected: CSV of the predictions for the families and devices that each network left out");
  c.option("--leave-out-both", o->both,
           "corrected: for --held-out, also networks that leave out a device and a fold of families at once");
  c.option("--keep-left-out", r.corrected.keep_left_out,
           "corrected: also write OUT.without.DEVICE, the predictor as of one who has no run on it");
  c.option("--seed", r.seed, "Of split, weights, order and dropout [1]");
  c.option("--threads", r.threads, "Threads of each rank; the same number gives the same bytes [one per core]")
      .must_be(WholeBetween{0, 1024});
  c.option("--log", r.log, "JSON lines, one per epoch");
  c.option("--resume", o->resume, "Go on from OUT.state, where an unfinished run left one");
  c.option("--save-every", r.save_every, "Steps between saves of the state, beside those after each epoch");
  c.option("--find-lr", o->find_lr, "Learning-rate range test instead of training: prints its curve as CSV");
  c.option("--curve", o->curve, "File for the curve of --find-lr [standard output]");
  c.option("--quiet,-q", o->quiet, "No progress");
  return c;
}

}  // namespace perfc::cli
