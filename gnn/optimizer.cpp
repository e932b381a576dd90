#include "gnn/optimizer.h"

#include <array>
#include <cmath>
#include <numbers>

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
}  // namespace

Adam::Adam(std::vector<NamedParameter<float>> parameters, AdamOptions options)
    : parameters_(std::move(parameters)), options_(options) {
  for (const auto& [name, p] : parameters_) {
    moments_.push_back({name, {p->value.rows(), p->value.columns()}, {p->value.rows(), p->value.columns()}});
    moments_.back().mean.fill(0);
    moments_.back().square.fill(0);
  }
}

double Adam::step(ThreadPool& threads, double learning_rate) {
  ++steps;
  double squares = 0;
  for (const auto& p : parameters_) squares += p.parameter->gradient.flat().template cast<double>().square().sum();
  const double length = std::sqrt(squares);
  const bool clip = options_.clip_norm > 0 && length > options_.clip_norm;
  const auto shorten = static_cast<float>(clip ? options_.clip_norm / length : 1.0);

  const auto b1 = static_cast<float>(options_.beta1), b2 = static_cast<float>(options_.beta2);
  const double t = static_cast<double>(steps);
  const auto rate = static_cast<float>(learning_rate / (1 - std::pow(options_.beta1, t)));
  const auto inverse_correction = static_cast<float>(1 / std::sqrt(1 - std::pow(options_.beta2, t)));
  const auto epsilon = static_cast<float>(options_.epsilon);
  const bool decoupled = options_.decay == AdamOptions::Decay::Decoupled;
  const auto coupled_decay = static_cast<float>(decoupled ? 0.0 : options_.weight_decay);
  const auto keep = static_cast<float>(decoupled ? 1 - learning_rate * options_.weight_decay : 1.0);

  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    Parameter<float>& p = *parameters_[i].parameter;
    threads.for_ranges(p.value.size(), 4096, [&](std::size_t begin, std::size_t end) {
      const auto first = static_cast<Eigen::Index>(begin), n = static_cast<Eigen::Index>(end - begin);
      auto value = p.value.flat().segment(first, n);
      auto mean = moments_[i].mean.flat().segment(first, n);
      auto square = moments_[i].square.flat().segment(first, n);
      const auto g = p.gradient.flat().segment(first, n) * shorten + value * coupled_decay;
      mean = b1 * mean + (1 - b1) * g;
      square = b2 * square + (1 - b2) * g.square();
      value = keep * value - rate * mean / (square.sqrt() * inverse_correction + epsilon);
    });
  }
  return length;
}

double Schedule::at(std::uint64_t step, std::uint64_t total) const {
  if (step < warmup_steps) return peak * static_cast<double>(step + 1) / static_cast<double>(warmup_steps);
  const std::uint64_t after = step - warmup_steps;
  const std::uint64_t span = total > warmup_steps + 1 ? total - warmup_steps - 1 : 1;
  const double done = std::min(1.0, static_cast<double>(after) / static_cast<double>(span));
  switch (shape) {
    case Shape::Constant: break;
    case Shape::Linear: return peak * (1 - (1 - floor) * done);
    case Shape::Cosine: return peak * (floor + (1 - floor) * 0.5 * (1 + std::cos(std::numbers::pi * done)));
    case Shape::Step: return peak * std::pow(floor, static_cast<double>(after / std::max<std::uint64_t>(period, 1)));
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
