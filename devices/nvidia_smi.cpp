/// `nvidia-smi -q -x` → the host's GPUs.
#include <fmt/format.h>
#include <tinyxml2.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <optional>
#include <tuple>

#include "devices/device.h"
#include "ir/support/text.h"

namespace perfc {
namespace {

using Element = tinyxml2::XMLElement;

/// Text of a nested element, or empty.
std::string_view text(const Element* e, std::initializer_list<const char*> path) {
  for (const char* name : path) {
    if (e) e = e->FirstChildElement(name);
  }
  const char* t = e ? e->GetText() : nullptr;
  return t ? t : "";
}

/// "24268 MiB" → 24268; nullopt for "N/A".
std::optional<double> number(std::string_view s) {
  double v = 0;
  const auto [end, error] = std::from_chars(s.data(), s.data() + s.size(), v);
  if (error != std::errc{}) return std::nullopt;
  return v;
}

/// −1 for what is no whole number.
int whole(std::string_view s) {
  int v = 0;
  const auto [end, error] = std::from_chars(s.data(), s.data() + s.size(), v);
  return error == std::errc{} && v >= 0 ? v : -1;
}

/// Table row of a product name: "NVIDIA A100-SXM4-40GB" by title, older drivers
/// without the "NVIDIA " in front. Memory tells variants of one name apart.
const Device* known(const DeviceTable& table, std::string_view product, double memory_mib) {
  const auto bare = [](std::string_view s) {
    std::string out = lower(s);
    for (const char* prefix : {"nvidia ", "tesla ", "geforce "}) {
      if (out.starts_with(prefix)) out.erase(0, std::string_view(prefix).size());
    }
    return out;
  };
  const Device* best = nullptr;
  for (const Device& d : table.all()) {
    if (bare(d.title) != bare(product)) continue;
    if (memory_mib > 0 && std::abs(d.memory_mib - memory_mib) > 0.1 * d.memory_mib) continue;
    if (!best) best = &d;
  }
  return best;
}

/// CUDA cores and bandwidth do not stand in the XML; clocks, memory and power
/// do. FP32 lanes per SM and bandwidth per class are estimated from neighbours
/// of the same architecture in the table.
std::optional<Device> estimate(const DeviceTable& table, std::string_view product, std::string_view architecture,
                               double memory_mib, double clock_mhz, double tdp_w) {
  if (memory_mib <= 0 || clock_mhz <= 0) return std::nullopt;
  const std::string arch = lower(architecture);
  const Device* base = nullptr;
  double nearest = 1e300;
  for (const Device& d : table.all()) {
    if (d.kind != "gpu") continue;
    const bool same = arch.find(d.architecture) != std::string::npos;
    const double power = tdp_w > 0 ? std::abs(std::log2(tdp_w / d.tdp_w)) : 0;
    const double distance = std::abs(std::log2(memory_mib / d.memory_mib)) + power + (same ? 0 : 2);
    if (distance < nearest) {
      nearest = distance;
      base = &d;
    }
  }
  if (!base) return std::nullopt;
  Device d = *base;
  d.name = lower(product);
  std::replace(d.name.begin(), d.name.end(), ' ', '-');
  d.title = std::string(product);
  d.aliases.clear();
  d.mig.clear();
  const double power = tdp_w > 0 ? tdp_w / base->tdp_w : 1;
  const double scale = std::clamp(power, 0.1, 2.0);
  for (auto& [dtype, rate] : d.vector_tflops) rate *= scale;
  for (auto& [dtype, rate] : d.matrix_tflops) rate *= scale;
  d.bandwidth_gb_s *= scale;
  d.l2_mib *= scale;
  d.sms = std::max(1, static_cast<int>(d.sms * scale));
  d.boost_clock_mhz = clock_mhz;
  d.memory_mib = memory_mib;
  if (tdp_w > 0) d.tdp_w = tdp_w;
  d.idle_w = std::min(d.idle_w, d.tdp_w);
  return d;
}

/// The profile of an instance with this memory, these SMs and optical flow accelerators; null: the device has none.
const MigProfile* profile_of(const Device& device, double memory_mib, std::optional<double> sms, double ofa) {
  const MigProfile* best = nullptr;
  const auto distance = [&](const MigProfile& p) {
    return std::tuple(sms && p.sms != static_cast<int>(*sms), std::abs(p.memory_mib - memory_mib), p.ofa != ofa);
  };
  for (const MigProfile& p : device.mig) {
    if (!best || distance(p) < distance(*best)) best = &p;
  }
  return best;
}

void read_instances(const Element* gpu, HostGpu& out) {
  struct Found {
    int id = -1;
    double memory_mib = 0, ofa = 0;
    std::optional<double> sms;
    std::vector<int> compute;
  };
  std::vector<Found> found;  // GPU instances, from the compute instances that are listed
  const Element* devices = gpu->FirstChildElement("mig_devices");
  for (const Element* m = devices ? devices->FirstChildElement("mig_device") : nullptr; m;
       m = m->NextSiblingElement("mig_device")) {
    const int id = whole(text(m, {"gpu_instance_id"})), compute = whole(text(m, {"compute_instance_id"}));
    auto at = std::find_if(found.begin(), found.end(), [&](const Found& f) { return id >= 0 && f.id == id; });
    if (at == found.end()) at = found.insert(found.end(), Found{.id = id});
    at->memory_mib = number(text(m, {"fb_memory_usage", "total"})).value_or(0);
    at->ofa = number(text(m, {"device_attributes", "shared", "ofa_count"})).value_or(0);
    if (const auto sms = number(text(m, {"device_attributes", "shared", "multiprocessor_count"})))
      at->sms = at->sms.value_or(0) + *sms;
    if (compute >= 0) at->compute.push_back(compute);
  }
  for (Found& f : found) {
    const MigProfile* profile = profile_of(out.device, f.memory_mib, f.sms, f.ofa);
    if (!profile) continue;
    out.instances.push_back({.profile = *profile, .id = f.id, .compute = std::move(f.compute)});
    if (f.memory_mib > 0) out.instances.back().profile.memory_mib = f.memory_mib;
  }
  const Element* processes = gpu->FirstChildElement("processes");
  for (const Element* p = processes ? processes->FirstChildElement("process_info") : nullptr; p;
       p = p->NextSiblingElement("process_info")) {
    const int id = whole(text(p, {"gpu_instance_id"}));
    for (HostInstance& i : out.instances) {
      if (i.id >= 0 && i.id == id)
        i.processes.push_back(fmt::format("{} {}", text(p, {"pid"}), text(p, {"process_name"})));
    }
  }
}

}  // namespace

Result<std::vector<HostGpu>> read_nvidia_smi(std::string_view xml, const DeviceTable& table, Diagnostics& diags) {
  tinyxml2::XMLDocument doc;
  if (doc.Parse(xml.data(), xml.size()) != tinyxml2::XML_SUCCESS) {
    return diags.error({.line = doc.ErrorLineNum(), .column = 1}, {},
                       fmt::format("not well-formed XML: {}; write it with `nvidia-smi -q -x`", doc.ErrorName()));
  }
  const Element* root = doc.FirstChildElement("nvidia_smi_log");
  if (!root) return diags.error("has no <nvidia_smi_log>; write it with `nvidia-smi -q -x`");
  std::vector<HostGpu> out;
  for (const Element* gpu = root->FirstChildElement("gpu"); gpu; gpu = gpu->NextSiblingElement("gpu")) {
    const SourceLoc loc{.line = gpu->GetLineNum(), .column = 1};
    const std::string product(text(gpu, {"product_name"}));
    const double total = number(text(gpu, {"fb_memory_usage", "total"})).value_or(0);
    const double used = number(text(gpu, {"fb_memory_usage", "used"})).value_or(0);
    const auto free = number(text(gpu, {"fb_memory_usage", "free"}));
    HostGpu host;
    host.mig_mode = std::string(text(gpu, {"mig_mode", "current_mig"}));
    if (const Device* d = known(table, product, total)) {
      host.device = *d;
      host.in_table = true;
      if (total > 0) host.device.memory_mib = total;
    } else {
      // Newer drivers say gpu_power_readings and current_power_limit.
      double limit = 0;
      for (const char* section : {"gpu_power_readings", "power_readings"}) {
        for (const char* field : {"default_power_limit", "current_power_limit", "power_limit", "max_power_limit"}) {
          if (limit <= 0) limit = number(text(gpu, {section, field})).value_or(0);
        }
      }
      const double clock = number(text(gpu, {"max_clocks", "sm_clock"}))
                               .value_or(number(text(gpu, {"max_clocks", "graphics_clock"})).value_or(0));
      auto estimated =
          estimate(table, product, text(gpu, {"product_architecture"}), total, clock > 0 ? clock : 1500, limit);
      if (!estimated || product.empty()) {
        return diags.error(
            loc, product,
            "the GPU is not in the device table and its entry lacks name or memory; describe it with --device-file");
      }
      diags.warning(
          loc, product,
          "not in the device table; its rates are estimated from a similar device, describe it with --device-file");
      host.device = std::move(*estimated);
    }
    host.free_mib = free.value_or(std::max(0.0, host.device.memory_mib - used));
    read_instances(gpu, host);
    out.push_back(std::move(host));
  }
  if (out.empty()) return diags.error("lists no GPU");
  return out;
}

}  // namespace perfc
