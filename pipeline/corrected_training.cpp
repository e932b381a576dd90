#include "pipeline/corrected_training.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <mutex>
#include <numeric>
#include <set>

#include "ir/support/csv.h"
#include "pipeline/corrected.h"

namespace perfc {
namespace {

constexpr std::size_t kHidden = 64, kConvolutions = 1, kBatch = 16;
constexpr double kDropout = 0.2, kPull = 2;
constexpr double kLearningRate = 3e-3, kWeightDecay = 0.01, kClip = 1, kHuberFrom = 0.05;
constexpr std::uint64_t kWarmup = 200;
/// An operator needs this many kernels in training to have a column.
constexpr std::size_t kFewestOfOperator = 200;
constexpr double kIntervalShare = 0.9;
/// Normalisers are fitted on every so many-th graph at most this many times.
constexpr std::size_t kGraphsForNormaliser = 2000;

double us(double ms) { return ms * 1e3; }

class CorrectedSession {
 public:
  CorrectedSession(const TrainRequest& r, Communicator& ranks) : request_(r), ranks_(ranks) {}

  Result<TrainOutcome> run(Diagnostics& diags) {
    if (!read(diags)) return Failure{};
    fit_table();
    make_samples();
    networks_ = std::max<std::size_t>(request_.folds, 2);
    runs_ = networks_ + (devices_.size() > 1 ? devices_.size() : 0);
    std::vector<std::unique_ptr<Corrected<float>>> kept;
    std::array<std::vector<double>, 2> known, other;  // |ln(predicted / measured)|, by mode
    for (std::size_t n = 0; n < runs_; ++n) {
      const bool by_family = n < networks_;
      const auto left_out = [&](const Item& i) { return by_family ? i.fold == n : i.device == n - networks_ + 1; };
      auto network = train_without(n, left_out, diags);
      if (!network) return Failure{};
      if (outcome_.report.ending == Ending::Stopped) return outcome_;
      if (!collect_errors(**network, n, left_out, by_family ? "family" : "device", by_family ? known : other, diags)) return Failure{};
      if (by_family) kept.push_back(std::move(*network));
    }
    if (ranks_.rank() == 0 && !write_file(request_.out, write_checkpoint(checkpoint(kept, known, other)), diags)) return Failure{};
    if (ranks_.rank() == 0 && !request_.held_out.empty() && !write_file(request_.held_out, held_out_, diags)) return Failure{};
    std::error_code error;
    for (std::size_t n = 0; n < runs_ && ranks_.rank() == 0; ++n) std::filesystem::remove(state_path(n), error);
    return outcome_;
  }

  /// On a network that leaves nothing out.
  Result<RangeTest> range_test(Diagnostics& diags) {
    if (!read(diags)) return Failure{};
    fit_table();
    make_samples();
    Corrected<float> network(network_options());
    initialise(parameters<float>(network), Random(request_.seed).stream("weights"));
    GraphTask task(network, samples_, {}, Loss{.kind = LossKind::LogRatio, .delta = kHuberFrom});
    return perfc::find_learning_rate(task, {.batch = request_.batch.value_or(kBatch), .seed = request_.seed, .threads = request_.threads, .adam = adam()}, diags);
  }

 private:
  static AdamOptions adam() { return {.weight_decay = kWeightDecay, .clip_norm = kClip}; }

  /// One label with its kernels.
  struct Item {
    const Label* label = nullptr;
    std::shared_ptr<const KernelGraph> graph;
    const Device* of = nullptr;
    std::size_t device = 0;              ///< from 1: row of the table of terms
    std::size_t fold = 0;
  };

  Status read(Diagnostics& diags) {
    Diagnostics in_labels(request_.data);
    auto dataset = read_dataset(request_.data, in_labels);
    Status good = dataset ? ok() : Status(Failure{});
    if (good) {
      dataset_ = std::move(*dataset);
      keep(dataset_, request_.filter);
      good = choose(in_labels);
    }
    diags.append(in_labels);
    return good;
  }

