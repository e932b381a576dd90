#pragma once
/// A device of round numbers, and predictions on it, for tests.
#include <gtest/gtest.h>

#include "graphs.h"
#include "whitebox/predictor.h"

namespace perfc {

/// 1 TFLOP/s, 1 GB/s per … everything round, all shares 1.
inline Device round_device() {
  Device d;
  d.name = "round";
  d.kind = "gpu";
  d.vector_tflops = {{"float32", 1}};
  d.matrix_tflops = {{"float16", 4}};
  d.bandwidth_gb_s = 100;
  d.memory_mib = 1000;
  d.sms = 10;
  d.tdp_w = 100;
  d.idle_w = 20;
  d.launch_us = 2;
  for (const char* kind : {"matmul", "convolution", "vector_matmul", "vector_convolution", "depthwise", "vector",
                           "bandwidth", "gather", "layout"})
    d.efficiency[kind] = 1;
  return d;
}

/// One of the program's own; fails the test where there is none of that name.
inline Device device(const char* name) {
  Diagnostics diags("test");
  auto d = DeviceTable::builtin().find(name, diags);
  EXPECT_TRUE(d) << diags.str();
  return d ? *std::move(d) : Device{};
}

inline Prediction predicted(const Graph& g, ExecConfig config, const Device& d) {
  Diagnostics diags("test");
  auto model = make_whitebox()->prepare(g, config, diags);
  EXPECT_TRUE(model) << diags.str();
  return model ? (*model)->on(d) : Prediction{};
}

inline const char* const kDense = R"(def @main(%x: Tensor[(256, 512), float32]) {
  %1 = weight : Tensor[(512, 1024), float32];
  %2 = nn.dense(%x, %1);
  (%2)
})";

}  // namespace perfc
