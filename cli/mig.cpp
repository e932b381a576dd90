#include <fmt/format.h>

#include "cli/cli.h"

namespace perfc::cli {
namespace {

struct MigArguments : PredictOptions {
  bool json = false;
};

int run_mig(const MigArguments& o) {
  auto request = to_request(o);
  if (!request) return kBadUsage;
  Diagnostics usage;
  auto devices = find_devices(*request, usage);
  if (!devices) {
    print(usage);
    return no_devices(o);
  }
  for (const Device& d : *devices) {
    if (d.mig.empty())
      return fail(kBadUsage, fmt::format("{} has no MIG profiles; `perfc devices` marks those that have", d.name));
  }
  auto out = Output::open("");
  std::vector<Report> reports;
  int code = kFine;
  for (const std::string& model : o.models) {
    request->model = model;
    Diagnostics diags(model == "-" ? "<stdin>" : model);
    auto r = predict(*request, diags);
    if (!r) {
      print(diags);
      code = kBadInput;
      continue;
    }
    print_warnings(diags);
    reports.insert(reports.end(), std::make_move_iterator(r->begin()), std::make_move_iterator(r->end()));
  }
  if (reports.empty()) return code;
  out->write(o.json ? to_json(reports, 0) : to_text(reports, 0, colour_for(*out)));
  return out->commit() ? code : kBadInput;
}

}  // namespace

Command mig_command() {
  auto o = std::make_shared<MigArguments>();
  Command c{"mig", "Judge every MIG profile of a device for a model", [o] { return run_mig(*o); }};
  add_predict_options(c, *o);
  c.option("--json", o->json, "As JSON (docs/json.md)");
  return c;
}

}  // namespace perfc::cli
