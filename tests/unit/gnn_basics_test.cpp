/// What layers stand on: products, threads, random numbers, batches, losses, Adam, schedules.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "gnn/gemm.h"
#include "gnn/gemm_kernel.h"
#include "gnn/loss.h"
#include "gnn/optimizer.h"
#include "gnn_check.h"

namespace perfc {
namespace {

using testing::random_matrix;

template <class T>
Matrix<double> naive(const Matrix<T>& a, Transpose ta, const Matrix<T>& b, Transpose tb) {
  const bool ya = ta == Transpose::Yes, yb = tb == Transpose::Yes;
  Matrix<double> c(ya ? a.columns() : a.rows(), yb ? b.rows() : b.columns());
  for (std::size_t i = 0; i < c.rows(); ++i) {
    for (std::size_t j = 0; j < c.columns(); ++j) {
      double sum = 0;
      for (std::size_t k = 0; k < (ya ? a.rows() : a.columns()); ++k) {
        sum += static_cast<double>(ya ? a(k, i) : a(i, k)) * static_cast<double>(yb ? b(j, k) : b(k, j));
      }
      c(i, j) = sum;
    }
  }
  return c;
}

TEST(Gemm, EqualsNaiveLoopsInEveryOrientation) {
  for (const std::size_t thread_count : {1, 3}) {
    ThreadPool threads(thread_count);
    for (const auto& [m, n, k] : {std::array<std::size_t, 3>{1, 1, 1},
                                  {3, 5, 7},
                                  {67, 33, 129},
                                  {200, 64, 5},
                                  {5, 1, 300},
                                  {250, 40, 600},
                                  {40, 250, 600},
                                  {150, 200, 129},
                                  {550, 70, 520}}) {
      for (const Transpose ta : {Transpose::No, Transpose::Yes}) {
        for (const Transpose tb : {Transpose::No, Transpose::Yes}) {
          const auto a = ta == Transpose::Yes ? random_matrix<float>(k, m, "a") : random_matrix<float>(m, k, "a");
          const auto b = tb == Transpose::Yes ? random_matrix<float>(n, k, "b") : random_matrix<float>(k, n, "b");
          const Matrix<double> expected = naive(a, ta, b, tb);
          Matrix<float> c;
          multiply(threads, a, ta, b, tb, c);
          for (std::size_t i = 0; i < c.size(); ++i) ASSERT_NEAR(c.data()[i], expected.data()[i], 1e-4) << m << n << k;
          Matrix<float> gathered(m, n);
          multiply_by_panels<float>(threads, a, ta, b, tb, [&](std::size_t first, std::span<float> panel) {
            std::copy(panel.begin(), panel.end(), gathered.data() + first * gathered.columns());
          });
          ASSERT_TRUE(std::equal(c.data(), c.data() + c.size(), gathered.data())) << m << n << k;
          multiply(threads, a, ta, b, tb, c, Store::Add);
          for (std::size_t i = 0; i < c.size(); ++i) ASSERT_NEAR(c.data()[i], 2 * expected.data()[i], 2e-4);
        }
      }
    }
  }
}

/// Kernels by name; only those that this machine has.
template <class T>
std::vector<std::pair<std::string, void (*)(const GemmArguments<T>&)>> kernels() {
  std::vector<std::pair<std::string, void (*)(const GemmArguments<T>&)>> all{{"baseline", &gemm_baseline}};
#if defined(__x86_64__)
  if constexpr (std::is_same_v<T, float>) {
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) all.emplace_back("avx2", &gemm_avx2);
    if (std::string_view(gemm_kernel_name()) == "avx512") all.emplace_back("avx512", &gemm_avx512);
  }
#endif
  return all;
}

template <class T>
void check_kernels() {
  // Below, at and beyond the extents of tiles (6, 12 by 4 to 32), slices (512) and blocks (408, 512), rows a page
  // apart.
  for (const auto& [m, n, k, gap] : {std::array<std::ptrdiff_t, 4>{1, 1, 1, 0},
                                     {6, 16, 8, 3},
                                     {13, 33, 256, 0},
                                     {5, 7, 300, 1},
                                     {211, 40, 257, 0},
                                     {420, 35, 9, 2},
                                     {530, 33, 515, 1},
                                     {12, 4200, 3, 0},
                                     {7, 9, 24, 1000},
                                     {3, 5, 0, 1}}) {
    for (const bool ta : {false, true}) {
      for (const bool tb : {false, true}) {
        const std::ptrdiff_t a_stride = (ta ? m : k) + gap, b_stride = (tb ? k : n) + gap, c_stride = n + gap;
        const auto a = random_matrix<T>(static_cast<std::size_t>(ta ? k : m), static_cast<std::size_t>(a_stride), "a");
        const auto b = random_matrix<T>(static_cast<std::size_t>(tb ? n : k), static_cast<std::size_t>(b_stride), "b");
        const auto start = random_matrix<T>(static_cast<std::size_t>(m), static_cast<std::size_t>(c_stride), "c");
        for (const bool add : {false, true}) {
          for (const auto& [name, kernel] : kernels<T>()) {
            Matrix<T> c = start;
            kernel({m, n, k, a.data(), a_stride, ta, b.data(), b_stride, tb, c.data(), c_stride, add});
            for (std::ptrdiff_t i = 0; i < m; ++i) {
              for (std::ptrdiff_t j = 0; j < c_stride; ++j) {
                double expected = j < n && !add ? 0 : static_cast<double>(start.data()[i * c_stride + j]);
                for (std::ptrdiff_t p = 0; j < n && p < k; ++p) {
                  expected += static_cast<double>(a.data()[ta ? p * a_stride + i : i * a_stride + p]) *
                              static_cast<double>(b.data()[tb ? j * b_stride + p : p * b_stride + j]);
                }
                ASSERT_NEAR(c.data()[i * c_stride + j], expected, 1e-4)
                    << name << ' ' << m << ' ' << n << ' ' << k << ' ' << ta << tb << add;
              }
            }
          }
        }
      }
    }
  }
}

TEST(Gemm, EveryKernelInEveryOrientationLeavesTheRestAlone) {
  check_kernels<float>();
  check_kernels<double>();
}

TEST(Threads, EveryIndexOnceAndRangesBeginAtGrains) {
  for (const std::size_t size : {1, 2, 3, 8}) {
    ThreadPool threads(size);
    for (const std::size_t count : {0, 1, 15, 16, 17, 100, 1000}) {
      std::vector<int> seen(count, 0);
      threads.for_ranges(count, 16, [&](std::size_t begin, std::size_t end) {
        EXPECT_EQ(begin % 16, 0u);
        for (std::size_t i = begin; i < end; ++i) ++seen[i];
      });
      EXPECT_EQ(seen, std::vector<int>(count, 1)) << size << " threads, " << count;
    }
  }
}

TEST(RandomNumbers, AreTheSameEverywhere) {
  // Fixed by the definition in gnn/random.h; saved checkpoints depend on them.
  const Random r = Random(42).stream("dropout").stream(3);
  static_assert(Random(1).bits(0) != Random(1).bits(1));
  EXPECT_NE(Random(42).stream("a").bits(0), Random(42).stream("b").bits(0));
  EXPECT_NE(Random(42).stream(1).bits(0), Random(43).stream(1).bits(0));
  double sum = 0, squares = 0, normal_squares = 0;
  std::array<int, 7> counts{};
  constexpr int kDraws = 70000;
  for (int i = 0; i < kDraws; ++i) {
    const double u = r.uniform(i), z = r.normal(i);
    ASSERT_TRUE(u >= 0 && u < 1);
    sum += u;
    squares += u * u;
    normal_squares += z * z;
    ++counts[r.index(i, 7)];
  }
  EXPECT_NEAR(sum / kDraws, 0.5, 0.005);
  EXPECT_NEAR(squares / kDraws, 1.0 / 3, 0.005);
  EXPECT_NEAR(normal_squares / kDraws, 1, 0.02);
  for (const int n : counts) EXPECT_NEAR(n, kDraws / 7.0, 400);
}

TEST(GraphBatches, JoinBlockDiagonally) {
  const GraphBatch b = testing::three_graphs();
  EXPECT_EQ(b.graphs(), 3u);
  EXPECT_EQ(b.nodes(), 9u);
  EXPECT_EQ(b.edges(), 8u);
  EXPECT_EQ(b.first(1), 5u);
  EXPECT_EQ(std::vector(b.graph_of().begin(), b.graph_of().end()),
            (std::vector<GraphBatch::Index>{0, 0, 0, 0, 0, 1, 2, 2, 2}));
  const auto senders = b.senders_of(3), receivers = b.receivers_of(0), chain = b.senders_of(8);
  EXPECT_EQ(std::vector(senders.begin(), senders.end()), (std::vector<GraphBatch::Index>{1, 2, 0}));
  EXPECT_EQ(std::vector(receivers.begin(), receivers.end()), (std::vector<GraphBatch::Index>{1, 2, 3}));
  EXPECT_EQ(std::vector(chain.begin(), chain.end()), (std::vector<GraphBatch::Index>{7}));
  for (std::size_t n = 0; n < b.nodes(); ++n) {
    for (std::size_t p = b.out(n); p < b.out(n + 1); ++p) EXPECT_EQ(b.senders()[b.out_edges()[p]], n);
  }
}

TEST(GraphBatches, RefuseWhatIsNoGraph) {
  const auto message = [](const Adjacency& a) {
    Diagnostics diags;
    const Adjacency* all[] = {&a};
    EXPECT_FALSE(GraphBatch::join(all, diags));
    return diags.all().at(0).message;
  };
  EXPECT_EQ(message({2, {{0, 2}}}), "graph batch: edge 0 -> 2 in a graph of 2 nodes");
  EXPECT_EQ(message({2, {{1, 1}}}), "graph batch: edge from node 1 to itself");
  EXPECT_EQ(message({std::size_t{1} << 40, {}}), "graph batch: more than 2^31 nodes or edges");
}

TEST(Losses, ValuesByHand) {
  Matrix<double> p(1, 3), t(1, 3), g;
  p(0, 0) = 2;
  p(0, 1) = 5;
  p(0, 2) = 1;
  t(0, 0) = 1.5;
  t(0, 1) = 2;
  t(0, 2) = NAN;
  EXPECT_DOUBLE_EQ(evaluate({.kind = LossKind::Huber}, p, t, 1, g), 0.125 + 2.5);
  EXPECT_DOUBLE_EQ(g(0, 0), 0.5);
  EXPECT_DOUBLE_EQ(g(0, 1), 1);
  EXPECT_DOUBLE_EQ(g(0, 2), 0);  // no label: no gradient
  const double r = std::log(2 / 1.5), s = std::log(2.5);
  EXPECT_DOUBLE_EQ(evaluate({.kind = LossKind::LogRatio}, p, t, 0.5, g), 0.5 * (r * r + s * s) / 2);
  EXPECT_DOUBLE_EQ(g(0, 1), 0.5 * s / 5);
  EXPECT_DOUBLE_EQ(
      evaluate({.kind = LossKind::Pinball, .quantiles = {0.9, 0.1, 0.5}, .output_weights = {2, 1, 1}}, p, t, 1, g),
      2 * 0.1 * 0.5 + 0.9 * 3);
  EXPECT_DOUBLE_EQ(g(0, 0), 0.2);
}

TEST(Losses, GradientsAreDerivatives) {
  for (const Loss& loss :
       {Loss{.kind = LossKind::Huber, .delta = 0.3}, Loss{.kind = LossKind::LogRatio, .delta = 0.5},
        Loss{.kind = LossKind::Pinball, .quantiles = {0.05, 0.5, 0.95}, .output_weights = {1, 3, 2}}}) {
    Matrix<double> p = random_matrix<double>(6, 3, "p"), t = random_matrix<double>(6, 3, "t"), g, ignored;
    p.flat() += 1.5;
    t.flat() += 1.5;
    evaluate(loss, p, t, 0.25, g);
    for (std::size_t i = 0; i < p.size(); ++i) {
      const double kept = p.data()[i];
      p.data()[i] = kept + 1e-6;
      const double up = evaluate(loss, p, t, 0.25, ignored);
      p.data()[i] = kept - 1e-6;
      const double down = evaluate(loss, p, t, 0.25, ignored);
      p.data()[i] = kept;
      ASSERT_NEAR(g.data()[i], (up - down) / 2e-6, 1e-7);
    }
  }
}

TEST(AdamSteps, FollowThePaper) {
  // Reference in double, straight from algorithm 1 of arXiv 1412.6980 and algorithm 2 of arXiv 1711.05101.
  for (const auto decay : {AdamOptions::Decay::Coupled, AdamOptions::Decay::Decoupled}) {
    ThreadPool threads(2);
    Parameter<float> p;
    p.shape(1, Initial::constant(0));
    p.value(0, 0) = 0.5f;
    Adam adam({{"p", &p}}, {.weight_decay = 0.1, .decay = decay});
    double w = 0.5, m = 0, v = 0;
    for (int t = 1; t <= 20; ++t) {
      const double raw = std::sin(t) + w;
      p.gradient(0, 0) = static_cast<float>(std::sin(t)) + p.value(0, 0);
      const double g = raw + (decay == AdamOptions::Decay::Coupled ? 0.1 * w : 0);
      m = 0.9 * m + 0.1 * g;
      v = 0.999 * v + 0.001 * g * g;
      if (decay == AdamOptions::Decay::Decoupled) w -= 0.01 * 0.1 * w;
      w -= 0.01 * (m / (1 - std::pow(0.9, t))) / (std::sqrt(v / (1 - std::pow(0.999, t))) + 1e-8);
      adam.step(threads, 0.01);
      ASSERT_NEAR(p.value(0, 0), w, 1e-5) << "step " << t;
    }
  }
}

TEST(AdamSteps, ClipTheWholeGradient) {
  ThreadPool threads(1);
  Parameter<float> a, b;
  a.shape(1, Initial::constant(0));
  b.shape(1, Initial::constant(0));
  Adam adam({{"a", &a}, {"b", &b}}, {.clip_norm = 1});
  a.gradient(0, 0) = 3;
  b.gradient(0, 0) = 4;
  EXPECT_DOUBLE_EQ(adam.step(threads, 0.1), 5);
  EXPECT_FLOAT_EQ(adam.moments()[0].mean(0, 0), 0.1f * 0.6f);
  EXPECT_FLOAT_EQ(adam.moments()[1].mean(0, 0), 0.1f * 0.8f);
}

TEST(AdamSteps, PartsOfAGradientInAnyOrder) {
  ThreadPool threads(1);
  Parameter<float> whole, parts, other;
  for (Parameter<float>* p : {&whole, &parts, &other}) p->shape(10000, Initial::constant(1));
  Adam one({{"p", &whole}}, {.weight_decay = 0.1}), two({{"p", &parts}, {"other", &other}}, {.weight_decay = 0.1});
  for (int step = 0; step < 3; ++step) {
    Matrix<float> gradient = random_matrix<float>(1, 10000, "g" + std::to_string(step));
    whole.gradient = gradient;
    const double length = one.step(threads, 0.01);
    two.begin(0.01);
    two.update(parts, 6000, std::span(gradient.data() + 6000, 4000));
    two.update(parts, 0, std::span(gradient.data(), 6000));
    EXPECT_NEAR(two.finish(threads), length, 1e-5 * length);
    ASSERT_TRUE(std::equal(whole.value.data(), whole.value.data() + 10000, parts.value.data())) << step;
  }
  EXPECT_EQ(two.steps, 3U);
  EXPECT_EQ(other.gradient(0, 0), 0);
}

TEST(Schedules, Shapes) {
  using Shape = Schedule::Shape;
  EXPECT_DOUBLE_EQ((Schedule{.peak = 2}).at(99, 100), 2);
  const Schedule linear{.shape = Shape::Linear, .peak = 1, .warmup_steps = 4, .floor = 0.1};
  EXPECT_DOUBLE_EQ(linear.at(0, 11), 0.25);
  EXPECT_DOUBLE_EQ(linear.at(3, 11), 1);
  EXPECT_DOUBLE_EQ(linear.at(4, 11), 1);
  EXPECT_DOUBLE_EQ(linear.at(7, 11), 0.55);
  EXPECT_DOUBLE_EQ(linear.at(10, 11), 0.1);
  const Schedule cosine{.shape = Shape::Cosine, .peak = 1};
  EXPECT_DOUBLE_EQ(cosine.at(5, 11), 0.5);
  EXPECT_NEAR(cosine.at(10, 11), 0, 1e-15);
  const Schedule step{.shape = Shape::Step, .peak = 8, .floor = 0.5, .period = 10};
  EXPECT_DOUBLE_EQ(step.at(29, 100), 2);
  for (const Shape s : {Shape::Constant, Shape::Linear, Shape::Cosine, Shape::Step})
    EXPECT_EQ(find_schedule(name(s)), s);
  EXPECT_FALSE(find_schedule("triangle"));
}

}  // namespace
}  // namespace perfc
