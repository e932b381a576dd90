#include "compare/comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <tuple>

#include "compare/difference.h"
#include "html/graph_data.h"
#include "ir/infer_context.h"

namespace perfc {
namespace {

constexpr std::array kFigures{
    FigureDef{Figure::Latency, "latency", "latency", "ms"},
    FigureDef{Figure::Memory, "memory", "memory", "MiB"},
    FigureDef{Figure::Energy, "energy", "energy", "J"},
    FigureDef{Figure::Cost, "cost", "cost of 1M samples", ""},
    FigureDef{Figure::LargestBatch, "largest-batch", "largest batch", "", true},
    FigureDef{Figure::Mig, "mig", "MIG slice", ""},
    FigureDef{Figure::Macs, "macs", "multiply-accumulates", ""},
    FigureDef{Figure::Params, "params", "parameters", ""},
};

/// Change of a figure whose head ÷ base lies within exp(± width) of what is predicted.
FigureChange with_width(Figure figure, double base, double head, double width) {
  FigureChange c{.figure = figure, .base = base, .head = head};
  if (base > 0 && head > 0 && base != head) {
    c.ratio_lo = head / base * std::exp(-width);
    c.ratio_hi = head / base * std::exp(width);
  }
  return c;
}

FigureChange memory_change(const FiguresOf& base, const FiguresOf& head, double changed_share) {
  FigureChange c{.figure = Figure::Memory, .base = base.memory_mib, .head = head.memory_mib};
  if (base.memory_mib <= 0 || base.memory_mib == head.memory_mib) return c;
  const double width = memory_difference_width(base, head, changed_share);
  c.ratio_lo = (head.memory_mib - width) / base.memory_mib;
  c.ratio_hi = (head.memory_mib + width) / base.memory_mib;
  return c;
}

double cost_per_million(const FiguresOf& f) {
  const double per_s = f.latency_ms > 0 ? static_cast<double>(f.batch) / f.latency_ms * 1e3 : 0;
  return per_s > 0 ? *f.price_per_h / 3600 / per_s * 1e6 : 0;
}

Verdict judged(const FigureChange& c) {
  if (!c.base && !c.head) return Verdict::None;
  if (!c.base || !c.head) return Verdict::New;
  if (*c.base == *c.head) return Verdict::Equal;
  const bool uncertain = c.ratio_lo != c.ratio_hi;
  if (uncertain && c.ratio_lo <= 1 && c.ratio_hi >= 1) return Verdict::Unclear;
  return (*c.head > *c.base) == def(c.figure).more_is_better ? Verdict::Better : Verdict::Worse;
}

/// Whether zero is outside of the 99 % interval of what time enters. No equal pairs are known of memory, whose 90 %
/// interval is of networks that are unlike each other: it decides alone.
bool is_certain(const FigureChange& c, double changed_share) {
  if (c.verdict == Verdict::Unclear) return false;
  if (c.ratio_lo == c.ratio_hi || c.figure == Figure::Memory) return true;
  const double ratio = *c.head / *c.base;
  return std::abs(std::log(ratio)) > std::hypot(std::log(c.ratio_hi / ratio), difference_tail(changed_share));
}

/// What an aligned pair adds to a change, by device.
struct NodeCosts {
  std::vector<std::vector<double>> us;  ///< by device and node
  std::vector<double> params, macs;     ///< by node
};

NodeCosts costs_of(const Version& v) {
  NodeCosts out;
  out.params.resize(v.graph.size());
  out.macs.resize(v.graph.size());
  for (const Report& r : v.reports) {
    std::vector<double> us(v.graph.size());
    for (const OpEstimate& e : r.prediction.ops) us[e.node] += e.time_us;
    out.us.push_back(std::move(us));
  }
  for (NodeId id = 0; id < v.graph.size(); ++id) {
    if (v.graph.node(id).kind == NodeKind::Call) out.macs[id] = op_cost(v.graph, id).macs;
    out.params[id] = (*v.reports.front().nodes)[id].params;
  }
  return out;
}

std::string shortened(std::string text) {
  constexpr std::size_t kMost = 240;
  if (text.size() <= kMost) return text;
  std::size_t end = kMost;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  return text.substr(0, end) + "…";
}

std::string op_name(const Graph& g, NodeId id) {
  const Node& n = g.node(id);
  if (n.kind == NodeKind::Var) return "input";
  if (n.is(op("opaque"))) return "opaque " + printable(n.attrs.string_or("source_op", "?"));
  return std::string(def(n.op).name);
}

/// Fills in changes and the time of what did not change.
class Changes {
 public:
  Changes(const Version& base, const Version& head, ModelComparison& out)
      : base_(base), head_(head), base_costs_(costs_of(base)), head_costs_(costs_of(head)), out_(out) {}

