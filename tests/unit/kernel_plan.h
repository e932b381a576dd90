#pragma once
/// What is launched for a graph, for tests.
#include <gtest/gtest.h>

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

/// The operator that gives each kernel its kind.
inline std::vector<std::string> ops_of(const KernelPlan& plan) {
  std::vector<std::string> out;
  for (const Kernel& k : plan.kernels) out.emplace_back(k.ops.empty() ? "" : def(k.ops.front()).name);
  return out;
}

}  // namespace perfc
