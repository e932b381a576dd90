#pragma once
/// Two versions of models, and what the step from one to the other costs on each device.
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compare/align.h"
#include "pipeline/pipeline.h"

namespace perfc {

/// One version of a model at one batch, as it was predicted.
struct Version {
  Graph graph;
  std::vector<Report> reports;                             ///< by device
  std::vector<std::optional<std::int64_t>> largest_batch;  ///< by device; none: not known
};

/// A change in words, and the operators that changed so, with what they cost.
struct Change {
  ChangeKind kind = ChangeKind::None;
  std::string op, what;
  std::vector<std::string> names;  ///< of operators in the head, or where they are removed in the base
  std::size_t count = 0;
  double base_params = 0, head_params = 0, base_macs = 0, head_macs = 0;
  std::vector<double> base_us, head_us;  ///< device time, by device
};

enum class Verdict : unsigned char {
  Equal,    ///< the very same
  Unclear,  ///< differs by less than the difference is certain
  Better,
  Worse,
  New,   ///< of one version only
  None,  ///< of neither: not known
};
std::string_view name(Verdict);

/// Figures that are compared, in the order in which they are shown.
enum class Figure : unsigned char { Latency, Memory, Energy, Cost, LargestBatch, Mig, Macs, Params };
struct FigureDef {
  Figure figure;
  std::string_view key;    ///< of thresholds and in JSON: "latency"
  std::string_view title;  ///< for people
  std::string_view unit;
  bool more_is_better = false;
};
std::span<const FigureDef> figure_table();
const FigureDef& def(Figure);

/// One figure of both versions on one device.
struct FigureChange {
  Figure figure = Figure::Latency;
  std::optional<double> base, head;
  std::string base_text, head_text;   ///< where the value is a name: MIG profiles
  double ratio_lo = 1, ratio_hi = 1;  ///< 90 % interval of head ÷ base; equal where nothing is uncertain
  Verdict verdict = Verdict::None;
  bool certain = true;  ///< zero is outside of the 99 % interval, too: only then may it fail a pipeline
  /// head ÷ base − 1; none where there is no such number.
  std::optional<double> relative() const;
  bool certainly_worse() const { return verdict == Verdict::Worse && certain; }
};

/// What is compared of one version on one device.
struct FiguresOf {
  double latency_ms = 0, latency_hi_ms = 0, device_ms = 0, host_ms = 0, host_interval = 1;
  double memory_mib = 0, context_mib = 0, energy_j = 0, energy_hi_j = 0, macs = 0, params = 0;
  std::int64_t batch = 1;
  std::optional<std::int64_t> largest_batch;
  std::optional<double> price_per_h;
  std::optional<std::string> mig;  ///< "none" where no profile fits; empty: the device has no profiles
  int mig_rank = 0;                ///< profiles from the cheapest on
};

struct OnDevice {
  std::string device;
  std::vector<FigureChange> figures;
  double changed_share = 0;  ///< of the device time of both versions, in operators that differ
  double unchanged_base_us = 0, unchanged_head_us = 0;
  bool base_fits = true, head_fits = true;
  std::string predictor;
  std::optional<FiguresOf> base, head;
  const FigureChange* find(Figure) const;
};

enum class Presence : unsigned char { Both, OnlyBase, OnlyHead };

/// Both versions as pages draw them.
struct Drawing {
  std::string base, head;                             ///< graph_json (html/graph_data.h)
  std::vector<AlignedNode> nodes;                     ///< those that differ
  std::vector<std::vector<double>> base_us, head_us;  ///< device time, by device and node
};

/// One model at one batch.
struct ModelComparison {
  std::string model;  ///< relative path, printable
  Presence presence = Presence::Both;
  std::string error;  ///< not empty: one of the versions could not be predicted, and nothing else is filled in
  std::int64_t batch = 0;
  std::string setting;          ///< "PyTorch eager, amp nchw"
  std::vector<Change> changes;  ///< those that cost most first
  std::size_t operators_changed = 0, operators = 0;
  std::vector<OnDevice> devices;
  std::shared_ptr<const Drawing> drawing;  ///< where it was asked for, of models in both versions of which some differ
};

struct Comparisons {
  std::string base, head;  ///< as they were asked for, printable
  std::string root;        ///< folder of the head that models are named from; empty: they are named as they were given
  std::vector<ModelComparison> models;
};

/// Price per hour by device's name.
using Prices = std::map<std::string, double, std::less<>>;

enum class Draw : bool { No, Yes };
/// A pair of versions; null: the model is not in that one.
ModelComparison compare(std::string model, const Version* base, const Version* head, const Prices&, Draw = Draw::No);

FiguresOf figures_of(const Report&, std::optional<std::int64_t> largest_batch, const Prices&);
/// `changed_share`: see OnDevice. Null: not in that version.
std::vector<FigureChange> compare_figures(const FiguresOf* base, const FiguresOf* head, double changed_share);

/// "PyTorch eager, amp nchw".
std::string setting_of(const Report&);

/// The text of a model's file as it can be shown anywhere: control characters as escapes, what is not UTF-8 replaced.
std::string printable(std::string_view);

}  // namespace perfc
