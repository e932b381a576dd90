/// Kernel graphs, the corrected whitebox's network, and what PyTorch is known to launch.
#include <cmath>

#include "features/kernel_graph.h"
#include "gnn/models/corrected.h"
#include "gnn_check.h"
#include "graphs.h"
#include "kernel_plan.h"
#include "learning/kernel_sample.h"
#include "learning/predictors.h"
#include "whitebox/constants/depthwise.h"
#include "whitebox/launch/data_layout.h"
#include "whitebox/launch/framework.h"
#include "whitebox/launch/kernel_fields.h"

namespace perfc {
namespace {

using testing::randomise;
using testing::three_graphs;

/// Inputs for `three_graphs`: every kind of kernel, host and device time of like size.
GraphInput<double> corrected_input(std::size_t features) {
  GraphInput<double> in{Matrix<double>(9, kKernelColumns + features), Matrix<double>(3, kGlobalColumns)};
  randomise(in.nodes, "features");
  for (std::size_t i = 0; i < 9; ++i) {
    in.nodes(i, kCountColumn) = 1 + static_cast<double>(i % 3);
    in.nodes(i, kWorkColumn) = 2 + static_cast<double>(i);
    in.nodes(i, kLaunchColumn) = 1.5;
    in.nodes(i, kWaitingColumn) = 0.25 * static_cast<double>(i % 2);
    in.nodes(i, kKindColumn) = static_cast<double>(i % kTermKinds);
  }
  for (std::size_t g = 0; g < 3; ++g) {
    in.globals(g, kHostColumn) = 30 - 5 * static_cast<double>(g);
    in.globals(g, kTermsColumn) = static_cast<double>(g);
    in.globals(g, kHostPartColumn) = 0.4 * static_cast<double>(g);  // the first graph's runs queue up
    in.globals(g, kDevicePartColumn) = g > 0 ? 0.9 : 0;
  }
  return in;
}

TEST(Corrected, WithoutTrainingItIsTheWhitebox) {
  Corrected<double> model({.features = 3, .hidden = 4, .convolutions = 1, .devices = 2});
  initialise(parameters<double>(model), Random(1));
  GraphBatch graph = three_graphs();
  ThreadPool threads;
  Context context{.threads = threads, .graph = &graph};
  GraphInput<double> in = corrected_input(3);
  for (std::size_t g = 0; g < 3; ++g) in.globals(g, kHostColumn) = 0;
  const Matrix<double>& y = model.forward(context, in);
  double sum = 0;
  for (std::size_t i = 0; i < 5; ++i)
    sum += in.nodes(i, kCountColumn) *
           (in.nodes(i, kWorkColumn) + in.nodes(i, kLaunchColumn) + in.nodes(i, kWaitingColumn));
  EXPECT_NEAR(y(0, 0), sum, 1e-12);
  in.globals(0, kHostColumn) = 100 * sum;  // the host dominates
  EXPECT_NEAR(model.forward(context, in)(0, 0), 100 * sum, 1e-6 * sum);
}

/// The shipped networks were trained in AMP, whose kernels in 16 bits are those of a model in float16.
TEST(Corrected, SixteenBitsAreCorrectedAsAmpAndSaidSo) {
  KernelTable table;
  EXPECT_EQ(table.like_trained(Precision::Fp16), Precision::Fp16);  // while training
  table.precisions = {Precision::Amp};
  for (const Precision p : {Precision::Amp, Precision::Fp16, Precision::Bf16})
    EXPECT_EQ(table.like_trained(p), Precision::Amp);
  for (const Precision p : {Precision::Fp32, Precision::Tf32, Precision::Int8}) EXPECT_EQ(table.like_trained(p), p);
  table.precisions = {Precision::Amp, Precision::Fp16};
  EXPECT_EQ(table.like_trained(Precision::Fp16), Precision::Fp16);

  Diagnostics diags("test");
  const Request request{.model = std::string(PERFC_SOURCE_DIR) + "/examples/resnet50.onnx", .batch = 64};
  const auto graph = load_graph(request, diags);
  const auto predictor = find_predictor(request, diags);
  const auto device = DeviceTable::builtin().find("rtx4090", diags);
  ASSERT_TRUE(graph && predictor && device) << diags.str();
  const auto on = [&](Precision p) { return (*(*predictor)->prepare(*graph, {.precision = p}, diags))->on(*device); };
  const Prediction amp = on(Precision::Amp), half = on(Precision::Fp16);
  EXPECT_EQ(half.predictor, "corrected");
  EXPECT_NEAR(half.latency_ms / amp.latency_ms, 1, 0.05);
  EXPECT_LE(half.latency_ms, amp.latency_ms);  // the same kernels without casts
  EXPECT_GT(half.latency_hi_ms / half.latency_ms, amp.latency_hi_ms / amp.latency_ms);
  EXPECT_GT(half.novelty.size(), amp.novelty.size());
  EXPECT_EQ(on(Precision::Tf32).predictor, "whitebox");
}

TEST(Corrected, Gradients) {
  for (const std::size_t convolutions : {0, 2}) {
    Corrected<double> model({.features = 3, .hidden = 4, .convolutions = convolutions, .devices = 2});
    for (auto& [name, p] : parameters<double>(model)) randomise(p->value, name);
    GraphBatch graph = three_graphs();
    ThreadPool threads;
    Context context{.threads = threads, .graph = &graph};
    const GraphInput<double> in = corrected_input(3);
    const Matrix<double> w = testing::random_matrix<double>(3, 1, "weights of the sum");
    model.forward(context, in);
    for (auto& [name, p] : parameters<double>(model)) p->gradient.fill(0);
    model.backward(context, w);
    const auto loss = [&] { return (model.forward(context, in).flat() * w.flat()).sum(); };
    for (auto& [name, p] : parameters<double>(model)) {
      const double largest = std::max(p->gradient.flat().abs().maxCoeff(), 1e-3);
      for (std::size_t i = 0; i < p->value.size(); ++i) {
        constexpr double kStep = 1e-6;
        const double kept = p->value.data()[i];
        p->value.data()[i] = kept + kStep;
        const double up = loss();
        p->value.data()[i] = kept - kStep;
        const double down = loss();
        p->value.data()[i] = kept;
        ASSERT_NEAR(p->gradient.data()[i], (up - down) / (2 * kStep), 1e-5 * largest) << name << " entry " << i;
      }
    }
  }
}

const char* const kBlocks = R"(def @main(%x: Tensor[(8, 64), float32]) {
  %1 = weight : Tensor[(64, 64), float32];
  %2 = nn.dense(%x, %1);
  %3 = nn.relu(%2);
  %4 = nn.dense(%3, %1);
  %5 = nn.relu(%4);
  %6 = nn.dense(%5, %1);
  %7 = nn.relu(%6);
  %8 = nn.dense(%7, %1);
  %9 = nn.relu(%8);
  (%9)
})";

