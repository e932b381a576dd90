#include "pipeline/devices_json.h"

#include <nlohmann/json.hpp>

namespace perfc {
namespace {

using Json = nlohmann::ordered_json;

Json entry_json(const Host& h) {
  Json eager = Json::object();
  for (std::size_t c = 0; c < kHostCallNames.size(); ++c) eager[kHostCallNames[c]] = h.eager_us[c];
  Json out = {{"name", h.name},
              {"title", h.title},
              {"framework", h.framework},
              {"eager_us", std::move(eager)},
              {"compiled_us", h.compiled_us},
              {"interval", h.interval},
              {"source", h.source}};
  if (!h.kinds.empty()) out["kinds"] = h.kinds;
  return out;
}

Json entry_json(const Stack& s) {
  Json out = {{"name", s.name},
              {"title", s.title},
              {"framework", s.framework},
              {"cuda", s.cuda},
              {"context_mib", s.context_mib},
              {"context_kib_per_thread", s.context_kib_per_thread},
              {"convolution_mib", s.convolution_mib},
              {"product_workspace_mib", s.product_workspace_mib},
              {"interval", s.interval},
              {"source", s.source}};
  if (s.attention != StackAttention::NotSaid) out["attention"] = name(s.attention);
  if (s.compiled_attention != CompiledAttention::Today) out["compiled_attention"] = name(s.compiled_attention);
  return out;
}

Json entry_json(const Device& d) {
  Json mig = Json::array();
  for (const MigProfile& p : d.mig) {
    mig.push_back({{"name", p.name},
                   {"compute_slices", p.compute_slices},
                   {"memory_slices", p.memory_slices},
                   {"sms", p.sms},
                   {"memory_mib", p.memory_mib},
                   {"max_instances", p.max_instances}});
    if (p.size > 0) mig.back().update({{"starts", p.starts}, {"size", p.size}});
    if (p.ofa > 0) mig.back()["ofa"] = p.ofa;
    if (p.graphics) mig.back()["graphics"] = true;
  }
  Json out{{"name", d.name},
           {"title", d.title},
           {"aliases", d.aliases},
           {"kind", d.kind},
           {"architecture", d.architecture},
           {"memory_type", d.memory_type},
           {"vector_tflops", d.vector_tflops},
           {"matrix_tflops", d.matrix_tflops},
           {"bandwidth_gb_s", d.bandwidth_gb_s},
           {"l2_mib", d.l2_mib},
           {"sms", d.sms},
           {"boost_clock_mhz", d.boost_clock_mhz},
           {"exponentials", d.exponentials},
           {"memory_mib", d.memory_mib},
           {"tdp_w", d.tdp_w},
           {"idle_w", d.idle_w},
           {"launch_us", d.launch_us},
           {"host", entry_json(d.host)},
           {"stack", entry_json(d.stack)},
           {"efficiency", d.efficiency},
           {"active_power", d.active_power},
           {"memory_power", d.memory_power},
           {"interval", d.interval},
           {"calibrated_labels", d.calibrated_labels},
           {"mig", std::move(mig)}};
  if (d.core_bandwidth_gb_s > 0) out["core_bandwidth_gb_s"] = d.core_bandwidth_gb_s;
  if (d.streams > 0) out["streams"] = d.streams;
  if (d.grace) out["grace"] = true;
  return out;
}

template <class Entry>
std::string list_json(const std::string& kind, const std::vector<Entry>& entries) {
  Json list = Json::array();
  for (const Entry& e : entries) list.push_back(entry_json(e));
  Json document{{"schema", "perfc." + kind + "/1"}};
  document[kind] = std::move(list);
  return document.dump(2) + "\n";
}

}  // namespace

std::string devices_json(const std::vector<Device>& devices) { return list_json("devices", devices); }
std::string hosts_json(const std::vector<Host>& hosts) { return list_json("hosts", hosts); }
std::string stacks_json(const std::vector<Stack>& stacks) { return list_json("stacks", stacks); }

}  // namespace perfc
