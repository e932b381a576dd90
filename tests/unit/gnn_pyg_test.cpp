/// Layers and PMGNS against PyTorch Geometric for the same weights: outputs and all
/// gradients. The values come from tests/oracle/pyg_fixtures.py.
#include <gtest/gtest.h>

#include <fstream>

#include <nlohmann/json.hpp>

#include "gnn/layers/gat.h"
#include "gnn/layers/gcn.h"
#include "gnn/layers/gin.h"
#include "gnn/layers/linear.h"
#include "gnn/layers/readout.h"
#include "gnn/layers/rowwise.h"
#include "gnn/layers/sage.h"
#include "gnn/models/pmgns.h"

namespace perfc {
namespace {

using Json = nlohmann::json;

template <class T>
Matrix<T> matrix(const Json& numbers, std::size_t rows) {
  Matrix<T> m(rows, numbers.size() / rows);
  for (std::size_t i = 0; i < m.size(); ++i) m.data()[i] = numbers[i].get<T>();
  return m;
}

double largest_of(const Json& numbers) {
  double largest = 0;
  for (const Json& n : numbers) largest = std::max(largest, std::abs(n.get<double>()));
  return largest;
}

/// The error is measured against the largest entry, or `floor` if that is more.
template <class T>
void expect_near(const std::string& what, const Matrix<T>& m, const Json& numbers, double floor = 0) {
  constexpr double kRelative = std::is_same_v<T, float> ? 1e-5 : 1e-10;
  ASSERT_EQ(m.size(), numbers.size()) << what;
  const double largest = std::max(largest_of(numbers), floor);
  for (std::size_t i = 0; i < m.size(); ++i) {
    ASSERT_NEAR(m.data()[i], numbers[i].get<double>(), kRelative * largest) << what << " entry " << i;
  }
}

/// Fixture → model: a single layer, or all of PMGNS.
template <class T>
class Subject : public GraphModel<T> {
 public:
  explicit Subject(std::unique_ptr<Module<T>> layer) : layer_(std::move(layer)) {}
  const Matrix<T>& forward(Context& c, const GraphInput<T>& input) override { return layer_->forward(c, input.nodes); }
  void backward(Context& c, const Matrix<T>& dy) override { dx = layer_->backward(c, dy); }
  void visit(const std::string& prefix, const ParameterVisitor<T>& f) override { layer_->visit(prefix, f); }
  Matrix<T> dx;

