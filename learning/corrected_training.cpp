#include "learning/corrected_training.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <set>

#include "ir/support/output_file.h"
#include "learning/held_out.h"

namespace perfc {
namespace {

constexpr std::size_t kHidden = 64, kBatch = 16;
constexpr double kDropout = 0.2, kPull = 2;
constexpr double kLearningRate = 3e-3, kWeightDecay = 0.01, kClip = 1, kHuberFrom = 0.05;
constexpr std::uint64_t kWarmup = 200;

double us(double ms) { return ms * 1e3; }

class CorrectedSession {
 public:
  CorrectedSession(const TrainRequest& r, Communicator& ranks) : request_(r), ranks_(ranks) {}

  Result<TrainOutcome> run(Diagnostics& diags) {
    const bool writes = ranks_.rank() == 0;
    Result<OutputFile> out = writes ? OutputFile::open(request_.out, diags) : Failure{};
    Result<OutputFile> held_out = writes && !request_.corrected.held_out.empty()
                                      ? OutputFile::open(request_.corrected.held_out, diags)
                                      : Failure{};
    if (writes && (!out || (!held_out && !request_.corrected.held_out.empty()))) return Failure{};
    if (!begin(diags)) return Failure{};
    runs_ = what_to_leave_out(data_, request_.corrected.leave_out_both);
    std::vector<std::unique_ptr<Corrected<float>>> kept;
    std::vector<WithoutDevice> without;
    std::vector<double> log_us(items().size(), 0);  // the shipped networks' mean
    for (std::size_t n = 0; n < runs_.size(); ++n) {
      auto network = train_without(n, diags);
      if (!network) return Failure{};
      if (outcome_.report.ending == Ending::Stopped) return outcome_;
      std::map<std::size_t, HeldOut::Verdict> verdicts;  // by item
      const auto predicted = predictions(**network, n, verdicts, diags);
      if (!predicted) return Failure{};
      auto seen = fit_residuals(
          *predicted, [&](const CorrectedItem& i) { return !runs_[n].hides(i); }, diags);
      if (!seen) return Failure{};
      for (const auto& [i, verdict] : verdicts) held_out_.add(items()[i], runs_[n], n, verdict, *seen);
      if (runs_[n].kind == LeftOut::Device) without.push_back({runs_[n].chip, std::move(*network), std::move(*seen)});
      if (runs_[n].kind != LeftOut::Family) continue;
      kept.push_back(std::move(*network));
      for (std::size_t i = 0; i < items().size(); ++i)
        log_us[i] += (*predicted)[i] / static_cast<double>(data_.folds());
    }
    const auto residuals = fit_residuals(
        log_us, [](const CorrectedItem&) { return true; }, diags);
    if (!residuals || !keep_without(std::move(without), diags)) return Failure{};
    if (out && !out->commit(write_checkpoint(checkpoint(kept, *residuals, CorrectedItem::kNone)), diags))
      return Failure{};
    if (held_out && !held_out->commit(held_out_.csv(), diags)) return Failure{};
    std::error_code error;
    for (std::size_t n = 0; n < runs_.size() && ranks_.rank() == 0; ++n) std::filesystem::remove(state_path(n), error);
    return outcome_;
  }

  /// On a network that leaves nothing out.
  Result<RangeTest> range_test(Diagnostics& diags) {
    if (!begin(diags)) return Failure{};
    Corrected<float> network(network_options());
    initialise(parameters<float>(network), Random(request_.seed).stream("weights"));
    GraphTask task(network, samples_, {}, Loss{.kind = LossKind::LogRatio, .delta = kHuberFrom});
    return perfc::find_learning_rate(
        task,
        {.batch = request_.batch.value_or(kBatch), .seed = request_.seed, .threads = request_.threads, .adam = adam()},
        diags);
  }

 private:
  static AdamOptions adam() { return {.weight_decay = kWeightDecay, .clip_norm = kClip}; }

  const std::vector<CorrectedItem>& items() const { return data_.items(); }

  Status begin(Diagnostics& diags) {
    if (!data_.read(request_, diags)) return Failure{};
    outcome_.training = items().size();
    outcome_.left_out = data_.left_out();
    DeviceTerms none;
    none.fill(1);
    for (const CorrectedItem& i : items()) {
      GraphSample kernels = data_.sample(i, data_.device(i.device), none);
      fingerprints_.push_back(fingerprint(*i.graph, i.label->exec, data_.table()));
      kernels.globals[kTermsColumn] = static_cast<float>(i.device);
      kernels.targets = {static_cast<float>(us(i.label->latency_ms))};
      samples_.push_back(std::move(kernels));
    }
    return ok();
  }

