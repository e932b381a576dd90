#include "cli/serve/metrics.h"

#include <fmt/format.h>

namespace perfc::cli {
namespace {

std::string head(std::string_view name, std::string_view type, std::string_view help) {
  return fmt::format("# HELP {0} {1}\n# TYPE {0} {2}\n", name, help, type);
}

std::string single(std::string_view name, std::string_view type, std::string_view help, std::uint64_t value) {
  return fmt::format("{}{} {}\n", head(name, type, help), name, value);
}

}  // namespace

void Metrics::answered(std::string_view path, int status, std::uint64_t received, std::uint64_t sent) {
  const std::lock_guard lock(mutex_);
  ++requests_[{std::string(path), status}];
  received_ += received;
  sent_ += sent;
}

void Metrics::rejected(Rejected why) {
  const std::lock_guard lock(mutex_);
  ++rejected_[static_cast<std::size_t>(why)];
}

void Metrics::predicted(double seconds) {
  const std::lock_guard lock(mutex_);
  ++predictions_;
  seconds_ += seconds;
  for (std::size_t b = 0; b < kBounds.size(); ++b) at_most_[b] += seconds <= kBounds[b];
}

std::string Metrics::text(std::size_t working, std::size_t waiting) const {
  const std::lock_guard lock(mutex_);
  std::string out = fmt::format("{}perfc_build_info{{version=\"{}\"}} 1\n",
                                head("perfc_build_info", "gauge", "The program that answers."), PERFC_VERSION);
  out += head("perfc_http_requests_total", "counter", "Requests that were answered.");
  for (const auto& [key, count] : requests_)
    out += fmt::format("perfc_http_requests_total{{path=\"{}\",status=\"{}\"}} {}\n", key.first, key.second, count);
  out += head("perfc_rejected_total", "counter", "Requests that a limit of the server ended.");
  for (std::size_t r = 0; r < rejected_.size(); ++r)
    out += fmt::format("perfc_rejected_total{{reason=\"{}\"}} {}\n", kRejectedNames[r], rejected_[r]);
  out += single("perfc_predictions_in_flight", "gauge", "Models that are predicted now.", working);
  out += single("perfc_predictions_waiting", "gauge", "Requests that send their model or wait.", waiting);
  const std::string_view name = "perfc_prediction_duration_seconds";
  out += head(name, "histogram", "From a model's last byte to its answer, waiting included.");
  for (std::size_t b = 0; b < kBounds.size(); ++b)
    out += fmt::format("{}_bucket{{le=\"{:g}\"}} {}\n", name, kBounds[b], at_most_[b]);
  out += fmt::format("{0}_bucket{{le=\"+Inf\"}} {1}\n{0}_sum {2:.6f}\n{0}_count {1}\n", name, predictions_, seconds_);
  out += single("perfc_received_bytes_total", "counter", "Bytes of requests.", received_);
  out += single("perfc_sent_bytes_total", "counter", "Bytes of answers.", sent_);
  return out;
}

}  // namespace perfc::cli
