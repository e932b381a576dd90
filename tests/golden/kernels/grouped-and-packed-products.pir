// RUN: perfc predict %s --emit=kernels --mode eager --dtype bf16 --predictor whitebox --device h100-sxm
// COLUMNS: node,operators,macs,bytes,m,n,k,products
// torch._grouped_mm over 8 experts, weights of 4 and 8 bits that the product unpacks, and torch.histc without a range.
#[version = "perfc-ir/1"]
def @main(%x: Tensor[(1024, 256), bfloat16], %ends: Tensor[(8,), int32]) {
  %2 = weight : Tensor[(8, 256, 512), bfloat16] @experts;
  %3 = nn.grouped_matmul(%x, %2, %ends) @_grouped_mm;
  %4 = weight : Tensor[(256, 64), int32] @packed_4;
  %5 = weight : Tensor[(8, 256, 2), bfloat16] @scales_and_zeros;
  %6 = nn.matmul_nbits(%3, %4, %5, K=512, N=256, bits=4, block_size=64) @_weight_int4pack_mm;
  %7 = weight : Tensor[(96, 256), int8] @packed_8;
  %8 = weight : Tensor[(96,), bfloat16] @scales;
  %9 = nn.matmul_nbits(%6, %7, %8, K=256, N=96, bits=8, per_row=1) @_weight_int8pack_mm;
  %10 = histogram(%9, bins=100, ranged=0) @histc;
  (%10)
}
// ---- stdout
// _grouped_mm nn.grouped_matmul 134217728 3670048 128 512 256 8
// _weight_int4pack_mm nn.matmul_nbits 134217728 1646592 1024 256 512 1
// _weight_int8pack_mm nn.matmul_nbits 25165824 745664 1024 96 256 1
// histc histogram 0 393416 1 100 983.04 1
// ---- stderr
// ---- exit 0