  CorrectedOptions network_options() const {
    return {.features = data_.table().features.columns.size(),
            .hidden = kHidden,
            .convolutions = kCorrectedConvolutions,
            .devices = data_.devices(),
            .dropout = kDropout,
            .pull = kPull};
  }
  std::string state_path(std::size_t n) const { return fmt::format("{}.state.{}", request_.out, n); }

  /// `n`: which of the session's networks.
  Result<std::unique_ptr<Corrected<float>>> train_without(std::size_t n, Diagnostics& diags) {
    auto network = std::make_unique<Corrected<float>>(network_options());
    initialise(parameters<float>(*network), Random(request_.seed).stream("weights").stream(n));
    std::vector<GraphSample> training;
    for (std::size_t i = 0; i < items().size(); ++i) {
      if (!runs_[n].hides(items()[i])) training.push_back(samples_[i]);
    }
    if (training.empty())
      return diags.error(fmt::format("fold {} holds all labels; training wants labels of several families", n));
    GraphTask task(*network, training, {}, Loss{.kind = LossKind::LogRatio, .delta = kHuberFrom});
    TrainOptions o{.epochs = request_.epochs,
                   .batch = request_.batch.value_or(kBatch),
                   .seed = request_.seed + n,
                   .threads = request_.threads,
                   .schedule = {.shape = request_.schedule.value_or(Schedule::Shape::Cosine),
                                .peak = request_.learning_rate.value_or(kLearningRate),
                                .warmup_steps = kWarmup},
                   .adam = adam(),
                   .state_path = state_path(n),
                   .identity = {{"labels", fmt::format("{:016x}", data_.hash())},
                                {"model", std::string(kCorrectedName)},
                                {"network", fmt::format("{} of {}", n + 1, runs_.size())}},
                   .save_every = request_.save_every,
                   .log_path = request_.log.empty() ? "" : fmt::format("{}.{}", request_.log, n)};
    if (request_.on_step) o.on_step = [this, n](const Progress& p) { return request_.on_step(of_session(p, n)); };
    std::error_code error;
    if (request_.resume == Resume::No && ranks_.rank() == 0) std::filesystem::remove(o.state_path, error);
    double arrived = 1;
    ranks_.sum(std::span(&arrived, 1));  // nobody looks for the state before it is gone
    auto report = perfc::train(task, o, ranks_, diags);
    if (!report) return Failure{};
    const std::uint64_t before = outcome_.report.steps;
    outcome_.report = std::move(*report);
    outcome_.report.steps += before;
    return network;
  }

  /// A network's progress as that of the whole session.
  Progress of_session(Progress p, std::size_t n) const {
    const auto done = static_cast<double>(n) + static_cast<double>(p.step) / static_cast<double>(p.steps);
    const double remaining = (static_cast<double>(runs_.size()) - done) * static_cast<double>(p.steps);
    p.seconds_left = p.step > 0 ? p.seconds / static_cast<double>(p.step) * remaining : 0;
    p.epoch += n * p.epochs;
    p.epochs *= runs_.size();
    p.step += n * p.steps;
    p.steps *= runs_.size();
    return p;
  }

  /// A network's terms of a device as factors; 0: the mean over the devices that it saw
  /// and that speak for others. `seen`: whether it saw device d (from 1).
  DeviceTerms terms(const Corrected<float>& network, std::size_t device,
                    const std::function<bool(std::size_t)>& seen) const {
    const Matrix<float>& t = network.terms();
    DeviceTerms out;
    for (std::size_t c = 0; c < kTerms; ++c) {
      double own = 0;
      std::size_t count = 0;
      for (std::size_t d = 1; d <= data_.devices(); ++d) {
        if (device != 0 ? d != device : !seen(d) || !data_.speaks(d)) continue;
        own += static_cast<double>(t(d, c));
        ++count;
      }
      out[c] = std::exp(static_cast<double>(t(0, c)) + (count > 0 ? own / static_cast<double>(count) : 0));
    }
    return out;
  }

