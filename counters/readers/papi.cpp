/// PAPI's high-level API: papi_hl_output/rank_NNNNNN.json, one file per rank
/// (PAPI 6.0.0.1 and later). Threads hold regions, which name their parents.
#include <fmt/format.h>

#include <set>
#include <unordered_map>

#include "counters/readers/reader.h"
#include "ir/support/csv.h"
#include "ir/support/json.h"

namespace perfc {
namespace {

using json::Element;
using json::Object;

std::optional<Object> object(const std::optional<Element>& e) {
  Object o;
  if (!e || e->get(o)) return {};
  return o;
}

std::optional<double> number(const Element& e) {
  std::string_view text;
  if (!e.get(text)) return parse_number(text);
  double v = 0;
  if (e.get(v)) return {};
  return v;
}

/// What threads spend at the same time; the run has spent what the slowest thread did.
bool is_clock(std::string_view metric) { return metric == "real_time_nsec" || metric == "cycles"; }

class Rank {
 public:
  Rank(ProfileBuilder& builder, std::string_view name, Diagnostics& diags)
      : builder_(builder), diags_(diags), rank_(builder.region(name)) {}

  /// Number of threads.
  Result<std::size_t> read(const Element& root) {
    for (const char* key : {"papi_version", "cpu_info", "max_cpu_rate_mhz"}) {
      if (rank_ == 1) builder_.about(key, json::text(json::member(root, key)).value_or(""));
    }
    read_events(root);
    const auto threads = object(json::member(root, "threads"));
    if (!threads) return diags_.error("\"threads\" is no object; files of PAPI before 6.0.0.1 are not read");
    std::size_t count = 0;
    for (const auto [id, thread] : *threads) {
      ++count;
      if (!read_thread(id, thread)) return Failure{};
    }
    return count;
  }

 private:
  struct Entry {
    Element element;
    std::string_view id, parent;
    std::vector<std::size_t> children;
  };

  /// Events of the type "instant" are levels, such as a temperature.
  void read_events(const Element& root) {
    const auto events = object(json::member(root, "event_definitions"));
    if (!events) return;
    for (const auto [name, event] : *events) {
      if (json::text(json::member(event, "type")) == "instant") levels_.emplace(name);
    }
  }

  Status read_thread(std::string_view id, const Element& thread) {
    const auto listed = object(json::member(thread, "regions"));
    if (!listed) return diags_.error({}, fmt::format("thread {}", id), "\"regions\" is no object");
    std::vector<Entry> entries;
    std::unordered_map<std::string_view, std::size_t> by_id;
    for (const auto [region, element] : *listed) {
      by_id.try_emplace(region, entries.size());
      entries.push_back({element, region, json::text(json::member(element, "parent_region_id")).value_or("-1"), {}});
    }
    std::vector<std::size_t> open;
    for (std::size_t e = entries.size(); e-- > 0;) {
      if (entries[e].parent == "-1") {
        open.push_back(e);
        continue;
      }
      const auto parent = by_id.find(entries[e].parent);
      if (parent == by_id.end())
        return diags_.error({}, fmt::format("region {}", entries[e].id),
                            fmt::format("its parent {} is missing", entries[e].parent));
      entries[parent->second].children.push_back(e);
    }
    const std::size_t at = builder_.region(fmt::format("thread {}", id), rank_);
    std::map<std::string, double, std::less<>> clocks;
    std::vector<std::size_t> made(entries.size(), 0);
    std::size_t reached = 0;
    while (!open.empty()) {
      const std::size_t e = open.back();
      open.pop_back();
      ++reached;
      const auto parent = by_id.find(entries[e].parent);
      const bool outermost = parent == by_id.end() || entries[e].parent == "-1";
      made[e] = builder_.region(json::text(json::member(entries[e].element, "name")).value_or("unnamed"),
                                outermost ? at : made[parent->second]);
      if (!read_values(entries[e].element, made[e], outermost ? &clocks : nullptr)) return Failure{};
      open.insert(open.end(), entries[e].children.begin(), entries[e].children.end());
    }
    if (reached != entries.size())
      return diags_.error({}, fmt::format("thread {}", id), "regions are within themselves: the tree has a cycle");
    for (const auto& [name, sum] : clocks) builder_.add(at, metric(name), sum);
    return ok();
  }

  Status read_values(const Element& region, std::size_t at, std::map<std::string, double, std::less<>>* clocks) {
    const auto members = object(region);
    if (!members) return diags_.error({}, builder_.regions()[at].name, "a region is no object");
    for (const auto [key, element] : *members) {
      if (key == "name" || key == "parent_region_id") continue;
      const auto nested = json::member(element, "region_value");
      const auto value = number(nested ? *nested : element);
      if (!value)
        return diags_.error({}, builder_.regions()[at].name, fmt::format("the value of {} is no number", key));
      if (key == "region_count") {
        builder_.weigh(at, *value);
        continue;
      }
      builder_.add(at, metric(key), *value);
      if (clocks && is_clock(key)) (*clocks)[std::string(key)] += *value;
    }
    return ok();
  }

  std::size_t metric(std::string_view name) {
    const bool most = is_clock(name) || levels_.contains(std::string(name));
    return builder_.metric({.name = std::string(name),
                            .unit = name == "real_time_nsec" ? "ns" : "",
                            .combine = most ? Combine::Max : Combine::Sum});
  }

  ProfileBuilder& builder_;
  Diagnostics& diags_;
  std::size_t rank_;
  std::set<std::string> levels_;
};

bool is_papi(std::string_view bytes) {
  const std::string_view head = bytes.substr(0, 4096);
  return head.find("\"papi_version\"") != std::string_view::npos ||
         (head.find("\"event_definitions\"") != std::string_view::npos && head.find('{') != std::string_view::npos);
}

}  // namespace

bool sniff_papi(const ProfileFiles& files) { return is_papi(files.files.front().bytes); }

Result<Profile> read_papi(const ProfileFiles& files, Diagnostics& diags) {
  ProfileBuilder builder(files.path, "papi-hl");
  std::size_t threads = 0;
  for (const ProfileFiles::File& f : files.files) {
    if (files.files.size() > 1 && !f.name.ends_with(".json")) continue;
    diags.in_file(f.name);
    const auto document = json::Document::parse(f.bytes, diags);
    if (!document) return Failure{};
    const std::string_view base = f.base();
    Rank rank(builder, base.substr(0, base.rfind('.')), diags);
    const auto count = rank.read(document->root());
    if (!count) return Failure{};
    threads += *count;
  }
  diags.in_file(files.path);
  if (threads > 0) builder.add(0, builder.metric({.name = "profiled threads"}), static_cast<double>(threads));
  return builder.finish(diags);
}

}  // namespace perfc
