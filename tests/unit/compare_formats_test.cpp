/// Texts of others in formats of ours, thresholds and intervals of differences: compare/.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "compare/baseline.h"
#include "compare/formats/escape.h"
#include "compare/formats/format.h"
#include "html/page.h"

namespace perfc {
namespace {

TEST(CompareEscape, PrintableShowsWhatTerminalsAndXmlWouldNot) {
  EXPECT_EQ(printable("a\nb\tc\r\x1b[31m\x7f"), "a\\nb\\tc\\r\\x1b[31m\\x7f");
  EXPECT_EQ(printable(std::string("a\0b", 3)), "a\\x00b");
  EXPECT_EQ(printable("µ → 模型 🙂"), "µ → 模型 🙂");
  EXPECT_EQ(printable("\xff\xc3(\xed\xa0\x80\xf8"), "\uFFFD\uFFFD(\uFFFD\uFFFD\uFFFD\uFFFD");
  EXPECT_EQ(printable("\xe2\x80\xaegpj.exe"), "\\u202egpj.exe");  // reverses what follows
  EXPECT_EQ(printable("\xef\xbf\xbf"), "\\uffff");                // no character of XML
  EXPECT_EQ(printable("\xe2\x82"), "\uFFFD\uFFFD");               // cut
}

TEST(CompareEscape, MarkdownCodeIsNothingElse) {
  EXPECT_EQ(markdown_code("layer1.0_conv*<b>@me #1"), "`layer1.0_conv*<b>@me #1`");
  EXPECT_EQ(markdown_code("a|b"), "<code>a&#124;b</code>");
  EXPECT_EQ(markdown_code("`a`"), "<code>&#96;a&#96;</code>");
  EXPECT_EQ(markdown_code("a\\"), "<code>a&#92;</code>");
  EXPECT_EQ(markdown_code(" <script>"), "<code> &#60;script&#62;</code>");
  EXPECT_EQ(markdown_code(""), "–");
  EXPECT_EQ(markdown_word("a100-40gb:1g.5gb"), "a100-40gb:1g.5gb");
  EXPECT_EQ(markdown_word("my|gpu"), "<code>my&#124;gpu</code>");
  EXPECT_EQ(markdown_word("- item"), "`- item`");
}

TEST(CompareEscape, HtmlAndPaths) {
  EXPECT_EQ(html_text("<script>alert(\"1\")&'"), "&lt;script&gt;alert(&quot;1&quot;)&amp;&#39;");
  EXPECT_EQ(uri_path("models/a b%2f:ä.onnx"), "models/a%20b%252f%3A%C3%A4.onnx");
}

FiguresOf run(double latency_ms) {
  return {.latency_ms = latency_ms,
          .latency_hi_ms = 1.2 * latency_ms,
          .device_ms = latency_ms,
          .host_ms = 0.1,
          .host_interval = 2.5,
          .memory_mib = 100,
          .context_mib = 50,
          .energy_j = latency_ms,
          .energy_hi_j = latency_ms,
          .macs = 1e9,
          .params = 1e6,
          .batch = 8};
}

const FigureChange& latency_of(const std::vector<FigureChange>& figures) { return figures.front(); }

Comparisons one_model(const FiguresOf& base, const FiguresOf& head, double share) {
  Comparisons out{.base = "a", .head = "b"};
  out.models.push_back({.model = "net.onnx", .batch = 8});
  out.models[0].devices.push_back({.device = "l4", .figures = compare_figures(&base, &head, share)});
  return out;
}

std::vector<Threshold> thresholds(std::string_view text) {
  Diagnostics diags;
  auto out = parse_thresholds(text, diags);
  EXPECT_TRUE(out) << diags.str();
  return out ? *out : std::vector<Threshold>{};
}

TEST(CompareFigures, WithinItsOwnErrorIsUnclear) {
  const FiguresOf base = run(10), near = run(10.1), far = run(11);
  EXPECT_EQ(latency_of(compare_figures(&base, &base, 0)).verdict, Verdict::Equal);
  EXPECT_EQ(latency_of(compare_figures(&base, &near, 0.01)).verdict, Verdict::Unclear);
  // The same step is certain where little changed, and not where everything did.
  EXPECT_EQ(latency_of(compare_figures(&base, &far, 0.05)).verdict, Verdict::Worse);
  EXPECT_EQ(latency_of(compare_figures(&base, &far, 1)).verdict, Verdict::Unclear);
  EXPECT_EQ(latency_of(compare_figures(&far, &base, 0.05)).verdict, Verdict::Better);
  EXPECT_EQ(latency_of(compare_figures(nullptr, &base, 1)).verdict, Verdict::New);
}

TEST(CompareFigures, WhatIsOnlyProbablyWorsePassesAnyThreshold) {
  // A fiftieth of the time changed: 4.2 % are outside of the 90 % interval, 7.6 % of that of 99 %.
  const FiguresOf base = run(10), near = run(10.6), far = run(11);
  const FigureChange probably = latency_of(compare_figures(&base, &near, 0.02));
  EXPECT_EQ(probably.verdict, Verdict::Worse);
  EXPECT_FALSE(probably.certain);
  EXPECT_TRUE(findings(one_model(base, near, 0.02), thresholds("latency")).empty());
  EXPECT_TRUE(latency_of(compare_figures(&base, &far, 0.02)).certain);
  EXPECT_EQ(findings(one_model(base, far, 0.02), thresholds("latency")).size(), 1U);
  EXPECT_FALSE(latency_of(compare_figures(&near, &base, 0.02)).certain);  // better, by as little
  EXPECT_TRUE(latency_of(compare_figures(&base, &base, 1)).certain);      // equal
}

TEST(CompareFigures, OneHostIsCertainOfItself) {
  // Both wait for the same host: its factor of 2.5 is in either time, and not in their ratio.
  FiguresOf base = run(10), head = run(11);
  base.device_ms = head.device_ms = 1;
  base.host_ms = 10, head.host_ms = 11;
  base.latency_hi_ms = 25, head.latency_hi_ms = 27.5;
  EXPECT_EQ(latency_of(compare_figures(&base, &head, 0.1)).verdict, Verdict::Worse);
  head.device_ms = 11, head.host_ms = 5;  // now the device sets the time
  EXPECT_EQ(latency_of(compare_figures(&base, &head, 0.1)).verdict, Verdict::Unclear);
}

TEST(CompareFigures, TheContextIsTheSameInBoth) {
  FiguresOf base = run(10), head = run(10);
  head.memory_mib = 110;
  const auto figures = compare_figures(&base, &head, 0.1);
  const FigureChange& memory = figures[1];
  EXPECT_EQ(memory.figure, Figure::Memory);
  EXPECT_EQ(memory.verdict, Verdict::Worse);
  const double width = std::hypot(0.15 * 10, 0.2 * 0.1 * 60);  // of a step of 10 MiB, of 60 beside the context
  EXPECT_NEAR(memory.ratio_lo, 1.1 - width / 100, 1e-9);
  EXPECT_NEAR(memory.ratio_hi, 1.1 + width / 100, 1e-9);
}

TEST(CompareThresholds, OnlyWhatIsCertainFails) {
  const FiguresOf base = run(10), head = run(11);
  EXPECT_EQ(findings(one_model(base, head, 0.02), thresholds("latency=+5%")).size(), 1u);
  EXPECT_EQ(findings(one_model(base, head, 0.02), thresholds("latency=+12%")).size(), 0u);
  EXPECT_EQ(findings(one_model(base, head, 0.02), thresholds("latency=+0.5")).size(), 1u);
  EXPECT_EQ(findings(one_model(base, head, 0.02), thresholds("latency=+2")).size(), 0u);
  EXPECT_EQ(findings(one_model(base, head, 1), thresholds("latency")).size(), 0u);
  EXPECT_EQ(findings(one_model(head, base, 0.02), thresholds("latency,energy,memory")).size(), 0u);
}

TEST(CompareThresholds, AcknowledgedUpToAStep) {
  const auto found = [] { return findings(one_model(run(10), run(11), 0.02), thresholds("latency=+5%")); };
  const auto reasons = [&](Acknowledgement a) {
    auto all = found();
    const bool unused = !acknowledge(all, {std::move(a)}).empty();
    EXPECT_EQ(unused, all[0].acknowledged.empty());
    return all[0].acknowledged;
  };
  EXPECT_EQ(reasons({.figure = "latency", .reason = "meant"}), "meant");
  EXPECT_EQ(reasons({.figure = "latency", .reason = "meant", .up_to = parse_step("+11%")}), "meant");
  EXPECT_EQ(reasons({.figure = "latency", .reason = "meant", .up_to = parse_step("9%")}), "");
  EXPECT_EQ(reasons({.figure = "memory", .reason = "meant"}), "");
  EXPECT_EQ(reasons({.model = "other.onnx", .figure = "latency", .reason = "meant"}), "");
  EXPECT_EQ(reasons({.device = "t4", .figure = "latency", .reason = "meant"}), "");
}

TEST(CompareFormats, ACommentFitsIntoGitHub) {
  DiffReport report{.comparison = {.base = "a", .head = "b"}};
  for (int i = 0; i < 3000; ++i) {
    Comparisons one = one_model(run(10), run(11), 0.02);
    one.models[0].model = fmt::format("models/{}/{}.onnx", std::string(100, 'x'), i);
    one.models[0].changes.push_back(
        {.kind = ChangeKind::Added, .op = "nn.relu", .what = "(1)", .count = 1, .base_us = {0}, .head_us = {1}});
    report.comparison.models.push_back(one.models[0]);
  }
  report.findings = findings(report.comparison, thresholds("latency=+5%"));
  const std::string text = diff_github_comment(report);
  EXPECT_TRUE(text.starts_with("<!-- perfc diff -->\n"));
  EXPECT_LE(text.size(), 65536u);
  EXPECT_GT(text.size(), 60000u);
  EXPECT_NE(text.find("more rows are left out here"), std::string::npos);
  EXPECT_NE(text.find("Details of"), std::string::npos);
  // Few models: everything is there.
  report.comparison.models.resize(3);
  report.findings.clear();
  EXPECT_EQ(diff_github_comment(report).find("left out"), std::string::npos);
}

TEST(CompareBaseline, ReadsWhatItWrote) {
  BaselineEntry entry{.figures = run(10), .operators_us = {{"nn.relu (1, 8)", 2.5}, {"nn.dense |`", 7.5}}};
  entry.figures.mig = "1g.5gb";
  entry.figures.largest_batch = 512;
  Diagnostics diags("b.json");
  const std::string text = baseline_json({{"net.onnx", {{"l4, batch 8", entry}}}});
  const auto read = parse_baseline(text, diags);
  ASSERT_TRUE(read) << diags.str();
  EXPECT_EQ(baseline_json(*read), text);
  const BaselineEntry& again = read->at("net.onnx").at("l4, batch 8");
  for (const FigureChange& c : compare_entries(again, entry, "l4").figures)
    EXPECT_TRUE(c.verdict == Verdict::Equal || c.verdict == Verdict::None) << def(c.figure).key;
  BaselineEntry other = entry;
  other.operators_us["nn.relu (1, 8)"] = 5;
  EXPECT_NEAR(compare_entries(entry, other, "l4").changed_share, 1 - 2 * 10 / 22.5, 1e-9);
}

TEST(CompareBaseline, DamagedFilesAreErrors) {
  const auto complaint = [](std::string_view text) {
    Diagnostics diags("b.json");
    EXPECT_FALSE(parse_baseline(text, diags));
    return diags.str();
  };
  EXPECT_NE(complaint("{").find("b.json"), std::string::npos);
  EXPECT_NE(complaint("{}").find("perfc.baseline/1"), std::string::npos);
  EXPECT_NE(complaint(R"({"schema": "perfc.baseline/1"})").find("'models'"), std::string::npos);
  EXPECT_NE(complaint(R"({"schema": "perfc.baseline/1", "models": {"m": {"k": {"latency_ms": "x"}}}})")
                .find("m, k: 'latency_ms'"),
            std::string::npos);
}

}  // namespace
}  // namespace perfc
