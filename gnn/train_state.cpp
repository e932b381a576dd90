#include "gnn/train_state.h"

#include <charconv>

#include <fmt/format.h>

#include "ir/support/output_file.h"

namespace perfc {

namespace {

constexpr std::string_view kParameter = "parameter/", kBest = "best/", kMean = "mean/", kSquare = "square/";

/// What must not change between the parts of a run, by name.
std::map<std::string, std::string> identity(const TrainOptions& o, const TrainingTask& task) {
  std::map<std::string, std::string> all = o.identity;
  all.merge(std::map<std::string, std::string>{
      {"samples", fmt::format("{}", task.samples())},
      {"epochs", fmt::format("{}", o.epochs)},
      {"batch", fmt::format("{}", o.batch)},
      {"seed", fmt::format("{}", o.seed)},
      {"patience", fmt::format("{}", o.patience)},
      {"schedule", fmt::format("{} {} {} {} {}", name(o.schedule.shape), o.schedule.peak, o.schedule.warmup_steps,
                               o.schedule.floor, o.schedule.period)},
      {"adam", fmt::format("{} {} {} {} {} {}", o.adam.beta1, o.adam.beta2, o.adam.epsilon, o.adam.weight_decay,
                           o.adam.decay == AdamOptions::Decay::Coupled ? "coupled" : "decoupled", o.adam.clip_norm)}});
  return all;
}

template <class Number>
bool read(const Tensors& file, const std::string& key, Number& out) {
  const auto found = file.metadata.find(key);
  if (found == file.metadata.end()) return false;
  const std::string& text = found->second;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  return error == std::errc() && end == text.data() + text.size();
}

void append(std::vector<NamedTensor>& all, std::string_view prefix, const std::vector<NamedTensor>& part) {
  for (const NamedTensor& t : part) all.push_back({std::string(prefix) + t.name, t.kind, t.value});
}

std::vector<NamedTensor> part_of(const Tensors& file, std::string_view prefix) {
  std::vector<NamedTensor> part;
  for (const NamedTensor& t : file.tensors) {
    if (t.name.starts_with(prefix)) part.push_back({t.name.substr(prefix.size()), t.kind, t.value});
  }
  return part;
}

}  // namespace

Status save_state(const TrainState& s, const TrainOptions& o, TrainingTask& task, Adam& adam, Diagnostics& diags) {
  Tensors file{.metadata = identity(o, task)};
  file.metadata["step"] = fmt::format("{}", s.step);
  file.metadata["epoch_loss"] = fmt::format("{}", s.epoch_loss);
  file.metadata["best_epoch"] = fmt::format("{}", s.best_epoch);
  file.metadata["best_loss"] = fmt::format("{}", s.best_loss);
  file.metadata["log_bytes"] = fmt::format("{}", s.log_bytes);
  append(file.tensors, kParameter, save(task.parameters()));
  append(file.tensors, kBest, s.best);
  for (const Adam::Moments& m : adam.moments()) {
    file.tensors.push_back({std::string(kMean) + m.name, {}, m.mean});
    file.tensors.push_back({std::string(kSquare) + m.name, {}, m.square});
  }
  return write_file(o.state_path, write_safetensors(file), diags);
}

Result<TrainState> load_state(const TrainOptions& o, TrainingTask& task, Adam& adam, Diagnostics& diags) {
  Result<Tensors> file = read_safetensors(o.state_path, diags);
  if (!file) return Failure{};
  for (const auto& [key, value] : identity(o, task)) {
    const auto found = file->metadata.find(key);
    const std::string theirs = found == file->metadata.end() ? "missing" : found->second;
    if (theirs != value) {
      return diags.error(
          fmt::format("{}: the state of another run: {} is {} there and {} here", o.state_path, key, theirs, value));
    }
  }
  TrainState s;
  if (!read(*file, "step", s.step) || !read(*file, "epoch_loss", s.epoch_loss) ||
      !read(*file, "best_epoch", s.best_epoch) || !read(*file, "best_loss", s.best_loss) ||
      !read(*file, "log_bytes", s.log_bytes)) {
    return diags.error(fmt::format("{}: no training state", o.state_path));
  }
  if (s.best_epoch > 0) s.best = part_of(*file, kBest);
  for (Adam::Moments& m : adam.moments()) {
    const NamedTensor* mean = file->find(std::string(kMean) + m.name);
    const NamedTensor* square = file->find(std::string(kSquare) + m.name);
    if (mean == nullptr || square == nullptr || !mean->value.same_shape(m.mean) ||
        !square->value.same_shape(m.square)) {
      return diags.error({}, m.name, "parameter: its moments are not in the state, or of another shape");
    }
    m.mean = mean->value;
    m.square = square->value;
  }
  adam.steps = s.step;
  if (!load(part_of(*file, kParameter), task.parameters(), diags)) return Failure{};
  return s;
}

}  // namespace perfc
