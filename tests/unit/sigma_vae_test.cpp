#include "counters/models/sigma_vae.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

namespace perfc {
namespace {

using Json = nlohmann::json;

Matrix<double> matrix(const Json& values, std::size_t rows, std::size_t columns) {
  Matrix<double> m(rows, columns);
  EXPECT_EQ(values.size(), m.size());
  for (std::size_t i = 0; i < m.size(); ++i) m.data()[i] = values.at(i).get<double>();
  return m;
}

/// tests/oracle/vae_fixtures.py wrote what PyTorch computes.
TEST(SigmaVae, TermsAndGradientsAreTorchs) {
  std::ifstream in(PERFC_SOURCE_DIR "/tests/fixtures/sigma_vae.json");
  const Json f = Json::parse(in);
  const std::size_t rows = f["rows"], latent = f["latent"];
  for (const Json& c : f["cases"]) {
    SigmaVae<double> vae(
        {.inputs = f["inputs"], .hidden = f["hidden"], .latent = latent, .least_log_sigma = c["least_log_sigma"]});
    std::size_t found = 0;
    for (auto& [name, p] : parameters(vae)) {
      ASSERT_TRUE(c["parameters"].contains(name)) << name;
      p->value = matrix(c["parameters"][name]["value"], p->value.rows(), p->value.columns());
      ++found;
    }
    EXPECT_EQ(found, c["parameters"].size());
    ThreadPool threads;
    Context context{.threads = threads};
    const auto x = matrix(c["x"], rows, f["inputs"]), noise = matrix(c["noise"], rows, latent),
               upstream = matrix(c["upstream"], rows, latent);
    const Matrix<double>& z = vae.encode(context, x, noise);
    for (std::size_t i = 0; i < z.size(); ++i) EXPECT_NEAR(z.data()[i], c["z"][i].get<double>(), 1e-9);
    const VaeTerms t = vae.decode(context);
    EXPECT_NEAR(t.log_sigma, c["log_sigma"].get<double>(), 1e-9);
    EXPECT_NEAR(t.reconstruction, c["reconstruction"].get<double>(), 1e-9);
    EXPECT_NEAR(t.kl, c["kl"].get<double>(), 1e-9);
    const double weight = 1.0 / static_cast<double>(rows);
    vae.backward(context, weight, weight * f["kl_weight"].get<double>(), upstream);
    for (auto& [name, p] : parameters(vae)) {
      const Json& expected = c["parameters"][name]["gradient"];
      for (std::size_t i = 0; i < p->gradient.size(); ++i)
        EXPECT_NEAR(p->gradient.data()[i], expected[i].get<double>(), 1e-9) << name << ' ' << i;
    }
  }
}

/// Finite differences of the whole loss through encoder, sampling and decoder.
TEST(SigmaVae, GradientsAreDifferences) {
  const VaeOptions o{.inputs = 4, .hidden = 6, .latent = 2, .least_log_sigma = -1};
  SigmaVae<double> vae(o);
  initialise(parameters(vae), Random(3));
  Matrix<double> x(5, 4), dz(5, 2);
  for (std::size_t i = 0; i < x.size(); ++i) x.data()[i] = Random(1).normal(i);
  for (std::size_t i = 0; i < dz.size(); ++i) dz.data()[i] = Random(2).normal(i);
  ThreadPool threads;
  const auto loss = [&] {
    Context c{.threads = threads, .mode = Mode::Training, .random = Random(7)};
    const Matrix<double>& z = vae.forward(c, x);
    const double downstream = (z.flat() * dz.flat()).sum();
    const VaeTerms t = vae.decode(c);
    return 5 * (0.7 * t.reconstruction + 0.3 * t.kl) + downstream;
  };
  zero_gradients(vae);
  loss();
  Context c{.threads = threads, .mode = Mode::Training, .random = Random(7)};
  vae.backward(c, 0.7, 0.3, dz);
  for (auto& [name, p] : parameters(vae)) {
    for (std::size_t i = 0; i < p->value.size(); ++i) {
      constexpr double kStep = 1e-6;
      const double kept = p->value.data()[i];
      p->value.data()[i] = kept + kStep;
      const double above = loss();
      p->value.data()[i] = kept - kStep;
      const double below = loss();
      p->value.data()[i] = kept;
      EXPECT_NEAR(p->gradient.data()[i], (above - below) / (2 * kStep), 1e-5) << name << ' ' << i;
    }
  }
}

TEST(SigmaVae, InferenceIsTheMean) {
  SigmaVae<double> vae({.inputs = 2, .hidden = 3, .latent = 2});
  initialise(parameters(vae), Random(3));
  Matrix<double> x(1, 2);
  x.fill(0.5);
  ThreadPool threads;
  Context calm{.threads = threads}, drawn{.threads = threads, .mode = Mode::Training, .random = Random(1)};
  const Matrix<double> mean = vae.forward(calm, x), again = vae.forward(calm, x), sample = vae.forward(drawn, x);
  EXPECT_EQ(mean(0, 0), again(0, 0));
  EXPECT_NE(mean(0, 0), sample(0, 0));
}

TEST(KlAnnealing, Shapes) {
  EXPECT_DOUBLE_EQ((KlAnnealing{KlAnnealing::Shape::Constant, 2}.at(0, 10)), 2);
  EXPECT_DOUBLE_EQ((KlAnnealing{KlAnnealing::Shape::Linear, 1, 0.5}.at(25, 100)), 0.5);
  EXPECT_DOUBLE_EQ((KlAnnealing{KlAnnealing::Shape::Linear, 1, 0.5}.at(75, 100)), 1);
  EXPECT_DOUBLE_EQ((KlAnnealing{KlAnnealing::Shape::Cyclic, 1, 0.5, 4}.at(25, 100)), 0);
  EXPECT_DOUBLE_EQ((KlAnnealing{KlAnnealing::Shape::Cyclic, 1, 0.5, 2}.at(62, 100)), 0.48);
}

}  // namespace
}  // namespace perfc