  void add(const AlignedNode& n) {
    const std::size_t devices = out_.devices.size();
    ++out_.operators;
    if (n.kind == ChangeKind::None) {
      for (std::size_t d = 0; d < devices; ++d) {
        out_.devices[d].unchanged_base_us += base_costs_.us[d][n.base];
        out_.devices[d].unchanged_head_us += head_costs_.us[d][n.head];
      }
      return;
    }
    ++out_.operators_changed;
    const bool in_head = n.head != ValueId::kNone;
    const Graph& of = in_head ? head_.graph : base_.graph;
    const NodeId id = in_head ? n.head : n.base;
    std::string what = shortened(printable(describe(n, base_.graph, head_.graph)));
    const auto [at, fresh] = places_.try_emplace({n.kind, op_name(of, id), what}, out_.changes.size());
    if (fresh) {
      out_.changes.push_back({.kind = n.kind, .op = op_name(of, id), .what = std::move(what)});
      out_.changes.back().base_us.resize(devices);
      out_.changes.back().head_us.resize(devices);
    }
    Change& c = out_.changes[at->second];
    ++c.count;
    if (!of.node(id).name.empty()) c.names.push_back(shortened(printable(of.node(id).name)));
    if (n.base != ValueId::kNone) add_side(base_costs_, n.base, c.base_us, c.base_params, c.base_macs);
    if (n.head != ValueId::kNone) add_side(head_costs_, n.head, c.head_us, c.head_params, c.head_macs);
  }

  std::shared_ptr<const Drawing> drawing(const std::vector<AlignedNode>& aligned) const {
    auto out = std::make_shared<Drawing>();
    out->base = graph_json(base_.graph);
    out->head = graph_json(head_.graph);
    std::ranges::copy_if(aligned, std::back_inserter(out->nodes),
                         [](const AlignedNode& n) { return n.kind != ChangeKind::None; });
    out->base_us = base_costs_.us;
    out->head_us = head_costs_.us;
    return out;
  }

 private:
  static void add_side(const NodeCosts& from, NodeId id, std::vector<double>& us, double& params, double& macs) {
    for (std::size_t d = 0; d < us.size(); ++d) us[d] += from.us[d][id];
    params += from.params[id];
    macs += from.macs[id];
  }

