#pragma once
/// What the kernels of a plan cost on a device, by the libraries of the runtime that launches them.
#include <optional>

#include "whitebox/price/mlas_time.h"

namespace perfc {

class KernelPrices {
 public:
  KernelPrices(const Device&, const KernelPlan&, const ExecConfig&);
  Priced of(const Kernel& k) const { return mlas_ ? mlas_price(k, *mlas_) : price(k, rates_); }

 private:
  Rates rates_;
  std::optional<MlasDevice> mlas_;
};

/// Of each kernel of a plan the first that is the same in all but its node and how often it runs, and so costs the
/// same; layers repeat.
std::vector<std::uint32_t> first_alike(const KernelPlan&);

/// One row per kernel of the plan, casts first, with what each device makes of it.
std::string kernels_csv(const Graph&, const KernelPlan&, const std::vector<Device>&, const ExecConfig&);

}  // namespace perfc
