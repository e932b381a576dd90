#pragma once
/// What the files of rows share: how PyTorch runs the usual kinds of operators (`OpDef::runs`), and the files.
#include "ir/op_table.h"
#include "ir/ops/rules.h"

namespace perfc::rules {

/// Each element of the result from the same of the operands.
constexpr Runs pointwise(Keeps keeps, Autocast autocast = Autocast::Promotes) {
  return {autocast, keeps, Fusion::Pointwise, Launch::Kernel, MemoryFormat::Preserved};
}
/// x · f(x).
constexpr Runs activation_read_twice() {
  return {Autocast::Promotes, Keeps::First, Fusion::PointwiseTwice, Launch::Kernel, MemoryFormat::Preserved};
}
/// The operand itself, under another name.
constexpr Runs no_op() {
  return {Autocast::Promotes, Keeps::Nothing, Fusion::Pointwise, Launch::View, MemoryFormat::Preserved};
}
/// Matrix products and what consists of them.
constexpr Runs product(Keeps keeps) {
  return {Autocast::Half, keeps, Fusion::Never, Launch::Kernel, MemoryFormat::Contiguous};
}
constexpr Runs convolution() {
  return {Autocast::Half, Keeps::Factors, Fusion::Never, Launch::Kernel, MemoryFormat::ByRule};
}
/// Norms: statistics of the operand, then a pass over it.
constexpr Runs statistics(Autocast autocast, Keeps keeps, MemoryFormat format = MemoryFormat::Contiguous) {
  return {autocast, keeps, Fusion::Reduction, Launch::Kernel, format};
}
constexpr Runs softmax() {
  return {Autocast::WritesFloat32, Keeps::Result, Fusion::AxisReduction, Launch::Kernel, MemoryFormat::Contiguous};
}
/// Pooling by windows.
constexpr Runs windows(Keeps keeps) {
  return {Autocast::Promotes, keeps, Fusion::Window, Launch::Kernel, MemoryFormat::Preserved};
}
/// Pooling to one position, and the mean that it is.
constexpr Runs mean_of_axes(Keeps keeps) {
  return {Autocast::Promotes, keeps, Fusion::Reduction, Launch::Kernel, MemoryFormat::Preserved};
}
constexpr Runs reduction(Keeps keeps, Autocast autocast = Autocast::Promotes) {
  return {autocast, keeps, Fusion::AxisReduction, Launch::Kernel, MemoryFormat::Preserved};
}
constexpr Runs view(MemoryFormat format = MemoryFormat::Contiguous) {
  return {Autocast::Promotes, Keeps::Nothing, Fusion::Moves, Launch::View, format};
}
constexpr Runs view_if_contiguous() {
  return {Autocast::Promotes, Keeps::Nothing, Fusion::Moves, Launch::ViewIfContiguous, MemoryFormat::Contiguous};
}
constexpr Runs strided_view(MemoryFormat format) {
  return {Autocast::Promotes, Keeps::Nothing, Fusion::Moves, Launch::StridedView, format};
}
/// A copy of elements to other places.
constexpr Runs moves(MemoryFormat format) {
  return {Autocast::Promotes, Keeps::Nothing, Fusion::Moves, Launch::Kernel, format};
}
constexpr Runs resampling(Autocast autocast) {
  return {autocast, Keeps::Nothing, Fusion::Moves, Launch::Kernel, MemoryFormat::Preserved};
}
constexpr Runs gather(Launch launch = Launch::Kernel) {
  return {Autocast::Promotes, Keeps::Indices, Fusion::Moves, launch, MemoryFormat::Contiguous};
}
constexpr Runs quantization() {
  return {Autocast::Promotes, Keeps::All, Fusion::Moves, Launch::Kernel, MemoryFormat::Contiguous};
}
/// A kernel that fuses with nothing.
constexpr Runs alone(Autocast autocast, Keeps keeps) {
  return {autocast, keeps, Fusion::Never, Launch::Kernel, MemoryFormat::Contiguous};
}
/// Sequences and optionals, which are the host's.
constexpr Runs container() {
  return {Autocast::Promotes, Keeps::Nothing, Fusion::Never, Launch::View, MemoryFormat::Contiguous};
}

std::span<const OpDef> elementwise_rows(), products_rows(), reductions_rows(), movement_rows(), others_rows();

}  // namespace perfc::rules
