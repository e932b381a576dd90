#pragma once
/// Reading profiles from text or files in tests.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <list>

#include "counters/derive.h"
#include "counters/readers/reader.h"

namespace perfc {

inline Profile read_text(const std::string& name, std::string_view text, Diagnostics& diags) {
  const ProfileFiles files{.path = name, .files = {{name, text}}};
  auto p = read_profile(files, diags);
  EXPECT_TRUE(p) << diags.str();
  return p ? std::move(*p) : Profile{.regions = {{}}};
}
inline Profile read_text(const std::string& name, std::string_view text) {
  Diagnostics diags(name);
  Profile p = read_text(name, text, diags);
  EXPECT_EQ(diags.str(), "");
  return p;
}

/// A file or folder of tests/fixtures/counters with its files' bytes.
struct Fixture {
  std::list<std::string> bytes;
  ProfileFiles files;

  explicit Fixture(const std::string& name, const std::string& mapping = {}) {
    namespace fs = std::filesystem;
    const fs::path path = fs::path(PERFC_SOURCE_DIR) / "tests" / "fixtures" / "counters" / name;
    files.path = name;
    if (fs::is_directory(path)) {
      std::vector<fs::path> all;
      for (const auto& entry : fs::directory_iterator(path)) all.push_back(entry.path());
      std::sort(all.begin(), all.end());
      for (const fs::path& p : all) files.files.push_back({name + "/" + p.filename().string(), load(p)});
    } else {
      files.files.push_back({name, load(path)});
    }
    if (!mapping.empty()) {
      files.mapping = load(path.parent_path() / mapping);
      files.mapping_name = mapping;
    }
  }

  std::string_view load(const std::filesystem::path& path) {
    std::ifstream in(path, std::ios::binary);
    return bytes.emplace_back(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
  }

  /// The bytes of one file, to be changed.
  std::string& at(std::string_view base) {
    auto b = bytes.begin();
    for (auto& f : files.files) {
      if (f.base() == base) return *b;
      ++b;
    }
    ADD_FAILURE() << base;
    return bytes.front();
  }
  /// Takes changed bytes over.
  void refresh() {
    auto b = bytes.begin();
    for (auto& f : files.files) f.bytes = *b++;
  }

  Profile read() {
    Diagnostics diags(files.path);
    auto p = read_profile(files, diags);
    EXPECT_TRUE(p) << diags.str();
    EXPECT_EQ(diags.str(), "");
    return p ? std::move(*p) : Profile{.regions = {{}}};
  }
  std::string complaint() {
    refresh();
    Diagnostics diags(files.path);
    EXPECT_FALSE(read_profile(files, diags));
    return diags.str();
  }
};

/// What a file is refused with.
inline std::string complaint(const std::string& name, std::string_view text) {
  Diagnostics diags(name);
  const ProfileFiles files{.path = name, .files = {{name, text}}};
  EXPECT_FALSE(read_profile(files, diags));
  return diags.str();
}

inline std::optional<double> total(const Profile& p, std::string_view metric) {
  for (std::size_t m = 0; m < p.metrics.size(); ++m) {
    if (p.metrics[m].name == metric) return p.total(m);
  }
  return {};
}

/// Names of the regions, '>' per level, one a line.
inline std::string tree(const Profile& p) {
  std::string out;
  std::vector<std::size_t> depth(p.regions.size(), 0);
  for (std::size_t r = 1; r < p.regions.size(); ++r) {
    depth[r] = depth[p.regions[r].parent] + 1;
    out += std::string(depth[r], '>') + p.regions[r].name + "\n";
  }
  return out;
}

inline std::optional<double> value(const Profile& p, std::string_view region, std::string_view metric) {
  for (std::size_t r = 1; r < p.regions.size(); ++r) {
    for (std::size_t m = 0; m < p.metrics.size(); ++m) {
      if (p.regions[r].name == region && p.metrics[m].name == metric) return p.value(r, m);
    }
  }
  return {};
}

inline std::optional<double> quantity(const Derived& d, std::string_view name) {
  for (const Measured& m : d.measured) {
    if (m.quantity == name) return m.value;
  }
  return {};
}

}  // namespace perfc
