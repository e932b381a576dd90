#pragma once
/// Reading profiles from text or files in tests.
#include <gtest/gtest.h>

#include <cmath>

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

inline std::optional<double> quantity(const Derived& d, std::string_view name) {
  for (const Measured& m : d.measured) {
    if (m.quantity == name) return m.value;
  }
  return {};
}

}  // namespace perfc