TEST(KernelGraph, EqualKernelsAreOneClass) {
  const KernelPlan plan = plan_of(graph_of(kBlocks), {});
  ASSERT_EQ(plan.kernels.size(), 8u);
  EXPECT_EQ(plan.edges.size(), 7u);
  const KernelGraph alone = merge_equal(plan, 0);
  // The first product reads the input, which no kernel has handed to it.
  ASSERT_EQ(alone.kernels.size(), 3u);
  EXPECT_EQ(alone.count, (std::vector<double>{1, 4, 3}));
  // One round tells the ends of the chain from its middle.
  const KernelGraph around = merge_equal(plan, 1);
  EXPECT_EQ(around.kernels.size(), 5u);
  EXPECT_EQ(around.count, (std::vector<double>{1, 1, 3, 2, 1}));
  EXPECT_EQ(around.class_of.size(), 8u);
}

/// LSTMs of 16 and 64 steps take as many reads of their weights, however equal the rest is.
TEST(KernelGraph, RecurrencesOfDifferentStepsAreTwoClasses) {
  KernelPlan plan;
  for (const double steps : {16, 64}) {
    Kernel& k = plan.kernels.emplace_back();
    k.ops = {op("nn.lstm")};
    k.traffic = {.bytes = 1e6, .state_weights = 4e6, .steps = steps};
  }
  EXPECT_EQ(merge_equal(plan, 0).kernels.size(), 2u);
  plan.kernels[1].traffic.steps = 16;
  EXPECT_EQ(merge_equal(plan, 0).kernels.size(), 1u);
}

/// A value that is none of the field's default.
struct ChangeField {
  void operator()(double& v) const { v = v * 2 + 3; }
  void operator()(bool& v) const { v = !v; }
  void operator()(NodeId& v) const { ++v; }
  void operator()(KernelKind& v) const { v = v == KernelKind::Gather ? KernelKind::Vector : KernelKind::Gather; }
  void operator()(StateKernels& v) const {
    v = v == StateKernels::Tokens ? StateKernels::Chunks : StateKernels::Tokens;
  }
  void operator()(Quantised& v) const { v = v == Quantised::Both ? Quantised::Weights : Quantised::Both; }
  void operator()(Pass& v) const { v = v == Pass::Inference ? Pass::DataGradient : Pass::Inference; }
  void operator()(decltype(Kernel::ops)& v) const { v.push_back(op("nn.lstm")); }
};

