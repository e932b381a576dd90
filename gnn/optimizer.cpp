#include "gnn/optimizer.h"

#include <array>
#include <cmath>
#include <numbers>

#include "gnn/wide.h"

namespace perfc {

namespace {
struct ShapeName {
  Schedule::Shape shape;
  std::string_view name;
};
constexpr std::array<ShapeName, 4> kShapes{{{Schedule::Shape::Constant, "constant"},
                                            {Schedule::Shape::Linear, "linear"},
                                            {Schedule::Shape::Cosine, "cosine"},
                                            {Schedule::Shape::Step, "step"}}};

constexpr std::size_t kBlock = 4096;  ///< numbers that one call of `update` works on

}  // namespace

Adam::Adam(std::vector<NamedParameter<float>> parameters, AdamOptions options)
    : parameters_(std::move(parameters)), options_(options) {
  for (const auto& [name, p] : parameters_) {
    positions_[p] = positions_.size();
    moments_.push_back({name, {p->value.rows(), p->value.columns()}, {p->value.rows(), p->value.columns()}});
    moments_.back().mean.fill(0);
    moments_.back().square.fill(0);
  }
}

// One pass over the four arrays, which together are larger than caches.
PERFC_WIDE
float Adam::move(const Numbers& numbers, std::size_t count, float* __restrict gradient, float* __restrict value,
                 float* __restrict mean, float* __restrict square) {
  const Numbers n = numbers;
  constexpr std::size_t kSums = 16;  // in a fixed order, and enough to fill a register
  float sums[kSums] = {};
  std::size_t i = 0;
  for (; i + kSums <= count; i += kSums) {
    for (std::size_t s = 0; s < kSums; ++s) sums[s] += gradient[i + s] * gradient[i + s];
  }
  for (; i < count; ++i) sums[0] += gradient[i] * gradient[i];
  for (i = 0; i < count; ++i) {
    const float g = gradient[i] * n.shorten + value[i] * n.coupled_decay;
    mean[i] = n.beta1 * mean[i] + (1 - n.beta1) * g;
    square[i] = n.beta2 * square[i] + (1 - n.beta2) * g * g;
    value[i] = n.keep * value[i] - n.rate * mean[i] / (std::sqrt(square[i]) * n.inverse_correction + n.epsilon);
    gradient[i] = 0;  // while it is in the cache
  }
  float all = 0;
  for (const float sum : sums) all += sum;
  return all;
}

void Adam::begin(double learning_rate) {
  ++steps;
  const double t = static_cast<double>(steps);
  const bool decoupled = options_.decay == AdamOptions::Decay::Decoupled;
  numbers_ = {.beta1 = static_cast<float>(options_.beta1),
              .beta2 = static_cast<float>(options_.beta2),
              .rate = static_cast<float>(learning_rate / (1 - std::pow(options_.beta1, t))),
              .inverse_correction = static_cast<float>(1 / std::sqrt(1 - std::pow(options_.beta2, t))),
              .epsilon = static_cast<float>(options_.epsilon),
              .coupled_decay = static_cast<float>(decoupled ? 0.0 : options_.weight_decay),
              .keep = static_cast<float>(decoupled ? 1 - learning_rate * options_.weight_decay : 1.0)};
  updated_.assign(parameters_.size(), 0);
  passed_ = 0;
}

void Adam::update(Parameter<float>& p, std::size_t first, std::span<float> gradient) {
  const std::size_t i = positions_.at(&p);
  double squares = 0;
  for (std::size_t done = 0; done < gradient.size(); done += kBlock) {
    squares += static_cast<double>(move(numbers_, std::min(kBlock, gradient.size() - done), gradient.data() + done,
                                        p.value.data() + first + done, moments_[i].mean.data() + first + done,
                                        moments_[i].square.data() + first + done));
  }
  const std::lock_guard lock(mutex_);
  updated_[i] = 1;
  passed_ += squares;
}

double Adam::finish(ThreadPool& threads) {
  Numbers& n = numbers_;
  double squares = 0;
  if (options_.clip_norm > 0) {  // the length has to be known first: one more pass
    for (const auto& p : parameters_) squares += p.parameter->gradient.flat().template cast<double>().square().sum();
    const double length = std::sqrt(squares);
    if (length > options_.clip_norm) n.shorten = static_cast<float>(options_.clip_norm / length);
  }
  double passed = passed_;
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    if (updated_[i] != 0) continue;
    Parameter<float>& p = *parameters_[i].parameter;
    block_squares_.assign((p.value.size() + kBlock - 1) / kBlock, 0);
    threads.for_ranges(p.value.size(), kBlock, [&](std::size_t begin, std::size_t end) {
      for (std::size_t first = begin; first < end; first += kBlock) {
        block_squares_[first / kBlock] =
            move(n, std::min(kBlock, end - first), p.gradient.data() + first, p.value.data() + first,
                 moments_[i].mean.data() + first, moments_[i].square.data() + first);
      }
    });
    for (const float sum : block_squares_) passed += static_cast<double>(sum);
  }
  return std::sqrt(options_.clip_norm > 0 ? squares : passed);
}

double Schedule::at(std::uint64_t step, std::uint64_t total) const {
  if (step < warmup_steps) return peak * static_cast<double>(step + 1) / static_cast<double>(warmup_steps);
  const std::uint64_t after = step - warmup_steps;
  const std::uint64_t span = total > warmup_steps + 1 ? total - warmup_steps - 1 : 1;
  const double done = std::min(1.0, static_cast<double>(after) / static_cast<double>(span));
  switch (shape) {
    case Shape::Constant:
      break;
    case Shape::Linear:
      return peak * (1 - (1 - floor) * done);
    case Shape::Cosine:
      return peak * (floor + (1 - floor) * 0.5 * (1 + std::cos(std::numbers::pi * done)));
    case Shape::Step: {
      const std::uint64_t drops = after / std::max<std::uint64_t>(period, 1);
      return peak * std::pow(floor, static_cast<double>(drops));
    }
  }
  return peak;
}

std::string_view name(Schedule::Shape shape) {
  for (const ShapeName& row : kShapes) {
    if (row.shape == shape) return row.name;
  }
  return {};
}

std::optional<Schedule::Shape> find_schedule(std::string_view name) {
  for (const ShapeName& row : kShapes) {
    if (row.name == name) return row.shape;
  }
  return {};
}

}  // namespace perfc
