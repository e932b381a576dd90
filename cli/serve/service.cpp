#include "cli/serve/service.h"

#include <fmt/format.h>

#include <algorithm>
#include <new>
#include <nlohmann/json.hpp>

#include "cli/serve/query.h"
#include "ir/support/work_limit.h"
#include "ir/symbol_scope.h"
#include "pipeline/devices_json.h"
#include "pipeline/reports.h"

namespace perfc::cli {
namespace {

using Json = nlohmann::ordered_json;

/// Batches times devices of a request: what a table has rows for. (our choice)
constexpr std::size_t kMostPredictions = 256;

constexpr std::string_view kJson = "application/json";

Json diagnostic_json(const Diagnostic& d) {
  constexpr std::string_view kSeverities[] = {"note", "warning", "error"};
  Json out{{"severity", kSeverities[static_cast<std::size_t>(d.severity)]}, {"file", d.file}, {"message", d.message}};
  if (d.loc.line >= 0) out["line"] = d.loc.line;
  if (d.loc.column >= 0) out["column"] = d.loc.column;
  if (d.loc.node >= 0) out["node"] = d.loc.node;
  if (d.loc.offset >= 0) out["offset"] = d.loc.offset;
  if (!d.name.empty()) out["name"] = d.name;
  out["text"] = to_string(d);
  return out;
}

const Option* find_setting(const Command& command, std::string_view name) {
  const auto option = std::ranges::find(command.options, name, setting_name);
  return option == command.options.end() ? nullptr : &*option;
}

/// What is wrong with a name that is none of a request's settings.
std::string unknown_setting(const Command& known, const std::string& name) {
  const Command of_line = predict_command();
  if (const Option* option = find_setting(of_line, name)) {
    return option->names_what == Names::File
               ? fmt::format("{}: it names a file of the server, which requests cannot open or write", name)
               : fmt::format("{}: it is an option of the command line alone", name);
  }
  std::vector<std::string> names;
  for (const Option& o : known.options) names.push_back(setting_name(o));
  const std::string near = did_you_mean(name, names);
  return fmt::format("unknown setting '{}'{}", name,
                     near.empty() ? fmt::format("; there are {}", fmt::join(names, ", "))
                                  : fmt::format(" (did you mean '{}'?)", near));
}

std::string first_message(const Diagnostics& diags) {
  const auto first = std::ranges::find(diags.all(), Severity::Error, &Diagnostic::severity);
  return first == diags.all().end() ? "the model cannot be predicted" : to_string(*first);
}

}  // namespace

std::string setting_name(const Option& option) {
  const std::size_t dashes = option.names.find("--");
  return dashes == std::string::npos ? ""
                                     : option.names.substr(dashes + 2, option.names.find(',', dashes) - dashes - 2);
}

Command request_options(PredictionJob& job) {
  Command c{"predict", "", [] { return int{kFine}; }};
  c.option("--model", job.model, "What the report calls the model; its ending says the format where the bytes do not");
  add_setting_options(c, job.o, Batches::Several);
  add_answer_options(c, job.o);
  std::erase_if(c.options, [](const Option& o) { return o.names_what == Names::File; });
  for (Option& o : c.options) {
    if (o.names_what == Names::FileOrEntry) o.help += ". Of a request it is a name: no file of the server is opened";
  }
  return c;
}

std::vector<const Emit*> served_emits() {
  std::vector<const Emit*> out;
  for (const Emit& e : emits()) {
    if (e.of_reports) out.push_back(&e);
  }
  return out;
}

Service::Service(const ServeOptions& o, std::size_t threads, DeviceTable devices)
    : o_(o), devices_(std::move(devices)), predictors_(threads), places_(threads, o.queue) {}

Result<std::unique_ptr<Service>> Service::open(const ServeOptions& o, std::size_t threads, DeviceTable devices,
                                               Diagnostics& diags) {
  std::unique_ptr<Service> out(new Service(o, threads, std::move(devices)));
  const PredictionJob usual;
  for (std::size_t slot = 0; slot < threads; ++slot) {
    if (!out->predictor_of(usual, slot, diags)) return Failure{};
  }
  return out;
}

Result<const Predictor*> Service::predictor_of(const PredictionJob& job, std::size_t slot, Diagnostics& diags) {
  auto& kept = predictors_[slot][{job.request.predictor, job.request.opaque}];
  if (!kept) {
    auto found = find_predictor(job.request, diags);
    if (!found) return Failure{};
    kept = std::move(*found);
  }
  return kept.get();
}

std::optional<ServerAnswer> Service::get(std::string_view path) const {
  if (path == "/healthz") return ServerAnswer{200, "text/plain", "ok\n"};
  if (path == "/v1/devices") return ServerAnswer{200, std::string(kJson), devices_json(devices_.all())};
  if (path == "/openapi.json") return ServerAnswer{200, std::string(kJson), openapi(o_)};
  if (path != "/metrics") return std::nullopt;
  const auto [working, waiting] = places_.taken();
  return ServerAnswer{200, "text/plain; version=0.0.4", metrics_.text(working, waiting)};
}

std::variant<PredictionJob, ServerAnswer> Service::understand(std::string_view query, std::string_view accept) const {
  PredictionJob job;
  job.o.names_no_files = true;
  job.o.emit.clear();
  const Command settings = request_options(job);
  const auto given = parse_query(query);
  if (!given) return error(400, "the query has a % that is not followed by two hexadecimal digits");
  std::vector<std::string> words;
  for (const auto& [name, value] : *given) {
    const Option* option = find_setting(settings, name);
    if (!option) return error(400, unknown_setting(settings, name));
    if (value.empty()) return error(400, fmt::format("{}: it has no value; leave it out or give one", name));
    words.push_back(fmt::format("--{}={}", name, value));
  }
  const CommandLine line = read_command_line(settings, words);
  if (line.error) return error(400, line.error->message);
  if (job.o.emit.empty()) {
    constexpr std::string_view kTypes[] = {"application/json", "text/html", "text/plain"};
    constexpr std::string_view kEmits[] = {"json", "html", "report"};
    const auto type = choose_type(accept, kTypes);
    if (!type) {
      return error(406,
                   fmt::format("Accept: answers are {}, or what the setting emit asks for", fmt::join(kTypes, ", ")));
    }
    job.o.emit = kEmits[*type];
  }
  Diagnostics usage;
  auto request = to_request(job.o, Batches::Several, usage);
  const auto batches = request ? to_batches(job.o, usage) : Failure{};
  job.emit = batches ? emit_of(job.o, usage) : nullptr;
  if (!job.emit) return error(400, usage.all().front().message, usage);
  if (!job.emit->of_reports) {
    std::vector<std::string_view> names;
    for (const Emit* e : served_emits()) names.push_back(e->name);
    return error(400,
                 fmt::format("--emit: '{}' is the command line's; answers are {}", job.o.emit, fmt::join(names, ", ")));
  }
  auto devices = find_devices(devices_, *request, usage);
  if (!devices) return error(400, usage.all().front().message, usage);
  if (devices->size() * batches->size() > kMostPredictions) {
    return error(400, fmt::format("{} batches on {} devices are more than {} predictions; send several requests",
                                  batches->size(), devices->size(), kMostPredictions));
  }
  job.request = std::move(*request);
  job.request.model = job.model;
  job.batches = *batches;
  job.devices = std::move(*devices);
  return job;
}

ServerAnswer Service::predict(const PredictionJob& job, std::string body, std::size_t slot) {
  try {
    return predicted(job, std::move(body), slot);
  } catch (const std::bad_alloc&) { return error(413, "the model takes more memory than the server has"); }
}

ServerAnswer Service::predicted(const PredictionJob& job, std::string body, std::size_t slot) {
  const SymbolScope symbols;
  const auto time = std::chrono::duration_cast<WorkLimit::Clock::duration>(std::chrono::duration<double>(o_.timeout_s));
  WorkLimit limit(o_.max_nodes, WorkLimit::Clock::now() + time);
  Diagnostics diags(job.model);
  const auto predictor = predictor_of(job, slot, diags);
  ModelFile file(Source::from_bytes(job.model, std::move(body)));
  std::vector<std::vector<Report>> of_batches;
  for (std::size_t b = 0; predictor && b < job.batches.size(); ++b) {
    Request request = job.request;
    request.batch = job.batches[b];
    Diagnostics of_batch(job.model);
    auto found = reports_at(file, job.devices, **predictor, request, *job.emit, job.o, job.batches.size(), of_batch);
    if (limit.met_too_many_nodes()) return rejected(Rejected::Nodes, first_message(of_batch));
    if (limit.ran_late()) return rejected(Rejected::Time, first_message(of_batch));
    if (!found) diags.append(of_batch);
    else of_batches.push_back(std::move(*found));
  }
  if (diags.errors()) return error(422, first_message(diags), diags);
  const std::string text = job.emit->of_reports(by_device(std::move(of_batches)), job.o, Colour::No);
  const bool is_text = job.emit->type.starts_with("text/");
  return {200, fmt::format("{}{}", job.emit->type, is_text ? "; charset=utf-8" : ""), text};
}

ServerAnswer Service::error(int status, std::string message, const Diagnostics& diags) const {
  Json list = Json::array();
  for (const Diagnostic& d : diags.all()) list.push_back(diagnostic_json(d));
  const Json document{{"schema", "perfc.error/1"}, {"status", status}, {"error", message}, {"diagnostics", list}};
  return {status, std::string(kJson), document.dump(2, ' ', false, Json::error_handler_t::replace) + "\n"};
}

ServerAnswer Service::rejected(Rejected why, std::string message) {
  metrics_.rejected(why);
  const auto busy = [&](std::string text) {
    ServerAnswer out = error(503, std::move(text));
    out.headers = {{"Retry-After", "1"}};
    return out;
  };
  switch (why) {
    case Rejected::Full:
      return busy(fmt::format("{} models are predicted at once and {} wait; try again", predictors_.size(), o_.queue));
    case Rejected::Stopping:
      return busy("the server is stopping");
    case Rejected::Waited:
      return busy(fmt::format("no thread came free within {:g} s; try again", o_.timeout_s));
    case Rejected::Body:
      return error(413, fmt::format("the body is larger than {} MiB, the server's --max-body; weights are not needed, "
                                    "so export the model without them",
                                    o_.max_body_mib));
    case Rejected::Slow:
      return error(408, fmt::format("the body did not arrive within {:g} s, the server's --timeout", o_.timeout_s));
    case Rejected::Nodes:
      return error(413, fmt::format("{}; the server's --max-nodes is {}", message, o_.max_nodes));
    case Rejected::Time:
      return error(422, fmt::format("the model was not predicted within {:g} s, the server's --timeout", o_.timeout_s));
  }
  return error(503, std::move(message));
}

}  // namespace perfc::cli
