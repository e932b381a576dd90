#include "gnn/trainer.h"

#include <chrono>
#include <cmath>
#include <filesystem>
#include <numeric>
#include <optional>

#include <fmt/format.h>

#include "gnn/train_state.h"
#include "ir/support/output_file.h"

namespace perfc {

namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

/// JSON has no NaN.
std::string number(double v) { return std::isfinite(v) ? fmt::format("{}", v) : "null"; }

/// Adds the ranks' gradients up, all parameters in one message.
void add_up(const std::vector<NamedParameter<float>>& parameters, Communicator& ranks) {
  if (ranks.size() == 1) return;
  std::vector<float> all;
  for (const auto& p : parameters) {
    const Matrix<float>& g = p.parameter->gradient;
    all.insert(all.end(), g.data(), g.data() + g.size());
  }
  ranks.sum(std::span(all));
  const float* next = all.data();
  for (const auto& p : parameters) {
    Matrix<float>& g = p.parameter->gradient;
    std::copy_n(next, g.size(), g.data());
    next += g.size();
  }
}

void clear_gradients(const std::vector<NamedParameter<float>>& parameters) {
  for (const auto& p : parameters) p.parameter->gradient.fill(0);
}

/// The sum of a number over the ranks.
double sum(double value, Communicator& ranks) {
  ranks.sum(std::span(&value, 1));
  return value;
}

/// One rank's share of a step: forward, backward, gradients added up over the ranks. They are zero before: the
/// optimiser's step leaves them so.
Result<double> gradients_of(TrainingTask& task, const std::vector<NamedParameter<float>>& parameters,
                            std::span<const std::size_t> batch, Context& context, Communicator& ranks,
                            Diagnostics& diags) {
  const std::size_t begin = batch.size() * ranks.rank() / ranks.size();
  const std::size_t end = batch.size() * (ranks.rank() + 1) / ranks.size();
  context.first_sample = begin;
  double loss = 0;
  if (begin < end) {
    const Result<double> own =
        task.add_gradients(context, batch.subspan(begin, end - begin), 1 / static_cast<double>(batch.size()), diags);
    if (!own) return Failure{};
    loss = *own;
  }
  add_up(parameters, ranks);
  return sum(loss, ranks);
}

class Run {
 public:
  Run(TrainingTask& task, const TrainOptions& o, Communicator& ranks, Diagnostics& diags)
      : task_(task), options_(o), ranks_(ranks), diags_(diags), parameters_(task.parameters()),
        adam_(parameters_, o.adam), threads_(o.threads), random_(Random(o.seed).stream("training")),
        steps_per_epoch_((task.samples() + o.batch - 1) / o.batch), steps_(steps_per_epoch_ * o.epochs) {}

  Result<TrainReport> run() {
    if (!resume()) return Failure{};
    clear_gradients(parameters_);
    start_ = Clock::now();
    first_step_ = state_.step;
    while (state_.step < steps_ && !patience_is_over()) {
      const std::uint64_t epoch = state_.step / steps_per_epoch_;
      const std::vector<std::size_t> order = shuffled(task_.samples(), random_, epoch);
      while (state_.step < (epoch + 1) * steps_per_epoch_) {
        const Result<Next> next = step(epoch, order);
        if (!next) return Failure{};
        const bool whole = state_.step == (epoch + 1) * steps_per_epoch_;
        if (whole && !end_epoch(epoch + 1)) return Failure{};
        const bool due = options_.save_every > 0 && state_.step % options_.save_every == 0;
        if ((whole || due || *next == Next::Stop) && !save()) return Failure{};
        if (*next == Next::Stop && state_.step < steps_) return finish(Ending::Stopped);
      }
    }
    return finish(state_.step < steps_ ? Ending::EarlyStop : Ending::AllEpochs);
  }

 private:
  Context context(Mode mode) {
    return {.threads = threads_, .mode = mode, .random = random_.stream("step").stream(state_.step)};
  }

