/// Training: it learns, it is repeatable, it survives a kill, ranks add up.
#include <gtest/gtest.h>

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <barrier>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <nlohmann/json.hpp>

#include "gnn/checkpoint.h"
#include "gnn/layers/linear.h"
#include "gnn/layers/rowwise.h"
#include "gnn/models/pmgns.h"
#include "gnn/trainer.h"
#include "gnn_check.h"

namespace perfc {
namespace {

using testing::random_matrix;

std::string slurp(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

/// Chains of 1 to 9 nodes; the targets are what a graph network can see.
std::vector<GraphSample> toy_graphs(std::size_t count, std::string_view stream) {
  const Random random = Random(11).stream(stream);
  std::vector<GraphSample> all;
  for (std::size_t s = 0; s < count; ++s) {
    GraphSample g;
    g.adjacency.nodes = 1 + random.index(s, 9);
    for (std::size_t n = 1; n < g.adjacency.nodes; ++n) g.adjacency.edges.emplace_back(n - 1, n);
    g.nodes = random_matrix<float>(g.adjacency.nodes, 4, std::string(stream) + std::to_string(s));
    g.globals = {static_cast<float>(random.uniform(1000 + s)), 1};
    float sum = 0;
    for (std::size_t n = 0; n < g.adjacency.nodes; ++n) sum += 1 + 0.5f * g.nodes(n, 0);
    g.targets = {sum, sum * g.globals[0], 2};
    all.push_back(std::move(g));
  }
  return all;
}

class Trainer : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::temp_directory_path() / ("perfc_trainer_" + std::to_string(::getpid()));
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::string path(const std::string& name) const { return (folder_ / name).string(); }

  static PmgnsOptions small() {
    return {.convolution = find_convolution("sage"),
            .node_columns = 4,
            .static_columns = 2,
            .graph_hidden = 16,
            .linear_hidden = 16,
            .dropout = 0.05};
  }

  TrainOptions options() const {
    return {
        .epochs = 4, .batch = 8, .seed = 5, .threads = 2, .schedule = {.shape = Schedule::Shape::Cosine, .peak = 3e-3}};
  }

  /// Trains a new network; its weights as a file's bytes.
  std::string weights_after(const TrainOptions& o, TrainReport* report = nullptr) {
    Pmgns<float> model(small());
    GraphTask task(model, training_, validation_, {.kind = LossKind::Huber});
    initialise(task.parameters(), Random(o.seed));
    SingleProcess alone;
    Diagnostics diags;
    const auto done = train(task, o, alone, diags);
    EXPECT_TRUE(done) << diags.str();
    if (done && report != nullptr) *report = *done;
    return write_safetensors({.metadata = {}, .tensors = save(task.parameters())});
  }

  std::filesystem::path folder_;
  std::vector<GraphSample> training_ = toy_graphs(61, "training"), validation_ = toy_graphs(20, "validation");
};

TEST_F(Trainer, SameSeedSameBytes) {
  const std::string once = weights_after(options());
  EXPECT_EQ(once, weights_after(options()));
  TrainOptions other = options();
  other.seed = 6;
  EXPECT_NE(once, weights_after(other));
}

TEST_F(Trainer, LearnsGraphs) {
  TrainOptions o = options();
  o.epochs = 150;
  o.schedule.peak = 1e-2;
  o.log_path = path("log.jsonl");
  TrainReport report;
  weights_after(o, &report);
  ASSERT_EQ(report.epochs.size(), 150u);
  EXPECT_EQ(report.steps, 150u * 8);
  EXPECT_LT(report.best_loss, 0.1 * report.epochs.front().validation_loss);

  std::ifstream log(o.log_path);
  std::string line;
  std::size_t lines = 0;
  while (std::getline(log, line)) {
    const auto j = nlohmann::json::parse(line);
    EXPECT_EQ(j["epoch"], ++lines);
    EXPECT_EQ(j["step"], lines * 8);
    EXPECT_DOUBLE_EQ(j["validation_loss"], report.epochs[lines - 1].validation_loss);
  }
  EXPECT_EQ(lines, 150u);
}

TEST_F(Trainer, AKilledRunGoesOnAsIfUnbroken) {
  TrainOptions o = options();
  o.log_path = path("whole.jsonl");
  const std::string unbroken = weights_after(o);
  o.log_path = path("killed.jsonl");
  o.state_path = path("state.safetensors");
  o.save_every = 3;  // of 8 steps an epoch: states lie within epochs too
  for (const std::uint64_t at : {5u, 14u, 20u}) {
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      o.on_step = [at](const Progress& p) { return p.step == at ? (::raise(SIGKILL), Next::GoOn) : Next::GoOn; };
      weights_after(o);
      ::_exit(0);  // not reached
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status)) << at;
  }
  EXPECT_EQ(weights_after(o), unbroken);

