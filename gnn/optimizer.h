#pragma once
/// Adam, AdamW, and the step sizes they take.
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string_view>

#include "gnn/module.h"

namespace perfc {

/// Adam (Kingma and Ba, ICLR 2015) and AdamW (Loshchilov and Hutter, ICLR 2019).
struct AdamOptions {
  enum class Decay : unsigned char {
    Coupled,    ///< Adam with an L2 term: the decay joins the gradient
    Decoupled,  ///< AdamW: the decay shrinks the weights beside the step
  };
  double beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8;
  double weight_decay = 0;
  Decay decay = Decay::Decoupled;
  double clip_norm = 0;  ///< gradients longer than this (all parameters together) are shortened to it; 0: never
};

class Adam final : public ImmediateUpdate {
 public:
  /// Parameters must outlive the optimiser; their shapes must not change.
  Adam(std::vector<NamedParameter<float>>, AdamOptions);

  /// One step along the gradients that the parameters hold, which are zero afterwards.
  /// Returns the length of the whole gradient, before clipping.
  double step(ThreadPool& threads, double learning_rate) {
    begin(learning_rate);
    return finish(threads);
  }

  /// A step in two halves. In between, `update` may take the gradients of some parameters, which `finish` then leaves
  /// alone. Not with clip_norm: all gradients have to be known before the first step.
  void begin(double learning_rate);
  void update(Parameter<float>&, std::size_t first, std::span<float> gradient) override;
  double finish(ThreadPool&);

  /// What has to be saved to go on later, by parameter name.
  struct Moments {
    std::string name;
    Matrix<float> mean, square;
  };
  std::vector<Moments>& moments() { return moments_; }
  std::uint64_t steps = 0;

 private:
  /// What all numbers of a step share.
  struct Numbers {
    float beta1, beta2, rate, inverse_correction, epsilon, coupled_decay, keep;
    float shorten = 1;
  };
  static float move(const Numbers&, std::size_t count, float* gradient, float* value, float* mean, float* square);

  std::vector<NamedParameter<float>> parameters_;
  std::map<const Parameter<float>*, std::size_t> positions_;  ///< in parameters_
  std::vector<char> updated_;                                 ///< by parameter: `update` has been called in this step
  Numbers numbers_{};
  std::mutex mutex_;   ///< of updated_ and passed_
  double passed_ = 0;  ///< squares of the gradients that `update` took
  std::vector<Moments> moments_;
  std::vector<float> block_squares_;  ///< of the gradient of one parameter, by block
  AdamOptions options_;
};

/// The learning rate over a run: a warm-up from 0 to the peak, then a shape.
struct Schedule {
  enum class Shape : unsigned char {
    Constant,
    Linear,  ///< down to `floor` × peak at the end
    Cosine,  ///< the same along half a cosine (Loshchilov and Hutter, ICLR 2017)
    Step,    ///< × `floor` after every `period` steps
  };
  Shape shape = Shape::Constant;
  double peak = 1e-3;
  std::uint64_t warmup_steps = 0;
  double floor = 0;
  std::uint64_t period = 1;

  /// The rate of step `step` (from 0) of `total`.
  double at(std::uint64_t step, std::uint64_t total) const;
};
std::string_view name(Schedule::Shape);
std::optional<Schedule::Shape> find_schedule(std::string_view);

}  // namespace perfc
