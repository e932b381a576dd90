#include "whitebox/launch/batch_norm.h"

#include <algorithm>
#include <cmath>

#include "whitebox/constants/batch_norm.h"
#include "whitebox/constants/kernels.h"
#include "whitebox/launch/reduction.h"

namespace perfc {
namespace {

/// A batch norm's data: images × channels × positions.
struct Normalised {
  double images = 0, channels = 0, positions = 0, bytes = 0;  ///< bytes: read and written
  double elements() const { return images * channels * positions; }
};
std::optional<Normalised> normalised(const Type& t, bool half) {
  if (!t.is_static() || t.rank() < 2 || t.elements() == 0) return std::nullopt;
  const auto images = static_cast<double>(t.shape()[0].value()), channels = static_cast<double>(t.shape()[1].value());
  const auto elements = static_cast<double>(*t.elements());
  return Normalised{images, channels, elements / images / channels, 2 * elements * (half ? 2 : 4)};
}

/// cuDNN's thread blocks, channels last: bn_fw_inf_1C11_kernel_NHWC.
double blocks_of_cudnn(const Normalised& d) {
  const double image = d.channels * d.positions;
  double block = constants::kBatchNormBlock;
  for (int i = 0; i < constants::kBatchNormDoublings && std::ceil(image / block) > constants::kBatchNormBlocks; ++i)
    block *= 2;
  return d.images * std::ceil(image / block);
}

/// PyTorch's: batch_norm_transform_input_channels_last_kernel.
double blocks_of_pytorch(const Normalised& d) {
  const double walked = std::ceil(d.images * d.positions / constants::kOwnBatchNormSerial);
  double columns = std::min(last_power_of_two(d.channels), constants::kOwnBatchNormChannels);
  const double rows = std::min(last_power_of_two(walked), constants::kOwnBatchNormThreads / columns);
  columns = std::min(last_power_of_two(d.channels), constants::kOwnBatchNormThreads / rows);
  return std::ceil(d.channels / columns) * std::min(std::ceil(walked / rows), constants::kOwnBatchNormBlocks);
}

void be_few(double blocks, const constants::Busy& busy, Limits& limits) {
  limits.blocks = blocks;
  limits.busy_cached = busy.cached;
  limits.busy_missed = busy.missed;
}

void limit_own(const Normalised& d, bool channels_last, Limits& limits) {
  if (channels_last || d.positions == 1) {  // batch_norm_use_channels_last_kernels
    limits.byte_clocks = constants::kOwnBatchNormLastClocks * d.elements() / d.bytes;
    be_few(blocks_of_pytorch(d), constants::kOwnBatchNormBusy, limits);
  } else {
    const double plane =
        std::max(constants::kOwnBatchNormFirstClocks * d.positions, constants::kOwnBatchNormPlaneClocks);
    limits.byte_clocks = plane * d.images * d.channels / d.bytes;
  }
}

void limit_cudnn(const Normalised& d, bool channels_last, bool half, Limits& limits) {
  if (channels_last) {
    const double clocks = half ? constants::kBatchNormLastClocks16 : constants::kBatchNormLastClocks32;
    limits.byte_clocks = clocks * d.elements() / d.bytes;
    be_few(blocks_of_cudnn(d), constants::kBatchNormLastBusy, limits);
  } else if (d.positions > 1) {
    const double least = constants::kBatchNormPlaneClocks * d.images * d.channels / d.bytes;
    limits.byte_clocks = std::max(limits.byte_clocks, least);
    limits.serial_steps = constants::kBatchNormFirstUs / constants::kSerialStepUs;
  }
}

}  // namespace

bool has_batch_statistics(const Node& norm) {
  return norm.is(op("nn.batch_norm")) && norm.attrs.int_or("training_mode", 0) != 0;
}

void be_of_batch(const Type& parameter, bool channels_last, Kernel& k) {
  k.placement.channels_first = !channels_last;
  k.extents.weights = static_cast<double>(parameter.elements().value_or(0));
  if (!channels_last) k.limits.blocks = k.extents.weights;
}

bool has_own_batch_norm(const ExecConfig& c) {
  return c.mode == ExecMode::Eager && c.task != Task::Train && float_bytes(c.precision) == 2;
}

void limit_batch_norm(const ExecConfig& c, const Node& norm, bool channels_last, Kernel& k) {
  if (c.mode == ExecMode::Compiled) return;
  const Type& data = norm.results[0].type;
  const bool trains = c.task == Task::Train || has_batch_statistics(norm), cudnn = float_bytes(c.precision) == 4;
  if (cudnn && !channels_last) {
    const double of_half = trains ? constants::kBatchNormTrainingClocks16 : constants::kBatchNormHalfClocks;
    k.limits.byte_clocks = k.half ? of_half : constants::kBatchNormByteClocks;
    k.limits.on_lanes = true;
  }
  const auto d = normalised(data, k.half);
  if (!d || trains) return;
  if (cudnn) limit_cudnn(*d, channels_last, k.half, k.limits);
  if (has_own_batch_norm(c) && def(c.runtime).autocast) limit_own(*d, channels_last, k.limits);
}

}  // namespace perfc
