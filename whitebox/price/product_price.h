#pragma once
/// Kernels that are dense products, of matrices or of a convolution's windows and weights, by their tiles
/// (whitebox/price/matmul_time.h) on the units of a device.
#include "whitebox/launch/kernels.h"
#include "whitebox/price/roofline.h"

namespace perfc {

/// A dense product, whose tiles tell its time: not attention, nor a recurrence, nor what runs in tiles of its own.
bool is_tiled_product(const Kernel&, const Rates&);
Priced price_product(const Kernel&, const Rates&);

/// A product in 16 bits whose rows no load of two elements takes: of odd extents, on tensor cores since Turing.
bool is_odd_product(const Kernel&, const Rates&);
Priced price_odd_product(const Kernel&, const Rates&);

/// A convolution is priced as the product that it is, of its windows and its weights.
bool is_implicit_product(const Kernel&, const Rates&);
Priced price_convolution(const Kernel&, const Rates&);
/// Tensor cores want channels last; windows of one element are products of matrices as the data lies.
bool is_converted(const Kernel&);

/// Kernels of which nothing but their time is known.
Priced priced_whole(double us);

}  // namespace perfc