TEST(KernelGraph, EveryFieldTellsKernelsApartThatIsSaidTo) {
  std::size_t fields = 0;
  visit_fields(Kernel{}, [&fields](const KernelField&, const auto&) { ++fields; });
  for (std::size_t changed = 0; changed < fields; ++changed) {
    KernelPlan plan;
    plan.kernels.resize(2);
    std::size_t at = 0;
    KernelField field;
    visit_fields(plan.kernels[1], [&](const KernelField& f, auto& value) {
      if (at++ != changed) return;
      field = f;
      ChangeField{}(value);
    });
    EXPECT_EQ(merge_equal(plan, 0).kernels.size(), field.tells == Tells::Apart ? 2u : 1u) << field.name;
  }
}

/// Message passing over classes gives every kernel what it gets over the plan itself.
TEST(KernelGraph, MergingChangesNoPrediction) {
  const KernelPlan plan = plan_of(graph_of(kBlocks), {});
  constexpr std::size_t kRounds = 2, kFeatures = 4;
  Corrected<double> model({.features = kFeatures, .hidden = 8, .convolutions = kRounds});
  for (auto& [name, p] : parameters<double>(model)) randomise(p->value, name);
  const auto time = [&](const std::vector<Kernel>& kernels, const std::vector<double>& count, Adjacency adjacency) {
    GraphInput<double> in{Matrix<double>(kernels.size(), kKernelColumns + kFeatures),
                          Matrix<double>(1, kGlobalColumns)};
    for (std::size_t i = 0; i < kernels.size(); ++i) {
      const Kernel& k = kernels[i];
      const double row[] = {
          count[i],           k.traffic.bytes / 1e3, 2, 0, static_cast<double>(k.kind), k.work.macs / 1e5,
          k.work.flops / 1e3, k.traffic.bytes / 1e5, 1};
      std::copy(std::begin(row), std::end(row), in.nodes.data() + i * in.nodes.columns());
    }
    in.globals.fill(0);
    adjacency.nodes = kernels.size();
    adjacency.self_edges = Adjacency::SelfEdges::Allow;
    const Adjacency* one[] = {&adjacency};
    Diagnostics diags;
    const auto graph = GraphBatch::join(one, diags);
    ThreadPool threads;
    Context context{.threads = threads, .graph = &*graph};
    return model.forward(context, in)(0, 0);
  };
  Adjacency whole;
  for (const auto& [from, to] : plan.edges) {
    whole.edges.emplace_back(from, to);
    whole.edges.emplace_back(to, from);
  }
  const KernelGraph merged = merge_equal(plan, kRounds);
  ASSERT_LT(merged.kernels.size(), plan.kernels.size());
  EXPECT_NEAR(time(merged.kernels, merged.count, {.edges = merged.edges}),
              time(plan.kernels, std::vector<double>(8, 1.0), whole), 1e-9);
}

TEST(KernelGraph, RowsHaveTheColumns) {
  const KernelPlan plan = plan_of(graph_of(kBlocks), {});
  const KernelGraph g = merge_equal(plan, 1);
  const std::vector<std::string> words{"nn.dense", "tanh"};
  const auto columns = kernel_columns(words);
  const Device d{.name = "d", .kind = "gpu", .sms = 10, .launch_us = 2};
  std::vector<Priced> priced(g.kernels.size(), Priced{.compute_us = 4, .memory_us = 1});
  const FeatureMatrix rows = kernel_features(g, priced, d, {}, vocabulary_index(words));
  ASSERT_EQ(rows.columns, columns.size());
  const auto column = [&](std::string_view name) {
    return static_cast<std::size_t>(
        std::find_if(columns.begin(), columns.end(), [&](const Column& c) { return c.name == name; }) -
        columns.begin());
  };
  EXPECT_EQ(rows.at(0, column("kind.matmul")), 1);
  EXPECT_EQ(rows.at(0, column("compute_to_memory")), 2);  // log2(4 / 1)
  EXPECT_EQ(rows.at(0, column("work_to_launch")), 1);     // log2(4 / 2)
  EXPECT_EQ(rows.at(0, column("m")), 3);                  // 8 rows
  EXPECT_EQ(rows.at(0, column("k")), 6);                  // depth 64
  EXPECT_EQ(rows.at(0, column("op.nn.dense")), 1);
  EXPECT_EQ(rows.at(0, column("op.tanh")), 0);
  EXPECT_EQ(rows.at(1, column("op.nn.dense")), 0);
}

