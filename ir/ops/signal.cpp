/// Rules for Fourier transforms, windows, random generators.
#include "ir/infer_context.h"
#include "ir/ops/rules.h"

namespace perfc::rules {

Status random_shape(InferContext& c) { return c.error("no shape rule yet"); }
Status random_like(InferContext& c) { return c.error("no shape rule yet"); }
Status multinomial(InferContext& c) { return c.error("no shape rule yet"); }
Status dft(InferContext& c) { return c.error("no shape rule yet"); }
Status stft(InferContext& c) { return c.error("no shape rule yet"); }
Status ms_rfft(InferContext& c) { return c.error("no shape rule yet"); }
Status ms_irfft(InferContext& c) { return c.error("no shape rule yet"); }
Status window(InferContext& c) { return c.error("no shape rule yet"); }
Status mel_weight_matrix(InferContext& c) { return c.error("no shape rule yet"); }
void dft_cost(const CostContext&, OpCost&) {}
void stft_cost(const CostContext&, OpCost&) {}
void ms_fft_cost(const CostContext&, OpCost&) {}

}  // namespace perfc::rules
