#pragma once
/// What the model of fused attention (whitebox/price/attention_time.h) leaves of measured kernels in 16 bits, learned:
/// boosted trees on the logarithm of measured over modelled time, trained on all measured devices at once by
/// studies/kernels/attention_factor.py. They see the form, the class of chip, extents, and ratios of work to a device's
/// rates, never a name. When one of these ratios rises, which it does on a worse device, no tree falls.
#include "whitebox/price/attention_time.h"

namespace perfc {

/// On `attention_time().work_s`, between 0.67 and 1.49. 1 for forms that were not measured on the class of chip, and
/// within an octave beyond the extents that were it comes to that. Precondition: learned_class(d.products).
double attention_factor(const AttentionProblem&, const AttentionFacts&);

/// `attention_time` by that factor, and no more than the same of twice the batch: trees are steps, and a kernel could
/// pad the batch. Precondition: as above.
AttentionTime learned_attention_time(const AttentionProblem&, const AttentionFacts&);

}  // namespace perfc
