#pragma once
/// How a framework runs a graph.
#include <cstdint>

namespace perfc {

/// Eager execution runs the calls that a program makes, one after the other. Compilers fuse what is written out, fold
/// batch-norms, compute equal calls once and choose an order of their own.
enum class ExecMode : std::uint8_t { Eager, Compiled };

}  // namespace perfc