 private:
  std::unique_ptr<Module<T>> layer_;
};

template <class T>
std::unique_ptr<Module<T>> make_layer(const std::string& name, const Json& a) {
  const std::size_t in = a["in"], out = a["out"];
  if (name == "sage") return std::make_unique<SageConv<T>>(in, out, RowNorm::None);
  if (name == "sage_l2") return std::make_unique<SageConv<T>>(in, out, RowNorm::L2);
  if (name == "gcn") return std::make_unique<GcnConv<T>>(in, out);
  if (name.starts_with("gat")) return std::make_unique<GatConv<T>>(in, out, a["heads"].get<std::size_t>());
  if (name.starts_with("gin")) return std::make_unique<GinConv<T>>(in, out, a["epsilon"].get<double>());
  if (name == "linear") return std::make_unique<Linear<T>>(in, out);
  if (name == "layer_norm") return std::make_unique<LayerNorm<T>>(in);
  if (name == "gelu") return std::make_unique<Activation<T>>(ActivationKind::Gelu);
  if (name == "pool_add") return std::make_unique<Readout<T>>(Pool::Sum);
  if (name == "pool_mean") return std::make_unique<Readout<T>>(Pool::Mean);
  if (name == "pool_max") return std::make_unique<Readout<T>>(Pool::Max);
  return nullptr;
}

template <class T>
std::unique_ptr<GraphModel<T>> make_subject(const std::string& name, const Json& a) {
  if (!name.starts_with("pmgns_")) return std::make_unique<Subject<T>>(make_layer<T>(name, a));
  return std::make_unique<Pmgns<T>>(PmgnsOptions{.convolution = find_convolution(a["convolution"].get<std::string>()),
                                                 .node_columns = a["in"],
                                                 .static_columns = a["static"],
                                                 .graph_hidden = a["hidden"],
                                                 .linear_hidden = a["hidden"],
                                                 .outputs = a["outputs"]});
}

template <class T>
void compare(const std::string& name) {
  std::ifstream file(PERFC_SOURCE_DIR "/tests/fixtures/pyg/" + name + ".json");
  ASSERT_TRUE(file) << name;
  const Json f = Json::parse(file);

  // The fixture numbers the nodes of the whole batch.
  std::vector<Adjacency> graphs;
  std::size_t base = 0;
  for (const std::size_t nodes : f["nodes_per_graph"]) {
    Adjacency a{nodes, {}};
    for (const auto& e : f["edges"]) {
      const std::size_t from = e[0], to = e[1];
      if (from >= base && from < base + nodes) a.edges.emplace_back(from - base, to - base);
    }
    base += nodes;
    graphs.push_back(std::move(a));
  }
  const Adjacency* all[] = {&graphs[0], &graphs[1]};
  Diagnostics diags;
  const GraphBatch batch = *GraphBatch::join(all, diags);
  ASSERT_EQ(batch.edges(), f["edges"].size());

  ThreadPool threads(2);
  Context context{.threads = threads, .graph = &batch};
  GraphInput<T> input;
  if (f["inputs"].contains("nodes")) input.nodes = matrix<T>(f["inputs"]["nodes"], base);
  if (f["inputs"].contains("globals")) input.globals = matrix<T>(f["inputs"]["globals"], graphs.size());

  const auto subject = make_subject<T>(name, f["arguments"]);
  std::size_t known = 0;
  subject->visit({}, [&](const std::string& key, Parameter<T>& p) {
    ASSERT_TRUE(f["parameters"].contains(key)) << name << " " << key;
    p.value = matrix<T>(f["parameters"][key]["value"], p.value.rows());
    ++known;
  });
  ASSERT_EQ(known, f["parameters"].size());

  const Matrix<T>& y = subject->forward(context, input);
  expect_near(name + ": output", y, f["output"]);
  subject->backward(context, matrix<T>(f["upstream"], y.rows()));
  if (const auto* layer = dynamic_cast<const Subject<T>*>(subject.get())) {
    expect_near(name + ": input gradient", layer->dx, f["input_gradients"]["nodes"]);
  }
  // Gradients that cancel to next to nothing carry the rounding of their terms.
  double largest = 0;
  for (const Json& p : f["parameters"]) largest = std::max(largest, largest_of(p["gradient"]));
  subject->visit({}, [&](const std::string& key, Parameter<T>& p) {
    expect_near(name + ": " + key, p.gradient, f["parameters"][key]["gradient"], 1e-2 * largest);
  });
}

class Pyg : public ::testing::TestWithParam<const char*> {};

TEST_P(Pyg, OutputsAndGradientsInFloat) { compare<float>(GetParam()); }
TEST_P(Pyg, OutputsAndGradientsInDouble) { compare<double>(GetParam()); }

INSTANTIATE_TEST_SUITE_P(Layers, Pyg,
                         ::testing::Values("sage", "sage_l2", "gcn", "gat", "gat_heads", "gin", "gin_epsilon", "linear",
                                           "layer_norm", "gelu", "pool_add", "pool_mean", "pool_max"),
                         [](const auto& i) { return i.param; });
INSTANTIATE_TEST_SUITE_P(Models, Pyg,
                         ::testing::Values("pmgns_sage", "pmgns_gcn", "pmgns_gat", "pmgns_gin", "pmgns_mlp"),
                         [](const auto& i) { return i.param; });

TEST(PmgnsNames, AreTheFivePublished) {
  EXPECT_EQ(pmgns_names(),
            (std::vector<std::string>{"pmgns-sage", "pmgns-gcn", "pmgns-gat", "pmgns-gin", "pmgns-mlp"}));
  for (const std::string& name : pmgns_names()) EXPECT_TRUE(find_pmgns(name)) << name;
  EXPECT_FALSE(find_pmgns("pmgns-"));
  EXPECT_FALSE(find_pmgns("sage"));
  // Three blocks of two layers of 2·512² + 512, the first of 32 columns; three and one linear layers.
  std::size_t parameters = 0;
  Pmgns<float>(*find_pmgns("pmgns-sage")).visit({}, [&](const std::string&, Parameter<float>& p) {
    parameters += p.value.size();
  });
  EXPECT_EQ(parameters,
            2u * 32 * 512 + 512 + 5 * (2 * 512 * 512 + 512) + 517 * 512 + 512 + 2 * (512 * 512 + 512) + 512 * 3 + 3);
}

}  // namespace
}  // namespace perfc
