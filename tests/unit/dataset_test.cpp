/// Labels, splits and scores.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <mutex>

#include <unistd.h>

#include "ir/support/csv.h"
#include "learning/evaluation.h"

namespace perfc {
namespace {

std::string complaint(std::string_view text) {
  Diagnostics diags("t.csv");
  EXPECT_FALSE(parse_csv(text, diags));
  EXPECT_EQ(diags.errors(), 1u);
  return diags.all().empty() ? "" : to_string(diags.all()[0]);
}

TEST(Csv, ReadsQuotesLineEndsAndEmptyFields) {
  Diagnostics diags;
  const auto t = parse_csv(
      "\xef\xbb\xbf"
      "a,b,c\r\n1,\"x, \"\"y\"\"\nz\",\r\n\n,,3",
      diags);
  ASSERT_TRUE(t) << diags.str();
  EXPECT_EQ(t->head, (std::vector<std::string>{"a", "b", "c"}));
  ASSERT_EQ(t->rows.size(), 2u);
  EXPECT_EQ(t->rows[0].fields, (std::vector<std::string>{"1", "x, \"y\"\nz", ""}));
  EXPECT_EQ(t->rows[0].loc.line, 2);
  EXPECT_EQ(t->rows[1].fields, (std::vector<std::string>{"", "", "3"}));
  EXPECT_EQ(t->rows[1].loc.line, 5);
  EXPECT_EQ(t->column("c"), 2u);
  EXPECT_EQ(t->column("d"), std::nullopt);
}

TEST(Csv, NamesTheLineThatIsWrong) {
  EXPECT_EQ(complaint("a,b\n1,2\n1\n"), "t.csv:3:1: error: 1 fields, but the head has 2");
  EXPECT_EQ(complaint("a\n\"x\"y\n"), "t.csv:2:1: error: text after a closing quote");
  EXPECT_EQ(complaint("a\n\"x\ny"), "t.csv:3:1: error: the file ends inside quotes");
  EXPECT_EQ(complaint("a,b,a\n"), "t.csv:1:1: error: column 'a' occurs twice");
  EXPECT_EQ(complaint(""), "t.csv: error: no head line with column names");
}

TEST(Csv, NumbersAreWholeFields) {
  EXPECT_EQ(parse_number("-1.5e3"), -1500);
  for (const char* text : {"", "1 ", " 1", "1x", "nan", "inf", "1e999", "0x10"})
    EXPECT_EQ(parse_number(text), std::nullopt) << text;
}

class Labels : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::temp_directory_path() / ("perfc_labels_" + std::to_string(::getpid()));
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::string file(const std::string& name, const std::string& text) {
    std::ofstream(folder_ / name) << text;
    return (folder_ / name).string();
  }
  std::string error(const std::string& text) {
    Diagnostics diags("l.csv");
    EXPECT_FALSE(read_dataset(file("l.csv", text), diags));
    return diags.all().empty() ? "" : to_string(diags.all()[0]);
  }
  std::filesystem::path folder_;
};

TEST_F(Labels, RowsThatAreResultsWithoutALabelAreLeftOutAndCounted) {
  Diagnostics diags("t.csv");
  const auto d =
      read_dataset(file("status.csv",
                        "model,latency_ms,status,mode\na.pir,1,ok,eager\nb.pir,,oom,eager\nc.pir,,oom,eager\n"
                        "d.pir,2,,compiled\ne.pir,,crashed,eager\nf.pir,3,ok,cuda-graph\n"),
                   diags);
  ASSERT_TRUE(d) << diags.str();
  ASSERT_EQ(d->labels.size(), 2u);
  EXPECT_EQ(d->labels[1].latency_ms, 2);
  EXPECT_EQ(diags.str(),
            "t.csv: note: rows left out: 1 with mode cuda-graph, 1 with status crashed, 2 with status oom\n");
  Diagnostics none("t.csv");
  EXPECT_FALSE(read_dataset(file("none.csv", "model,latency_ms,status\nb.pir,,oom\n"), none));
  EXPECT_EQ(none.str(), "t.csv: error: no row is a label: 1 with status oom\n");
}

TEST_F(Labels, AreReadByColumnName) {
  const std::string path = file("l.csv",
                                "latency_ms,model,batch,mode,dtype,layout,norms,stack,device,family,licence,other\n"
                                "1.5,m/resnet50_224.reparam.onnx,8,compiled,fp32,nhwc,half,pytorch-2.10,rtx4090,resnet,"
                                "MIT,x\n"
                                ",vgg.onnx,,,,,,,,,,\n");
  Diagnostics diags;
  const auto d = read_dataset(path, diags);
  ASSERT_TRUE(d) << diags.str();
  ASSERT_EQ(d->labels.size(), 2u);
  const Label& a = d->labels[0];
  EXPECT_EQ(a.model, (folder_ / "m/resnet50_224.reparam.onnx").string());
  EXPECT_EQ(a.batch, 8);
  EXPECT_EQ(a.latency_ms, 1.5);
  EXPECT_TRUE(std::isnan(a.memory_mib));
  EXPECT_EQ(a.exec.mode, ExecMode::Compiled);
  EXPECT_EQ(a.exec.precision, Precision::Fp32);
  EXPECT_EQ(a.exec.layout, Layout::Nhwc);
  EXPECT_EQ(a.exec.norms, Norms::Half);
  EXPECT_EQ(a.exec.compiled_attention, CompiledAttention::Contiguous);
  EXPECT_EQ(a.architecture, "resnet50");
  EXPECT_EQ(a.family, "resnet");
  const Label& b = d->labels[1];
  EXPECT_EQ(b.exec.compiled_attention, CompiledAttention::Today);
  EXPECT_EQ(b.batch, std::nullopt);
  EXPECT_EQ(b.exec.precision, Precision::Amp);
  EXPECT_EQ(b.exec.norms, Norms::Full);
  EXPECT_EQ(b.task, "infer");
  EXPECT_EQ(b.family, "-");
  EXPECT_EQ(b.architecture, "vgg");
}

TEST_F(Labels, WrongFieldsAreNamed) {
  const std::string head = "model,batch,dtype,mode,latency_ms\n";
  EXPECT_EQ(error(head + "a,0,,,1\n"), "l.csv:2:1: error: batch: '0' is not a whole number from 1");
  EXPECT_EQ(error(head + "a,1.5,,,1\n"), "l.csv:2:1: error: batch: '1.5' is not a whole number from 1");
  EXPECT_EQ(error(head + "a,1,fp99,,1\n"),
            "l.csv:2:1: error: dtype: 'fp99' is not one of fp32, tf32, amp, fp16, bf16, int8, fp8, default");
  EXPECT_EQ(error(head + "a,1,,lazy,1\n"),
            "l.csv:2:1: error: mode: 'lazy' is not one of eager, compiled, onnxruntime-cpu");
  EXPECT_EQ(error(head + "a,1,,,-3\n"), "l.csv:2:1: error: latency_ms: '-3' is not a positive number");
  EXPECT_EQ(error(head + ",1,,,3\n"), "l.csv:2:1: error: model: '' is not the path of a model file");
  EXPECT_EQ(error(head), "l.csv: error: no rows");
  EXPECT_EQ(error("model,batch\na,1\n"), "l.csv: error: none of the columns latency_ms, memory_mib, energy_j");
  EXPECT_EQ(error("batch,latency_ms\n1,1\n"), "l.csv: error: no column 'model'");
}

TEST_F(Labels, ArchitecturesComeFromFileNames) {
  EXPECT_EQ(architecture_of("a/b/convnext_base_384.onnx"), "convnext_base");
  EXPECT_EQ(architecture_of("vit_b_16_224.reparam.json"), "vit_b_16");
  EXPECT_EQ(architecture_of("resnet50.onnx"), "resnet50");
  EXPECT_EQ(architecture_of("_12.onnx"), "_12");
  EXPECT_EQ(architecture_of("x_.onnx"), "x_");
}

TEST_F(Labels, SplitsKeepArchitecturesTogetherAndStable) {
  Dataset d;
  for (int i = 0; i < 2000; ++i) {
    Label l;
    l.architecture = "net" + std::to_string(i / 2);
    d.labels.push_back(l);
  }
  const Split all = random_split(d, 1);
  std::array<double, 3> share{};
  for (const auto& [name, part] : all) share[static_cast<std::size_t>(part)] += 1.0 / static_cast<double>(all.size());
  EXPECT_EQ(all.size(), 1000u);
  EXPECT_NEAR(share[0], 0.70, 0.04);
  EXPECT_NEAR(share[1], 0.15, 0.04);
  Dataset few{.labels = {d.labels[10], d.labels[500]}};
  for (const auto& [name, part] : random_split(few, 1)) EXPECT_EQ(part, all.at(name));
  EXPECT_NE(random_split(d, 2), all);
}

TEST_F(Labels, SplitFilesAreHeldAgainstTheLabels) {
  Dataset d;
  d.labels.resize(1);
  d.labels[0].architecture = "a";
  Diagnostics diags("s.csv");
  const auto split = read_split(file("s.csv", "split,architecture\ntest,a\ntraining,b\n"), d, diags);
  ASSERT_TRUE(split) << diags.str();
  EXPECT_EQ(split->at("a"), Part::Test);
  EXPECT_FALSE(read_split(file("s.csv", "split,architecture\ntraining,b\n"), d, diags));
  EXPECT_EQ(diags.all().back().message, "no row for the architecture 'a' of the labels");
  EXPECT_FALSE(read_split(file("s.csv", "split,architecture\ntrain,a\n"), d, diags));
  EXPECT_EQ(diags.all().back().message, "split: 'train' is none of training, validation, test");
  EXPECT_FALSE(read_split(file("s.csv", "split,architecture\ntest,a\ntraining,a\n"), d, diags));
  EXPECT_EQ(diags.all().back().message, "'a' is in two parts");
}

TEST_F(Labels, GraphsAreLoadedOncePerModelAndBatch) {
  Label good{.model = std::string(PERFC_SOURCE_DIR) + "/examples/resnet50.onnx", .batch = 2};
  Label other = good, bad = good, slower = good;
  other.batch = 3;
  slower.exec.mode = ExecMode::Compiled;
  bad.model = (folder_ / "none.onnx").string();
  const std::vector<Label> labels{good, bad, other, good, slower, bad};
  Diagnostics diags;
  std::mutex mutex;
  std::vector<std::vector<std::size_t>> seen;
  const auto left_out = for_each_graph(
      labels, 2,
      [&](const Graph&, std::span<const std::size_t> which) {
    const std::lock_guard lock(mutex);
    seen.emplace_back(which.begin(), which.end());
      },
      diags);
  ASSERT_TRUE(left_out);
  EXPECT_EQ(*left_out, 2u);
  std::sort(seen.begin(), seen.end());
  EXPECT_EQ(seen, (std::vector<std::vector<std::size_t>>{{0, 3}, {2}, {4}}));
  EXPECT_EQ(diags.warnings(), 1u);
  EXPECT_TRUE(diags.all()[0].message.starts_with("left out: " + bad.model)) << diags.str();
  EXPECT_FALSE(for_each_graph(
      std::span(labels).subspan(1, 1), 1, [](const Graph&, std::span<const std::size_t>) {}, diags));
}

TEST(Scores, AreThoseOfTheirDefinitions) {
  const std::vector<Comparison> all{{100, 110, 90, 120}, {200, 150, 190, 210}, {50, 50, 60, 70}, {10, 13, 0, 5}};
  const Score s = score(all);
  EXPECT_EQ(s.count, 4u);
  EXPECT_NEAR(s.mape, (0.10 + 0.25 + 0 + 0.30) / 4, 1e-12);
  EXPECT_NEAR(s.median_ape, 0.5 * (0.10 + 0.25), 1e-12);
  EXPECT_NEAR(s.within_10, 0.5, 1e-12);
  EXPECT_NEAR(s.within_20, 0.5, 1e-12);
  EXPECT_NEAR(s.spearman, 1, 1e-12);
  EXPECT_NEAR(s.coverage, 0.5, 1e-12);
  EXPECT_NEAR(score(std::vector<Comparison>{{1, 3}, {2, 2}, {3, 1}}).spearman, -1, 1e-12);
  // Ties: ranks 0, 1.5, 1.5, 3 against 0, 1, 2, 3.
  EXPECT_NEAR(score(std::vector<Comparison>{{1, 1}, {2, 2}, {2, 3}, {4, 4}}).spearman, 4.5 / std::sqrt(4.5 * 5), 1e-12);
  EXPECT_TRUE(std::isnan(score(std::vector<Comparison>{{1, 1}}).spearman));
  EXPECT_TRUE(std::isnan(score(std::vector<Comparison>{{1, 1}}).coverage));
}

TEST(Scores, AreListedByHeadPartAndFamily) {
  Dataset d;
  Split split;
  std::vector<Estimate> estimates;
  for (const auto& [arch, family, part] : std::initializer_list<std::tuple<const char*, const char*, Part>>{
           {"a", "f", Part::Training}, {"b", "f", Part::Test}, {"c", "g", Part::Test}, {"d", "g", Part::Test}}) {
    Label l;
    l.architecture = arch;
    l.family = family;
    l.latency_ms = 10;
    d.labels.push_back(l);
    split[arch] = part;
    estimates.push_back({.latency_ms = 11});
  }
  d.labels[0].memory_mib = 5;
  estimates[3] = {};
  const auto rows = evaluate(d, split, estimates);
  std::vector<std::string> names;
  names.reserve(rows.size());
  for (const ScoreRow& r : rows) names.push_back(r.head + " " + r.group + " " + std::to_string(r.score.count));
  EXPECT_EQ(names, (std::vector<std::string>{"latency all 3", "latency training 1", "latency test 2",
                                             "latency test, family f 1", "latency test, family g 1"}));
  EXPECT_EQ(to_table(std::span(rows).first(1), TableStyle::Markdown),
            "| head    | labels | n | MAPE % | median % | within 10 % | within 20 % | Spearman | coverage % |\n"
            "|---|---|---:|---:|---:|---:|---:|---:|---:|\n"
            "| latency | all    | 3 |   10.0 |     10.0 |       100.0 |       100.0 |        - |          - |\n");
}

}  // namespace
}  // namespace perfc
