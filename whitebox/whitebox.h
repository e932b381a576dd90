#pragma once
/// The whitebox, open for predictors that correct it.
#include <optional>
#include <span>

#include "whitebox/launch/kernels.h"
#include "whitebox/memory/on_device.h"
#include "whitebox/price/power.h"
#include "whitebox/price/roofline.h"

namespace perfc {

/// What a learned predictor changes. Memory is the whitebox's own.
struct Correction {
  std::vector<double> work, launch;  ///< factors per kernel of the plan
  std::optional<double> device_ms;   ///< the kernels' sum; none: what the factors make of them
  double host_ms = 0;
  double graph_width = 0;  ///< half the 90 % interval, in ln, on devices with runs in training …
  double kernel_part = 0;  ///< … and 0 to 1: how much of what is known of the kernels it wants beside it
  /// What the device adds to it; none: what is known of its kernels says it.
  std::optional<double> device_width;
  std::vector<std::string> novelty;
};

class WhiteboxModel final : public PreparedModel {
 public:
  WhiteboxModel(const Graph&, const ExecConfig&, KernelPlan, Prediction notes);
  Prediction on(const Device& device) const override { return on(device, priced(device)); }
  /// Of each kernel of the plan what one launch costs; what `on` and `corrected` on that device want.
  std::vector<Priced> priced(const Device&) const;
  Prediction on(const Device&, std::span<const Priced>) const;
  Prediction corrected(const Device&, std::span<const Priced>, const Correction&) const;
  const KernelPlan& plan() const { return plan_; }
  const ExecConfig& config() const { return config_; }
  /// Time that the host needs to dispatch, in ms.
  double host_ms(const Device&) const;

 private:
  double launches() const;
  /// What the host takes for these calls, or for so many launches, by the runtime.
  double dispatch_us(const Device&, const HostCalls&, double launches) const;
  double dispatched(const Device&) const;
  /// Calls of products of groups beside `host_calls`, on this device.
  HostCalls calls_of_groups(const Device&) const;
  struct Load {
    PowerLoad power;
    std::vector<double> times_us;  ///< of a launch, by kernel
    double kernel_width = 0;       ///< KernelEvidence's
    double flash_us = 0;           ///< more with the other attention that PyTorch may take
  };
  Load add_kernels(const Device&, std::span<const Priced>, const Correction*, Prediction&) const;
  void add_energy(const Load&, const Device&, Prediction&) const;
  void add_interval(const Load&, const Timeline&, const Device&, Prediction&) const;
  /// `host_ms`: the host's time in all.
  Timeline timeline(const Device&, std::span<const double> times_us, double host_ms) const;

  ExecConfig config_;
  KernelPlan plan_;
  std::vector<std::uint32_t> alike_;  ///< first_alike of the plan
  Prediction notes_;                  ///< what is to be said whatever the device
  NeedsOnDevices needs_;
};

/// Like the whitebox predictor's `prepare`, by its type.
Result<std::unique_ptr<WhiteboxModel>> prepare_whitebox(const Graph&, const ExecConfig&, OpaquePolicy, Diagnostics&);

}  // namespace perfc
