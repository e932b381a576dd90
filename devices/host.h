#pragma once
/// Hosts: what a CPU and its framework take to dispatch work to a device. A property of the CPU, the operating system
/// and the framework's version, not of the GPU beside them. Data: `data/hosts.json`, in the format of `--host FILE`.
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ir/exec_mode.h"
#include "ir/support/diagnostics.h"

namespace perfc {

/// What a host dispatches, by how much PyTorch does for it (docs/whitebox.md, "The host").
enum class HostCall : std::uint8_t {
  View,           ///< what a kernel reads through views: strides, no kernel
  Inner,          ///< a kernel that another call launches: a convolution's bias, autocast's casts, copies, gradients
  Kernel,         ///< a call of one kernel: elementwise, reduction, softmax, copy, gather, pooling
  Product,        ///< a dense or batched product (cuBLAS)
  Convolution,    ///< cuDNN
  Normalization,  ///< batch, layer, group and RMS norm: many arguments, several results
  Composite       ///< fused attention, a recurrent layer: one call that chooses among kernels
};
/// Their names in JSON, in that order.
inline constexpr std::array<const char*, 7> kHostCallNames{"view",        "inner",         "kernel",   "product",
                                                           "convolution", "normalization", "composite"};

/// How many calls of each class.
struct HostCalls {
  std::array<double, kHostCallNames.size()> of{};
  void add(HostCall c, double times) { of[static_cast<std::size_t>(c)] += times; }
  HostCalls& operator+=(const HostCalls&);
  double total() const;
};

struct Host {
  std::string name;                                      ///< "server"
  std::string title;                                     ///< "A server of today"
  std::string framework;                                 ///< "PyTorch 2.x"
  std::array<double, kHostCallNames.size()> eager_us{};  ///< of a call, by class, its kernel's launch included
  double compiled_us = 0;                                ///< per kernel that TorchInductor generates, from its wrapper
  double interval = 1;               ///< 90 % of the hosts that this entry stands for lie within this factor of it
  std::vector<std::string> kinds{};  ///< narrower built-in entries of these hosts, for who knows which it is
  std::string source;

  /// Time in µs to dispatch these calls. Compiled, those of one kernel are generated kernels, and those of libraries
  /// (products, convolutions, attention) stay calls, which take the wrapper longer, and a run has a part of its own.
  double us(const HostCalls&, ExecMode) const;
  /// The same host `factor` times as slow.
  Host slowed(double factor) const;
};
/// Costs that are geometric means of the hosts', of which there is at least one.
Host geometric_mean(const std::vector<const Host*>&);

/// The hosts built into the program.
const std::vector<Host>& builtin_hosts();
/// A built-in host, case-insensitive. Unknown names are an error that suggests the nearest.
Result<Host> find_host(std::string_view name, Diagnostics&);
/// The one host of a host file's text; every wrong field is named.
Result<Host> parse_host(std::string_view json, Diagnostics&);

}  // namespace perfc
