#include "whitebox/price/kernel_prices.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>
#include <type_traits>
#include <unordered_map>

#include "ir/support/csv.h"
#include "whitebox/launch/kernel_fields.h"

namespace perfc {
namespace {

/// Of all weights and inputs that a plan's kernels read.
double stored_bytes(const KernelPlan& plan) {
  double out = 0;
  for (const Kernel& k : plan.kernels) out += std::max(k.traffic.bytes - k.traffic.handed_bytes, 0.0);
  return out;
}

template <class T>
void append_bytes(std::string& out, const T& value) {
  static_assert(std::has_unique_object_representations_v<T> || std::is_floating_point_v<T>);
  out.append(reinterpret_cast<const char*>(&value), sizeof value);
}

/// All that prices can depend on, as bytes; fields have a fixed length but for the operators, which say theirs.
std::string price_key(const Kernel& kernel) {
  std::string out;
  visit_fields(kernel, [&](const KernelField& field, const auto& value) {
    if (field.name == "node" || field.name == "repeat") return;
    if constexpr (std::is_same_v<std::remove_cvref_t<decltype(value)>, decltype(Kernel::ops)>) {
      append_bytes(out, value.size());
      for (const OpId o : value) append_bytes(out, o.hash);
    } else {
      append_bytes(out, value);
    }
  });
  return out;
}

}  // namespace

std::vector<std::uint32_t> first_alike(const KernelPlan& plan) {
  std::vector<std::uint32_t> out;
  std::unordered_map<std::string, std::uint32_t> first;
  for (const Kernel& k : plan.kernels)
    out.push_back(first.try_emplace(price_key(k), static_cast<std::uint32_t>(out.size())).first->second);
  return out;
}

KernelPrices::KernelPrices(const Device& device, const KernelPlan& plan, const ExecConfig& config)
    : rates_(device, config.precision) {
  if (def(config.runtime).mlas) mlas_.emplace(device, stored_bytes(plan));
}

namespace {

/// What a device makes of a kernel: columns after those of the kernel itself.
struct PricedColumn {
  std::string_view name;
  double Priced::*us;
};
constexpr PricedColumn kPricedColumns[] = {{"compute_us", &Priced::compute_us},
                                           {"memory_us", &Priced::memory_us},
                                           {"conversion_us", &Priced::conversion_us},
                                           {"time_us", &Priced::time_us}};

/// A field as its column prints it.
class FieldText {
 public:
  explicit FieldText(const Graph& g) : g_(g) {}
  std::string operator()(const KernelField& f, double v) const { return fmt::format(fmt::runtime(f.format), v); }
  std::string operator()(const KernelField&, bool half) const { return half ? "16" : "32"; }
  std::string operator()(const KernelField&, Quantised) const { return {}; }
  std::string operator()(const KernelField&, StateKernels) const { return {}; }
  std::string operator()(const KernelField&, Pass) const { return {}; }
  std::string operator()(const KernelField&, NodeId node) const { return csv_quoted(g_.node(node).name); }
  std::string operator()(const KernelField&, KernelKind k) const { return kKernelKinds[static_cast<std::size_t>(k)]; }
  std::string operator()(const KernelField&, const decltype(Kernel::ops)& ops) const {
    std::vector<std::string_view> names;
    for (const OpId o : ops) names.push_back(def(o).name);
    return fmt::format("{}", fmt::join(names, " "));
  }

 private:
  const Graph& g_;
};

std::string header_of_kernels() {
  std::string out = "device,kernel";
  visit_fields(Kernel{}, [&out](const KernelField& f, const auto&) {
    if (!f.format.empty()) out += fmt::format(",{}", f.name);
  });
  for (const PricedColumn& c : kPricedColumns) out += fmt::format(",{}", c.name);
  return out + ",bound\n";
}

std::string row_of_kernel(const Kernel& k, const Priced& p, const FieldText& text) {
  std::string out;
  visit_fields(k, [&](const KernelField& f, const auto& value) {
    if (!f.format.empty())
      out += "," + (f.name == "width" && multiplies_eight_bits(k.quantised) ? "8" : text(f, value));
  });
  for (const PricedColumn& c : kPricedColumns) out += fmt::format(",{:.3f}", p.*c.us);
  return out + fmt::format(",{}\n", name(p.bound));
}

}  // namespace

std::string kernels_csv(const Graph& g, const KernelPlan& plan, const std::vector<Device>& devices,
                        const ExecConfig& config) {
  std::string out = header_of_kernels();
  const FieldText text(g);
  for (const Device& device : devices) {
    const KernelPrices prices(device, plan, config);
    for (std::size_t i = 0; i < plan.kernels.size(); ++i) {
      const Kernel& k = plan.kernels[i];
      out += fmt::format("{},{}", device.name, i) + row_of_kernel(k, prices.of(k), text);
    }
  }
  return out;
}

}  // namespace perfc
