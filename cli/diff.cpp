/// `perfc diff BASE HEAD`: what a change of models costs. docs/ci.md.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "cli/acknowledged.h"
#include "cli/cli.h"
#include "compare/diff.h"
#include "compare/formats/format.h"

namespace perfc::cli {
namespace {

struct DiffArguments : PredictOptions {
  std::string base, head, format = "text", output, acknowledge;
  std::vector<std::string> write, price, fail_on;
  std::size_t top = 10;
  bool quiet = false;
};

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

int run_diff(const DiffArguments& o) {
  const auto request = to_request(o, Batches::Several);
  if (!request) return kBadUsage;
  Diagnostics usage;
  const auto thresholds = parse_threshold_lists(o.fail_on, usage);
  if (!thresholds) return fail(kBadUsage, usage.all().front().message);
  int code = kFine;
  auto devices = devices_of(o, *request, code);
  if (!devices) return code;
  auto prices = parse_prices(o.price, *devices, usage);
  if (!prices || !can_be_held(*thresholds, *prices, *devices, usage))
    return fail(kBadUsage, usage.all().front().message);
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
  if (const Status same = of_a_kind(*base, *head, usage); !same) return fail(kBadUsage, usage.all().front().message);
  if (o.base == "-" && o.head == "-") return fail(kBadUsage, "standard input can be one of the two only");
  auto predictor = find_predictor(*request, diags);
  print(diags);
  if (!predictor) return kBadInput;
  const auto whitebox = make_whitebox(request->opaque);
  std::set<std::string> said;  // warnings
  const auto tell = [&](const Diagnostics& messages, Told what) {
    if (what == Told::Failure) return print(messages);
    if (!o.quiet) print_new_warnings(messages, said);
  };
  const bool draws =
      std::ranges::any_of(*destinations, [](const Destination& d) { return d.format->draws == Draw::Yes; });
  const DiffJob job{*request,  to_batches(o), *devices, **predictor,
                    *whitebox, *prices,       tell,     draws ? Draw::Yes : Draw::No};
  DiffReport report{.top = o.top};
  Diagnostics of_sets;
  if (!compare_sets(job, *base, *head, report, of_sets)) return fail(kBadInput, of_sets.all().front().message);
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
