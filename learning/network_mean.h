#pragma once
/// The networks of the corrected whitebox as one: their mean, in logarithms.
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "gnn/checkpoint.h"
#include "gnn/models/corrected.h"
#include "gnn/task.h"

namespace perfc {

class NetworkMean {
 public:
  /// From `networks` networks' tensors, named "net.0." and so on; an error where one is missing, has another shape, or
  /// is nobody's.
  static Result<std::unique_ptr<NetworkMean>> read(const std::vector<NamedTensor>&, std::size_t networks,
                                                   const CorrectedOptions&, Diagnostics&);

  /// What the networks say of a graph on a device.
  struct Advice {
    double device_ms = 0;
    std::vector<double> work, launch;  ///< factors, by row of the sample
  };
  /// One per sample. Many small ones are passed through the networks together; what is said of each does not depend on
  /// the others.
  std::vector<Advice> of(std::span<const GraphSample>) const;

 private:
  explicit NetworkMean(const CorrectedOptions& o) : network_(std::make_unique<Corrected<float>>(o)) {}
  void add(std::span<const GraphSample>, std::span<Advice>) const;

  mutable std::mutex mutex_;  ///< the network keeps the results of its layers
  mutable ThreadPool threads_{1};
  /// Works for all, so that their results lie in the same memory: it gets a member's parameters for a pass.
  std::unique_ptr<Corrected<float>> network_;
  mutable std::vector<std::vector<Parameter<float>>> members_;  ///< in the order of the network's
};

}  // namespace perfc
