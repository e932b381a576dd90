#include "cli/cli.h"

namespace perfc::cli {
namespace {

/// The host's GPUs of an nvidia-smi file, as the devices to predict for.
std::optional<std::vector<Device>> host_devices(const std::string& path) {
  Diagnostics diags(path);
  auto source = Source::open(path, diags);
  Result<std::vector<HostGpu>> gpus = Failure{};
  if (source) gpus = read_nvidia_smi(source->bytes(), DeviceTable::builtin(), diags);
  print(diags);
  if (!gpus) return std::nullopt;
  std::vector<Device> out;
  for (HostGpu& g : *gpus) {
    // Only what is free can be used, and only the instances that exist.
    g.device.memory_mib = g.free_mib > 0 ? g.free_mib : g.device.memory_mib;
    if (g.mig_mode == "Enabled") {
      g.device.mig.clear();
      for (HostInstance& i : g.instances) g.device.mig.push_back(std::move(i.profile));
    }
    out.push_back(std::move(g.device));
  }
  return out;
}

}  // namespace

Result<std::vector<Device>> devices_of(const PredictOptions& o, const Request& request, int& code) {
  Diagnostics usage;
  Result<std::vector<Device>> devices = Failure{};
  code = no_devices(o);
  if (o.smi_file.empty()) {
    devices = find_devices(request, usage);
  } else if (auto host = host_devices(o.smi_file)) {
    devices = std::move(*host);
    if (!set_surroundings(request, *devices, usage)) devices = Failure{};
  } else {
    code = kBadInput;
  }
  print(usage);
  return devices;
}

}  // namespace perfc::cli