  Status resume() {
    if (!options_.state_path.empty() && std::filesystem::exists(options_.state_path)) {
      Result<TrainState> state = load_state(options_, task_, adam_, diags_);
      if (!state) return Failure{};
      state_ = std::move(*state);
    }
    const auto ranks = static_cast<double>(ranks_.size());
    if (sum(static_cast<double>(state_.step), ranks_) != ranks * static_cast<double>(state_.step)) {
      return diags_.error(
          fmt::format("{}: not every rank sees the same state; put it where all can read it", options_.state_path));
    }
    if (options_.log_path.empty() || ranks_.rank() != 0) return ok();
    Result<LogFile> log = LogFile::open(options_.log_path, state_.log_bytes, diags_);
    if (!log) return Failure{};
    log_ = std::move(*log);
    return ok();
  }

  Result<Next> step(std::uint64_t epoch, const std::vector<std::size_t>& order) {
    const std::size_t begin = (state_.step - epoch * steps_per_epoch_) * options_.batch;
    const auto batch = std::span(order).subspan(begin, std::min(options_.batch, order.size() - begin));
    Context c = context(Mode::Training);
    rate_ = options_.schedule.at(state_.step, steps_);
    adam_.begin(rate_);
    if (task_.one_pass_per_step() && ranks_.size() == 1 && options_.adam.clip_norm == 0) c.update = &adam_;
    const Result<double> loss = gradients_of(task_, parameters_, batch, c, ranks_, diags_);
    if (!loss) return Failure{};
    if (!std::isfinite(*loss))
      return diags_.error(fmt::format("the loss of step {} is not a finite number", state_.step + 1));
    const double length = adam_.finish(threads_);
    if (!std::isfinite(length))
      return diags_.error(fmt::format("the gradient of step {} is not finite", state_.step + 1));
    ++state_.step;
    state_.epoch_loss += *loss * static_cast<double>(batch.size());
    Next next = Next::GoOn;
    if (options_.on_step) {
      const double seconds = seconds_since(start_);
      const double left =
          seconds / static_cast<double>(state_.step - first_step_) * static_cast<double>(steps_ - state_.step);
      next = options_.on_step({epoch + 1, options_.epochs, state_.step, steps_, *loss, rate_, seconds, left});
    }
    return sum(next == Next::Stop ? 1 : 0, ranks_) > 0 ? Next::Stop : Next::GoOn;
  }

  Status end_epoch(std::uint64_t epoch) {
    Context c = context(Mode::Inference);
    const Result<double> validation = task_.validate(c, diags_);
    if (!validation) return Failure{};
    const EpochLog log{epoch, state_.step, state_.epoch_loss / static_cast<double>(task_.samples()), *validation,
                       rate_};
    state_.epoch_loss = 0;
    if (std::isnan(*validation) || *validation < state_.best_loss) {
      state_.best_epoch = epoch;
      state_.best_loss = std::isnan(*validation) ? log.train_loss : *validation;
      if (!std::isnan(*validation)) state_.best = perfc::save(parameters_);
    }
    report_.epochs.push_back(log);
    if (!log_) return ok();
    const double seconds = seconds_since(start_);
    const double done = static_cast<double>((state_.step - first_step_) * options_.batch);
    const std::string line =
        fmt::format(R"({{"epoch":{},"step":{},"learning_rate":{},"train_loss":{},"validation_loss":{},)"
                    R"("best_epoch":{},"best_loss":{},"seconds":{:.3f},"samples_per_s":{:.1f}}})"
                    "\n",
                    epoch, log.steps, number(log.learning_rate), number(log.train_loss), number(log.validation_loss),
                    state_.best_epoch, number(state_.best_loss), seconds, done / seconds);
    if (!log_->write(line, diags_)) return Failure{};
    state_.log_bytes = log_->bytes();
    return ok();
  }

  bool patience_is_over() const {
    const std::uint64_t epoch = state_.step / steps_per_epoch_;
    return options_.patience > 0 && state_.step % steps_per_epoch_ == 0 &&
           epoch >= state_.best_epoch + options_.patience && state_.best_epoch > 0;
  }

  Status save() {
    if (options_.state_path.empty() || ranks_.rank() != 0) return ok();
    return save_state(state_, options_, task_, adam_, diags_);
  }