TEST(Framework, AttentionOfFiveDimsRunsAsItsPartsInFloat32) {
  const Graph g = graph_of(R"(def @main(%q: Tensor[(2, 3, 4, 16, 8), float32]) {
  %1 = nn.sdpa(%q, %q, %q);
  (%1)
})");
  const KernelPlan plan = plan_of(g, {.precision = Precision::Fp16});
  EXPECT_EQ(ops_of(plan),
            (std::vector<std::string>{"cast", "cast", "cast", "multiply", "multiply", "nn.batch_matmul", "nn.softmax",
                                      "equal", "max", "where", "cast", "nn.batch_matmul", "cast"}));
  for (const Kernel& k : plan.kernels) EXPECT_FALSE(k.half);
  const Graph four = graph_of(R"(def @main(%q: Tensor[(6, 4, 16, 8), float32]) {
  %1 = nn.sdpa(%q, %q, %q);
  (%1)
})");
  EXPECT_EQ(ops_of(plan_of(four, {.precision = Precision::Fp16})), std::vector<std::string>{"nn.sdpa"});
}

TEST(Framework, BilinearUpsamplingLoopsOverBatchAndChannels) {
  const Graph g = graph_of(R"(def @main(%x: Tensor[(32, 64, 7, 7), float32]) {
  %1 = const[32, 64, 14, 14] : Tensor[(4,), int64];
  %2 = image.resize2d(%x, _, _, %1, mode="linear", coordinate_transformation_mode="half_pixel");
  (%2)
})");
  EXPECT_EQ(plan_of(g, {}).kernels.at(0).limits.serial_steps, 32 * 64);
  EXPECT_EQ(plan_of(g, {.layout = Layout::Nhwc}).kernels.at(0).limits.serial_steps, 0);
  EXPECT_EQ(plan_of(g, {.mode = ExecMode::Compiled}).kernels.at(0).limits.serial_steps, 0);
}

TEST(Fusion, NoGroupWaitsForItself) {
  // The second addition reads the first one's group and a product that waits for it.
  const Graph g = graph_of(R"(def @main(%x: Tensor[(64, 64), float32]) {
  %1 = weight : Tensor[(64, 64), float32];
  %2 = nn.relu(%x);
  %3 = nn.dense(%2, %1);
  %4 = add(%2, %3);
  %5 = nn.dense(%4, %1);
  %6 = add(%4, %5);
  (%6)
})");
  const KernelPlan plan = plan_of(g, {.mode = ExecMode::Compiled});
  EXPECT_EQ(ops_of(plan), (std::vector<std::string>{"nn.relu", "nn.dense", "add", "nn.dense", "add"}));
}

TEST(Fusion, BothSidesOfADiamondJoin) {
  const Graph g = graph_of(R"(def @main(%x: Tensor[(64, 64), float32]) {
  %1 = weight : Tensor[(64, 64), float32];
  %2 = nn.dense(%x, %1);
  %3 = sigmoid(%2);
  %4 = multiply(%2, %3);
  %5 = tanh(%x);
  %6 = add(%4, %5);
  (%6)
})");
  const KernelPlan plan = plan_of(g, {.mode = ExecMode::Compiled});
  ASSERT_EQ(plan.kernels.size(), 2u);
  EXPECT_EQ(plan.kernels[1].ops.size(), 4u);                  // sigmoid, multiply, tanh, add
  EXPECT_EQ(plan.kernels[1].traffic.bytes, 3 * 64 * 64 * 4);  // reads %2 and %x, writes %6
}

TEST(Fusion, WhatOthersReadAlreadyStaysAlone) {
  const Graph g = graph_of(R"(def @main(%x: Tensor[(64, 64), float32]) {
  %1 = weight : Tensor[(64, 64), float32];
  %2 = tanh(%x);
  %3 = nn.dense(%2, %1);
  %4 = sigmoid(%3);
  %5 = add(%4, %2);
  (%5)
})");
  EXPECT_EQ(ops_of(plan_of(g, {.mode = ExecMode::Compiled})),
            (std::vector<std::string>{"tanh", "nn.dense", "sigmoid"}));
}

