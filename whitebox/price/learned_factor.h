#pragma once
/// What the tile model (whitebox/price/matmul_time.h) leaves of measured products in 16 bits, learned: boosted trees on
/// the logarithm of measured over modelled time, trained on all measured devices at once by
/// studies/kernels/product_factor.py. They see the kind of chip, the product's extents, and ratios of work to a
/// device's rates, never a name. When one of these ratios rises, which it does on a worse device, no tree falls: a
/// better device of the same class never becomes slower by the factor.
///
/// data/models/products.trees, in the program as it is: whitebox/price/trees.h.
#include <optional>

#include "whitebox/price/matmul_time.h"

namespace perfc {

/// The number of a class in the trees of products and of attention; none where it was not measured.
std::optional<int> learned_class(ChipClass);
/// Whether products of this class were measured in 16 bits, so that `learned_factor` says something of them.
bool has_learned_factor(ChipClass);

/// On `product_time().total`, between 0.67 and 1.49. 1 for batches of products, and within an octave beyond the extents
/// that were measured it comes to that. Precondition: has_learned_factor(d.chip).
double learned_factor(const ProductDevice& d, const Product&);

/// `product_time` by that factor, and no less than the same of half of the rows, where that is more than one: trees are
/// steps, and fewer rows should not take longer. Precondition: as above.
ProductTime learned_product_time(const ProductDevice& d, const Product&);

}  // namespace perfc
