/// Every layer: gradients against finite differences, and what its header promises.
#include "gnn_check.h"

#include "gnn/layers/linear.h"
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

}  // namespace
}  // namespace perfc
