#include "devices/stack.h"

#include <algorithm>
#include <set>
#include <utility>

#include "devices/builtin_devices.h"
#include "devices/read_stack.h"

namespace perfc {
namespace {

constexpr double kMostStackMib = 1e6;
constexpr double kMostKibPerThread = 1e3;
constexpr double kMostStackInterval = 100;
constexpr const char* kOtherArchitectures = "other";
const std::set<std::string> kArchitectures{kOtherArchitectures, "pascal", "volta", "turing", "ampere", "ada", "hopper",
                                           "blackwell",         "cdna1",  "cdna2", "cdna3",  "cdna4"};

constexpr std::pair<std::string_view, StackAttention> kAttentions[] = {{"flash", StackAttention::Flash},
                                                                       {"cudnn", StackAttention::Cudnn}};

constexpr std::pair<std::string_view, CompiledAttention> kCompiledAttentions[] = {
    {"contiguous", CompiledAttention::Contiguous}};

/// Empty: what a stack file leaves out.
template <class Choice, std::size_t kNames>
std::string_view name_in(const std::pair<std::string_view, Choice> (&names)[kNames], Choice choice) {
  const auto* found = std::ranges::find(names, choice, &std::pair<std::string_view, Choice>::second);
  return found == std::end(names) ? std::string_view() : found->first;
}

}  // namespace

std::string_view name(StackAttention attention) { return name_in(kAttentions, attention); }
std::string_view name(CompiledAttention attention) { return name_in(kCompiledAttentions, attention); }

double Stack::context(double resident_threads, bool convolves) const {
  return context_mib + context_kib_per_thread * resident_threads / 1024 + (convolves ? convolution_mib : 0);
}

double Stack::product_workspace(const std::string& architecture) const {
  const auto own = product_workspace_mib.find(architecture);
  const auto found = own != product_workspace_mib.end() ? own : product_workspace_mib.find(kOtherArchitectures);
  return found != product_workspace_mib.end() ? found->second : 0;
}

Stack read_stack(const json::Element& json, const std::string& path, Diagnostics& diags) {
  Stack s;
  Fields f(json, path, diags);
  for (const char* key : {"name", "context_mib", "interval"}) f.require(key);
  f.text("name", s.name);
  s.title = s.name;
  f.text("title", s.title);
  f.text("framework", s.framework);
  f.text("cuda", s.cuda);
  f.text("source", s.source);
  f.number("context_mib", s.context_mib, 0, kMostStackMib);
  f.number("context_kib_per_thread", s.context_kib_per_thread, 0, kMostKibPerThread);
  f.number("convolution_mib", s.convolution_mib, 0, kMostStackMib);
  f.rates("product_workspace_mib", s.product_workspace_mib, kArchitectures, kMostStackMib);
  f.choice("attention", s.attention, kAttentions);
  f.choice("compiled_attention", s.compiled_attention, kCompiledAttentions);
  f.number("interval", s.interval, 1, kMostStackInterval);
  f.finish();
  return s;
}

const std::vector<Stack>& builtin_stacks() {
  static const std::vector<Stack> stacks = [] {
    Diagnostics diags("stacks.json");
    auto parsed = parse_entries<Stack>(kBuiltinStacks, kStackEntries, read_stack, diags);
    return parsed ? std::move(*parsed) : std::vector<Stack>{};
  }();
  return stacks;
}

Result<Stack> find_stack(std::string_view wanted, Diagnostics& diags) {
  return find_entry(wanted, builtin_stacks(), kStackEntries, diags);
}

Result<Stack> parse_stack(std::string_view text, Diagnostics& diags) {
  return parse_single_entry<Stack>(text, kStackEntries, read_stack, diags);
}

}  // namespace perfc
