#pragma once
/// The largest batch of a model that a device's memory holds, by the whitebox's memory model alone.
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "pipeline/model_file.h"
#include "whitebox/memory/on_device.h"

namespace perfc {

/// One search per model: what batches need is kept, for all devices.
class LargestBatch {
 public:
  /// `request`: the file's; its batch does not count.
  LargestBatch(ModelFile& file, Request request) : file_(file), request_(std::move(request)) {}

  /// The largest batch below `too_large` whose least need (`least_mib`) the device's memory holds; 0: not even one
  /// sample's. Empty: the model cannot be had at the batches between, or `too_large` fits by this memory model. Found
  /// by bisection with interpolated steps, for memory is nearly linear in the batch: a handful of evaluations.
  std::optional<std::int64_t> below(std::int64_t too_large, const Device&);
  /// The largest batch that the device's memory holds, looked for from `from` on; 0: not even one sample's. Empty: the
  /// model cannot be had at other batches, or batches of millions fit.
  std::optional<std::int64_t> most(std::int64_t from, const Device&);

 private:
  /// What a batch needs; none: the model cannot be had at it.
  const std::optional<NeedsOnDevices>& needs_of(std::int64_t batch);

  ModelFile& file_;
  Request request_;
  std::map<std::int64_t, std::optional<NeedsOnDevices>> needs_;
};

/// Fills in `Report::largest_batch` of the reports that do not fit.
void add_largest_batches(std::vector<Report>&, ModelFile&, const Request&);

}  // namespace perfc