  const Version& base_;
  const Version& head_;
  NodeCosts base_costs_, head_costs_;
  ModelComparison& out_;
  std::map<std::tuple<ChangeKind, std::string, std::string>, std::size_t> places_;
};

/// Of the time of both versions, what is in operators that differ. Rewired ones cost what they did.
double changed_share(const ModelComparison& m, std::size_t device) {
  double changed = 0, all = m.devices[device].unchanged_base_us + m.devices[device].unchanged_head_us;
  for (const Change& c : m.changes) {
    const double us = c.base_us[device] + c.head_us[device];
    all += us;
    if (c.kind != ChangeKind::Rewired) changed += us;
  }
  return all > 0 ? changed / all : 0;
}

}  // namespace

std::span<const FigureDef> figure_table() { return kFigures; }
const FigureDef& def(Figure f) { return kFigures[static_cast<std::size_t>(f)]; }

std::string_view name(Verdict v) {
  constexpr std::array<std::string_view, 6> kNames{"equal", "unclear", "better", "worse", "new", "unknown"};
  return kNames[static_cast<std::size_t>(v)];
}

std::string setting_of(const Report& r) {
  const RuntimeDef& runtime = def(r.exec.runtime);
  return fmt::format("{}, {}{}{}{}{}", runtime.title, name(r.exec.precision),
                     runtime.own_layout ? "" : fmt::format(" {}", name(r.exec.layout)),
                     r.exec.norms == Norms::Half ? " half norms" : "",
                     r.exec.task == Task::Infer ? "" : fmt::format(" {}", name(r.exec.task)),
                     unusual_pacing(r.exec).empty() ? "" : fmt::format(", runs {}", unusual_pacing(r.exec)));
}

std::optional<double> FigureChange::relative() const {
  if (!base || !head || *base <= 0 || figure == Figure::Mig) return std::nullopt;
  return *head / *base - 1;
}

const FigureChange* OnDevice::find(Figure f) const {
  const auto at = std::ranges::find(figures, f, &FigureChange::figure);
  return at == figures.end() ? nullptr : &*at;
}

FiguresOf figures_of(const Report& r, std::optional<std::int64_t> largest_batch, const Prices& prices) {
  const Prediction& p = r.prediction;
  FiguresOf f{.latency_ms = p.latency_ms,
              .latency_hi_ms = p.latency_hi_ms,
              .device_ms = p.device_ms,
              .host_ms = p.host_ms,
              .host_interval = r.device.host.interval,
              .memory_mib = p.memory.total_mib(),
              .context_mib = p.memory.context_mib,
              .energy_j = p.energy_j,
              .energy_hi_j = p.energy_hi_j,
              .macs = r.features.macs,
              .params = r.features.params,
              .batch = r.features.batch,
              .largest_batch = largest_batch};
  if (const auto price = prices.find(r.device.name); price != prices.end()) f.price_per_h = price->second;
  if (r.mig) {
    f.mig = r.mig->profile.value_or("none");
    const auto& options = r.mig->options;
    const auto at = std::ranges::find(options, *f.mig, [](const MigOption& o) { return o.profile.name; });
    f.mig_rank = static_cast<int>(at - options.begin());
  }
  return f;
}

std::vector<FigureChange> compare_figures(const FiguresOf* base, const FiguresOf* head, double changed_share) {
  std::vector<FigureChange> out;
  const auto both = [&](Figure figure, double width, auto value) {
    if (base && head) {
      out.push_back(with_width(figure, value(*base), value(*head), width));
    } else {
      out.push_back({.figure = figure});
      (base ? out.back().base : out.back().head) = value(base ? *base : *head);
    }
  };
  const double width = base && head ? latency_difference_width(*base, *head, changed_share) : 0;
  both(Figure::Latency, width, [](const FiguresOf& f) { return f.latency_ms; });
  if (base && head) out.push_back(memory_change(*base, *head, changed_share));
  else both(Figure::Memory, 0, [](const FiguresOf& f) { return f.memory_mib; });
  both(Figure::Energy, base && head ? energy_difference_width(*base, *head, changed_share) : 0,
       [](const FiguresOf& f) { return f.energy_j; });
  if ((base ? base : head)->price_per_h) both(Figure::Cost, width, cost_per_million);
  FigureChange batch{.figure = Figure::LargestBatch};
  if (base && base->largest_batch) batch.base = static_cast<double>(*base->largest_batch);
  if (head && head->largest_batch) batch.head = static_cast<double>(*head->largest_batch);
  batch.ratio_lo = batch.ratio_hi = batch.base && batch.head && *batch.base > 0 ? *batch.head / *batch.base : 1;
  if (batch.base || batch.head) out.push_back(std::move(batch));
  if ((base && base->mig) || (head && head->mig)) {
    FigureChange mig{.figure = Figure::Mig};
    if (base && base->mig) mig.base = base->mig_rank, mig.base_text = *base->mig;
    if (head && head->mig) mig.head = head->mig_rank, mig.head_text = *head->mig;
    out.push_back(std::move(mig));
  }
  both(Figure::Macs, 0, [](const FiguresOf& f) { return f.macs; });
  both(Figure::Params, 0, [](const FiguresOf& f) { return f.params; });
  for (FigureChange& c : out) {
    c.verdict = judged(c);
    c.certain = is_certain(c, changed_share);
  }
  return out;
}

ModelComparison compare(std::string model, const Version* base, const Version* head, const Prices& prices, Draw draw) {
  const Version& any = head ? *head : *base;
  ModelComparison out{.model = printable(model),
                      .presence = !base   ? Presence::OnlyHead
                                  : !head ? Presence::OnlyBase
                                          : Presence::Both,
                      .batch = any.reports.front().features.batch,
                      .setting = setting_of(any.reports.front())};
  for (const Report& r : any.reports) {
    out.devices.push_back({.device = printable(r.device.name), .predictor = r.prediction.predictor});
  }
  if (base && head) {
    Changes changes(*base, *head, out);
    const std::vector<AlignedNode> aligned = align(base->graph, head->graph);
    for (const AlignedNode& n : aligned) changes.add(n);
    if (draw == Draw::Yes && !out.changes.empty()) out.drawing = changes.drawing(aligned);
    const auto step = [](const Change& c) {
      double most = 0;
      for (std::size_t d = 0; d < c.base_us.size(); ++d) most = std::max(most, std::abs(c.head_us[d] - c.base_us[d]));
      return most;
    };
    std::ranges::stable_sort(out.changes, [&](const Change& a, const Change& b) { return step(a) > step(b); });
  } else {
    out.operators = any.reports.front().features.nodes;
  }
  for (std::size_t d = 0; d < out.devices.size(); ++d) {
    OnDevice& on = out.devices[d];
    if (base) on.base = figures_of(base->reports[d], base->largest_batch[d], prices);
    if (head) on.head = figures_of(head->reports[d], head->largest_batch[d], prices);
    if (base) on.base_fits = base->reports[d].fits();
    if (head) on.head_fits = head->reports[d].fits();
    on.changed_share = base && head ? changed_share(out, d) : 1;
    on.figures = compare_figures(on.base ? &*on.base : nullptr, on.head ? &*on.head : nullptr, on.changed_share);
  }
  return out;
}

std::string printable(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size();) {
    const auto c = static_cast<unsigned char>(text[i]);
    if (c == '\n' || c == '\t' || c == '\r') {
      out += c == '\n' ? "\\n" : c == '\t' ? "\\t" : "\\r";
      ++i;
      continue;
    }
    if (c < 0x20 || c == 0x7f) {
      out += fmt::format("\\x{:02x}", c);
      ++i;
      continue;
    }
    if (c < 0x80) {
      out += text[i++];
      continue;
    }
    // A well-formed sequence of Unicode's table 3-7, without surrogates, or U+FFFD for its first byte.
    const std::size_t length = c >= 0xf0 && c <= 0xf4 ? 4 : c >= 0xe0 ? 3 : c >= 0xc2 ? 2 : 1;
    std::uint32_t code = length == 4 ? c & 0x07u : length == 3 ? c & 0x0fu : c & 0x1fu;
    bool good = length > 1 && c <= 0xf4 && i + length <= text.size();
    for (std::size_t k = 1; good && k < length; ++k) {
      const auto next = static_cast<unsigned char>(text[i + k]);
      good = (next & 0xc0) == 0x80;
      code = code << 6 | (next & 0x3fu);
    }
    good = good &&
           code >= (length == 2   ? 0x80u
                    : length == 3 ? 0x800u
                                  : 0x10000u) &&
           code <= 0x10ffff && (code < 0xd800 || code > 0xdfff);
    // Controls of Latin-1, marks that reorder or hide text, and what XML has no character for.
    const bool hidden = (code >= 0x80 && code < 0xa0) || (code >= 0x200b && code <= 0x200f) ||
                        (code >= 0x2028 && code <= 0x202e) || (code >= 0x2060 && code <= 0x206f) || code == 0xfeff ||
                        (code & 0xfffe) == 0xfffe;
    if (!good) out += "\xef\xbf\xbd";
    else if (hidden) out += fmt::format("\\u{:04x}", code);
    else out += text.substr(i, length);
    i += good ? length : 1;
  }
  return out;
}

}  // namespace perfc
