// RUN: perfc predict %s --emit=kernels --mode eager --dtype fp16 --predictor whitebox --device rtx4090
// RUN: perfc predict %s --emit=kernels --mode eager --dtype fp16 --predictor whitebox --device h100-sxm
// COLUMNS: operators,macs,compute_us,memory_us
// Every query meets every key; the same with a causal mask, which skips about half of the tiles (macs count all); heads
// that share keys, and put them into a cache; the same, of a chunk of 256 behind 1,792 tokens, and within a window; one
// query of that cache, and within a window.
#[version = "perfc-ir/1"]
def @main(%x: Tensor[(2, 32, 2048, 128), float32], %q: Tensor[(2, 2048, 4096), float32],
          %chunk: Tensor[(2, 256, 4096), float32], %one: Tensor[(2, 1, 4096), float32],
          %k: Tensor[(2, 2048, 1024), float32], %kc: Tensor[(2, 256, 1024), float32],
          %k1: Tensor[(2, 1, 1024), float32], %cache: Tensor[(2, 8, 2048, 128), float32],
          %lengths: Tensor[(2,), int32], %total: Tensor[(1,), int32]) {
  %10 = nn.sdpa(%x, %x, %x);
  %11 = nn.sdpa(%10, %x, %x, is_causal=1);
  %12:3 = nn.group_query_attention(%q, %k, %k, %cache, %cache, %lengths, %total, num_heads=32, kv_num_heads=8);
  %13:3 = nn.group_query_attention(%chunk, %kc, %kc, %cache, %cache, %lengths, %total, num_heads=32, kv_num_heads=8);
  %14:3 = nn.group_query_attention(%chunk, %kc, %kc, %cache, %cache, %lengths, %total, num_heads=32, kv_num_heads=8, local_window_size=128);
  %15:3 = nn.group_query_attention(%one, %k1, %k1, %cache, %cache, %lengths, %total, num_heads=32, kv_num_heads=8);
  %16:3 = nn.group_query_attention(%one, %k1, %k1, %cache, %cache, %lengths, %total, num_heads=32, kv_num_heads=8, local_window_size=128);
  (%11, %12.0, %13.0, %14.0, %15.0, %16.0)
}
// ---- perfc predict %s --emit=kernels --mode eager --dtype fp16 --predictor whitebox --device rtx4090
// ---- stdout
// nn.sdpa 68719476736 839.944 143.993
// nn.sdpa 68719476736 512.648 143.993
// nn.group_query_attention 68719476736 560.411 98.179
// nn.group_query_attention 8589934592 155.179 3.695
// nn.group_query_attention 8589934592 22.030 2.246
// nn.group_query_attention 33554432 8.757 18.010
// nn.group_query_attention 33554432 8.757 1.126
// ---- stderr
// ---- exit 0
// ---- perfc predict %s --emit=kernels --mode eager --dtype fp16 --predictor whitebox --device h100-sxm
// ---- stdout
// nn.sdpa 68719476736 217.080 45.490
// nn.sdpa 68719476736 170.270 45.479
// nn.group_query_attention 68719476736 122.144 49.010
// nn.group_query_attention 8589934592 25.486 4.543
// nn.group_query_attention 8589934592 5.178 2.912
// nn.group_query_attention 33554432 6.276 5.575
// nn.group_query_attention 33554432 4.424 0.369
// ---- stderr
// ---- exit 0
