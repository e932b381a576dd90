/// What the page's worker calls (web/worker.js): `perfc predict` on files that the worker shows, with the words of a
/// command line, and the lists that the page offers.
#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "gnn/checkpoint.h"
#include "html/report_page.h"
#include "learning/corrected.h"
#include "learning/default_weights.h"
#include "learning/predictors.h"
#include "options/predict_options.h"
#include "pipeline/details.h"
#include "pipeline/devices_json.h"
#include "pipeline/reports.h"
#include "web/words.h"
#include "whitebox/whitebox.h"

/// The worker shows it. `part` of `parts` is done.
extern "C" __attribute__((import_module("perfc"), import_name("progress"))) void perfc_progress(int part, int parts);

namespace perfc::web {
namespace {

constexpr std::size_t kTop = 5;  ///< operators that are listed, as on the command line

/// What the last call has to say; it stays until the next.
struct Said {
  std::string json, page, messages;
};
Said& said() {
  static Said instance;
  return instance;
}

Result<const Predictor*> predictor_of(const Request& request, Diagnostics& diags) {
  static std::map<std::pair<std::string, OpaquePolicy>, std::unique_ptr<Predictor>> kept;
  auto& place = kept[{request.predictor, request.opaque}];
  if (place) return static_cast<const Predictor*>(place.get());
  if (request.predictor == kWhiteboxName) {
    place = make_whitebox(request.opaque);
    return static_cast<const Predictor*>(place.get());
  }
  if (request.predictor != kDefaultName)
    return diags.error(fmt::format("--predictor: '{}' is none of default, whitebox; the page opens no checkpoints",
                                   request.predictor));
  auto checkpoint = parse_checkpoint(default_weights(), diags);
  if (!checkpoint) return Failure{};
  auto opened = open_corrected(std::move(*checkpoint), request.opaque, diags);
  if (!opened) return Failure{};
  place = std::move(*opened);
  return static_cast<const Predictor*>(place.get());
}

/// One call: the reports by device, then batch, and the files they come from, for the page's details.
class Run {
 public:
  /// False: `usage` says what is wrong with the words.
  bool read(const std::vector<std::string>& words, Diagnostics& usage) {
    Command command{"predict", ""};
    add_predict_options(command, options_, Batches::Several);
    if (!read_words(words, command, usage)) return false;
    auto request = to_request(options_, Batches::Several, usage);
    auto batches = to_batches(options_, usage);
    if (!request || !batches) return false;
    request_ = std::move(*request);
    batches_ = std::move(*batches);
    auto devices = devices_of(options_, request_, usage);
    auto predictor = predictor_of(request_, usage);
    if (!devices || !predictor) return false;
    devices_ = std::move(*devices);
    predictor_ = *predictor;
    return true;
  }

  /// True: every model could be predicted at every batch.
  bool predict(bool details) {
    bool good = true;
    for (const std::string& model : options_.models) good = predict(model, details) && good;
    return good;
  }

  const std::vector<Report>& reports() const { return reports_; }

 private:
  bool predict(const std::string& model, bool details) {
    Request request = request_;
    request.model = model;
    Diagnostics opening(model);
    auto file = ModelFile::open(request, opening);
    tell(opening);
    if (!file) return false;
    bool good = true;
    std::vector<std::vector<Report>> of_batches;
    const auto alternatives = batches_.size() == 1 ? Alternatives::Told : Alternatives::Untold;
    for (std::size_t b = 0; b < batches_.size(); ++b) {
      perfc_progress(static_cast<int>(b), static_cast<int>(batches_.size()));
      request.batch = batches_[b];
      Diagnostics diags(model);
      auto found = full_reports(*file, devices_, *predictor_, request, alternatives, diags);
      const bool done = found && (!details || add_details(*found, *file, *predictor_, request, diags));
      tell(diags);
      if (done) of_batches.push_back(std::move(*found));
      else good = false;
    }
    std::ranges::move(by_device(std::move(of_batches)), std::back_inserter(reports_));
    return good;
  }

