#include "cli/counters/models.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "pipeline/counter_weights.h"

namespace perfc::cli {
namespace {

bool knows(const CounterPredictor& p, const std::vector<std::string>& machines) {
  const auto& known = p.names().machines;
  return std::all_of(machines.begin(), machines.end(),
                     [&](const std::string& m) { return std::find(known.begin(), known.end(), m) != known.end(); });
}

/// The built-in model that knows the machines and of whose columns the input has the largest share.
std::optional<ChosenCounterModel> choose_built_in(
    const std::vector<std::string>& machines, const std::function<CounterDataset(const CounterPredictor&)>& workloads,
    int& code) {
  std::optional<ChosenCounterModel> best;
  double most = -1;
  std::string known;
  for (const BuiltInCounterModel& row : built_in_counter_models()) {
    Diagnostics diags{std::string(row.name)};
    auto p = CounterPredictor::parse(row.bytes(), diags);
    if (!p) return print(diags), code = kBadInput, std::nullopt;
    known += fmt::format("{}{}: {}", known.empty() ? "" : "; ", row.name, fmt::join(p->names().machines, ", "));
    const double share = static_cast<double>(columns_found(workloads(*p))) / static_cast<double>(columns_of(*p));
    if (!knows(*p, machines) || share <= most) continue;
    most = share;
    best = ChosenCounterModel{std::string(row.name), std::move(*p)};
  }
  if (!best) {
    code = fail(
        kBadUsage,
        fmt::format(
            "--machines: no built-in model knows {} ({}); `perfc counters train` makes one from times that you have",
            fmt::join(machines, " and "), known));
  }
  return best;
}

struct KlShape {
  const char* name;
  KlAnnealing::Shape shape;
};
constexpr std::array kKlShapes{KlShape{"constant", KlAnnealing::Shape::Constant},
                               KlShape{"linear", KlAnnealing::Shape::Linear},
                               KlShape{"cyclic", KlAnnealing::Shape::Cyclic}};

}  // namespace

std::size_t columns_of(const CounterPredictor& p) {
  return p.names().counters.size() + p.names().work.size() + (p.reference().empty() ? 0 : 1);
}

std::size_t columns_found(const CounterDataset& d) {
  std::size_t most = 0;
  const auto known = [](const std::vector<double>& v) {
    return static_cast<std::size_t>(std::count_if(v.begin(), v.end(), [](double x) { return !std::isnan(x); }));
  };
  for (const auto& w : d.workloads) most = std::max(most, known(w.counters) + known(w.work) + known(w.seconds));
  return most;
}

std::optional<ChosenCounterModel> choose_counter_model(
    const std::string& model, const std::vector<std::string>& machines,
    const std::function<CounterDataset(const CounterPredictor&)>& workloads, int& code) {
  if (model.empty()) return choose_built_in(machines, workloads, code);
  const auto models = built_in_counter_models();
  const auto row =
      std::find_if(models.begin(), models.end(), [&](const BuiltInCounterModel& m) { return m.name == model; });
  Diagnostics diags(model);
  auto p = row != models.end() ? CounterPredictor::parse(row->bytes(), diags) : CounterPredictor::open(model, diags);
  print(diags);
  if (!p) return code = kBadInput, std::nullopt;
  for (const std::string& m : machines) {
    if (knows(*p, {m})) continue;
    code = fail(kBadUsage,
                fmt::format("--machines: '{}' is none of the model's {}", m, fmt::join(p->names().machines, ", ")));
    return {};
  }
  return ChosenCounterModel{model, std::move(*p)};
}

std::vector<std::string> split_names() {
  std::vector<std::string> names;
  for (const SplitRow& r : split_table()) names.emplace_back(r.name);
  return names;
}

std::string described_splits() {
  std::string all;
  for (const SplitRow& r : split_table()) all += fmt::format("{}{} ({})", all.empty() ? "" : ", ", r.name, r.held_back);
  return all;
}

std::string counter_model_help() {
  std::vector<std::string_view> names;
  for (const BuiltInCounterModel& m : built_in_counter_models()) names.push_back(m.name);
  return fmt::format("{} or a checkpoint that `perfc counters train` wrote [the built-in one that fits best]",
                     fmt::join(names, ", "));
}

void add_vae_options(Command& c, VaeOptionsGiven& given) {
  std::vector<std::string> shapes;
  shapes.reserve(kKlShapes.size());
  for (const KlShape& s : kKlShapes) shapes.emplace_back(s.name);
  c.option("--kl", given.kl,
           "vae-dnn: weight of the KL term over training: constant, linear (rising over the first half) or cyclic "
           "(rising four times) [linear]")
      .must_be(OneOf{shapes});
  c.option("--kl-weight", given.training.kl.peak, "vae-dnn: the KL term's weight at its highest [1]")
      .must_be(RealBetween{0.0, 1e6});
  c.option("--feedback", given.training.feedback,
           "vae-dnn: last share of the VAE's training in which a regression's loss is fed back; 0: none [0.25]")
      .must_be(RealBetween{0.0, 1.0});
  c.option("--calibrate-first", given.training.calibrate_first,
           "vae-dnn: train the VAE on the workloads with this in the dataset's column 'profiled' (cpu, say), then on "
           "all");
}

std::optional<VaeTraining> vae_training(const VaeOptionsGiven& given, const std::vector<std::string>& models) {
  VaeTraining out = given.training;
  for (const KlShape& s : kKlShapes) {
    if (given.kl == s.name) out.kl.shape = s.shape;
  }
  if (out == VaeTraining{} || std::find(models.begin(), models.end(), "vae-dnn") != models.end()) return out;
  fail(kBadUsage,
       "--kl, --kl-weight, --feedback and --calibrate-first are of the model vae-dnn, which is not asked for");
  return {};
}

}  // namespace perfc::cli
