#include "counters/profile.h"

#include <algorithm>
#include <cmath>

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
  std::size_t region;
  double value;
};

double combine(Combine how, const std::vector<Part>& parts, const std::vector<Region>& regions) {
  double sum = 0, weights = 0, most = parts.front().value;
  for (const Part& p : parts) {
    const double weight = how == Combine::Mean ? regions[p.region].weight : 1;
    sum += weight * p.value;
    weights += weight;
    most = std::max(most, p.value);
  }
  switch (how) {
    case Combine::Sum: return sum;
    case Combine::Max: return most;
    case Combine::Mean: return weights > 0 ? sum / weights : parts.front().value;
  }
  return sum;
}

auto find_sample(std::vector<Sample>& samples, std::size_t metric) {
  return std::lower_bound(samples.begin(), samples.end(), metric, [](const Sample& s, std::size_t m) { return s.metric < m; });
}

}  // namespace

std::optional<double> Profile::value(std::size_t region, std::size_t metric) const {
  for (const Sample& s : regions[region].samples) {
    if (s.metric == metric) return s.value;
  }
  return {};
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

std::size_t ProfileBuilder::region(std::string name, std::size_t parent) {
  profile_.regions.push_back({.name = std::move(name), .parent = parent});
  return profile_.regions.size() - 1;
}

void ProfileBuilder::add(std::size_t region, std::size_t metric, double value) {
  if (!std::isfinite(value)) return;
  std::vector<Sample>& samples = profile_.regions[region].samples;
  const auto at = find_sample(samples, metric);
  if (at == samples.end() || at->metric != metric) {
    samples.insert(at, {metric, value});
    ++samples_;
  } else if (profile_.metrics[metric].combine == Combine::Sum) {
    at->value += value;
  } else {
    at->value = std::max(at->value, value);
  }
}

void ProfileBuilder::unmeasured(std::string metric, std::string why) {
  profile_.unmeasured.push_back({std::move(metric), std::move(why)});
}

void ProfileBuilder::add_totals() {
  const Walk walk(profile_.regions);
  std::vector<std::vector<Part>> parts(profile_.metrics.size());
  for (std::size_t r = 1; r < profile_.regions.size(); ++r) {
    for (const Sample& s : profile_.regions[r].samples) parts[s.metric].push_back({r, s.value});
  }
  for (std::size_t m = 0; m < parts.size(); ++m) {
    std::vector<Part>& all = parts[m];
    if (all.empty() || profile_.value(0, m)) continue;
    if (profile_.metrics[m].scope == Scope::Inclusive) {
      std::sort(all.begin(), all.end(), [&](const Part& a, const Part& b) { return walk.begin[a.region] < walk.begin[b.region]; });
      std::size_t covered = 0;
      std::erase_if(all, [&](const Part& p) {
        if (walk.begin[p.region] < covered) return true;
        covered = walk.end[p.region];
        return false;
      });
    }
    add(0, m, combine(profile_.metrics[m].combine, all, profile_.regions));
  }
}

Result<Profile> ProfileBuilder::finish(Diagnostics& diags) {
  if (samples_ == 0) return diags.error("no counter in it has a value");
  add_totals();
  return std::move(profile_);
}

}  // namespace perfc