  // The log is that of the unbroken run, but for the times.
  const auto lines = [&](const std::string& file) {
    std::vector<nlohmann::json> all;
    std::istringstream text(slurp(path(file)));
    for (std::string line; std::getline(text, line);) {
      all.push_back(nlohmann::json::parse(line));
      all.back().erase("seconds");
      all.back().erase("samples_per_s");
    }
    return all;
  };
  EXPECT_EQ(lines("killed.jsonl"), lines("whole.jsonl"));
}

TEST_F(Trainer, AStoppedRunGoesOn) {
  TrainOptions o = options();
  const std::string unbroken = weights_after(o);
  o.state_path = path("state.safetensors");
  o.on_step = [](const Progress& p) { return p.step == 11 ? Next::Stop : Next::GoOn; };
  TrainReport report;
  weights_after(o, &report);
  EXPECT_EQ(report.ending, Ending::Stopped);
  EXPECT_EQ(report.steps, 11u);
  o.on_step = nullptr;
  EXPECT_EQ(weights_after(o, &report), unbroken);
  EXPECT_EQ(report.ending, Ending::AllEpochs);
}

TEST_F(Trainer, RefusesTheStateOfAnotherRun) {
  TrainOptions o = options();
  o.state_path = path("state.safetensors");
  weights_after(o);
  Pmgns<float> model(small());
  GraphTask task(model, training_, validation_, {});
  SingleProcess alone;
  Diagnostics diags;
  o.batch = 9;
  EXPECT_FALSE(train(task, o, alone, diags));
  EXPECT_EQ(diags.all().at(0).message, o.state_path + ": the state of another run: batch is 8 there and 9 here");
  o.batch = 8;
  o.identity["labels"] = "others";
  EXPECT_FALSE(train(task, o, alone, diags));
  EXPECT_EQ(diags.all().at(1).message,
            o.state_path + ": the state of another run: labels is missing there and others here");
}

TEST_F(Trainer, StopsEarlyAndKeepsTheBest) {
  // Labels that cannot be learnt: validation gets worse after some epochs.
  for (GraphSample& g : validation_) g.targets = {9, 0, -7};
  TrainOptions o = options();
  o.epochs = 100;
  o.patience = 3;
  TrainReport report;
  const std::string best = weights_after(o, &report);
  EXPECT_EQ(report.ending, Ending::EarlyStop);
  EXPECT_EQ(report.epochs.size(), report.best_epoch + 3);
  for (const EpochLog& e : report.epochs) EXPECT_GE(e.validation_loss, report.best_loss);

  Pmgns<float> model(small());
  GraphTask task(model, training_, validation_, {});
  Diagnostics diags;
  const auto file = parse_safetensors(best, diags);
  ASSERT_TRUE(file);
  ASSERT_TRUE(load(file->tensors, task.parameters(), diags));
  ThreadPool threads(2);
  Context c{.threads = threads};
  EXPECT_DOUBLE_EQ(*task.validate(c, diags), report.best_loss);
}

TEST_F(Trainer, SaysWhenTheLossIsNotFinite) {
  Linear<float> model(1, 1);
  RowTask::Rows rows{Matrix<float>(4, 1), Matrix<float>(4, 1)};
  rows.x.fill(3e38f);
  rows.y.fill(0);
  model.weight.value.fill(3e38f);
  RowTask task(model, rows, rows, {});
  SingleProcess alone;
  Diagnostics diags;
  EXPECT_FALSE(train(task, {.batch = 4}, alone, diags));
  EXPECT_EQ(diags.all().at(0).message, "the loss of step 1 is not a finite number");
}