  /// A device as the network saw it: with its measured constants, or as unmeasured.
  struct Seen {
    Device device;
    DeviceTerms terms;
  };
  std::vector<Seen> devices_as_seen(const Corrected<float>& network, std::size_t n) const {
    std::set<std::size_t> seen;
    for (const CorrectedItem& i : items()) {
      if (!runs_[n].hides(i)) seen.insert(i.device);
    }
    const auto saw = [&](std::size_t d) { return seen.contains(d); };
    std::vector<Seen> out;
    for (std::size_t d = 1; d <= data_.devices(); ++d) {
      out.push_back({saw(d) ? data_.device(d) : data_.unmeasured(d), terms(network, saw(d) ? d : 0, saw)});
    }
    return out;
  }

  /// ln of a network's prediction in µs for every item, as the predictor makes it but
  /// for the residuals; and what it says of the items that judge it.
  Result<std::vector<double>> predictions(Corrected<float>& network, std::size_t n,
                                          std::map<std::size_t, HeldOut::Verdict>& verdicts, Diagnostics& diags) {
    CorrectedOptions o = network_options();
    o.devices = 0;
    Corrected<float> plain(o);
    auto tensors = save(parameters<float>(network));
    std::erase_if(tensors, [](const NamedTensor& t) { return t.name == "terms"; });
    if (!load(tensors, parameters<float>(plain), diags)) return Failure{};
    const std::vector<Seen> seen = devices_as_seen(network, n);
    ThreadPool threads(request_.threads);
    std::vector<double> out;
    for (std::size_t at = 0; at < items().size(); ++at) {
      const CorrectedItem& i = items()[at];
      const Seen& s = seen[i.device - 1];
      const GraphSample kernels = data_.sample(i, s.device, s.terms);
      const GraphSample* one[] = {&kernels};
      const auto batch = join(one, diags);
      if (!batch) return Failure{};
      Context context{.threads = threads, .graph = &batch->graph};
      const double predicted_us = std::max<double>(plain.forward(context, batch->input)(0, 0), 1e-9);
      out.push_back(std::log(predicted_us));
      if (runs_[n].judges(i))
        verdicts.emplace(at, HeldOut::Verdict{predicted_us / 1e3, data_.whitebox_ms(i, s.device), fingerprints_[at]});
    }
    return out;
  }

  Result<Residuals> fit_residuals(const std::vector<double>& log_us,
                                  const std::function<bool(const CorrectedItem&)>& wanted, Diagnostics& diags) const {
    std::map<std::string, int> groups;
    for (std::size_t d = 1; d <= data_.devices(); ++d) groups[data_.device(d).name] = static_cast<int>(d);
    std::array<std::vector<Residuals::Run>, 2> runs;
    for (std::size_t i = 0; i < items().size(); ++i) {
      const CorrectedItem& item = items()[i];
      if (!data_.speaks(item) || !wanted(item)) continue;
      runs[static_cast<std::size_t>(item.label->exec.mode)].push_back(
          {.fingerprint = fingerprints_[i],
           .group = static_cast<int>(item.device),
           .log_error = std::log(us(item.label->latency_ms)) - log_us[i]});
    }
    ThreadPool threads(request_.threads);
    return Residuals::fit(runs, data_.table().features.columns.size(), std::move(groups),
                          Random(request_.seed).stream("residuals"), threads, diags);
  }

  struct WithoutDevice {
    std::size_t chip = 0;  ///< of which it never had a run
    std::unique_ptr<Corrected<float>> network;
    Residuals residuals;
  };
  /// The predictors as of those who never had a run on a chip: OUT.without.DEVICE, for each of the chip's devices.
  Status keep_without(std::vector<WithoutDevice> all, Diagnostics& diags) {
    if (!request_.corrected.keep_left_out || ranks_.rank() != 0) return ok();
    for (WithoutDevice& w : all) {
      std::vector<std::unique_ptr<Corrected<float>>> one;
      one.push_back(std::move(w.network));
      const std::string bytes = write_checkpoint(checkpoint(one, w.residuals, w.chip));
      for (std::size_t d = 1; d <= data_.devices(); ++d) {
        if (data_.chip(d) == w.chip &&
            !write_file(fmt::format("{}.without.{}", request_.out, data_.device(d).name), bytes, diags))
          return Failure{};
      }
    }
    return ok();
  }

