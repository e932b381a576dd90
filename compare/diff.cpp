#include "compare/diff.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "compare/versions.h"
#include "ir/support/csv.h"

namespace perfc {
namespace {

/// One side of a pair: its file, and its graph at the batch that is compared.
struct SideOfPair {
  std::optional<ModelFile> file;
  Version version;
};

/// Whether one version is the networks' and the other the whitebox's: their errors would not cancel.
bool mixed(const Version& a, const Version& b) {
  return !std::ranges::equal(
      a.reports, b.reports, {}, [](const Report& r) { return r.prediction.predictor; },
      [](const Report& r) { return r.prediction.predictor; });
}

/// A model at every batch; `base` and `head` are paths, empty where it is not in that version.
void compare_model(const DiffJob& job, const std::string& name, const std::string& base, const std::string& head,
                   Comparisons& out) {
  std::array<SideOfPair, 2> sides;
  const std::array paths{base, head};
  constexpr std::array<std::string_view, 2> kSides{"base", "head"};
  const auto failed = [&](const Diagnostics& diags) {
    job.tell(diags, Told::Failure);
    out.models.push_back({.model = printable(name), .error = printable(diags.str())});
  };
  Request request = job.request;
  std::array<std::string, 2> shown;
  for (std::size_t s = 0; s < 2; ++s) {
    if (paths[s].empty()) continue;
    shown[s] = fmt::format("{} ({})", name == "-" ? "<stdin>" : name, kSides[s]);
    Diagnostics opening(shown[s]);
    request.model = paths[s];
    auto file = ModelFile::open(request, opening);
    if (!file) return failed(opening);
    sides[s].file = std::move(*file);
  }
  for (const auto& batch : job.batches) {
    request.batch = batch;
    const auto predict_all = [&](const Predictor& predictor) {
      for (std::size_t s = 0; s < 2; ++s) {
        if (paths[s].empty()) continue;
        Diagnostics diags(shown[s]);
        request.model = name;
        auto version = predict_version(*sides[s].file, request, job.devices, predictor, diags);
        if (!version) return failed(diags), false;
        sides[s].version = std::move(*version);
        job.tell(diags, Told::Warnings);
      }
      return true;
    };
    if (!predict_all(job.predictor)) return;
    const Version* b = base.empty() ? nullptr : &sides[0].version;
    const Version* h = head.empty() ? nullptr : &sides[1].version;
    if (b && h && mixed(*b, *h) && !predict_all(job.whitebox)) return;
    out.models.push_back(compare(name, b, h, job.prices, job.draw));
  }
}

}  // namespace

Result<Prices> parse_prices(const std::vector<std::string>& texts, const std::vector<Device>& devices,
                            Diagnostics& usage) {
  Prices out;
  for (const std::string& text : texts) {
    const std::size_t equals = text.rfind('=');
    const auto per_h = equals == std::string::npos ? std::nullopt : parse_number(text.substr(equals + 1));
    if (!per_h || !(*per_h > 0))
      return usage.error(fmt::format("--price: '{}' is not DEVICE=PRICE with a positive price per hour", text));
    Diagnostics unsaid;
    const std::string given = text.substr(0, equals);
    const auto known = DeviceTable::builtin().find(given, unsaid);  // by alias too
    const std::string device = known ? known->name : given;
    if (std::ranges::find(devices, device, &Device::name) == devices.end())
      return usage.error(fmt::format("--price: '{}' is none of the devices that are predicted for", given));
    out[device] = *per_h;
  }
  return out;
}

Result<std::vector<Threshold>> parse_threshold_lists(const std::vector<std::string>& lists, Diagnostics& usage) {
  std::vector<Threshold> out;
  for (const std::string& list : lists) {
    Diagnostics diags;
    auto some = parse_thresholds(list, diags);
    if (!some) return usage.error("--fail-on: " + diags.all().front().message);
    out.insert(out.end(), some->begin(), some->end());
  }
  return out;
}

Status can_be_held(const std::vector<Threshold>& thresholds, const Prices& prices, const std::vector<Device>& devices,
                   Diagnostics& usage) {
  const auto asks = [&](Figure f) { return std::ranges::find(thresholds, f, &Threshold::figure) != thresholds.end(); };
  if (asks(Figure::Cost) && prices.size() < devices.size())
    return usage.error("--fail-on: 'cost' needs the --price of every device");
  const bool slices = std::ranges::any_of(devices, [](const Device& d) { return !d.mig.empty(); });
  if (asks(Figure::Mig) && !slices) return usage.error("--fail-on: 'mig' needs a device with MIG profiles");
  return ok();
}

Status of_a_kind(const ModelSet& base, const ModelSet& head, Diagnostics& usage) {
  if (base.folder == head.folder) return ok();
  return usage.error(fmt::format("{} is a folder and {} is a file: two of a kind are compared",
                                 (base.folder ? base : head).given, (base.folder ? head : base).given));
}

Status compare_sets(const DiffJob& job, const ModelSet& base, const ModelSet& head, DiffReport& report,
                    Diagnostics& diags) {
  report.comparison.base = printable(base.given);
  report.comparison.head = printable(head.given);
  report.comparison.root = printable(head.root);
  if (!base.folder) {
    const auto& [name, path] = *head.files.begin();
    compare_model(job, name, base.files.begin()->second.string(), path.string(), report.comparison);
    return ok();
  }
  std::set<std::string> names;
  for (const ModelSet* set : {&base, &head}) {
    for (const auto& [name, unused] : set->files) names.insert(name);
  }
  const auto path_in = [](const ModelSet& set, const std::string& name) {
    const auto at = set.files.find(name);
    return at == set.files.end() ? std::string() : at->second.string();
  };
  for (const std::string& name : names) {
    const std::string b = path_in(base, name), h = path_in(head, name);
    if ((!b.empty() && is_model(b)) || (!h.empty() && is_model(h))) {
      compare_model(job, name, b, h, report.comparison);
    } else {
      report.notes.push_back(fmt::format("{} is left out: it is named as a model and is none", printable(name)));
    }
  }
  if (report.comparison.models.empty())
    return diags.error(fmt::format("neither {} nor {} has a model", base.given, head.given));
  return ok();
}

}  // namespace perfc
