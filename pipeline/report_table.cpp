#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "pipeline/text_style.h"

namespace perfc {
namespace {

/// Whether a figure is the same in all reports.
template <class Of>
bool all_equal(const std::vector<Report>& reports, Of of) {
  return std::ranges::all_of(reports, [&](const Report& r) { return of(r) == of(reports.front()); });
}

bool one_batch(const std::vector<Report>& reports) {
  return all_equal(reports, [](const Report& r) { return r.features.batch; });
}

bool always(const std::vector<Report>&) { return true; }
bool batches_differ(const std::vector<Report>& reports) { return !one_batch(reports); }

/// Columns on a terminal: a code point takes one.
std::size_t columns_of(std::string_view text) {
  return static_cast<std::size_t>(
      std::ranges::count_if(text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

enum class Align { Left, Right };

struct Column {
  std::string_view heading;
  Align align;
  std::string (*cell)(const Report&);
  bool (*wanted)(const std::vector<Report>&) = always;
};

std::string interval_cell(const Report& r) {
  return fmt::format("{} … {}", in_ms(r.prediction.latency_lo_ms), in_ms(r.prediction.latency_hi_ms));
}

std::string memory_cell(const Report& r) { return fmt::format("{:.0f} MiB", r.prediction.memory.total_mib()); }

std::string fits_cell(const Report& r) {
  if (r.fits()) return "yes";
  return r.largest_batch.value_or(0) > 0 ? fmt::format("NO, batch {} does", *r.largest_batch) : "NO";
}

constexpr Column kColumns[] = {
    // heading  align  cell  wanted
    {"device", Align::Left, [](const Report& r) { return r.device.name; }},
    {"batch", Align::Right, [](const Report& r) { return fmt::format("{}", r.features.batch); }, batches_differ},
    {"latency", Align::Right, [](const Report& r) { return in_ms(r.prediction.latency_ms); }},
    {"90 % interval", Align::Right, interval_cell},
    {"samples/s", Align::Right, [](const Report& r) { return scaled(r.throughput_per_s()); }},
    {"memory", Align::Right, memory_cell},
    {"fits", Align::Left, fits_cell},
    {"energy", Align::Right, [](const Report& r) { return fmt::format("{:.3g} J", r.prediction.energy_j); }},
    {"per sample", Align::Right, [](const Report& r) { return fmt::format("{:.3g} J", r.energy_j_per_sample()); }},
    {"MIG", Align::Left, [](const Report& r) { return r.mig ? r.mig->profile.value_or("none") : "-"; }},
    {"model", Align::Left, [](const Report& r) { return r.model; }},
};

std::string table_rows(const std::vector<Report>& reports, const Style& s) {
  std::vector<std::string> lines(reports.size() + 1);
  for (const Column& c : kColumns) {
    if (!c.wanted(reports)) continue;
    std::vector<std::string> cells{std::string(c.heading)};
    for (const Report& r : reports) cells.push_back(c.cell(r));
    std::size_t widest = 0;
    for (const std::string& cell : cells) widest = std::max(widest, columns_of(cell));
    for (std::size_t i = 0; i < lines.size(); ++i) {
      if (!lines[i].empty()) lines[i] += "  ";
      const bool last = &c == std::end(kColumns) - 1;
      lines[i] += last                     ? cells[i]
                  : c.align == Align::Left ? fmt::format("{:<{}}", cells[i], widest)
                                           : fmt::format("{:>{}}", cells[i], widest);
    }
  }
  std::string out = s.bold(lines[0]) + "\n";
  for (std::size_t i = 1; i < lines.size(); ++i) {
    out += (reports[i - 1].fits() ? lines[i] : s.alarm(lines[i])) + "\n";
  }
  return out;
}

/// Some of several reports, by what tells them apart: "t4", or "t4 batch 1, 8" where other batches of it are not meant.
std::string label(const std::vector<const Report*>& some, const std::vector<Report>& all) {
  const bool models = !all_equal(all, [](const Report& x) { return x.model; });
  const bool devices = !all_equal(all, [](const Report& x) { return x.device.name; });
  const auto run = [&](const Report& r) {
    return fmt::format("{}{}{}", models ? r.model : "", models && devices ? " on " : "", devices ? r.device.name : "");
  };
  std::vector<std::pair<std::string, std::vector<std::int64_t>>> batches;
  for (const Report* r : some) {
    if (batches.empty() || batches.back().first != run(*r)) batches.push_back({run(*r), {}});
    batches.back().second.push_back(r->features.batch);
  }
  std::vector<std::string> parts;
  for (const auto& [of, those] : batches) {
    const auto in_all = std::ranges::count_if(all, [&, &of = of](const Report& r) { return run(r) == of; });
    const bool every = those.size() == static_cast<std::size_t>(in_all);
    parts.push_back(every ? of : fmt::format("{}{}batch {}", of, of.empty() ? "" : " ", fmt::join(those, ", ")));
  }
  return fmt::format("{}", fmt::join(parts, "; "));
}

/// Texts of reports, each once, with which reports it is of where not of all.
std::string each_once(const std::vector<Report>& reports, std::vector<std::string> Prediction::*texts,
                      const std::string& head) {
  std::vector<std::pair<std::string, std::vector<const Report*>>> found;
  for (const Report& r : reports) {
    for (const std::string& text : r.prediction.*texts) {
      auto at = std::ranges::find_if(found, [&](const auto& f) { return f.first == text; });
      if (at == found.end()) at = found.insert(found.end(), {text, {}});
      at->second.push_back(&r);
    }
  }
  std::string out;
  for (const auto& [text, of] : found) {
    out += fmt::format("{} {}{}\n", head, text,
                       of.size() < reports.size() ? fmt::format(" [{}]", label(of, reports)) : "");
  }
  return out;
}

/// That figures of several devices are of several hosts too; empty where one host dispatches to all.
std::string hosts_note(const std::vector<Report>& reports) {
  std::vector<std::string> hosts;
  std::set<std::string> names;
  for (const Report& r : reports) {
    names.insert(r.device.host.name);
    std::string one =
        fmt::format("{}: {} ({:.1f} µs per call)", r.device.name, r.device.host.name, r.prediction.host_us_per_call());
    if (std::ranges::find(hosts, one) == hosts.end()) hosts.push_back(std::move(one));
  }
  if (names.size() < 2) return "";
  return fmt::format("hosts differ: {}; --host NAME puts one beside all\n", fmt::join(hosts, ", "));
}

}  // namespace

bool is_sweep(const std::vector<Report>& reports) {
  std::set<std::pair<std::string, std::string>> seen;
  return batches_differ(reports) && std::ranges::any_of(reports, [&](const Report& r) {
           return !seen.insert({r.model, r.device.name}).second;
         });
}

std::string table_text(const std::vector<Report>& reports, const Style& s) {
  std::string out;
  const auto too_large = std::ranges::count_if(reports, [](const Report& r) { return !r.fits(); });
  if (too_large > 0)
    out += s.alarm(fmt::format("OUT OF MEMORY: {} of {} predictions do not fit", too_large, reports.size())) + "\n";
  out += table_rows(reports, s);
  out += s.dim(hosts_note(reports));
  if (is_sweep(reports)) {
    out += each_once(reports, &Prediction::novelty, s.warn("unfamiliar:"));
    out += each_once(reports, &Prediction::warnings, s.warn("warning:"));
  }
  return out;
}

}  // namespace perfc