  /// The labels that train, and their graphs.
  Status choose(Diagnostics& diags) {
    auto split = request_.split.empty() ? Result<Split>(random_split(dataset_, request_.seed)) : read_split(request_.split, dataset_, diags);
    if (!split) return Failure{};
    std::vector<Label> wanted;
    for (const Label& l : dataset_.labels) {
      if (split->at(l.architecture) == Part::Test || l.task != "infer" || std::isnan(l.latency_ms)) continue;
      wanted.push_back(l);
    }
    if (wanted.empty()) return diags.error("no label with a latency of inference is in the training part of the split");
    labels_ = std::move(wanted);
    for (const Label& l : labels_) {
      if (table_of_devices_.contains(l.device)) continue;
      auto d = DeviceTable::builtin().find(l.device, diags);
      if (!d) return diags.error(l.loc, {}, "this row's device");
      table_of_devices_.emplace(l.device, std::move(*d));
    }
    for (const auto& [name, d] : table_of_devices_) devices_.push_back(name);
    std::vector<std::shared_ptr<const KernelGraph>> graphs(labels_.size());
    std::mutex mutex;
    std::vector<std::string> failures;
    const auto left_out = for_each_graph(labels_, request_.threads, [&](const Graph& graph, std::span<const std::size_t> of) {
      std::map<std::pair<Precision, Layout>, std::shared_ptr<const KernelGraph>> shared;  // labels of one graph share its mode
      for (const std::size_t l : of) {
        auto& kernels = shared[{labels_[l].exec.precision, labels_[l].exec.layout}];
        if (!kernels) {
          Diagnostics messages(labels_[l].model);
          const auto plan = plan_kernels(graph, labels_[l].exec, messages);
          if (!plan) {
            const std::lock_guard lock(mutex);
            failures.push_back(messages.all().empty() ? labels_[l].model : to_string(messages.all().front()));
            continue;
          }
          auto merged = std::make_shared<KernelGraph>(kernel_graph(*plan, kConvolutions));
          merged->class_of = {};
          kernels = std::move(merged);
        }
        graphs[l] = kernels;
      }
    }, diags);
    if (!left_out) return Failure{};
    std::sort(failures.begin(), failures.end());
    for (const std::string& f : failures) diags.warning("left out: " + f);
    outcome_.left_out = *left_out + failures.size();
    const std::map<std::string, std::size_t> folds = fold_of_families();
    for (std::size_t l = 0; l < labels_.size(); ++l) {
      if (!graphs[l]) continue;
      const auto device = std::find(devices_.begin(), devices_.end(), labels_[l].device) - devices_.begin();
      items_.push_back({&labels_[l], graphs[l], &table_of_devices_.at(labels_[l].device), static_cast<std::size_t>(device) + 1,
                        folds.at(group_of(labels_[l]))});
    }
    outcome_.training = items_.size();
    return ok();
  }

  static const std::string& group_of(const Label& l) { return l.family == "-" ? l.architecture : l.family; }

  /// Families go to the fold that has the fewest architectures, the largest first:
  /// the folds of data/splits/F*.csv.
  std::map<std::string, std::size_t> fold_of_families() const {
    std::map<std::string, std::set<std::string>> members;
    for (const Label& l : labels_) members[group_of(l)].insert(l.architecture);
    std::vector<std::pair<std::size_t, std::string>> sizes;
    for (const auto& [family, architectures] : members) sizes.emplace_back(architectures.size(), family);
    std::sort(sizes.begin(), sizes.end(), [](const auto& a, const auto& b) { return a.first != b.first ? a.first > b.first : a.second < b.second; });
    std::vector<std::size_t> load(std::max<std::size_t>(request_.folds, 2), 0);
    std::map<std::string, std::size_t> fold;
    for (const auto& [size, family] : sizes) {
      const auto least = static_cast<std::size_t>(std::min_element(load.begin(), load.end()) - load.begin());
      fold[family] = least;
      load[least] += size;
    }
    return fold;
  }