TEST_F(Trainer, RowsConvergeToALine) {
  Sequential<float> model;
  model.add("hidden", std::make_unique<Linear<float>>(3, 32));
  model.add("gelu", std::make_unique<Activation<float>>(ActivationKind::Gelu));
  model.add("out", std::make_unique<Linear<float>>(32, 1));
  initialise(parameters<float>(model), Random(1));
  RowTask::Rows rows{random_matrix<float>(256, 3, "rows"), Matrix<float>(256, 1)};
  for (std::size_t r = 0; r < 256; ++r) rows.y(r, 0) = 2 * rows.x(r, 0) - rows.x(r, 1) + 0.5f;
  RowTask task(model, rows, rows, {});
  SingleProcess alone;
  Diagnostics diags;
  const auto report = train(
      task, {.epochs = 80, .batch = 32, .schedule = {.shape = Schedule::Shape::Linear, .peak = 1e-2}}, alone, diags);
  ASSERT_TRUE(report) << diags.str();
  EXPECT_LT(report->best_loss, 1e-4);
}

/// A task whose weights wait for the end of the step.
class PatientTask final : public TrainingTask {
 public:
  explicit PatientTask(TrainingTask& task) : task_(task) {}
  std::vector<NamedParameter<float>> parameters() override { return task_.parameters(); }
  std::size_t samples() const override { return task_.samples(); }
  Result<double> add_gradients(Context& c, std::span<const std::size_t> s, double weight, Diagnostics& d) override {
    return task_.add_gradients(c, s, weight, d);
  }
  Result<double> validate(Context& c, Diagnostics& d) override { return task_.validate(c, d); }

 private:
  TrainingTask& task_;
};

TEST_F(Trainer, UpdatesDuringBackwardGiveTheSameBytes) {
  const RowTask::Rows rows{random_matrix<float>(300, 20, "x"), random_matrix<float>(300, 2, "y")};
  const auto trained = [&](bool patient, std::size_t threads) {
    Sequential<float> model;
    model.add("a", std::make_unique<Linear<float>>(20, 250));
    model.add("relu", std::make_unique<Activation<float>>(ActivationKind::Relu));
    model.add("b", std::make_unique<Linear<float>>(250, 2));
    initialise(parameters<float>(model), Random(1));
    RowTask task(model, rows, rows, {});
    PatientTask other(task);
    SingleProcess alone;
    Diagnostics diags;
    EXPECT_TRUE(train(patient ? static_cast<TrainingTask&>(other) : task,
                      {.epochs = 3, .batch = 280, .threads = threads, .adam = {.weight_decay = 0.01}}, alone, diags))
        << diags.str();
    std::vector<float> all;
    for (const auto& p : parameters<float>(model))
      all.insert(all.end(), p.parameter->value.data(), p.parameter->value.data() + p.parameter->value.size());
    return all;
  };
  const auto usual = trained(true, 1);
  EXPECT_EQ(trained(false, 1), usual);
  EXPECT_EQ(trained(false, 3), usual);
}

TEST_F(Trainer, UpdatesDuringBackwardOfGraphsGiveTheSameBytes) {
  for (const std::string& name : pmgns_names()) {
    const auto trained = [&](bool patient) {
      PmgnsOptions o = small();
      o.convolution = find_pmgns(name)->convolution;
      Pmgns<float> model(o);
      GraphTask task(model, training_, validation_, {});
      PatientTask other(task);
      initialise(task.parameters(), Random(2));
      SingleProcess alone;
      Diagnostics diags;
      EXPECT_TRUE(train(patient ? static_cast<TrainingTask&>(other) : task, options(), alone, diags)) << diags.str();
      return write_safetensors({.metadata = {}, .tensors = save(task.parameters())});
    };
    EXPECT_EQ(trained(false), trained(true)) << name;
  }
}

/// Ranks as threads of one process.
struct Meeting {
  explicit Meeting(std::size_t n) : size(n), barrier(static_cast<std::ptrdiff_t>(n)) {}
  std::size_t size;
  std::barrier<> barrier;
  std::vector<double> sums;
};