/// Since PyTorch 2.4 (pytorch/pytorch#121324). Its scales are no tensors.
TEST(Framework, ResizingIsInFloat32UnderAutocast) {
  const Graph g = graph_of(R"(def @main(%x: Tensor[(1, 16, 8, 8), float32]) {
  %1 = weight : Tensor[(16, 16, 1, 1), float32];
  %2 = nn.conv2d(%x, %1);
  %3 = const[1.0, 1.0, 2.0, 2.0] : Tensor[(4,), float32];
  %4 = image.resize2d(%2, _, %3, _, mode="nearest", coordinate_transformation_mode="asymmetric");
  (%4)
})");
  const KernelPlan plan = plan_of(g, {.precision = Precision::Amp});
  EXPECT_EQ(ops_of(plan), (std::vector<std::string>{"cast", "cast", "nn.conv2d", "cast", "image.resize2d"}));
  EXPECT_FALSE(plan.kernels.back().half);
}

TEST(Framework, LargeDepthwiseWindowsHaveSlowKernels) {
  const auto limit = [](double window, bool channels_last) {
    return vector_limit({.window = window, .channels_last = channels_last, .float16 = true});
  };
  EXPECT_EQ(limit(25, false), 0);  // cuDNN's, by their blocks
  EXPECT_EQ(limit(49, true), 0);
  EXPECT_GT(limit(49, false), 0);
  EXPECT_LT(limit(81, true), limit(81, false));
  EXPECT_EQ(vector_limit({.window = 9, .channels_last = true, .wide_index = true}), constants::kWideFallback);
  // TensorRT's own kernels were not measured.
  EXPECT_EQ(vector_limit({.window = 9, .channels_last = true, .float16 = true, .own_kernels = true}), 0);
}

TEST(Framework, DataThat32BitsCannotIndexTakesLonger) {
  const auto plan = [](int batch, ExecMode mode) {
    return plan_of(graph_of("def @main(%x: Tensor[(" + std::to_string(batch) + R"(, 1024, 1024), float16]) {
  %1 = concatenate(%x, %x, axis=1);
  %2 = nn.relu(%x);
  (%1, %2)
})"),
                   {.mode = mode});
  };
  EXPECT_FALSE(plan(1023, ExecMode::Eager).kernels.at(0).placement.wide_index);
  const KernelPlan eager = plan(1024, ExecMode::Eager);  // the concatenation has 2^31 elements
  EXPECT_TRUE(eager.kernels.at(0).placement.wide_index);
  EXPECT_GT(eager.kernels.at(0).limits.slowdown, 1);
  EXPECT_FALSE(eager.kernels.at(1).placement.wide_index);
  const KernelPlan both = plan(2048, ExecMode::Eager);
  EXPECT_TRUE(both.kernels.at(1).placement.wide_index);
  EXPECT_EQ(both.kernels.at(1).limits.slowdown, 1);  // elementwise kernels split their work
  EXPECT_GT(plan(2048, ExecMode::Compiled).kernels.at(0).limits.slowdown, 1);
}

TEST(Framework, FewGroupWidthsHaveGoodKernels) {
  for (const double width : {4.0, 8.0, 16.0, 32.0, 64.0, 128.0})
    EXPECT_TRUE(on_matrix_units({width, width, 9, true})) << width;
  for (const double width : {2.0, 3.0, 6.0}) {
    EXPECT_FALSE(on_matrix_units({width, width, 9, true})) << width;
    EXPECT_LT(vector_limit({width, width, 9, true}), 0.02) << width;
  }
  EXPECT_FALSE(on_matrix_units({4, 4, 9, false}));
  EXPECT_GT(vector_limit({1, 2, 49, true}), 0);  // several results per channel
  EXPECT_GT(vector_limit({.outputs = 2, .window = 9, .float16 = true}), 0);
}

TEST(Framework, PermutedTokensLieChannelsLast) {
  const Graph g = graph_of(R"(def @main(%x: Tensor[(2, 8, 8, 16), float32]) {
  %1 = transpose(%x, perm=[0, 3, 1, 2]);
  %2 = nn.relu(%1);
  %3 = transpose(%2, perm=[0, 2, 3, 1]);
  %4 = nn.relu(%3);
  (%2, %4)
})");
  const std::vector<bool> last = channels_last(g, {});
  std::vector<bool> of_calls;
  for (NodeId id = 0; id < g.size(); ++id) {
    if (g.node(id).kind == NodeKind::Call) of_calls.push_back(last[id]);
  }
  EXPECT_EQ(of_calls, (std::vector<bool>{true, true, false, false}));
}

}  // namespace
}  // namespace perfc
