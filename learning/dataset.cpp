#include "learning/dataset.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cctype>
#include <filesystem>
#include <thread>

#include "ir/support/csv.h"

namespace perfc {

namespace {

std::uint64_t hash_of(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325ULL;  // FNV-1a, 64 bits
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
  return hash;
}

/// The finaliser of SplitMix64 (Steele, Lea, Flood, OOPSLA 2014): FNV alone leaves the high bits of short names alike.
std::uint64_t mixed(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

/// Fields of one row by column name; the first that is wrong is reported.
class RowReader {
 public:
  RowReader(const CsvTable& table, const CsvTable::Row& row, Diagnostics& diags)
      : table_(table), row_(row), diags_(diags) {}

  std::string text(std::string_view column, std::string_view otherwise = {}) const {
    const auto c = table_.column(column);
    return c && !row_.fields[*c].empty() ? row_.fields[*c] : std::string(otherwise);
  }
  double measured(std::string_view column) {
    const std::string field = text(column);
    if (field.empty()) return kNotMeasured;
    const auto v = parse_number(field);
    if (!v || *v <= 0) wrong(column, field, "a positive number");
    return v.value_or(kNotMeasured);
  }
  std::optional<std::int64_t> batch() {
    const std::string field = text("batch");
    if (field.empty()) return {};
    const auto v = parse_number(field);
    if (!v || *v < 1 || *v > 2147483648.0 || *v != static_cast<double>(static_cast<std::int64_t>(*v))) {
      wrong("batch", field, "a whole number from 1");
      return {};
    }
    return static_cast<std::int64_t>(*v);
  }
  /// Index among the choices.
  std::size_t choice(std::string_view column, std::initializer_list<std::string_view> choices) {
    const std::string field = text(column, *choices.begin());
    const auto found = std::find(choices.begin(), choices.end(), field);
    if (found != choices.end()) return static_cast<std::size_t>(found - choices.begin());
    wrong(column, field, fmt::format("one of {}", fmt::join(choices, ", ")));
    return 0;
  }
  void wrong(std::string_view column, std::string_view field, std::string_view wanted) {
    if (good_) diags_.error(row_.loc, {}, fmt::format("{}: '{}' is not {}", column, field.substr(0, 80), wanted));
    good_ = false;
  }
  bool good() const { return good_; }

 private:
  const CsvTable& table_;
  const CsvTable::Row& row_;
  Diagnostics& diags_;
  bool good_ = true;
};

Result<Label> read_label(const CsvTable& table, const CsvTable::Row& row, const std::filesystem::path& folder,
                         Diagnostics& diags) {
  RowReader in(table, row, diags);
  Label l{.loc = row.loc};
  const std::string model = in.text("model");
  if (model.empty()) in.wrong("model", "", "the path of a model file");
  l.model = (folder / model).string();
  l.batch = in.batch();
  l.device = in.text("device");
  const std::string dtype = in.text("dtype", name(Precision::Amp));
  const auto precision = find_precision(dtype);
  if (precision) l.exec.precision = *precision;
  else in.wrong("dtype", dtype, "one of fp32, tf32, amp, fp16, bf16, int8, fp8, default");
  constexpr std::array kRuntimes{Runtime::PyTorch, Runtime::TorchCompile, Runtime::OnnxRuntimeCpu};
  l.exec = on_runtime(l.exec, kRuntimes[in.choice("mode", {"eager", "compiled", "onnxruntime-cpu"})]);
  l.exec.layout = in.choice("layout", {"nchw", "nhwc"}) == 0 ? Layout::Nchw : Layout::Nhwc;
  l.exec.norms = in.choice("norms", {"full", "half"}) == 0 ? Norms::Full : Norms::Half;
  if (const std::string stack = in.text("stack"); !stack.empty()) {
    Diagnostics unknown;
    if (const auto found = find_stack(stack, unknown)) l.exec.compiled_attention = found->compiled_attention;
    else in.wrong("stack", stack, "a name of perfc devices --stacks");
  }
  l.task = in.choice("task", {"infer", "train"}) == 0 ? "infer" : "train";
  l.exec.pacing = usual_pacing(l.task == "train" ? Task::Train : Task::Infer);
  if (!in.text("pacing").empty())
    l.exec.pacing = in.choice("pacing", {"awaited", "queued"}) == 0 ? Pacing::Awaited : Pacing::Queued;
  l.latency_ms = in.measured("latency_ms");
  l.memory_mib = in.measured("memory_mib");
  l.energy_j = in.measured("energy_j");
  l.source = in.text("source");
  l.licence = in.text("licence");
  l.architecture = in.text("architecture", architecture_of(model));
  l.family = in.text("family", "-");
  if (!in.good()) return Failure{};
  return l;
}

/// Why a row is no label though nothing is wrong with it; empty: it is one.
std::string no_label(const CsvTable& table, const CsvTable::Row& row, Diagnostics& diags) {
  const RowReader in(table, row, diags);
  if (const std::string status = in.text("status", "ok"); status != "ok")
    return fmt::format("status {}", status.substr(0, 40));
  if (in.text("mode") == "cuda-graph") return "mode cuda-graph";
  return {};
}

/// Labels that share a graph.
struct Group {
  std::vector<std::size_t> labels;
  std::string failure;
};

std::vector<Group> groups_of(std::span<const Label> labels) {
  std::map<std::string, std::size_t> group_of;
  std::vector<Group> groups;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    const Label& l = labels[i];
    const auto [at, added] = group_of.try_emplace(
        fmt::format("{}\n{}\n{}\n{}", l.model, l.batch.value_or(0), name(l.exec.mode), def(l.exec.runtime).name),
        groups.size());
    if (added) groups.emplace_back();
    groups[at->second].labels.push_back(i);
  }
  return groups;
}

}  // namespace

std::string architecture_of(std::string_view path) {
  path.remove_prefix(std::min(path.size(), path.rfind('/') + 1));
  path = path.substr(0, path.find('.'));
  const std::size_t underscore = path.rfind('_');
  if (underscore == std::string_view::npos || underscore == 0 || underscore + 1 == path.size())
    return std::string(path);
  const std::string_view tail = path.substr(underscore + 1);
  const bool size = std::all_of(tail.begin(), tail.end(), [](char c) { return c >= '0' && c <= '9'; });
  return std::string(size ? path.substr(0, underscore) : path);
}

Result<Dataset> read_dataset(const std::string& path, Diagnostics& diags) {
  const auto source = Source::open(path, diags);
  if (!source) return Failure{};
  const auto table = parse_csv(source->bytes(), diags);
  if (!table) return Failure{};
  if (!table->column("model")) return diags.error("no column 'model'");
  if (!table->column("latency_ms") && !table->column("memory_mib") && !table->column("energy_j")) {
    return diags.error("none of the columns latency_ms, memory_mib, energy_j");
  }
  if (table->rows.empty()) return diags.error("no rows");
  const std::filesystem::path folder =
      path == "-" ? std::filesystem::path() : std::filesystem::path(path).parent_path();
  Dataset d{.hash = hash_of(source->bytes())};
  bool good = true;
  std::map<std::string, std::size_t> left_out;
  for (const CsvTable::Row& row : table->rows) {
    if (const std::string why = no_label(*table, row, diags); !why.empty()) {
      ++left_out[why];
      continue;
    }
    auto label = read_label(*table, row, folder, diags);
    if (label) d.labels.push_back(std::move(*label));
    else good = false;
  }
  if (!good) return Failure{};
  std::string reasons;
  for (const auto& [why, rows] : left_out)
    reasons += fmt::format("{}{} with {}", reasons.empty() ? "" : ", ", rows, why);
  if (d.labels.empty()) return diags.error(fmt::format("no row is a label: {}", reasons));
  if (!reasons.empty()) diags.note({}, {}, fmt::format("rows left out: {}", reasons));
  return d;
}

void keep(Dataset& dataset, const LabelFilter& f) {
  const auto is = [](std::string_view wanted, std::string_view value) { return wanted.empty() || wanted == value; };
  const bool any_batch = f.least_batch == LabelFilter{}.least_batch && f.most_batch == LabelFilter{}.most_batch;
  std::erase_if(dataset.labels, [&](const Label& l) {
    return (!any_batch && (!l.batch || *l.batch < f.least_batch || *l.batch > f.most_batch)) ||
           (!f.without_device.empty() && l.device == f.without_device) ||
           !(is(f.device, l.device) && is(f.dtype, name(l.exec.precision)) && is(f.mode, name(l.exec.mode)) &&
             is(f.layout, name(l.exec.layout)) && is(f.task, l.task));
  });
}

Split random_split(const Dataset& dataset, std::uint64_t seed) {
  Split split;
  for (const Label& l : dataset.labels) {
    const double draw = static_cast<double>(mixed(hash_of(l.architecture) ^ mixed(seed + 1)) >> 11) * 0x1p-53;
    split[l.architecture] = draw < 0.70 ? Part::Training : draw < 0.85 ? Part::Validation : Part::Test;
  }
  return split;
}

Result<Split> read_split(const std::string& path, const Dataset& dataset, Diagnostics& diags) {
  const auto source = Source::open(path, diags);
  if (!source) return Failure{};
  const auto table = parse_csv(source->bytes(), diags);
  if (!table) return Failure{};
  const auto architecture = table->column("architecture"), part = table->column("split");
  if (!architecture || !part) return diags.error("wants the columns 'architecture' and 'split'");
  Split split;
  for (const CsvTable::Row& row : table->rows) {
    const auto found = std::find(kPartNames.begin(), kPartNames.end(), row.fields[*part]);
    if (found == kPartNames.end()) {
      return diags.error(
          row.loc, {},
          fmt::format("split: '{}' is none of {}", row.fields[*part].substr(0, 80), fmt::join(kPartNames, ", ")));
    }
    const auto chosen = static_cast<Part>(found - kPartNames.begin());
    const auto [at, added] = split.try_emplace(row.fields[*architecture], chosen);
    if (!added && at->second != chosen) return diags.error(row.loc, {}, fmt::format("'{}' is in two parts", at->first));
  }
  for (const Label& l : dataset.labels) {
    if (!split.contains(l.architecture))
      return diags.error(fmt::format("no row for the architecture '{}' of the labels", l.architecture));
  }
  return split;
}

Result<std::size_t> for_each_graph(std::span<const Label> labels, std::size_t threads,
                                   const std::function<void(const Graph&, std::span<const std::size_t>)>& use,
                                   Diagnostics& diags) {
  std::vector<Group> groups = groups_of(labels);
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    for (std::size_t i = next++; i < groups.size(); i = next++) {
      const Label& first = labels[groups[i].labels.front()];
      Diagnostics messages(first.model);
      const auto graph = load_graph({.model = first.model, .batch = first.batch, .exec = first.exec}, messages);
      if (graph) {
        use(*graph, groups[i].labels);
        continue;
      }
      for (const Diagnostic& d : messages.all()) {
        if (d.severity == Severity::Error && groups[i].failure.empty()) groups[i].failure = to_string(d);
      }
    }
  };
  if (threads == 0) threads = std::max(1u, std::thread::hardware_concurrency());
  std::vector<std::thread> workers;
  for (std::size_t t = 1; t < std::min(threads, groups.size()); ++t) workers.emplace_back(work);
  work();
  for (std::thread& t : workers) t.join();

  std::size_t left_out = 0;
  std::map<std::string, bool> told;
  for (const Group& g : groups) {
    if (g.failure.empty()) continue;
    left_out += g.labels.size();
    if (!std::exchange(told[labels[g.labels.front()].model], true))
      diags.warning(labels[g.labels.front()].loc, {}, "left out: " + g.failure);
  }
  if (left_out == labels.size()) return diags.error("none of the models can be loaded");
  return left_out;
}

}  // namespace perfc