class ThreadRank final : public Communicator {
 public:
  ThreadRank(Meeting& m, std::size_t rank) : meeting_(m), rank_(rank) {}
  std::size_t rank() const override { return rank_; }
  std::size_t size() const override { return meeting_.size; }
  void sum(std::span<float> v) override { add(v); }
  void sum(std::span<double> v) override { add(v); }

 private:
  template <class T>
  void add(std::span<T> v) {
    if (rank_ == 0) meeting_.sums.assign(v.size(), 0);
    for (std::size_t r = 0; r < meeting_.size; ++r) {
      meeting_.barrier.arrive_and_wait();
      for (std::size_t i = 0; r == rank_ && i < v.size(); ++i) meeting_.sums[i] += static_cast<double>(v[i]);
    }
    meeting_.barrier.arrive_and_wait();
    for (std::size_t i = 0; i < v.size(); ++i) v[i] = static_cast<T>(meeting_.sums[i]);
    meeting_.barrier.arrive_and_wait();
  }
  Meeting& meeting_;
  std::size_t rank_;
};

TEST_F(Trainer, RanksHaveTheGradientsOfOneRankWithTheWholeBatch) {
  // Dropout included. After one step of Adam's first moment alone, weights tell gradients apart.
  TrainOptions o = options();
  o.epochs = 1;
  o.threads = 1;
  o.batch = 24;
  o.adam.epsilon = 1;  // steps proportional to gradients, not to their signs
  o.schedule = {.peak = 1};
  const auto start = [&](Pmgns<float>& model) {
    model.visit({}, [&](const std::string& name, Parameter<float>& p) { testing::randomise(p.value, name); });
  };
  Pmgns<float> whole(small());
  start(whole);
  GraphTask task(whole, training_, validation_, {});
  SingleProcess alone;
  Diagnostics diags;
  ASSERT_TRUE(train(task, o, alone, diags));

  for (const std::size_t size : {2, 3}) {
    Meeting meeting(size);
    std::vector<std::unique_ptr<Pmgns<float>>> models;
    for (std::size_t r = 0; r < size; ++r) start(*models.emplace_back(std::make_unique<Pmgns<float>>(small())));
    std::vector<std::thread> ranks;
    for (std::size_t r = 0; r < size; ++r) {
      ranks.emplace_back([&, r] {
        GraphTask own(*models[r], training_, validation_, {});
        ThreadRank rank(meeting, r);
        Diagnostics messages;
        EXPECT_TRUE(train(own, o, rank, messages)) << messages.str();
      });
    }
    for (std::thread& t : ranks) t.join();
    const auto expected = task.parameters();
    for (std::size_t r = 0; r < size; ++r) {
      const auto got = parameters<float>(*models[r]);
      for (std::size_t i = 0; i < got.size(); ++i) {
        const float worst = (got[i].parameter->value.flat() - expected[i].parameter->value.flat()).abs().maxCoeff();
        EXPECT_LT(worst, 2e-5f) << got[i].name << " on rank " << r << " of " << size;
      }
    }
  }
}

TEST_F(Trainer, RangeTestFindsARateThatLearnsAndLeavesTheModelAlone) {
  Linear<float> model(3, 1);
  initialise(parameters<float>(model), Random(2));
  const Matrix<float> before = model.weight.value;
  RowTask::Rows rows{random_matrix<float>(256, 3, "rows"), Matrix<float>(256, 1)};
  for (std::size_t r = 0; r < 256; ++r) rows.y(r, 0) = 2 * rows.x(r, 0) - rows.x(r, 1);
  RowTask task(model, rows, rows, {});
  Diagnostics diags;
  const auto test = find_learning_rate(task, {.low = 1e-6, .high = 10, .steps = 80}, diags);
  ASSERT_TRUE(test) << diags.str();
  EXPECT_GT(test->suggestion, 1e-3);
  EXPECT_LT(test->suggestion, 1);
  EXPECT_GT(test->curve.size(), 40u);
  EXPECT_DOUBLE_EQ(test->curve.front().learning_rate, 1e-6);
  EXPECT_TRUE((model.weight.value.flat() == before.flat()).all());
  EXPECT_FALSE(find_learning_rate(task, {.low = 0}, diags));
}

}  // namespace
}  // namespace perfc
