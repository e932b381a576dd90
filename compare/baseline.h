#pragma once
/// The figures of a version, kept as a file that a later one is held against.
#include <map>
#include <string>

#include "compare/comparison.h"

namespace perfc {

struct BaselineEntry {
  FiguresOf figures;
  bool fits = true;
  std::map<std::string, double> operators_us;  ///< device time by signature
};
BaselineEntry baseline_entry(const Version&, std::size_t device);

/// By model, then by what was predicted ("a100-40gb, batch 32, PyTorch eager, amp nchw").
using Baseline = std::map<std::string, std::map<std::string, BaselineEntry>>;
std::string baseline_key(const Report&);

/// Schema perfc.baseline/1 (docs/json.md), keys sorted, so that versions of it differ where figures do.
std::string baseline_json(const Baseline&);
Result<Baseline> parse_baseline(std::string_view, Diagnostics&);

/// The step from an entry to another. What differs is what their operators' signatures do not have in common.
OnDevice compare_entries(const BaselineEntry& base, const BaselineEntry& head, std::string device);

}  // namespace perfc
