/// The description of the service, from the options that requests have.
#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <set>

#include "cli/serve/service.h"

namespace perfc::cli {
namespace {

using ApiJson = nlohmann::ordered_json;

template <class... F>
struct Cases : F... {
  using F::operator()...;
};
template <class... F>
Cases(F...) -> Cases<F...>;  // for clang before 17

ApiJson schema_of_target(const Target& target) {
  const ApiJson text{{"type", "string"}}, whole{{"type", "integer"}, {"minimum", 0}};
  return std::visit(
      Cases{
          [](bool*) {
    return ApiJson{{"type", "boolean"}};
          },
          [&](std::uint64_t*) { return whole; },
          [](double*) {
    return ApiJson{{"type", "number"}};
      },
      [](std::optional<double>*) {
    return ApiJson{{"type", "number"}};
      },
      [&](std::vector<std::string>*) {
    return ApiJson{{"type", "array"}, {"items", text}};
  },
      [&](std::vector<std::uint64_t>*) {
    return ApiJson{{"type", "array"}, {"items", whole}};
      }, [&](auto) { return text; },
      }, target);
}

ApiJson parameter(const Option& option) {
  ApiJson schema = schema_of_target(option.target);
  if (std::holds_alternative<Positive>(option.demand)) schema["exclusiveMinimum"] = 0;
  if (const auto* range = std::get_if<RealBetween>(&option.demand))
    schema.update({{"minimum", range->least}, {"maximum", range->most}});
  if (const auto* range = std::get_if<WholeBetween>(&option.demand))
    schema.update({{"minimum", range->least}, {"maximum", range->most}});
  const std::string name = setting_name(option);
  if (name == "emit") {
    schema["enum"] = ApiJson::array();
    for (const Emit* e : served_emits()) schema["enum"].push_back(e->name);
  }
  ApiJson out{{"name", name}, {"in", "query"}, {"description", option.help}, {"schema", std::move(schema)}};
  if (out["schema"]["type"] == "array") out.update({{"style", "form"}, {"explode", !option.separator}});
  return out;
}

ApiJson content(std::string_view type, ApiJson schema) {
  return {{std::string(type), {{"schema", std::move(schema)}}}};
}

ApiJson reference(std::string_view kind, std::string_view name) {
  return {{"$ref", fmt::format("#/components/{}/{}", kind, name)}};
}

ApiJson error_schema() {
  const ApiJson text{{"type", "string"}}, whole{{"type", "integer"}};
  const ApiJson diagnostic{{"type", "object"},
                           {"required", {"severity", "file", "message", "text"}},
                           {"properties",
                            {{"severity", {{"type", "string"}, {"enum", {"note", "warning", "error"}}}},
                             {"file", text},
                             {"message", text},
                             {"text", text},
                             {"name", text},
                             {"line", whole},
                             {"column", whole},
                             {"node", whole},
                             {"offset", whole}}}};
  return {{"type", "object"},
          {"required", {"schema", "status", "error", "diagnostics"}},
          {"properties",
           {{"schema", {{"const", "perfc.error/1"}}},
            {"status", whole},
            {"error", text},
            {"diagnostics", {{"type", "array"}, {"items", diagnostic}}}}}};
}

ApiJson error_response(std::string_view description) {
  return {{"description", description}, {"content", content("application/json", reference("schemas", "Error"))}};
}

ApiJson get(std::string_view id, std::string_view summary, std::string_view type, ApiJson schema) {
  return {{"get",
           {{"operationId", id},
            {"summary", summary},
            {"responses", {{"200", {{"description", summary}, {"content", content(type, std::move(schema))}}}}}}}};
}

ApiJson prediction(const ServeOptions& o) {
  PredictionJob job;
  ApiJson parameters = ApiJson::array();
  for (const Option& option : request_options(job).options) parameters.push_back(parameter(option));
  ApiJson answers = ApiJson::object();
  for (const Emit* e : served_emits()) {
    if (!answers.contains(e->type)) answers.update(content(e->type, ApiJson::object()));
  }
  answers["application/json"] = {{"schema", {{"type", "object"}, {"description", "perfc.report/1 (docs/json.md)"}}}};
  ApiJson busy = error_response("All threads are busy and the queue is full, or the server is stopping.");
  busy["headers"] = {{"Retry-After", {{"description", "Seconds to wait."}, {"schema", {{"type", "integer"}}}}}};
  return {{"operationId", "predict"},
          {"summary", "Latency, memory, energy and MIG slice of a model"},
          {"description", "Settings have the names, values and defaults of `perfc predict`'s options."},
          {"parameters", std::move(parameters)},
          {"requestBody",
           {{"required", true},
            {"description", fmt::format("The model's file, at most {} MiB.", o.max_body_mib)},
            {"content", content("application/octet-stream", ApiJson::object())}}},
          {"responses",
           {{"200", {{"description", "The report."}, {"content", std::move(answers)}}},
            {"400", error_response("A setting is wrong.")},
            {"406", error_response("No such type of answer.")},
            {"408", error_response("The body came too slowly.")},
            {"413", error_response("The body or the model is larger than the server's limits.")},
            {"415", error_response("The body is not the bytes of a file.")},
            {"422", error_response("The model cannot be read or predicted; the diagnostics say where and why.")},
            {"503", std::move(busy)}}}};
}

}  // namespace

std::string openapi(const ServeOptions& o) {
  const ApiJson text{{"type", "string"}}, object{{"type", "object"}};
  const ApiJson document{{"openapi", "3.1.0"},
                         {"info",
                          {{"title", "perfc"},
                           {"version", PERFC_VERSION},
                           {"summary", "Predicts latency, memory, energy and MIG slice of a model from its file."},
                           {"license", {{"name", "Apache-2.0"}, {"identifier", "Apache-2.0"}}}}},
                         {"servers", ApiJson::array({{{"url", "/"}}})},
                         {"paths",
                          {{"/v1/predict", {{"post", prediction(o)}}},
                           {"/v1/devices", get("devices", "The devices that are known", "application/json", object)},
                           {"/healthz", get("health", "That the server answers", "text/plain", text)},
                           {"/metrics", get("metrics", "What the server counted, for Prometheus", "text/plain", text)},
                           {"/openapi.json", get("openapi", "This description", "application/json", object)}}},
                         {"components", {{"schemas", {{"Error", error_schema()}}}}}};
  return document.dump(2) + "\n";
}

}  // namespace perfc::cli
