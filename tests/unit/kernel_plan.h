#pragma once
/// What is launched for a graph, for tests.
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "whitebox/launch/kernels.h"

namespace perfc {

/// Fails the test (and returns an empty plan) on an error.
inline KernelPlan plan_of(const Graph& g, const ExecConfig& config) {
  Diagnostics diags("test");
  auto plan = plan_kernels(g, config, diags);
  EXPECT_TRUE(plan) << diags.str();
  return plan ? *std::move(plan) : KernelPlan{};
}

/// How many calls the host makes of each class that it makes any of.
using Calls = std::map<std::string, double>;
inline Calls calls_of(const KernelPlan& plan) {
  Calls out;
  for (std::size_t c = 0; c < kHostCallNames.size(); ++c) {
    if (plan.host_calls.of[c] > 0) out[kHostCallNames[c]] = plan.host_calls.of[c];
  }
  return out;
}

/// The operator that gives each kernel its kind.
inline std::vector<std::string> ops_of(const KernelPlan& plan) {
  std::vector<std::string> out;
  for (const Kernel& k : plan.kernels) out.emplace_back(k.ops.empty() ? "" : def(k.ops.front()).name);
  return out;
}

}  // namespace perfc
