// RUN: perfc predict %s --emit=kernels --mode compiled --dtype bf16 --predictor whitebox --device a100-40gb
// RUN: perfc predict %s --emit=kernels --mode compiled --dtype bf16 --predictor whitebox --device a100-40gb --stack pytorch-2.10
// COLUMNS: node,operators,kind,m
// Attention that is written out, compiled: what TorchInductor 2.13 and 2.9.1 replace (tests/oracle/inductor.py says so
// of the first). As it lies; permuted, with scores that are multiplied (three copies before it, but not in 2.9.1); the
// same divided, which is not replaced; of one image, whose heads merge, so that it is; one query of permuted keys, some
// of which merge and some do not.
#[version = "perfc-ir/1"]
def @main(%x: Tensor[(2, 4, 24, 16), float32], %rows: Tensor[(2, 24, 4, 16), float32],
          %one: Tensor[(1, 24, 4, 16), float32], %token: Tensor[(2, 1, 4, 16), float32]) {
  %4 = nn.sdpa(%x, %x, %x, explicit=1, scale=0.25, scaled="scores") @"as it lies";
  %5 = transpose(%rows, perm=[0, 2, 1, 3]);
  %6 = nn.sdpa(%5, %5, %5, explicit=1, scale=0.25, scaled="scores") @"permuted";
  %7 = nn.sdpa(%5, %5, %5, explicit=1, scale=0.25, scaled="quotients") @"divided";
  %8 = transpose(%one, perm=[0, 2, 1, 3]);
  %9 = nn.sdpa(%8, %8, %8, explicit=1, scale=0.25, scaled="quotients") @"one image";
  %10 = transpose(%token, perm=[0, 2, 1, 3]);
  %11 = nn.sdpa(%10, %5, %5, explicit=1, scale=0.25, scaled="scores") @"one query";
  (%4, %6, %7, %9, %11)
}
// ---- perfc predict %s --emit=kernels --mode compiled --dtype bf16 --predictor whitebox --device a100-40gb
// ---- stdout
// as it lies nn.sdpa matmul 24
// permuted copy vector 192
// permuted copy vector 192
// permuted copy vector 192
// permuted nn.sdpa matmul 24
// divided copy vector 192
// divided copy vector 192
// divided copy vector 192
// divided nn.batch_matmul matmul 24
// divided nn.softmax multiply vector 192
// divided nn.batch_matmul matmul 24
// one image nn.sdpa matmul 24
// one query copy vector 8
// one query copy vector 192
// one query copy vector 192
// one query nn.batch_matmul matmul 1
// one query nn.softmax multiply vector 8
// one query nn.batch_matmul matmul 1
// ---- stderr
// ---- exit 0
// ---- perfc predict %s --emit=kernels --mode compiled --dtype bf16 --predictor whitebox --device a100-40gb --stack pytorch-2.10
// ---- stdout
// as it lies nn.sdpa matmul 24
// permuted copy vector 192
// permuted copy vector 192
// permuted copy vector 192
// permuted nn.batch_matmul matmul 24
// permuted nn.softmax multiply vector 192
// permuted nn.batch_matmul matmul 24
// divided copy vector 192
// divided copy vector 192
// divided copy vector 192
// divided nn.batch_matmul matmul 24
// divided nn.softmax multiply vector 192
// divided nn.batch_matmul matmul 24
// one image nn.sdpa matmul 24
// one query copy vector 8
// one query copy vector 192
// one query copy vector 192
// one query nn.batch_matmul matmul 1
// one query nn.softmax multiply vector 8
// one query nn.batch_matmul matmul 1
// ---- stderr
// ---- exit 0