  Result<TrainReport> finish(Ending ending) {
    report_.ending = ending;
    report_.steps = state_.step;
    report_.best_epoch = state_.best_epoch;
    report_.best_loss = state_.best_loss;
    if (ending != Ending::Stopped && !state_.best.empty() && !load(state_.best, parameters_, diags_)) return Failure{};
    return std::move(report_);
  }

  TrainingTask& task_;
  const TrainOptions& options_;
  Communicator& ranks_;
  Diagnostics& diags_;
  std::vector<NamedParameter<float>> parameters_;
  Adam adam_;
  ThreadPool threads_;
  Random random_;
  std::uint64_t steps_per_epoch_, steps_;
  TrainState state_;
  TrainReport report_;
  std::optional<LogFile> log_;
  Clock::time_point start_;
  std::uint64_t first_step_ = 0;
  double rate_ = 0;
};

}  // namespace

std::vector<std::size_t> shuffled(std::size_t count, const Random& random, std::uint64_t epoch) {
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  const Random draw = random.stream("shuffle").stream(epoch);
  for (std::size_t i = count; i > 1; --i) std::swap(order[i - 1], order[draw.index(i, i)]);
  return order;
}

Result<TrainReport> train(TrainingTask& task, const TrainOptions& options, Communicator& ranks, Diagnostics& diags) {
  if (task.samples() == 0) return diags.error("training: no samples");
  if (options.batch == 0) return diags.error("training: a batch of no samples");
  return Run(task, options, ranks, diags).run();
}

Result<RangeTest> find_learning_rate(TrainingTask& task, const RangeTestOptions& o, Diagnostics& diags) {
  if (task.samples() == 0 || o.batch == 0 || o.steps < 2 || !(o.low > 0) || !(o.high > o.low)) {
    return diags.error("learning-rate range test: wants samples, a batch, two steps and 0 < low < high");
  }
  constexpr double kMemory = 0.9, kBlownUp = 4;
  const auto parameters = task.parameters();
  const std::vector<NamedTensor> before = save(parameters);
  clear_gradients(parameters);
  Adam adam(parameters, o.adam);
  ThreadPool threads(o.threads);
  SingleProcess alone;
  const Random random = Random(o.seed).stream("range test");
  RangeTest test;
  double mean = 0, lowest = std::numeric_limits<double>::infinity();
  std::vector<std::size_t> order;
  std::size_t epoch = 0, next = 0;
  for (std::size_t step = 0; step < o.steps; ++step) {
    if (next >= order.size()) {
      order = shuffled(task.samples(), random, epoch++);
      next = 0;
    }
    const auto batch = std::span<const std::size_t>(order).subspan(next, std::min(o.batch, order.size() - next));
    next += batch.size();
    Context c{.threads = threads, .mode = Mode::Training, .random = random.stream(step)};
    const Result<double> loss = gradients_of(task, parameters, batch, c, alone, diags);
    if (!loss) return Failure{};
    const double rate = o.low * std::pow(o.high / o.low, static_cast<double>(step) / static_cast<double>(o.steps - 1));
    mean = kMemory * mean + (1 - kMemory) * *loss;
    const double smoothed = mean / (1 - std::pow(kMemory, static_cast<double>(step + 1)));
    if (!std::isfinite(smoothed)) break;
    test.curve.push_back({rate, *loss, smoothed});
    lowest = std::min(lowest, smoothed);
    if (smoothed > kBlownUp * lowest) break;
    adam.step(threads, rate);
  }
  // Slopes over a decade: batches differ by more than neighbouring steps do.
  const double decades = std::log10(o.high / o.low);
  const auto half =
      std::max<std::size_t>(static_cast<std::size_t>(0.5 * static_cast<double>(o.steps - 1) / decades), 1);
  double steepest = 0;
  for (std::size_t i = half; i + half < test.curve.size(); ++i) {
    const double change = test.curve[i + half].smoothed - test.curve[i - half].smoothed;
    if (change < steepest) {
      steepest = change;
      test.suggestion = test.curve[i].learning_rate;
    }
  }
  clear_gradients(parameters);
  if (!load(before, parameters, diags)) return Failure{};
  return test;
}

}  // namespace perfc
