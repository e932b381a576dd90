#include "counters/profile.h"

#include <algorithm>
#include <cmath>
#include <span>

namespace perfc {
namespace {

/// Where each region stands in a walk through the tree, and where its subtree ends.
struct Walk {
  std::vector<std::size_t> begin, end;
  explicit Walk(const std::vector<Region>& regions) : begin(regions.size(), 0), end(regions.size(), 1) {
    std::vector<std::size_t>& size = end;
    for (std::size_t r = regions.size(); r-- > 1;) size[regions[r].parent] += size[r];
    std::vector<std::size_t> next(regions.size(), 1);
    for (std::size_t r = 1; r < regions.size(); ++r) {
      std::size_t& at = next[regions[r].parent];
      begin[r] = at;
      at += size[r];
      next[r] = begin[r] + 1;
    }
    for (std::size_t r = 0; r < regions.size(); ++r) end[r] = begin[r] + size[r];
  }
};

struct Part {
  double value;
  double weight;
};

double combine(Combine how, std::span<const Part> parts) {
  double sum = 0, weighted = 0, weights = 0, most = parts.front().value;
  for (const Part& p : parts) {
    sum += p.value;
    weighted += p.weight * p.value;
    weights += p.weight;
    most = std::max(most, p.value);
  }
  switch (how) {
    case Combine::Sum:
      return sum;
    case Combine::Max:
      return most;
    case Combine::Mean:
      return weights > 0 ? weighted / weights : sum / static_cast<double>(parts.size());
  }
  return sum;
}

bool by_metric(const Sample& a, const Sample& b) { return a.metric < b.metric; }

}  // namespace

std::optional<double> Profile::value(std::size_t region, std::size_t metric) const {
  const std::vector<Sample>& all = regions[region].samples;
  const auto at = std::lower_bound(all.begin(), all.end(), Sample{.metric = metric}, by_metric);
  if (at == all.end() || at->metric != metric) return {};
  return at->value;
}

ProfileBuilder::ProfileBuilder(std::string path, std::string_view format) {
  profile_.path = std::move(path);
  profile_.format = format;
  profile_.regions.push_back({.name = "(whole run)"});
}

void ProfileBuilder::about(std::string_view key, std::string_view value) {
  if (!value.empty()) profile_.about.emplace_back(key, value);
}

std::size_t ProfileBuilder::metric(Metric m) {
  const auto [at, fresh] = metric_index_.try_emplace(m.name, profile_.metrics.size());
  if (fresh) profile_.metrics.push_back(std::move(m));
  return at->second;
}

std::size_t ProfileBuilder::region(std::string_view name, std::size_t parent) {
  profile_.regions.push_back({.name = std::string(name.substr(0, kMaxName)), .parent = parent});
  return profile_.regions.size() - 1;
}

void ProfileBuilder::add(std::size_t region, std::size_t metric, double value) {
  if (!std::isfinite(value)) return;
  profile_.regions[region].samples.push_back({metric, value});
  measured_ = true;
}

void ProfileBuilder::unmeasured(std::string metric, std::string why) {
  profile_.unmeasured.push_back({std::move(metric), std::move(why)});
}

void ProfileBuilder::merge_samples() {
  std::vector<Part> parts;
  for (Region& region : profile_.regions) {
    std::stable_sort(region.samples.begin(), region.samples.end(), by_metric);
    auto kept = region.samples.begin();
    for (auto at = region.samples.begin(); at != region.samples.end();) {
      const std::size_t metric = at->metric;
      parts.clear();
      for (; at != region.samples.end() && at->metric == metric; ++at) parts.push_back({at->value, 1});
      *kept++ = {metric, combine(profile_.metrics[metric].combine, parts)};
    }
    region.samples.erase(kept, region.samples.end());
  }
}

void ProfileBuilder::add_totals() {
  struct Place {
    std::size_t region;
    Part part;
  };
  const Walk walk(profile_.regions);
  std::vector<std::vector<Place>> places(profile_.metrics.size());
  for (std::size_t r = 1; r < profile_.regions.size(); ++r) {
    for (const Sample& s : profile_.regions[r].samples)
      places[s.metric].push_back({r, {s.value, profile_.regions[r].weight}});
  }
  std::vector<Sample> totals;
  std::vector<Part> parts;
  for (std::size_t m = 0; m < places.size(); ++m) {
    const Metric& metric = profile_.metrics[m];
    if (places[m].empty() || profile_.value(0, m) || metric.scope == Scope::Function) continue;
    std::sort(places[m].begin(), places[m].end(),
              [&](const Place& a, const Place& b) { return walk.begin[a.region] < walk.begin[b.region]; });
    parts.clear();
    std::size_t covered = 0;
    for (const Place& p : places[m]) {
      if (metric.scope == Scope::Inclusive && walk.begin[p.region] < covered) continue;
      covered = walk.end[p.region];
      parts.push_back(p.part);
    }
    totals.push_back({m, combine(metric.combine, parts)});
  }
  std::vector<Sample>& whole = profile_.regions.front().samples;
  whole.insert(whole.end(), totals.begin(), totals.end());
  std::sort(whole.begin(), whole.end(), by_metric);
}

Result<Profile> ProfileBuilder::finish(Diagnostics& diags) {
  if (!measured_) return diags.error("no counter in it has a value");
  merge_samples();
  add_totals();
  return std::move(profile_);
}

}  // namespace perfc
