#include <unistd.h>

#include <algorithm>

#include "cli/cli.h"

namespace perfc::cli {
namespace {

void print_usage(const Diagnostics& usage) {
  for (const Diagnostic& d : usage.all()) fail(kBadUsage, d.message);
}

bool reads_files(const PredictOptions& o) {
  const auto is_file = [](const std::string& name) { return !name.empty() && ::access(name.c_str(), F_OK) == 0; };
  return !o.device_file.empty() || is_file(o.host) || is_file(o.stack);
}

}  // namespace

int no_devices(const PredictOptions& o) { return reads_files(o) ? kBadInput : kBadUsage; }

std::vector<std::optional<std::int64_t>> to_batches(const PredictOptions& o) {
  Diagnostics usage;
  auto batches = perfc::to_batches(o, usage);
  print_usage(usage);
  return batches ? std::move(*batches) : std::vector<std::optional<std::int64_t>>{};
}

std::optional<Request> to_request(const PredictOptions& o, Batches taken) {
  Diagnostics usage;
  auto request = perfc::to_request(o, taken, usage);
  print_usage(usage);
  return request ? std::optional(std::move(*request)) : std::nullopt;
}

Result<std::vector<Device>> devices_of(const PredictOptions& o, const Request& request, int& code) {
  Diagnostics diags;
  auto devices = perfc::devices_of(o, request, diags);
  print(diags);
  const bool in_smi_file = std::ranges::any_of(diags.all(), [&](const Diagnostic& d) { return d.file == o.smi_file; });
  code = !o.smi_file.empty() && in_smi_file ? int{kBadInput} : no_devices(o);
  return devices;
}

}  // namespace perfc::cli