  /// `without`: a chip that the networks did not see.
  Checkpoint checkpoint(const std::vector<std::unique_ptr<Corrected<float>>>& networks, const Residuals& residuals,
                        std::size_t without) const {
    const auto saw = [&](std::size_t device) { return data_.chip(device) != without; };
    Checkpoint c{.model = std::string(kCorrectedName),
                 .tables = {data_.table().features},
                 .vocabulary = data_.table().vocabulary,
                 .outputs = {{"latency", "ms", 1e3}}};
    c.settings = {{"networks", static_cast<double>(networks.size())},
                  {"hidden", static_cast<double>(kHidden)},
                  {"convolutions", static_cast<double>(kCorrectedConvolutions)}};
    residuals.write(c);
    for (const auto mode : {ExecMode::Eager, ExecMode::Compiled}) {
      const auto of = held_out_.widths(mode, without);
      for (std::size_t l = 0; l < of.size(); ++l)
        c.settings[width_setting(static_cast<SimilarityBin>(l), mode)] = of[l];
      c.settings[device_width_setting(mode)] = held_out_.other_device_width(without);
    }
    for (const CorrectedItem& i : items()) {
      if (data_.speaks(i)) c.settings[precision_setting(i.label->exec.precision)] = 1;
    }
    for (std::size_t device = 0; device <= data_.devices(); ++device) {
      if (device > 0 && (!saw(device) || !data_.speaks(device))) continue;
      const auto chip = device > 0 ? chip_class(data_.device(device), Units::Matrix) : std::nullopt;
      if (chip) c.settings[chip_setting(*chip)] = 1;
      DeviceTerms mean;
      mean.fill(0);
      for (const auto& network : networks) {
        const DeviceTerms t = terms(*network, device, saw);
        for (std::size_t i = 0; i < kTerms; ++i) mean[i] += std::log(t[i]) / static_cast<double>(networks.size());
      }
      for (std::size_t i = 0; i < kTerms; ++i)
        c.settings[term_setting(device == 0 ? kEverybody : std::string_view(data_.device(device).name), i)] =
            std::exp(mean[i]);
    }
    for (std::size_t n = 0; n < networks.size(); ++n) {
      for (NamedTensor& t : save(parameters<float>(*networks[n], network_prefix(n)))) {
        if (!t.name.ends_with("terms")) c.tensors.push_back(std::move(t));
      }
    }
    for (const auto& [name, range] :
         {std::pair(kLowTensor, &data_.table().low), std::pair(kHighTensor, &data_.table().high)}) {
      NamedTensor t{
          .name = std::string(name), .kind = Parameter<float>::Kind::Vector, .value = Matrix<float>(1, range->size())};
      std::transform(range->begin(), range->end(), t.value.data(), [](double v) { return static_cast<float>(v); });
      c.tensors.push_back(std::move(t));
    }
    std::set<std::string> sources, licences, families;
    for (const CorrectedItem& i : items()) {
      sources.insert(i.label->source.empty() ? "not stated" : i.label->source);
      licences.insert(i.label->licence.empty() ? "not stated" : i.label->licence);
      families.insert(i.label->family);
    }
    c.provenance = {
        {"labels", fmt::format("{} of {} families, hash {:016x}", items().size(), families.size(), data_.hash())},
        {"split", request_.split.empty() ? fmt::format("random by architecture, seed {}", request_.seed)
                                         : std::filesystem::path(request_.split).filename().string()},
        {"sources", fmt::format("{}", fmt::join(sources, ", "))},
        {"licences", fmt::format("{}", fmt::join(licences, ", "))},
        {"seed", fmt::format("{}", request_.seed)},
        {"epochs", fmt::format("{}", request_.epochs)}};
    return c;
  }

  const TrainRequest& request_;
  Communicator& ranks_;
  CorrectedData data_;
  std::vector<GraphSample> samples_;              ///< of the items
  std::vector<std::vector<float>> fingerprints_;  ///< of the items
  std::vector<LeftOut> runs_;                     ///< one network each; those that leave families out ship
  HeldOut held_out_;
  TrainOutcome outcome_;
};

}  // namespace

Result<TrainOutcome> train_corrected(const TrainRequest& request, Communicator& ranks, Diagnostics& diags) {
  return CorrectedSession(request, ranks).run(diags);
}

Result<RangeTest> find_corrected_rate(const TrainRequest& request, Diagnostics& diags) {
  SingleProcess alone;
  return CorrectedSession(request, alone).range_test(diags);
}

}  // namespace perfc
