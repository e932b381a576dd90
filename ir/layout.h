#pragma once
/// Where the axes of data and kernels stand. Convolutions, pools, norms and
/// resizes are [n, c, spatial…] unless attributes with Relay's names say
/// otherwise:
///   data_layout     "NCHW", "NHWC", "NWC", "NDHWC", …
///   kernel_layout   "OIHW", "HWIO", "OHWI", …; O result channels, I the operand
///                   channels of a group. Transposed convolutions: "IOHW", where
///                   O is per group.
/// (`channels_last`=1, com.microsoft's attribute, moves the data's channels too.)
#include <cstddef>
#include <optional>

#include "ir/graph.h"

namespace perfc {

struct TensorAxes {
  std::size_t outer = 0;                                   ///< N of data, O of kernels
  std::size_t channel = 1;                                 ///< C of data, I of kernels
  boost::container::small_vector<std::size_t, 3> spatial;  ///< in the order of strides and padding
};

/// Axes of data of that rank (≥ 2); nothing when data_layout is of another rank
/// or names no such axes.
std::optional<TensorAxes> data_axes(const Attrs&, std::size_t rank);

enum class ConvDirection { Forward, Transposed };
/// Axes of a kernel of that rank (≥ 2); nothing as above.
std::optional<TensorAxes> kernel_axes(const Attrs&, std::size_t rank, ConvDirection);

/// Axes of the kernel of a convolution call with (data, kernel, …) operands;
/// nothing when its rank is not known.
std::optional<TensorAxes> kernel_axes(const Graph&, const Node&);
bool is_transposed_convolution(OpId);

/// Axis of the channels in data of that rank; 1 where the attributes contradict.
std::size_t channel_axis(const Attrs&, std::size_t rank);

/// Elements that a window of pooling (`kernel_size`) reads of data of that type: no further than they reach.
double window_elements(const Attrs&, const Type& data);

}  // namespace perfc
