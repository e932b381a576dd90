/// Every layer: gradients against finite differences, and what its header promises.
#include "gnn_check.h"

#include <cmath>

#include "gnn/layers/gat.h"
#include "gnn/layers/gcn.h"
#include "gnn/layers/gin.h"
#include "gnn/layers/linear.h"
#include "gnn/layers/readout.h"
#include "gnn/layers/rowwise.h"
#include "gnn/layers/sage.h"

namespace perfc {
namespace {

using testing::check_gradients;
using testing::random_matrix;
using testing::three_graphs;

class Layers : public ::testing::Test {
 protected:
  ThreadPool threads_{2};
  GraphBatch graph_ = three_graphs();
  Context context_{.threads = threads_, .graph = &graph_, .mode = Mode::Training, .random = Random(3)};
  Matrix<double> x_ = random_matrix<double>(9, 4, "x");
};

TEST_F(Layers, LinearGradients) {
  Linear<double> with_bias(4, 3), without(4, 3, Bias::No);
  check_gradients(with_bias, context_, x_);
  check_gradients(without, context_, x_);
}

TEST_F(Layers, SageGradients) {
  SageConv<double> plain(4, 3, RowNorm::None), normalised(4, 3, RowNorm::L2);
  check_gradients(plain, context_, x_);
  check_gradients(normalised, context_, x_);
}

TEST_F(Layers, GcnGradients) {
  GcnConv<double> layer(4, 3);
  check_gradients(layer, context_, x_);
}

TEST_F(Layers, GinGradients) {
  GinConv<double> plain(4, 3), weighted(4, 3, 0.25);
  check_gradients(plain, context_, x_);
  check_gradients(weighted, context_, x_);
}

TEST_F(Layers, GatGradients) {
  GatConv<double> one(4, 3), two(4, 6, 2);
  check_gradients(one, context_, x_);
  check_gradients(two, context_, x_);
}

TEST_F(Layers, ActivationGradients) {
  for (const auto kind : {ActivationKind::Relu, ActivationKind::Gelu, ActivationKind::NegativeLogSigmoid}) {
    Activation<double> layer(kind);
    check_gradients(layer, context_, x_);
  }
}

TEST_F(Layers, ActivationsFarFromZero) {
  Activation<float> layer(ActivationKind::NegativeLogSigmoid);
  Matrix<float> x(1, 2);
  x(0, 0) = -500;
  x(0, 1) = 100;
  const Matrix<float>& y = layer.forward(context_, x);
  EXPECT_FLOAT_EQ(y(0, 0), 500);
  EXPECT_GT(y(0, 1), 0);
  x.fill(1);
  EXPECT_FLOAT_EQ(layer.backward(context_, x)(0, 0), -0.26894142f);  // −1 / (1 + e)
}

TEST_F(Layers, NormGradients) {
  LayerNorm<double> layer(4);
  check_gradients(layer, context_, x_);
  L2Normalise<double> l2;
  check_gradients(l2, context_, x_);
}

TEST_F(Layers, NormsOfRowsThatHaveNoLength) {
  Matrix<double> x(2, 3);
  x.fill(0);
  L2Normalise<double> l2;
  LayerNorm<double> norm(3);
  for (Module<double>* layer : {static_cast<Module<double>*>(&l2), static_cast<Module<double>*>(&norm)}) {
    const Matrix<double>& y = layer->forward(context_, x);
    for (std::size_t i = 0; i < y.size(); ++i) EXPECT_EQ(y.data()[i], 0);
  }
}

TEST_F(Layers, DropoutGradients) {
  Dropout<double> layer(0.4, 1);
  check_gradients(layer, context_, x_);
}

TEST_F(Layers, DropoutDropsItsShareAndKeepsTheMean) {
  Dropout<float> layer(0.25, 1);
  Matrix<float> x(400, 101);
  x.fill(1);
  const Matrix<float>& y = layer.forward(context_, x);
  const auto zeros = static_cast<double>((y.flat() == 0).count());
  EXPECT_NEAR(zeros / static_cast<double>(y.size()), 0.25, 0.01);
  EXPECT_NEAR(y.flat().mean(), 1, 0.01);
  context_.mode = Mode::Inference;
  EXPECT_EQ(&layer.forward(context_, x), &x);
}

TEST_F(Layers, DropoutIsKeyedBySampleNotByPosition) {
  // The second graph of a batch drops what it drops alone on another rank.
  Dropout<float> layer(0.5, 9);
  Matrix<float> x(9, 7);
  x.fill(1);
  const Matrix<float> together = layer.forward(context_, x);
  const Adjacency chain{3, {{0, 1}, {1, 2}}};
  const Adjacency* all[] = {&chain};
  Diagnostics diags;
  const GraphBatch alone = *GraphBatch::join(all, diags);
  Context second{.threads = threads_, .graph = &alone, .mode = Mode::Training, .random = Random(3), .first_sample = 2};
  Matrix<float> tail(3, 7);
  tail.fill(1);
  const Matrix<float>& y = layer.forward(second, tail);
  for (std::size_t i = 0; i < y.size(); ++i) EXPECT_EQ(y.data()[i], together.data()[6 * 7 + i]);
  second.random = Random(4);
  const Matrix<float> before = y;
  EXPECT_TRUE((layer.forward(second, tail).flat() != before.flat()).any());
}

TEST_F(Layers, ReadoutGradients) {
  for (const Pool pool : {Pool::Sum, Pool::Mean, Pool::Max}) {
    Readout<double> layer(pool);
    check_gradients(layer, context_, x_);
  }
}

TEST_F(Layers, ReadoutOfAGraphWithoutNodesIsZero) {
  const Adjacency empty{0, {}}, two{2, {{0, 1}}};
  const Adjacency* all[] = {&empty, &two};
  Diagnostics diags;
  const GraphBatch graph = *GraphBatch::join(all, diags);
  context_.graph = &graph;
  const Matrix<double> x = random_matrix<double>(2, 3, "two nodes");
  for (const Pool pool : {Pool::Sum, Pool::Mean, Pool::Max}) {
    Readout<double> layer(pool);
    const Matrix<double>& y = layer.forward(context_, x);
    for (std::size_t i = 0; i < 3; ++i) {
      EXPECT_EQ(y(0, i), 0);
      const double a = x(0, i), b = x(1, i);
      EXPECT_DOUBLE_EQ(y(1, i), pool == Pool::Sum ? a + b : pool == Pool::Mean ? (a + b) / 2 : std::max(a, b));
    }
    EXPECT_EQ(layer.backward(context_, y).rows(), 2u);
  }
}

TEST_F(Layers, EmbeddingGradientsAndUnknownCategories) {
  Matrix<double> x = x_;
  const double categories[] = {0, 1, 2, 2, 1, 0, 2, 1, 1};
  for (std::size_t r = 0; r < x.rows(); ++r) x(r, 0) = categories[r];
  Embedding<double> layer(3, 5);
  check_gradients(layer, context_, x);

  const double unknown[] = {-1, 3, 1.5, 1e30, NAN, INFINITY, -INFINITY, 0, 0};
  for (std::size_t r = 0; r < x.rows(); ++r) x(r, 0) = unknown[r];
  const Matrix<double>& y = layer.forward(context_, x);
  for (std::size_t r = 0; r < x.rows(); ++r) {
    for (std::size_t i = 0; i < 5; ++i) EXPECT_EQ(y(r, i), y(8, i)) << r;
    EXPECT_EQ(y(r, 5), x(r, 1));
  }
}

TEST_F(Layers, SequenceGradientsAndNames) {
  Sequential<double> net;
  net.add("conv", std::make_unique<SageConv<double>>(4, 6, RowNorm::L2));
  net.add("act", std::make_unique<Activation<double>>(ActivationKind::Gelu));
  net.add("norm", std::make_unique<LayerNorm<double>>(6));
  net.add("drop", std::make_unique<Dropout<double>>(0.2, 1));
  net.add("pool", std::make_unique<Readout<double>>(Pool::Mean));
  net.add("out", std::make_unique<Linear<double>>(6, 2));
  check_gradients(net, context_, x_);
  std::string names;
  for (const auto& p : parameters(net, "net.")) names += p.name + " ";
  EXPECT_EQ(names,
            "net.conv.lin_l.weight net.conv.lin_l.bias net.conv.lin_r.weight net.norm.weight net.norm.bias "
            "net.out.weight net.out.bias ");
}

TEST_F(Layers, InputGradientThatNobodyReadsIsNotComputed) {
  Linear<double> all(x_.columns(), 5), first(x_.columns(), 5, Bias::Yes, InputGradient::Unused);
  for (Linear<double>* l : {&all, &first}) initialise(parameters<double>(*l), Random(1));
  const Matrix<double>& y = all.forward(context_, x_);
  first.forward(context_, x_);
  EXPECT_EQ(all.backward(context_, y).size(), x_.size());
  EXPECT_EQ(first.backward(context_, y).size(), 0u);
  EXPECT_TRUE((all.weight.gradient.flat() == first.weight.gradient.flat()).all());
  EXPECT_GT(first.weight.gradient.flat().abs().maxCoeff(), 0);
}

TEST_F(Layers, InitialValuesDependOnNameAndSeedOnly) {
  Linear<float> a(50, 40), b(50, 40);
  Sequential<float> net;
  Linear<float>& inside = net.add("a", std::make_unique<Linear<float>>(50, 40));
  initialise(parameters<float>(a), Random(1));
  initialise(parameters<float>(b), Random(1));
  initialise(parameters<float>(net), Random(1));
  EXPECT_TRUE((a.weight.value.flat() == b.weight.value.flat()).all());
  EXPECT_TRUE((a.weight.value.flat() != inside.weight.value.flat()).any());
  EXPECT_LT(a.weight.value.flat().abs().maxCoeff(), 1 / std::sqrt(50.0f));
  EXPECT_GT(a.weight.value.flat().abs().maxCoeff(), 0.99f / std::sqrt(50.0f));
  EXPECT_NEAR(a.weight.value.flat().mean(), 0, 0.01);
}

}  // namespace
}  // namespace perfc
