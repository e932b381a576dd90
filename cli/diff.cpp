/// `perfc diff BASE HEAD`: what a change of models costs. docs/ci.md.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "cli/acknowledged.h"
#include "cli/cli.h"
#include "cli/model_set.h"
#include "cli/versions.h"
#include "compare/formats/format.h"
#include "ir/support/csv.h"

namespace perfc::cli {
namespace {

struct DiffArguments : PredictOptions {
  std::string base, head, format = "text", output, acknowledge;
  std::vector<std::string> write, price, fail_on;
  std::size_t top = 10;
  bool quiet = false;
};

std::optional<Prices> prices_of(const DiffArguments& o, const std::vector<Device>& devices) {
  Prices out;
  for (const std::string& text : o.price) {
    const std::size_t equals = text.rfind('=');
    const auto per_h = equals == std::string::npos ? std::nullopt : parse_number(text.substr(equals + 1));
    if (!per_h || !(*per_h > 0)) {
      fail(kBadUsage, fmt::format("--price: '{}' is not DEVICE=PRICE with a positive price per hour", text));
      return std::nullopt;
    }
    Diagnostics unsaid;
    const std::string given = text.substr(0, equals);
    const auto known = DeviceTable::builtin().find(given, unsaid);  // by alias too
    const std::string device = known ? known->name : given;
    if (std::ranges::find(devices, device, &Device::name) == devices.end()) {
      fail(kBadUsage, fmt::format("--price: '{}' is none of the devices that are predicted for", given));
      return std::nullopt;
    }
    out[device] = *per_h;
  }
  return out;
}

std::optional<std::vector<Threshold>> thresholds_of(const DiffArguments& o) {
  std::vector<Threshold> out;
  for (const std::string& list : o.fail_on) {
    Diagnostics diags;
    auto some = parse_thresholds(list, diags);
    if (!some) {
      fail(kBadUsage, "--fail-on: " + diags.all().front().message);
      return std::nullopt;
    }
    out.insert(out.end(), some->begin(), some->end());
  }
  return out;
}

/// What is wrong with thresholds of figures that nobody has; "" where nothing is.
std::string unheld(const std::vector<Threshold>& thresholds, const Prices& prices, const std::vector<Device>& devices) {
  const auto asks = [&](Figure f) { return std::ranges::find(thresholds, f, &Threshold::figure) != thresholds.end(); };
  if (asks(Figure::Cost) && prices.size() < devices.size())
    return "--fail-on: 'cost' needs the --price of every device";
  const bool slices = std::ranges::any_of(devices, [](const Device& d) { return !d.mig.empty(); });
  return asks(Figure::Mig) && !slices ? "--fail-on: 'mig' needs a device with MIG profiles" : "";
}

const DiffFormat* find_format(const std::string& option, const std::string& format) {
  std::vector<std::string> names;
  for (const DiffFormat& f : diff_formats()) {
    if (f.name == format) return &f;
    names.emplace_back(f.name);
  }
  const std::string near = did_you_mean(format, names);
  fail(kBadUsage, fmt::format("{}: '{}' is none of {}{}", option, format, fmt::join(names, ", "),
                              near.empty() ? "" : fmt::format(" (did you mean '{}'?)", near)));
  return nullptr;
}

/// Where the comparison goes, in which formats; opened before any long work.
struct Destination {
  const DiffFormat* format;
  Output out;
};
std::optional<std::vector<Destination>> destinations_of(const DiffArguments& o, int& code) {
  std::vector<std::pair<const DiffFormat*, std::string>> asked;
  code = kBadUsage;
  asked.emplace_back(find_format("--format", o.format), o.output);
  for (const std::string& text : o.write) {
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos || equals + 1 == text.size()) {
      fail(kBadUsage, fmt::format("--write: '{}' is not FORMAT=FILE", text));
      return std::nullopt;
    }
    asked.emplace_back(find_format("--write", text.substr(0, equals)), text.substr(equals + 1));
  }
  if (std::ranges::any_of(asked, [](const auto& a) { return !a.first; })) return std::nullopt;
  code = kBadInput;
  std::vector<Destination> out;
  for (const auto& [format, path] : asked) {
    auto opened = Output::open(path);
    if (!opened) return std::nullopt;
    out.push_back({format, std::move(*opened)});
  }
  return out;
}

/// What all models of a call have in common.
struct DiffJob {
  const DiffArguments& o;
  Request request;
  std::vector<Device> devices;
  std::unique_ptr<Predictor> predictor, whitebox;
  Prices prices;
  Draw draw;
  std::set<std::string> said;  ///< warnings
};

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
void compare_model(DiffJob& job, const std::string& name, const std::string& base, const std::string& head,
                   Comparisons& out) {
  std::array<SideOfPair, 2> sides;
  const std::array paths{base, head};
  constexpr std::array<std::string_view, 2> kSides{"base", "head"};
  const auto failed = [&](const Diagnostics& diags) {
    print(diags);
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
  for (const auto& batch : to_batches(job.o)) {
    request.batch = batch;
    const auto predict_all = [&](const Predictor& predictor) {
      for (std::size_t s = 0; s < 2; ++s) {
        if (paths[s].empty()) continue;
        Diagnostics diags(shown[s]);
        request.model = name;
        auto version = predict_version(*sides[s].file, request, job.devices, predictor, diags);
        if (!version) return failed(diags), false;
        sides[s].version = std::move(*version);
        if (!job.o.quiet) print_new_warnings(diags, job.said);
      }
      return true;
    };
    if (!predict_all(*job.predictor)) return;
    const Version* b = base.empty() ? nullptr : &sides[0].version;
    const Version* h = head.empty() ? nullptr : &sides[1].version;
    if (b && h && mixed(*b, *h) && !predict_all(*job.whitebox)) return;
    out.models.push_back(compare(name, b, h, job.prices, job.draw));
  }
}

/// The pairs of two sets by name; what is no model is noted.
void compare_sets(DiffJob& job, const ModelSet& base, const ModelSet& head, DiffReport& report) {
  if (!base.folder) {
    const auto& [name, path] = *head.files.begin();
    compare_model(job, name, base.files.begin()->second.string(), path.string(), report.comparison);
    return;
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
}

int run_diff(const DiffArguments& o) {
  const auto request = to_request(o, Batches::Several);
  if (!request) return kBadUsage;
  const auto thresholds = thresholds_of(o);
  if (!thresholds) return kBadUsage;
  int code = kFine;
  auto devices = devices_of(o, *request, code);
  if (!devices) return code;
  auto prices = prices_of(o, *devices);
  if (!prices) return kBadUsage;
  if (const std::string wrong = unheld(*thresholds, *prices, *devices); !wrong.empty()) return fail(kBadUsage, wrong);
  auto destinations = destinations_of(o, code);
  if (!destinations) return code;
  std::optional<std::vector<Acknowledgement>> meant(std::in_place);
  if (!o.acknowledge.empty()) meant = read_acknowledgements(o.acknowledge);
  if (!meant) return kBadInput;
  Diagnostics base_diags(o.base), head_diags(o.head), diags;
  auto base = open_model_set(o.base, base_diags);
  auto head = open_model_set(o.head, head_diags);
  print(base_diags);
  print(head_diags);
  if (!base || !head) return kBadInput;
  if (base->folder != head->folder) {
    return fail(kBadUsage, fmt::format("{} is a folder and {} is a file: two of a kind are compared",
                                       base->folder ? o.base : o.head, base->folder ? o.head : o.base));
  }
  if (o.base == "-" && o.head == "-") return fail(kBadUsage, "standard input can be one of the two only");
  auto predictor = find_predictor(*request, diags);
  print(diags);
  if (!predictor) return kBadInput;
  const bool draws =
      std::ranges::any_of(*destinations, [](const Destination& d) { return d.format->draws == Draw::Yes; });
  const Draw draw = draws ? Draw::Yes : Draw::No;
  DiffJob job{o,    *request, std::move(*devices), std::move(*predictor), make_whitebox(request->opaque), *prices,
              draw, {}};
  DiffReport report{.top = o.top};
  report.comparison.base = printable(o.base);
  report.comparison.head = printable(o.head);
  report.comparison.root = printable(head->root);
  compare_sets(job, *base, *head, report);
  if (report.comparison.models.empty())
    return fail(kBadInput, fmt::format("neither {} nor {} has a model", o.base, o.head));
  report.findings = findings(report.comparison, *thresholds);
  for (const std::string& place : acknowledge(report.findings, *meant))
    report.notes.push_back(fmt::format("{} acknowledges what did not happen", printable(place)));
  bool written = true;
  for (Destination& d : *destinations) {
    report.colour = colour_for(d.out);
    d.out.write(d.format->write(report));
    written = d.out.commit() && written;
  }
  const bool unread = std::ranges::any_of(report.comparison.models, [](const auto& m) { return !m.error.empty(); });
  if (!written || unread) return kBadInput;
  return report.failures() > 0 ? kBudgetExceeded : kFine;
}

}  // namespace

Command diff_command() {
  auto o = std::make_shared<DiffArguments>();
  Command c{"diff", "What a change of models costs; exit 3 when a threshold is exceeded", [o] { return run_diff(*o); }};
  c.option("base", o->base, "A model file, a folder of them, or git:REF:PATH for either as of a git revision")
      .required();
  c.option("head", o->head, "The same after the change; folders are matched by relative path").required();
  add_shape_options(c, *o, Batches::Several);
  add_loop_options(c, *o);
  add_dynamic_options(c, *o);
  add_run_options(c, *o);
  std::vector<std::string> names;
  for (const DiffFormat& f : diff_formats()) names.emplace_back(f.name);
  c.option("--format,-f", o->format, fmt::format("{} [text]", fmt::join(names, ", ")));
  c.option("-o,--output", o->output, "Write to a file instead of standard output");
  c.option("--write", o->write, "FORMAT=FILE: writes that format too (repeatable)");
  c.option("--fail-on", o->fail_on,
           "Exit with 3 where a figure is certainly worse by more than this, as in latency=+5%,memory=+100,"
           "largest-batch=-10%,mig,oom; the others are energy, cost, macs, params (repeatable)");
  c.option("--acknowledge", o->acknowledge, "YAML file of regressions that are meant (docs/ci.md)");
  c.option("--price", o->price, "DEVICE=PRICE per hour, for the cost of a million samples (repeatable)")
      .separated_by(',');
  c.option("--top", o->top, "How many kinds of changes to list per model [10]");
  c.option("--quiet,-q", o->quiet, "No warnings");
  return c;
}

}  // namespace perfc::cli
