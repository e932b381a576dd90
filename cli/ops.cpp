#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "cli/cli.h"
#include "frontends/frontend.h"

namespace perfc::cli {
namespace {

struct OpsArguments {
  bool json = false, markdown = false;
};

constexpr std::string_view kHead =
    "# Operators\n\nWritten by `perfc ops --markdown`; a test holds it to that. Names in `becomes` are rows of\n"
    "`ir/ops/table/`, which also has their cost category. Other words say why no operator remains.\n";

/// Category of the first IR operator named in `becomes`; empty when it names none.
std::string category_of(std::string_view becomes) {
  const auto op = find_op(becomes.substr(0, becomes.find(' ')));
  return op ? std::string(name(def(*op).category)) : "";
}

std::string as_json() {
  nlohmann::ordered_json json{{"schema", "perfc.ops/1"}};
  for (const FrontendDef& f : frontend_table()) {
    if (!f.coverage) continue;
    auto& list = json["frontends"][std::string(f.name)] = nlohmann::ordered_json::array();
    for (const OpCoverage& c : f.coverage())
      list.push_back({{"op", c.source}, {"becomes", c.becomes}, {"category", category_of(c.becomes)}});
  }
  return json.dump(2) + "\n";
}

std::string as_text(const OpsArguments& o) {
  std::string out(o.markdown ? kHead : "");
  for (const FrontendDef& f : frontend_table()) {
    if (!f.coverage) continue;
    const auto rows = f.coverage();
    out += o.markdown ? fmt::format("\n## {}: {} operators\n\n| operator | becomes | category |\n|---|---|---|\n",
                                    f.name, rows.size())
                      : fmt::format("{}: {} operators\n", f.name, rows.size());
    for (const OpCoverage& c : rows) {
      out += o.markdown ? fmt::format("| {} | {} | {} |\n", c.source, c.becomes, category_of(c.becomes))
                        : fmt::format("  {:<52} {:<34} {}\n", c.source, c.becomes, category_of(c.becomes));
    }
  }
  return out;
}

int run_ops(const OpsArguments& o) {
  auto out = Output::open("");
  out->write(o.json ? as_json() : as_text(o));
  return out->commit() ? kFine : kBadInput;
}

}  // namespace

Command ops_command() {
  auto o = std::make_shared<OpsArguments>();
  Command c{"ops", "Operators that each front end reads, and what they become", [o] { return run_ops(*o); }};
  c.option("--json", o->json, "As JSON");
  c.option("--markdown", o->markdown, "As the table of docs/ops.md");
  return c;
}

}  // namespace perfc::cli
