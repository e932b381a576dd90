/// perfc_roundtrip [FILE…]   (or file names on standard input)
///
/// Imports each file, prints the graph as `.pir`, reads that back and compares:
/// `parse(print(g)) == g`, and the text printed again is the same. Verifies both
/// graphs. Then the same for what the pipeline of `perfc predict` makes of it.
/// One line per file that fails, with a cause and the first difference; files
/// that do not import are counted only. Exit 1 if any failed.
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <iostream>
#include <string>
#include <vector>

#include "frontends/frontend.h"
#include "ir/builder.h"
#include "ir/text/parser.h"
#include "ir/text/printer.h"
#include "passes/pass.h"

namespace {

using namespace perfc;

enum Outcome : int { Same = 0, NotImported = 1, Different = 2 };

std::string_view line_at(std::string_view text, std::size_t offset) {
  const std::size_t start = text.rfind('\n', offset) + 1;
  return text.substr(start, std::min(text.find('\n', offset), text.size()) - start);
}

Outcome differs(const std::string& file, std::string_view why, const std::string& detail) {
  std::cout << file << "\t" << why << "\t" << detail.substr(0, detail.find('\n')) << std::endl;
  return Different;
}

Outcome round_trip(const std::string& file, const Graph& graph) {
  Diagnostics broken(file);
  if (!verify(graph, broken)) return differs(file, "not verified", broken.str());
  const std::string text = print_graph(graph);
  Diagnostics reading(file);
  const auto back = parse_graph(text, reading);
  if (!back) {
    const SourceLoc loc = reading.all().front().loc;
    std::size_t start = 0;
    for (int line = 1; line < loc.line; ++line) start = text.find('\n', start) + 1;
    return differs(file, "not read back",
                   to_string(reading.all().front()) + " in: " + std::string(line_at(text, start)));
  }
  const std::string again = print_graph(*back);
  if (again != text) {
    const auto at = std::mismatch(text.begin(), text.end(), again.begin(), again.end());
    const auto offset = static_cast<std::size_t>(at.first - text.begin());
    return differs(file, "prints differently",
                   std::string(line_at(text, offset)) + "  ≠  " + std::string(line_at(again, offset)));
  }
  if (!(*back == graph)) return differs(file, "not equal", "");
  if (!verify(*back, broken)) return differs(file, "read back but not verified", broken.str());
  return Same;
}

Outcome round_trips(const std::string& file) {
  Diagnostics diags(file);
  auto source = Source::open_model(file, diags);
  if (!source) return NotImported;
  auto graph = import_model(*source, {}, diags);
  if (!graph) return NotImported;
  if (const Outcome outcome = round_trip(file, *graph); outcome != Same) return outcome;
  const auto simplified = run_passes(std::move(*graph), default_pipeline(ExecMode::Compiled), {}, {}, diags);
  return simplified ? round_trip(file + " after the passes", *simplified) : Same;
}

/// In a process of its own, so that one file cannot take the others down.
int guarded(const std::string& file) {
  std::cout.flush();
  const pid_t child = fork();
  if (child == 0) {
    const rlimit cpu{60, 60};
    setrlimit(RLIMIT_CPU, &cpu);
    const Outcome outcome = round_trips(file);
    std::cout.flush();
    _exit(outcome);
  }
  int status = 0;
  waitpid(child, &status, 0);
  if (WIFEXITED(status)) return WEXITSTATUS(status);
  std::cout << file << "\tcrashed\tsignal " << WTERMSIG(status) << std::endl;
  return Different;
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::string> files(argv + 1, argv + argc);
  if (files.empty()) {
    for (std::string line; std::getline(std::cin, line);) files.push_back(line);
  }
  int counts[3] = {};
  for (const std::string& file : files) ++counts[std::min(guarded(file), 2)];
  std::cout << counts[Same] << " of " << counts[Same] + counts[Different] << " graphs read back the same; "
            << counts[NotImported] << " files do not import" << std::endl;
  return counts[Different] ? 1 : 0;
}
