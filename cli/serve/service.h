#pragma once
/// What the server answers, without HTTP's wire.
#include <variant>

#include "cli/serve/metrics.h"
#include "cli/serve/places.h"
#include "cli/serve/serve.h"
#include "devices/device.h"

namespace perfc::cli {

struct ServerAnswer {
  int status = 200;
  std::string type, body;
  std::vector<std::pair<std::string, std::string>> headers = {};
};

/// Settings of a request for a prediction, read and found good.
struct PredictionJob {
  AnswerOptions o;
  std::string model = "model";  ///< what reports and diagnostics call it
  Request request;
  std::vector<std::optional<std::int64_t>> batches;
  std::vector<Device> devices;
  const Emit* emit = nullptr;
};

class Service {
 public:
  /// Opens the usual predictor for each of `threads`; errors are reported.
  static Result<std::unique_ptr<Service>> open(const ServeOptions&, std::size_t threads, DeviceTable, Diagnostics&);

  const ServeOptions& options() const { return o_; }
  Metrics& metrics() { return metrics_; }
  Places& places() { return places_; }

  /// The paths below answer GET; empty: no such path.
  std::optional<ServerAnswer> get(std::string_view path) const;
  /// `query`: behind the "?", as it was sent; `accept`: the header's value.
  std::variant<PredictionJob, ServerAnswer> understand(std::string_view query, std::string_view accept) const;
  /// Predicts in a slot of `places`.
  ServerAnswer predict(const PredictionJob&, std::string body, std::size_t slot);

  // Answers that say what is wrong.
  ServerAnswer error(int status, std::string message, const Diagnostics& = Diagnostics{}) const;
  /// Counted, too.
  ServerAnswer rejected(Rejected, std::string message = {});

 private:
  Service(const ServeOptions&, std::size_t threads, DeviceTable);
  Result<const Predictor*> predictor_of(const PredictionJob&, std::size_t slot, Diagnostics&);
  ServerAnswer predicted(const PredictionJob&, std::string body, std::size_t slot);

  ServeOptions o_;
  DeviceTable devices_;
  Metrics metrics_;
  /// By slot, for networks work for one at a time: those of a name and a policy.
  std::vector<std::map<std::pair<std::string, OpaquePolicy>, std::unique_ptr<Predictor>>> predictors_;
  Places places_;  ///< last: its threads use the others
};

/// What a request calls an option: of "--fold-batch-norm,-f" it is "fold-batch-norm"; "" of one without a long name.
std::string setting_name(const Option&);
/// The options of `perfc predict` that a request can have, under their long names, and the model's name.
Command request_options(PredictionJob&);
/// What answers can be: the rows of --emit that are made from reports.
std::vector<const Emit*> served_emits();
/// The description of the service (OpenAPI 3.1), as JSON.
std::string openapi(const ServeOptions&);

}  // namespace perfc::cli
