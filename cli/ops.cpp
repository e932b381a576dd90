#include <fmt/format.h>

#include <map>
#include <nlohmann/json.hpp>

#include "cli/cli.h"
#include "frontends/onnx/onnx.h"

namespace perfc::cli {
namespace {

struct Options {
  bool json = false, markdown = false;
};

/// "ms:FusedConv" → "com.microsoft.FusedConv".
std::string full_name(std::string_view spelling) {
  static constexpr std::pair<std::string_view, std::string_view> kDomains[] = {
      {"ms:", "com.microsoft."}, {"ml:", "ai.onnx.ml."}, {"tr:", "ai.onnx.preview.training."}, {"pv:", "ai.onnx.preview."}};
  for (const auto& [prefix, domain] : kDomains) {
    if (spelling.starts_with(prefix)) return std::string(domain) + std::string(spelling.substr(prefix.size()));
  }
  return std::string(spelling);
}

int run(const Options& o) {
  // Source operator → IR operators, per front end.
  std::map<std::string, std::map<std::string, std::string>> tables;
  std::map<std::string, std::string> category;
  auto& table = tables["onnx"];
  for (std::uint16_t i = 0; i < kOpCount; ++i) {
    std::string_view rest = kOps[i].onnx;
    while (!rest.empty()) {
      const std::size_t end = std::min(rest.find(' '), rest.size());
      const std::string source = full_name(rest.substr(0, end));
      table[source] = std::string(kOps[i].name);
      category[source] = std::string(name(kOps[i].category));
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
  }
  for (const onnx::Coverage& c : onnx::coverage()) {
    const std::string source = full_name(c.spelling);
    table[source] = std::string(c.becomes);
    if (!category.count(source)) category[source] = "constant";
  }
  auto out = Output::open("");
  if (o.json) {
    nlohmann::ordered_json json{{"schema", "perfc.ops/1"}};
    for (const auto& [frontend, ops] : tables) {
      for (const auto& [source, becomes] : ops) json["frontends"][frontend].push_back({{"op", source}, {"becomes", becomes}, {"category", category[source]}});
    }
    out->write(json.dump(2) + "\n");
  } else {
    for (const auto& [frontend, ops] : tables) {
      out->write(o.markdown ? fmt::format("## {}: {} operators\n\n| operator | becomes | category |\n|---|---|---|\n", frontend, ops.size())
                            : fmt::format("{}: {} operators\n", frontend, ops.size()));
      for (const auto& [source, becomes] : ops) {
        out->write(o.markdown ? fmt::format("| {} | {} | {} |\n", source, becomes, category[source])
                              : fmt::format("  {:<52} {:<34} {}\n", source, becomes, category[source]));
      }
    }
  }
  return out->commit() ? kFine : kBadInput;
}

}  // namespace

void add_ops(CLI::App& app, Action& action) {
  auto o = std::make_shared<Options>();
  CLI::App* sub = app.add_subcommand("ops", "Operators that each front end reads, and what they become");
  sub->add_flag("--json", o->json, "As JSON");
  sub->add_flag("--markdown", o->markdown, "As the table of docs/ops.md");
  sub->callback([o, &action] { action = [o] { return run(*o); }; });
}

}  // namespace perfc::cli