  /// What the whitebox says, for comparison.
  double whitebox_ms(const Item& i) const {
    const Rates rates(*i.of, i.label->exec.precision);
    double device_us = 0;
    for (std::size_t k = 0; k < i.graph->kernels.size(); ++k) device_us += price(i.graph->kernels[k], rates).time_us * i.graph->count[k];
    return std::max(device_us / 1e3, host_ms(i));
  }

  double host_ms(const Item& i) const {
    return i.graph->host_ops * (i.label->exec.mode == ExecMode::Eager ? i.of->host_us_eager : i.of->host_us_compiled) / 1e3;
  }

  void fit_table() {
    std::map<std::string, std::size_t> kernels_of;
    for (const Item& i : items_) {
      for (const Kernel& k : i.graph->kernels) {
        for (const OpId o : k.ops) ++kernels_of[std::string(def(o).name)];
      }
    }
    for (const auto& [name, count] : kernels_of) {
      if (count >= std::min(kFewestOfOperator, items_.size())) table_.vocabulary.push_back(name);
    }
    table_.index = vocabulary_index(table_.vocabulary);
    table_.features = {"kernels", kernel_columns(table_.vocabulary), {}};
    const std::size_t columns = table_.features.columns.size();
    table_.low.assign(columns, 1e30);
    table_.high.assign(columns, -1e30);
    const std::size_t every = items_.size() / kGraphsForNormaliser + 1;
    FeatureMatrix sampled{.columns = columns};
    for (std::size_t n = 0; n < items_.size(); ++n) {
      const Item& i = items_[n];
      const Rates rates(*i.of, i.label->exec.precision);
      std::vector<Priced> priced;
      for (const Kernel& k : i.graph->kernels) priced.push_back(price(k, rates));
      const FeatureMatrix rows = kernel_features(*i.graph, priced, *i.of, i.label->exec, table_.index);
      for (std::size_t r = 0; r < rows.rows; ++r) {
        for (std::size_t c = 0; c < columns; ++c) {
          table_.low[c] = std::min(table_.low[c], rows.at(r, c));
          table_.high[c] = std::max(table_.high[c], rows.at(r, c));
        }
      }
      if (n % every != 0) continue;
      sampled.rows += rows.rows;
      sampled.values.insert(sampled.values.end(), rows.values.begin(), rows.values.end());
    }
    table_.features.normaliser =
        Normaliser::fit(sampled, table_.features.columns, std::vector<Normaliser::Scale>(columns, Normaliser::Scale::Linear));
  }

  void make_samples() {
    DeviceTerms none;
    none.fill(1);
    for (const Item& i : items_) {
      GraphSample s = kernel_sample(*i.graph, *i.of, i.label->exec, host_ms(i), table_, none).sample;
      s.globals[kTermsColumn] = static_cast<float>(i.device);
      s.targets = {static_cast<float>(us(i.label->latency_ms))};
      samples_.push_back(std::move(s));
    }
  }

  CorrectedOptions network_options() const {
    return {.features = table_.features.columns.size(), .hidden = kHidden, .convolutions = kConvolutions, .devices = devices_.size(), .dropout = kDropout, .pull = kPull};
  }
  std::string state_path(std::size_t n) const { return fmt::format("{}.state.{}", request_.out, n); }

