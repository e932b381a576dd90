/// `perfc fit`: devices, slices and batches that serve a model within its limits. docs/pack.md.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "cli/pack/workload.h"
#include "compare/diff.h"
#include "pipeline/text_style.h"

namespace perfc::cli {
namespace {

struct FitArguments : PredictOptions, SliceOptions {
  std::vector<std::string> price;
  std::optional<double> rate;
  std::string by, output;
  std::uint64_t top = 10;
  bool json = false;
};

constexpr const char* kUsualBatches = "1,2,4,8,16,32,64";
constexpr int kMostSlices = 1'000'000;

/// A place for a model: a device or a slice, at a batch.
struct FitOption {
  std::string device;
  ServiceDemand demand;
  ServiceOnSlice on;
  double memory_mib = 0;
  double capacity_per_s = 0;
  int slices = 1;  ///< that serve the rate together
  double utilisation = 0, latency_ms = 0;
  double energy_j = 0;  ///< per request
  std::optional<double> price_per_h, price_per_million;
  std::string missed;  ///< what keeps it from serving; empty: nothing
  double missed_by = 0;
};

struct FitRank {
  const char* name;
  double (*figure)(const FitOption&);
};
constexpr FitRank kRanks[] = {
    {"price", [](const FitOption& f) { return f.price_per_h ? *f.price_per_h : f.price_per_million.value_or(1e300); }},
    {"energy", [](const FitOption& f) { return f.energy_j; }},
    {"latency", [](const FitOption& f) { return f.latency_ms; }},
};

/// What is asked about: a device or slice, and its share of what its GPU costs.
struct FitPlace {
  Device device;
  double share = 1;
};

/// What a slice takes of its GPU: of the compute or of the memory slices, whichever is more.
double share_of(const MigProfile& profile, const Device& whole) {
  int full = 1;
  for (const MigProfile& p : whole.mig) full = std::max(full, p.compute_slices);
  return std::max(static_cast<double>(profile.compute_slices) / full, profile.memory_slices / 8.0);
}

std::vector<FitPlace> places_of(const std::vector<Device>& devices, const std::string& device_file) {
  std::vector<FitPlace> out;
  for (const Device& d : devices) {
    out.push_back({d, 1});
    if (!d.parent.empty()) {  // a slice that was asked for by name
      Diagnostics unsaid;
      const auto whole = find_devices({.devices = {d.parent}, .device_file = device_file}, unsaid);
      const auto p = std::ranges::find(whole->front().mig, d.mig_profile, &MigProfile::name);
      out.back().share = share_of(*p, whole->front());
    }
    for (std::size_t p = 0; p < d.mig.size(); ++p) {
      if (!is_variant(d, p)) out.push_back({slice(d, d.mig[p]), share_of(d.mig[p], d)});
    }
  }
  return out;
}

FitOption option_of(const Report& r, const FitPlace& place, const FitArguments& o, const Prices& prices) {
  FitOption f{.device = place.device.name, .memory_mib = place.device.memory_mib};
  f.demand = {o.rate.value_or(0), static_cast<int>(std::min<std::int64_t>(r.features.batch, 1 << 30)), o.max_latency_ms,
              1};
  f.on = service_of(r, o.certain);
  f.missed = missed_limit(f.demand, f.on, f.memory_mib, o.limits);
  f.missed_by = missed_by(f.demand, f.on, f.memory_mib, o.limits);
  f.capacity_per_s = capacity_per_s(f.demand, f.on, 1, o.limits);
  if (!f.missed.empty()) return f;
  const double slices = f.demand.rate_per_s > 0 ? std::ceil(f.demand.rate_per_s / f.capacity_per_s * (1 - 1e-9)) : 1;
  f.slices = static_cast<int>(std::clamp<double>(slices, 1, kMostSlices));
  const double rate = f.demand.rate_per_s > 0 ? f.demand.rate_per_s / f.slices : f.capacity_per_s;
  f.utilisation = utilisation_at(rate, f.demand, f.on, 1, o.limits);
  f.energy_j = r.prediction.energy_j * f.utilisation / (rate * f.on.batch_ms / 1e3);  // of batches as full as they get
  f.latency_ms = request_ms(rate, f.utilisation, f.demand, f.on, 1, o.limits);
  const auto own = prices.find(place.device.name), whole = prices.find(place.device.whole());
  if (own != prices.end() || whole != prices.end()) {
    const double per_h = (own != prices.end() ? own->second : whole->second * place.share) * f.slices;
    if (f.demand.rate_per_s > 0) f.price_per_h = per_h;
    f.price_per_million = per_h / (rate * f.slices * 3600) * 1e6;
  }
  return f;
}

std::string fit_text(const std::string& model, const std::vector<FitOption>& all, std::size_t fits,
                     const FitArguments& o, const Style& style) {
  std::string out = style.bold(fmt::format("{}: {} of {} places hold it, by {}", model, fits, all.size(), o.by)) + "\n";
  if (fits == 0) {
    const FitOption& best = *std::ranges::min_element(all, {}, &FitOption::missed_by);
    return out + fmt::format("nearest: {} at batch {}, where it {}\n", best.device, best.demand.batch, best.missed);
  }
  int wide = 6;
  const std::size_t rows = std::min<std::size_t>(fits, o.top);
  for (std::size_t i = 0; i < rows; ++i) wide = std::max(wide, static_cast<int>(all[i].device.size()));
  const bool priced = std::any_of(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(rows),
                                  [](const FitOption& f) { return f.price_per_million.has_value(); });
  out += style.dim(fmt::format("  {:<{}}  {:>5}  {:>6}  {:>9}  {:>5}  {:>9}  {:>8}  {:>9}{}\n", "device", wide, "batch",
                               "slices", "of/s", "busy%", "latency", "MiB", "J/request",
                               priced ? fmt::format("  {:>9}  {:>9}", "price/h", "per 1e6") : ""));
  const auto money = [](const std::optional<double>& v) { return v ? fmt::format("{:.4g}", *v) : "-"; };
  for (std::size_t i = 0; i < rows; ++i) {
    const FitOption& f = all[i];
    out += fmt::format("  {:<{}}  {:>5}  {:>6}  {:>9.4g}  {:>5.1f}  {:>9.2f}  {:>8.0f}  {:>9.4g}{}\n", f.device, wide,
                       f.demand.batch, f.slices, f.capacity_per_s * f.slices, 100 * f.utilisation, f.latency_ms,
                       f.on.memory_mib, f.energy_j,
                       priced ? fmt::format("  {:>9}  {:>9}", money(f.price_per_h), money(f.price_per_million)) : "");
  }
  if (rows < fits) out += fmt::format("  … {} more; --top\n", fits - rows);
  return out;
}

nlohmann::ordered_json fit_json(const FitOption& f) {
  using Json = nlohmann::ordered_json;
  Json out{{"device", f.device}, {"batch", f.demand.batch}, {"fits", f.missed.empty()}};
  if (!f.missed.empty()) {
    out["missed"] = f.missed;
    return out;
  }
  out.update({{"slices", f.slices},
              {"capacity_per_s", f.capacity_per_s * f.slices},
              {"utilisation", f.utilisation},
              {"latency_ms", f.latency_ms},
              {"batch_ms", f.on.batch_ms},
              {"memory_mib", f.on.memory_mib},
              {"energy_j_per_request", f.energy_j}});
  if (f.price_per_h) out["price_per_h"] = *f.price_per_h;
  if (f.price_per_million) out["price_per_million"] = *f.price_per_million;
  return out;
}

/// All places of one model, those that hold it first, ranked; empty: it cannot be predicted.
std::optional<std::vector<FitOption>> options_of(const std::string& model, const FitArguments& o,
                                                 const std::vector<FitPlace>& places, const Prices& prices, int& code) {
  WorkloadPredictor predictor;
  WorkloadEntry e{.predict = static_cast<const PredictOptions&>(o), .model = model, .path = model};
  std::vector<Device> devices;
  devices.reserve(places.size());
  for (const FitPlace& p : places) devices.push_back(p.device);
  std::vector<FitOption> out;
  for (const auto& batch : to_batches(o)) {
    e.predict.batch = std::to_string(*batch);
    const auto reports = predictor.on(e, devices, code);
    if (!reports) return std::nullopt;
    for (std::size_t i = 0; i < places.size(); ++i) out.push_back(option_of((*reports)[i], places[i], o, prices));
  }
  const auto rank = std::ranges::find_if(kRanks, [&](const FitRank& r) { return r.name == o.by; });
  std::ranges::stable_sort(out, {}, [&](const FitOption& f) {
    return f.missed.empty() ? std::pair(0, rank->figure(f)) : std::pair(1, f.missed_by);
  });
  return out;
}

int run_fit(FitArguments o) {
  if (o.by.empty()) o.by = o.price.empty() ? "energy" : "price";
  if (o.by == "price" && o.price.empty())
    return fail(kBadUsage, "--by price needs --price DEVICE=PRICE of the devices");
  if (o.batch.empty()) o.batch = kUsualBatches;
  if (o.devices.empty() && o.smi_file.empty()) {
    for (const Device& d : DeviceTable::builtin().all()) {
      if (d.kind == "gpu") o.devices.push_back(d.name);
    }
  }
  const auto request = to_request(o, Batches::Several);
  if (!request) return kBadUsage;
  int code = kFine;
  auto devices = devices_of(o, *request, code);
  if (!devices) return code;
  std::set<std::string> seen;  // a host may have several of one kind
  std::erase_if(*devices, [&](const Device& d) { return !seen.insert(d.name).second; });
  std::vector<Device> priced = *devices;  // and the GPUs whose slices were asked for
  for (const Device& d : *devices) {
    if (d.parent.empty()) continue;
    priced.push_back(d);
    priced.back().name = d.parent;
  }
  Diagnostics usage;
  const auto prices = parse_prices(o.price, priced, usage);
  if (!prices) return fail(kBadUsage, usage.all().front().message);
  if (o.by == "price")  // only what has a price can be ranked by it
    std::erase_if(*devices, [&](const Device& d) { return !prices->count(d.name) && !prices->count(d.whole()); });
  auto out = Output::open(o.output);
  if (!out) return kBadInput;
  const std::vector<FitPlace> places = places_of(*devices, o.device_file);
  const Style style{colour_for(*out)};
  nlohmann::ordered_json json{{"schema", "perfc.fit/1"}, {"by", o.by}, {"models", nlohmann::ordered_json::array()}};
  bool all_fit = true;
  for (const std::string& model : o.models) {
    const auto options = options_of(model, o, places, *prices, code);
    if (!options) return code;
    const auto fits =
        static_cast<std::size_t>(std::ranges::count_if(*options, [](const FitOption& f) { return f.missed.empty(); }));
    all_fit = all_fit && fits > 0;
    if (!o.json) {
      out->write(fit_text(printable(model), *options, fits, o, style));
      continue;
    }
    nlohmann::ordered_json rows = nlohmann::ordered_json::array();
    for (const FitOption& f : *options) rows.push_back(fit_json(f));
    json["models"].push_back({{"model", printable(model)}, {"places", std::move(rows)}});
  }
  if (o.json) out->write(json.dump(2) + "\n");
  if (!out->commit()) return kBadInput;
  return all_fit ? kFine : kBudgetExceeded;
}

}  // namespace

Command fit_command() {
  auto o = std::make_shared<FitArguments>();
  Command c{"fit", "List devices, slices and batches that serve models within limits", [o] { return run_fit(*o); }};
  c.option("models,--model", o->models, "Model files").required();
  c.option("--rate", o->rate, "Requests per second, a request being one sample [what one slice serves]")
      .must_be(Positive{});
  c.option("--max-latency", o->max_latency_ms, "What a request may take, in ms: waiting, gathering and the batch")
      .must_be(Positive{});
  c.option("--by", o->by, "Rank by price, energy (per request) or latency [price where there are prices, else energy]")
      .must_be(OneOf{{"price", "energy", "latency"}});
  c.option("--price", o->price,
           "DEVICE=PRICE per hour; a slice costs its share, unless it has a price of its own (repeatable)");
  c.option("--top", o->top, "Rows of each model [10]");
  c.option("--json", o->json, "All places, as JSON (docs/pack.md)");
  c.option("-o,--output", o->output, "Write to a file instead of standard output");
  add_slice_options(c, *o);
  add_shape_options(c, *o, Batches::Several);
  add_loop_options(c, *o);
  add_dynamic_options(c, *o);
  add_execution_options(c, *o);
  return c;
}

}  // namespace perfc::cli
