#include "options/predict_options.h"

namespace perfc {
namespace {

/// The host's GPUs of an nvidia-smi file, as the devices to predict for.
Result<std::vector<Device>> host_devices(const std::string& path, Diagnostics& diags) {
  Diagnostics of_file(path);
  auto source = Source::open(path, of_file);
  Result<std::vector<HostGpu>> gpus = Failure{};
  if (source) gpus = read_nvidia_smi(source->bytes(), DeviceTable::builtin(), of_file);
  diags.append(of_file);
  if (!gpus) return Failure{};
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

Result<std::vector<Device>> devices_of(const PredictOptions& o, const Request& request, Diagnostics& diags) {
  if (o.smi_file.empty()) return find_devices(request, diags);
  auto devices = host_devices(o.smi_file, diags);
  if (!devices || !set_surroundings(request, *devices, diags)) return Failure{};
  return devices;
}

}  // namespace perfc