  /// `n`: which of the session's networks.
  Result<std::unique_ptr<Corrected<float>>> train_without(std::size_t n, const std::function<bool(const Item&)>& left_out, Diagnostics& diags) {
    auto network = std::make_unique<Corrected<float>>(network_options());
    initialise(parameters<float>(*network), Random(request_.seed).stream("weights").stream(n));
    std::vector<GraphSample> training;
    for (std::size_t i = 0; i < items_.size(); ++i) {
      if (!left_out(items_[i])) training.push_back(samples_[i]);
    }
    if (training.empty()) return diags.error(fmt::format("fold {} holds all labels; training wants labels of several families", n));
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
                   .identity = {{"labels", fmt::format("{:016x}", dataset_.hash)}, {"model", std::string(kCorrectedName)},
                                {"network", fmt::format("{} of {}", n + 1, runs_)}},
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
    const double remaining = (static_cast<double>(runs_) - done) * static_cast<double>(p.steps);
    p.seconds_left = p.step > 0 ? p.seconds / static_cast<double>(p.step) * remaining : 0;
    p.epoch += n * p.epochs;
    p.epochs *= runs_;
    p.step += n * p.steps;
    p.steps *= runs_;
    return p;
  }

  /// A network's terms of a device as factors; row 0: the mean over the devices
  /// that it saw, for others. `seen`: whether it saw device d (from 1).
  DeviceTerms terms(const Corrected<float>& network, std::size_t device, const std::function<bool(std::size_t)>& seen) const {
    const Matrix<float>& t = network.terms();
    DeviceTerms out;
    for (std::size_t c = 0; c < kTerms; ++c) {
      double own = 0;
      std::size_t count = 0;
      for (std::size_t d = 1; d <= devices_.size(); ++d) {
        if (device != 0 ? d != device : !seen(d)) continue;
        own += static_cast<double>(t(d, c));
        ++count;
      }
      out[c] = std::exp(static_cast<double>(t(0, c)) + (count > 0 ? own / static_cast<double>(count) : 0));
    }
    return out;
  }

  /// Errors on what the network did not see, predicted as the predictor does.
  Status collect_errors(Corrected<float>& network, std::size_t index, const std::function<bool(const Item&)>& left_out, std::string_view kind,
                        std::array<std::vector<double>, 2>& errors, Diagnostics& diags) {
    CorrectedOptions o = network_options();
    o.devices = 0;
    Corrected<float> plain(o);
    auto tensors = save(parameters<float>(network));
    std::erase_if(tensors, [](const NamedTensor& t) { return t.name == "terms"; });
    if (!load(tensors, parameters<float>(plain), diags)) return Failure{};
    std::set<std::size_t> seen;
    for (const Item& i : items_) {
      if (!left_out(i)) seen.insert(i.device);
    }
    const auto saw = [&](std::size_t d) { return seen.contains(d); };
    ThreadPool threads(request_.threads);
    for (const Item& i : items_) {
      if (!left_out(i)) continue;
      const GraphSample s = kernel_sample(*i.graph, *i.of, i.label->exec, host_ms(i), table_, terms(network, saw(i.device) ? i.device : 0, saw)).sample;
      const GraphSample* one[] = {&s};
      const auto batch = join(one, diags);
      if (!batch) return Failure{};
      Context context{.threads = threads, .graph = &batch->graph};
      const double predicted = plain.forward(context, batch->input)(0, 0);
      errors[static_cast<std::size_t>(i.label->exec.mode)].push_back(std::abs(std::log(std::max(predicted, 1e-9) / us(i.label->latency_ms))));
      const Label& l = *i.label;
      double kernels = 0, macs = 0, bytes = 0;
      for (std::size_t k = 0; k < i.graph->kernels.size(); ++k) {
        kernels += i.graph->count[k];
        macs += i.graph->count[k] * i.graph->kernels[k].macs;
        bytes += i.graph->count[k] * i.graph->kernels[k].bytes;
      }
      held_out_ += fmt::format("{},{},{},{},{},{},{},{},{},{},{},{:.6g},{:.6g},{:.6g},{:.6g},{:.6g}\n", kind, index, csv_field(l.model), csv_field(l.architecture),
                               csv_field(l.family), l.batch.value_or(0), l.device, name(l.exec.precision), name(l.exec.mode), name(l.exec.layout), kernels,
                               macs, bytes, l.latency_ms, predicted / 1e3, whitebox_ms(i));
    }
    return ok();
  }

