#include "learning/corrected_data.h"

#include <algorithm>
#include <cmath>
#include <mutex>
#include <set>

#include "learning/compute_groups.h"

namespace perfc {
namespace {

/// An operator needs this many kernels in training to have a column.
constexpr std::size_t kFewestOfOperator = 200;
constexpr std::size_t kOfFewLabels = 32;  ///< in small sets, one kernel for so many labels is enough
/// Normalisers are fitted on every so many-th graph at most this many times.
constexpr std::size_t kGraphsForNormaliser = 2000;

const std::string& family_of(const Label& l) { return l.family == "-" ? l.architecture : l.family; }

}  // namespace

Status CorrectedData::read(const TrainRequest& request, Diagnostics& diags) {
  Diagnostics in_labels(request.data);
  auto dataset = read_dataset(request.data, in_labels);
  Status good = dataset ? ok() : Status(Failure{});
  if (good) {
    dataset_ = std::move(*dataset);
    keep(dataset_, request.filter);
    good = choose(request, in_labels);
  }
  diags.append(in_labels);
  return good;
}

Status CorrectedData::choose(const TrainRequest& request, Diagnostics& diags) {
  auto split = request.split.empty() ? Result<Split>(random_split(dataset_, request.seed))
                                     : read_split(request.split, dataset_, diags);
  if (!split) return Failure{};
  std::vector<Label> wanted;
  for (const Label& l : dataset_.labels) {
    if (split->at(l.architecture) == Part::Test || l.task != "infer" || std::isnan(l.latency_ms)) continue;
    wanted.push_back(l);
  }
  if (wanted.empty()) return diags.error("no label with a latency of inference is in the training part of the split");
  labels_ = std::move(wanted);
  std::map<std::string, std::size_t> device_of;  // from 1, by its name in the labels
  std::map<std::pair<std::string, int>, std::size_t> chips;
  for (const Label& l : labels_) {
    if (device_of.contains(l.device)) continue;
    auto found = find_devices({.devices = {l.device}, .device_file = request.corrected.device_file}, diags);
    if (!found) return diags.error(l.loc, {}, "this row's device");
    Device& d = found->front();
    const auto known =
        std::find_if(devices_.begin(), devices_.end(), [&](const Device& other) { return other.name == d.name; });
    device_of[l.device] = static_cast<std::size_t>(known - devices_.begin()) + 1;
    if (known != devices_.end()) continue;
    chip_of_.push_back(chips.try_emplace({d.architecture, d.sms}, chips.size()).first->second);
    devices_.push_back(std::move(d));
  }
  std::vector<std::shared_ptr<const KernelGraph>> graphs(labels_.size());
  std::mutex mutex;
  std::vector<std::string> failures;
  const auto left_out = for_each_graph(
      labels_, request.threads,
      [&](const Graph& graph, std::span<const std::size_t> of) {
    std::map<std::tuple<Precision, Layout, Norms, CompiledAttention>, std::shared_ptr<const KernelGraph>>
        shared;  // labels of one graph share its mode
    for (const std::size_t l : of) {
      const ExecConfig& exec = labels_[l].exec;
      auto& kernels = shared[{exec.precision, exec.layout, exec.norms, exec.compiled_attention}];
      if (!kernels) {
        Diagnostics messages(labels_[l].model);
        const auto plan = plan_kernels(graph, exec, messages);
        if (!plan) {
          const std::lock_guard lock(mutex);
          failures.push_back(messages.all().empty() ? labels_[l].model : to_string(messages.all().front()));
          continue;
        }
        kernels = std::make_shared<KernelGraph>(kernel_graph(*plan, kCorrectedConvolutions));
      }
      graphs[l] = kernels;
    }
      },
      diags);
  if (!left_out) return Failure{};
  std::sort(failures.begin(), failures.end());
  for (const std::string& f : failures) diags.warning("left out: " + f);
  left_out_ = *left_out + failures.size();
  folds_ = std::max<std::size_t>(request.corrected.folds, 2);
  const std::map<std::string, std::string> groups = groups_of_families(graphs);
  const std::map<std::string, std::size_t> folds = fold_of_groups(groups);
  for (std::size_t l = 0; l < labels_.size(); ++l) {
    if (!graphs[l]) continue;
    const std::size_t device = device_of.at(labels_[l].device);
    const auto group = groups.find(family_of(labels_[l]));
    const bool model = group != groups.end();
    items_.push_back({&labels_[l], graphs[l], device, chip_of_[device - 1],
                      model ? folds.at(group->second) : CorrectedItem::kNone, model ? group->second : ""});
  }
  any_models_ = std::ranges::any_of(items_, &CorrectedItem::is_model);
  speaks_.assign(devices_.size(), !any_models_);
  for (const CorrectedItem& i : items_) {
    if (i.is_model()) speaks_[i.device - 1] = true;
  }
  fit_table();
  return ok();
}

/// Of every family the group that it is left out with. Single operators belong to none.
std::map<std::string, std::string> CorrectedData::groups_of_families(
    const std::vector<std::shared_ptr<const KernelGraph>>& graphs) const {
  std::vector<ComputedNetwork> networks;
  for (std::size_t l = 0; l < labels_.size(); ++l) {
    const Label& label = labels_[l];
    if (!graphs[l] || label.family == kOperatorFamily || label.exec.mode != ExecMode::Eager) continue;
    networks.push_back(
        {label.architecture, family_of(label), graphs[l].get(), static_cast<double>(label.batch.value_or(1))});
  }
  std::map<std::string, std::string> groups = compute_groups(networks);
  for (std::size_t l = 0; l < labels_.size(); ++l) {  // of which only compiled runs are there
    if (graphs[l] && labels_[l].family != kOperatorFamily)
      groups.try_emplace(family_of(labels_[l]), family_of(labels_[l]));
  }
  return groups;
}

/// Groups go to the fold that has the fewest architectures, the largest first.
std::map<std::string, std::size_t> CorrectedData::fold_of_groups(
    const std::map<std::string, std::string>& groups) const {
  std::map<std::string, std::set<std::string>> members;
  for (const Label& l : labels_) {
    if (const auto group = groups.find(family_of(l)); group != groups.end())
      members[group->second].insert(l.architecture);
  }
  std::vector<std::pair<std::size_t, std::string>> sizes;
  sizes.reserve(members.size());
  for (const auto& [group, architectures] : members) sizes.emplace_back(architectures.size(), group);
  std::sort(sizes.begin(), sizes.end(),
            [](const auto& a, const auto& b) { return a.first != b.first ? a.first > b.first : a.second < b.second; });
  std::vector<std::size_t> load(folds_, 0);
  std::map<std::string, std::size_t> fold;
  for (const auto& [size, group] : sizes) {
    const auto least = static_cast<std::size_t>(std::min_element(load.begin(), load.end()) - load.begin());
    fold[group] = least;
    load[least] += size;
  }
  return fold;
}

double CorrectedData::whitebox_ms(const CorrectedItem& i, const Device& device) const {
  return timeline(i, prices_of(*i.graph, device, i.label->exec.precision), host_ms(i, device)).ms();
}

Timeline CorrectedData::timeline(const CorrectedItem& i, std::span<const Priced> prices, double host_ms) const {
  const KernelGraph& g = *i.graph;
  std::vector<Dispatched> kernels;
  kernels.reserve(g.class_of.size());
  for (std::size_t k = 0; k < g.class_of.size(); ++k) {
    const std::uint32_t c = g.class_of[k];
    kernels.push_back({g.dispatched[k] * host_ms, prices[c].time_us / 1e3, g.kernels[c].repeat});
  }
  return Timeline::of(kernels, host_ms, i.label->exec.pacing);
}

double CorrectedData::host_ms(const CorrectedItem& i, const Device& device) const {
  return device.host.us(i.graph->host_calls, i.label->exec.mode) / 1e3;
}

Device CorrectedData::unmeasured(std::size_t device) const {
  Device out = this->device(device);
  std::vector<const Device*> others;
  for (std::size_t d = 1; d <= devices(); ++d) {
    if (chip(d) != chip(device) && speaks(d)) others.push_back(&this->device(d));
  }
  const auto mean = [&](const auto& of) {
    double sum = 0;
    for (const Device* d : others) sum += std::log(std::max(of(*d), 1e-9));
    return std::exp(sum / static_cast<double>(others.size()));
  };
  out.launch_us = mean([](const Device& d) { return d.launch_us; });
  std::vector<const Host*> hosts;
  hosts.reserve(others.size());
  for (const Device* d : others) hosts.push_back(&d->host);
  if (!hosts.empty()) out.host = geometric_mean(hosts);
  for (auto& [kind, share] : out.efficiency) {
    if (kind == "bandwidth" && out.streams > 0) {
      share = out.streams;
      continue;
    }
    share = mean([&, &kind = kind](const Device& d) {
      const auto at = d.efficiency.find(kind);
      return at == d.efficiency.end() ? 1.0 : at->second;
    });
  }
  return out;
}

void CorrectedData::fit_table() {
  std::map<std::string, std::size_t> kernels_of;
  for (const CorrectedItem& i : items_) {
    for (const Kernel& k : i.graph->kernels) {
      for (const OpId o : k.ops) ++kernels_of[std::string(def(o).name)];
    }
  }
  for (const auto& [name, count] : kernels_of) {
    if (count >= std::min(kFewestOfOperator, items_.size() / kOfFewLabels + 1)) table_.vocabulary.push_back(name);
  }
  table_.index = vocabulary_index(table_.vocabulary);
  table_.features = {"kernels", kernel_columns(table_.vocabulary), {}};
  const std::size_t columns = table_.features.columns.size();
  table_.low.assign(columns, 1e30);
  table_.high.assign(columns, -1e30);
  const std::size_t every = items_.size() / kGraphsForNormaliser + 1;
  FeatureMatrix sampled{.columns = columns};
  for (std::size_t n = 0; n < items_.size(); ++n) {
    const CorrectedItem& i = items_[n];
    const Device& on = device(i.device);
    const Rates rates(on, i.label->exec.precision);
    std::vector<Priced> priced;
    for (const Kernel& k : i.graph->kernels) priced.push_back(price(k, rates));
    const FeatureMatrix rows = kernel_features(*i.graph, priced, on, i.label->exec, table_.index);
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
  // Words stay as they are: divided by its deviation, an operator of one or two networks would outweigh all else.
  const std::vector<Normaliser::Scale> scales(columns, Normaliser::Scale::Linear);
  const Normaliser fit = Normaliser::fit(sampled, table_.features.columns, scales);
  std::vector<double> deviations = fit.deviations();
  std::fill(deviations.end() - static_cast<std::ptrdiff_t>(table_.vocabulary.size()), deviations.end(), 1.0);
  table_.features.normaliser = Normaliser::restore(table_.features.columns, scales, fit.means(), std::move(deviations));
}

GraphSample CorrectedData::sample(const CorrectedItem& i, const Device& device, const DeviceTerms& terms) const {
  const ExecConfig& exec = i.label->exec;
  KernelSight sight = kernel_sight(*i.graph, prices_of(*i.graph, device, exec.precision), device, exec, table_);
  const double host = host_ms(i, device);
  double device_ms = 0;
  for (std::size_t k = 0; k < sight.priced.size(); ++k) device_ms += sight.priced[k].time_us / 1e3 * i.graph->count[k];
  const Timeline whole = timeline(i, sight.priced, host);
  GraphSample out = kernel_sample(*i.graph, sight.priced, std::move(sight.rows), host, table_, terms);
  out.globals[kHostPartColumn] = static_cast<float>(host > 0 ? whole.host_ms() / host : 0);
  out.globals[kDevicePartColumn] = static_cast<float>(device_ms > 0 ? (whole.ms() - whole.host_ms()) / device_ms : 0);
  return out;
}

}  // namespace perfc
