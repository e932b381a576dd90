/// perfc_import_dump [--rebatch N] [--types] [--shape INPUT=D,D,…] [--dim NAME=N] [FILE…]   (or file names on standard
/// input)
///
/// Imports each file in a process of its own, under limits, and prints one JSON
/// object per line: what the corpus tests need to know of many files quickly.
///   file, status   "ok", "refused", "crashed", "timeout", "memory"
///   errors, warnings (strings), cpu_ms, rss_mib
/// and for files that import:
///   values, typed, ranked           counts, regions included
///   dataflow, dataflow_static       tensors that the main graph's calls compute
///   untyped        the first values without an element type
///   opaque         operators nobody knows, with their count
///   verify         messages of the verifier; empty when all is well
///   params, results   name → type; `results` in order
///   nodes          (--types) per top-level node: index in the file, op, result types
///   macs           sum over all operators
///   parameters     after the passes; missing when they refuse the graph
///   rebatch        (--rebatch) see rebatch_facts
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "features/parameters.h"
#include "frontends/frontend.h"
#include "ir/builder.h"
#include "ir/infer_context.h"
#include "passes/pass.h"

namespace {

using namespace perfc;
using Json = nlohmann::ordered_json;

#ifdef PERFC_SANITIZED  // instrumented code is slower and larger
constexpr int kCpuSeconds = 40, kWallSeconds = 120;
constexpr double kMaxRssMib = 1e9;
#else
constexpr int kCpuSeconds = 5, kWallSeconds = 30;
constexpr double kMaxRssMib = 300;
#endif
constexpr std::size_t kMaxListed = 12;

struct Options {
  std::int64_t rebatch = 0;
  ImportOptions import;
  enum class Types { No, Yes } types = Types::No;
  std::vector<std::string> files;
};

/// Knows its element type, through containers. ai.onnx.ml's opaque types have none to know.
bool has_dtype(const Type& type) {
  const Type* t = &type;
  while (t->kind() == TypeKind::Sequence || t->kind() == TypeKind::Optional || t->kind() == TypeKind::Map) {
    t = &t->element();
  }
  if (t->is_tensor()) return t->dtype() != DType::Undefined;
  return t->kind() != TypeKind::None;
}

bool has_rank(const Type& type) {
  const Type* t = &type;
  while (t->kind() == TypeKind::Sequence || t->kind() == TypeKind::Optional || t->kind() == TypeKind::Map) {
    t = &t->element();
  }
  return !t->is_tensor() || t->ranked();
}

std::string describe(const Graph& g, NodeId id) {
  const Node& n = g.node(id);
  std::string what = n.kind == NodeKind::Call ? std::string(def(n.op).name) : "constant";
  if (n.kind == NodeKind::Var) what = "param";
  return fmt::format("{} '{}' @node {}", what, n.name, n.loc.node);
}

void count_types(const Graph& top, Json& out) {
  std::int64_t values = 0, typed = 0, ranked = 0, dataflow = 0, fixed = 0;
  Json untyped = Json::array(), opaque = Json::object();
  for (const Graph* g : with_bodies(top)) {
    for (NodeId id = 0; id < g->size(); ++id) {
      const Node& n = g->node(id);
      if (n.is(op("opaque"))) {
        const std::string name(n.attrs.string_or("source_op", "?"));
        opaque[name] = opaque.value(name, 0) + 1;
      }
      for (const ResultInfo& r : n.results) {
        ++values;
        ranked += has_rank(r.type);
        if (g == &top && n.kind == NodeKind::Call && r.type.is_tensor()) {
          ++dataflow;
          fixed += r.type.is_static();
        }
        if (has_dtype(r.type)) {
          ++typed;
        } else if (untyped.size() < kMaxListed) {
          untyped.push_back(describe(*g, id));
        }
      }
    }
  }
  out["values"] = values;
  out["typed"] = typed;
  out["ranked"] = ranked;
  out["dataflow"] = dataflow;
  out["dataflow_static"] = fixed;
  out["untyped"] = untyped;
  out["opaque"] = opaque;
}

Json named_types(const Graph& g) {
  Json params = Json::object();
  for (ValueId v : g.params()) params[g.node(v).name] = to_string(g.type(v));
  return params;
}

Json node_types(const Graph& g) {
  Json nodes = Json::array();
  for (const Node& n : g.nodes()) {
    if (n.kind == NodeKind::Var || n.loc.node < 0) continue;
    Json types = Json::array();
    for (const ResultInfo& r : n.results) types.push_back(to_string(r.type));
    nodes.push_back(
        {{"node", n.loc.node}, {"op", n.kind == NodeKind::Call ? def(n.op).name : "constant"}, {"types", types}});
  }
  return nodes;
}

struct Macs {
  NodeId id;
  double macs;
  bool weight_only;
};

/// Operators of the top graph that multiply, in execution order.
std::vector<Macs> macs_by_node(const Graph& g) {
  const std::vector<bool> weight_only = g.weight_only();
  std::vector<Macs> out;
  for (NodeId id = 0; id < g.size(); ++id) {
    if (const double macs = op_cost(g, id).macs; macs > 0) out.push_back({id, macs, weight_only[id]});
  }
  return out;
}

/// Rebatching must multiply the MACs of what depends on the input by exactly
/// the factor, and leave what is computed from weights alone. `wrong` lists the
/// operators where it did not; `results` are the new types.
Json rebatch_facts(const Graph& before, std::int64_t batch, Diagnostics& diags) {
  Json out;
  const auto from = before.params().empty() ? Type{} : before.type(before.params()[0]);
  if (!from.is_tensor() || !from.ranked() || from.rank() == 0 || !from.shape()[0].known() ||
      from.shape()[0].value() <= 0) {
    out["status"] = "no batch";
    return out;
  }
  const double factor = static_cast<double>(batch) / static_cast<double>(from.shape()[0].value());
  Diagnostics own(diags.file());
  const auto after = run_passes(before, {"rebatch"}, {.batch = batch}, {}, own);
  out["status"] = after ? "ok" : "refused";
  for (const Diagnostic& d : own.all()) out["messages"].push_back(to_string(d));
  if (!after) return out;

  const std::vector<Macs> old = macs_by_node(before), now = macs_by_node(*after);
  double total = 0;
  for (const Macs& m : now) total += m.macs;
  out["macs"] = total;
  Json wrong = Json::array();
  if (old.size() != now.size()) {
    wrong.push_back(fmt::format("{} operators with MACs became {}", old.size(), now.size()));
  }
  for (std::size_t i = 0; i < std::min(old.size(), now.size()) && wrong.size() < kMaxListed; ++i) {
    const double expected = old[i].macs * (old[i].weight_only ? 1 : factor);
    if (now[i].macs == expected) continue;
    wrong.push_back(fmt::format("{}: {} MACs, expected {}", describe(*after, now[i].id), now[i].macs, expected));
  }
  out["wrong"] = wrong;
  for (std::size_t i = 0; i < after->results().size(); ++i) {
    out["results"].push_back(to_string(after->type(after->results()[i])));
  }
  bool fixed = true;
  for (const Node& n : after->nodes()) {
    for (const ResultInfo& r : n.results) fixed = fixed && r.type.is_static();
  }
  out["static"] = fixed;
  return out;
}

Json import_facts(const std::string& file, const Options& options) {
  Json out;
  out["file"] = file;
  Diagnostics diags(file);
  auto source = Source::open_model(file, diags);
  Result<Graph> graph = source ? import_model(*source, options.import, diags) : Result<Graph>(Failure{});
  out["status"] = graph ? "ok" : "refused";
  Json errors = Json::array(), warnings = Json::array();
  for (const Diagnostic& d : diags.all()) {
    Json& list = d.severity == Severity::Error ? errors : warnings;
    if (list.size() < kMaxListed) list.push_back(to_string(d));
  }
  if (!graph && errors.empty()) errors.push_back("internal error: refused without a diagnostic");
  out["errors"] = errors;
  out["warnings"] = warnings;
  if (!graph) return out;

  count_types(*graph, out);
  Diagnostics verifier(file);
  Json violations = Json::array();
  if (!verify(*graph, verifier)) {
    for (const Diagnostic& d : verifier.all()) {
      if (violations.size() < kMaxListed) violations.push_back(to_string(d));
    }
  }
  out["verify"] = violations;
  out["params"] = named_types(*graph);
  Json results = Json::array();
  for (std::size_t i = 0; i < graph->results().size(); ++i) {
    results.push_back({graph->result_names()[i], to_string(graph->type(graph->results()[i]))});
  }
  out["results"] = results;
  if (options.types == Options::Types::Yes) out["nodes"] = node_types(*graph);
  double macs = 0;
  for (const Macs& m : macs_by_node(*graph)) macs += m.macs;
  out["macs"] = macs;
  Diagnostics unheard(file);
  const auto simple = run_passes(*graph, default_pipeline(ExecMode::Compiled), {}, {}, unheard);
  if (simple) out["parameters"] = count_parameters(*simple).learned;
  if (options.rebatch > 0) out["rebatch"] = rebatch_facts(*graph, options.rebatch, diags);
  return out;
}

void limit(int resource, rlim_t soft) {
  const rlimit r{soft, soft + 1};
  (void)setrlimit(resource, &r);
}

[[noreturn]] void child(int out, const std::string& file, const Options& options) {
  limit(RLIMIT_CPU, kCpuSeconds);
  limit(RLIMIT_CORE, 0);
#ifndef PERFC_SANITIZED
  limit(RLIMIT_DATA, rlim_t{2} << 30);
#endif
  alarm(kWallSeconds);
  const std::string line = import_facts(file, options).dump(-1, ' ', false, Json::error_handler_t::replace);
  for (std::size_t done = 0; done < line.size();) {
    const ssize_t n = write(out, line.data() + done, line.size() - done);
    if (n <= 0) _exit(3);
    done += static_cast<std::size_t>(n);
  }
  _exit(0);
}

std::string read_to_end(int fd) {
  std::string text;
  char buffer[1 << 16];
  for (;;) {
    const ssize_t n = read(fd, buffer, sizeof buffer);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return text;
    text.append(buffer, static_cast<std::size_t>(n));
  }
}

/// Runs one file in a child and returns its line, with what the kernel measured.
std::string probe(const std::string& file, const Options& options) {
  int ends[2];
  if (pipe(ends) != 0) return {};
  const pid_t pid = fork();
  if (pid < 0) return {};
  if (pid == 0) {
    close(ends[0]);
    child(ends[1], file, options);
  }
  close(ends[1]);
  const std::string line = read_to_end(ends[0]);
  close(ends[0]);
  int status = 0;
  rusage used{};
  while (wait4(pid, &status, 0, &used) < 0 && errno == EINTR) {}

  Json out = Json::parse(line, nullptr, false);
  if (out.is_discarded() || !WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    out = {{"file", file}, {"status", "crashed"}, {"errors", Json::array()}, {"warnings", Json::array()}};
    if (WIFSIGNALED(status)) {
      const int s = WTERMSIG(status);
      if (s == SIGXCPU || s == SIGALRM || s == SIGKILL) out["status"] = "timeout";
      out["errors"].push_back(strsignal(s));
    } else {
      out["errors"].push_back(fmt::format("exit code {}", WEXITSTATUS(status)));
    }
  }
  const double cpu_ms = 1e3 * static_cast<double>(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
                        1e-3 * static_cast<double>(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
  const double rss_mib = static_cast<double>(used.ru_maxrss) / 1024;
  out["cpu_ms"] = std::round(cpu_ms * 10) / 10;
  out["rss_mib"] = std::round(rss_mib * 10) / 10;
  if (rss_mib > kMaxRssMib) out["status"] = "memory";
  return out.dump(-1, ' ', false, Json::error_handler_t::replace);
}

/// "1,3,224,224"
std::vector<std::int64_t> numbers(std::string_view text) {
  std::vector<std::int64_t> out;
  while (!text.empty()) {
    out.push_back(std::strtoll(std::string(text.substr(0, text.find(','))).c_str(), nullptr, 10));
    text.remove_prefix(std::min(text.find(','), text.size() - 1) + 1);
  }
  return out;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string_view arg = argv[i];
    if (arg == "--types") {
      options.types = Options::Types::Yes;
    } else if (arg == "--rebatch" && i + 1 < argc) {
      options.rebatch = std::strtoll(argv[++i], nullptr, 10);
    } else if ((arg == "--shape" || arg == "--dim") && i + 1 < argc) {
      const std::string_view text = argv[++i];
      const std::size_t equals = text.find('=');
      const std::string name(text.substr(0, equals));
      const std::vector<std::int64_t> dims = numbers(equals == text.npos ? "" : text.substr(equals + 1));
      if (arg == "--shape") options.import.shapes.emplace_back(name, dims);
      else if (!dims.empty()) options.import.dims.emplace_back(name, dims[0]);
    } else if (arg.starts_with("--")) {
      std::cerr
          << "usage: perfc_import_dump [--rebatch N] [--types] [--shape INPUT=D,D,...] [--dim NAME=N] [FILE...]\n";
      return 2;
    } else {
      options.files.emplace_back(arg);
    }
  }
  if (options.files.empty()) {
    for (std::string line; std::getline(std::cin, line);) options.files.push_back(line);
  }
  for (const std::string& file : options.files) {
    const std::string line = probe(file, options);
    if (line.empty()) {
      std::cerr << "cannot start a process: " << std::strerror(errno) << "\n";
      return 1;
    }
    std::cout << line << std::endl;
  }
}