  /// Split conformal quantile; without enough errors of its own a mode takes both.
  static double width(const std::array<std::vector<double>, 2>& errors, std::size_t mode) {
    constexpr std::size_t kFewest = 20;
    std::vector<double> e = errors[mode];
    if (e.size() < kFewest) e.insert(e.end(), errors[1 - mode].begin(), errors[1 - mode].end());
    if (e.empty()) return 0;
    std::sort(e.begin(), e.end());
    const auto rank = static_cast<std::size_t>(std::ceil(kIntervalShare * static_cast<double>(e.size() + 1)));
    return e[std::min(rank, e.size()) - 1];
  }

  Checkpoint checkpoint(const std::vector<std::unique_ptr<Corrected<float>>>& networks, const std::array<std::vector<double>, 2>& known,
                        const std::array<std::vector<double>, 2>& other) const {
    Checkpoint c{.model = std::string(kCorrectedName), .tables = {table_.features}, .vocabulary = table_.vocabulary, .outputs = {{"latency", "ms", 1e3}}};
    c.settings = {{"networks", static_cast<double>(networks.size())}, {"hidden", static_cast<double>(kHidden)}, {"convolutions", static_cast<double>(kConvolutions)}};
    for (const auto mode : {ExecMode::Eager, ExecMode::Compiled}) {
      const auto m = static_cast<std::size_t>(mode);
      const double seen = width(known, m), unseen = width(other, m);
      c.settings[width_setting(Acquaintance::Known, mode)] = seen;
      c.settings[width_setting(Acquaintance::Other, mode)] = std::max(seen, unseen) + (devices_.size() > 1 ? 0 : seen);
    }
    for (const Item& i : items_) c.settings[precision_setting(i.label->exec.precision)] = 1;
    for (std::size_t device = 0; device <= devices_.size(); ++device) {
      DeviceTerms mean;
      mean.fill(0);
      for (const auto& network : networks) {
        const DeviceTerms t = terms(*network, device, [](std::size_t) { return true; });
        for (std::size_t i = 0; i < kTerms; ++i) mean[i] += std::log(t[i]) / static_cast<double>(networks.size());
      }
      for (std::size_t i = 0; i < kTerms; ++i) c.settings[term_setting(device == 0 ? kEverybody : std::string_view(devices_[device - 1]), i)] = std::exp(mean[i]);
    }
    for (std::size_t n = 0; n < networks.size(); ++n) {
      for (NamedTensor& t : save(parameters<float>(*networks[n], network_prefix(n)))) {
        if (!t.name.ends_with("terms")) c.tensors.push_back(std::move(t));
      }
    }
    for (const auto& [name, range] : {std::pair(kLowTensor, &table_.low), std::pair(kHighTensor, &table_.high)}) {
      NamedTensor t{.name = std::string(name), .kind = Parameter<float>::Kind::Vector, .value = Matrix<float>(1, range->size())};
      std::transform(range->begin(), range->end(), t.value.data(), [](double v) { return static_cast<float>(v); });
      c.tensors.push_back(std::move(t));
    }
    std::set<std::string> sources, licences, families;
    for (const Item& i : items_) {
      sources.insert(i.label->source.empty() ? "not stated" : i.label->source);
      licences.insert(i.label->licence.empty() ? "not stated" : i.label->licence);
      families.insert(i.label->family);
    }
    c.provenance = {{"labels", fmt::format("{} of {} families, hash {:016x}", items_.size(), families.size(), dataset_.hash)},
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
  Dataset dataset_;
  std::vector<Label> labels_;
  std::map<std::string, Device> table_of_devices_;
  std::vector<std::string> devices_;
  std::vector<Item> items_;
  std::vector<GraphSample> samples_;
  KernelTable table_;
  std::size_t networks_ = 0, runs_ = 0;
  std::string held_out_ = "left_out,network,model,architecture,family,batch,device,dtype,mode,layout,kernels,macs,bytes,measured_ms,predicted_ms,whitebox_ms\n";
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
