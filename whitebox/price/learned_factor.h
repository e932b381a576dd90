#pragma once
/// What the tile model (whitebox/price/matmul_time.h) leaves of measured products, learned: boosted trees on the
/// logarithm of measured over modelled time, trained on all measured devices at once by
/// studies/kernels/product_factor.py (16 bits) and quantised_factor.py (weights of 8 and 4 bits, int8, fp8). They see
/// the kind of chip, the product's extents, and ratios of work to a device's rates, never a name. When one of these
/// ratios rises, which it does on a worse device, no tree falls: a better device of the same class never becomes slower
/// by the factor, as long as more SMs bring their rate.
///
/// data/models/products.trees and quantised.trees, in the program as they are: whitebox/price/trees.h.
#include <optional>

#include "whitebox/price/matmul_time.h"

namespace perfc {

/// The number of a class in the trees of products and of attention; none where it was not measured.
std::optional<int> learned_class(ChipClass);
/// Whether products of this kind were measured on chips of this class, so that `learned_factor` says something of them:
/// single ones, of 16 bits or with quantised operands.
bool has_learned_factor(ChipClass, const Product&);

/// On `product_time().total`, between 0.67 and 1.49, of quantised products between 0.5 and 2.01. Within an octave
/// beyond the extents that were measured it comes to 1. Precondition: has_learned_factor(d.chip, product).
double learned_factor(const ProductDevice& d, const Product&);

/// `product_time` by that factor, and no more than the same of twice the rows: trees are steps, and a kernel could pad
/// the rows. Precondition: as above.
ProductTime learned_product_time(const ProductDevice& d, const Product&);

}  // namespace perfc