  /// Each message once.
  void tell(const Diagnostics& diags) {
    for (const Diagnostic& d : diags.all()) {
      std::string line = to_string(d);
      if (told_.insert(line).second) said().messages += line + "\n";
    }
  }

  PredictOptions options_;
  Request request_;
  std::vector<std::optional<std::int64_t>> batches_;
  std::vector<Device> devices_;
  const Predictor* predictor_ = nullptr;
  std::vector<Report> reports_;
  std::set<std::string> told_;
};

/// A fault of ours is a message as well; the page lives on.
template <class F>
int guarded(F&& call) {
  said() = {};
  try {
    return call();
  } catch (const std::bad_alloc&) {
    said().messages = "out of memory: the browser gives a page 4 GiB at most; use the command line\n";
  } catch (const std::exception& fault) {
    said().messages = fmt::format("a fault of perfc, please report it: {}\n", fault.what());
  }
  return 1;
}

std::vector<std::string> lines_of(const char* text) {
  std::vector<std::string> out;
  for (std::string_view rest = text; !rest.empty();) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    out.emplace_back(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return out;
}

}  // namespace
}  // namespace perfc::web

using namespace perfc;

#define PERFC_EXPORT(name) extern "C" __attribute__((export_name(#name)))

PERFC_EXPORT(perfc_allocate) char* perfc_allocate(std::size_t bytes) { return new (std::nothrow) char[bytes]; }
PERFC_EXPORT(perfc_release) void perfc_release(const char* text) { delete[] text; }

/// `words` of a command line, a line each. 0: all was predicted; 1: something was not; 2: wrong words. `details`: the
/// page is made as well.
PERFC_EXPORT(perfc_predict) int perfc_predict(const char* words, int details) {
  return web::guarded([&] {
    web::Run run;
    Diagnostics usage;
    if (!run.read(web::lines_of(words), usage)) {
      web::said().messages = usage.str();
      return 2;
    }
    const bool good = run.predict(details != 0);
    if (run.reports().empty()) return 1;
    if (details) web::said().page = to_html(run.reports());
    else web::said().json = to_json(run.reports(), web::kTop);
    return good ? 0 : 1;
  });
}

/// Devices and hosts, as JSON: {"version", "devices", "hosts", "formats", "options": [{"names", "help"}]}; the
/// predictor is opened, so that the first prediction is as fast as the next.
PERFC_EXPORT(perfc_lists) int perfc_lists() {
  return web::guarded([] {
    PredictOptions options;
    Command command{"predict", ""};
    add_predict_options(command, options, Batches::Several);
    nlohmann::ordered_json out{{"version", PERFC_VERSION}};
    out["devices"] = nlohmann::ordered_json::parse(devices_json(DeviceTable::builtin().all()))["devices"];
    out["hosts"] = nlohmann::ordered_json::parse(hosts_json(builtin_hosts()))["hosts"];
    for (const FrontendDef& f : frontend_table()) out["formats"].push_back(f.extensions);
    for (const Option& o : command.options) out["options"].push_back({{"names", o.names}, {"help", o.help}});
    web::said().json = out.dump();
    Diagnostics diags;
    const bool opened = static_cast<bool>(web::predictor_of(Request{}, diags));
    web::said().messages = diags.str();
    return opened ? 0 : 1;
  });
}

/// What the last call said, UTF-8: 0 the report as JSON, 1 the report as a page, 2 messages, a line each.
PERFC_EXPORT(perfc_text) const char* perfc_text(int which) {
  const auto& s = web::said();
  return (which == 0 ? s.json : which == 1 ? s.page : s.messages).data();
}
PERFC_EXPORT(perfc_size) std::size_t perfc_size(int which) {
  const auto& s = web::said();
  return (which == 0 ? s.json : which == 1 ? s.page : s.messages).size();
}
