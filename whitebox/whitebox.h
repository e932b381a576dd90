#pragma once
/// The whitebox, open for predictors that correct it.
#include <optional>
#include <span>

#include "whitebox/launch/kernels.h"
#include "whitebox/memory/memory.h"

namespace perfc {

/// What a learned predictor changes. Memory is the whitebox's own.
struct Correction {
  std::vector<double> work, launch;  ///< factors per kernel of the plan
  double latency_ms = 0;
  double host_ms = 0;
  double interval_factor = 1;  ///< 90 % of measured times lie within this factor
  std::vector<std::string> novelty;
};

class WhiteboxModel final : public PreparedModel {
 public:
  WhiteboxModel(const Graph&, const ExecConfig&, KernelPlan, Prediction notes);
  Prediction on(const Device&) const override;
  Prediction corrected(const Device&, const Correction&) const;
  const KernelPlan& plan() const { return plan_; }
  const ExecConfig& config() const { return config_; }
  /// Time that the host needs to dispatch, in ms.
  double host_ms(const Device&) const;

 private:
  /// Time in kernels that arithmetic, and that memory limits (at the rate of streams); the rest waits for launches.
  struct Load {
    double compute_us = 0, memory_us = 0;
    double held_us = 0;  ///< of the first, by how near the power limit its kernels are
  };
  Load add_kernels(const Device&, const Correction*, Prediction&) const;
  void add_memory(const Device&, Prediction&) const;
  void add_searches(const Device&, Prediction&) const;
  void add_energy(const Load&, const Device&, Prediction&) const;
  void add_interval(const Device&, Prediction&) const;

  ExecConfig config_;
  KernelPlan plan_;
  Prediction notes_;  ///< what is to be said whatever the device
  bool convolves_ = false;
  MemoryNeeds needs_;
};

/// Like the whitebox predictor's `prepare`, by its type.
Result<std::unique_ptr<WhiteboxModel>> prepare_whitebox(const Graph&, const ExecConfig&, OpaquePolicy, Diagnostics&);

}  // namespace perfc
