// RUN: perfc predict %s --emit=kernels --mode eager --dtype fp32 --predictor whitebox --device a100-40gb
// RUN: perfc predict %s --emit=kernels --mode eager --dtype fp16 --predictor whitebox --device a100-40gb
// COLUMNS: operators,bytes,m,n,k,products
// enable_gqa: flash attention reads shared keys and values once, in 16 bits and without a mask. Everything else is
// PyTorch's reference, which repeats them for each head.
#[version = "perfc-ir/1"]
def @main(%q: Tensor[(2, 8, 16, 64), float32], %k: Tensor[(2, 2, 128, 64), float32], %mask: Tensor[(16, 128), float32]) {
  %3 = nn.attention(%q, %k, %k);
  %4 = nn.attention(%3, %k, %k, %mask);
  (%4)
}
// ---- perfc predict %s --emit=kernels --mode eager --dtype fp32 --predictor whitebox --device a100-40gb
// ---- stdout
// multiply 131072 256 64 1 1
// copy 655360 2048 64 1 1
// copy 655360 2048 64 1 1
// multiply 1048576 2048 64 1 1
// nn.batch_matmul 720896 16 128 64 16
// nn.softmax 262144 256 128 1 1
// equal 163840 256 128 1 1
// max 32768 256 128 1 1
// where 262144 256 128 1 1
// nn.batch_matmul 720896 16 64 128 16
// multiply 131072 256 64 1 1
// copy 655360 2048 64 1 1
// copy 655360 2048 64 1 1
// multiply 1048576 2048 64 1 1
// nn.batch_matmul 720896 16 128 64 16
// add 270336 256 128 1 1
// nn.softmax 262144 256 128 1 1
// equal 163840 256 128 1 1
// max 32768 256 128 1 1
// where 262144 256 128 1 1
// nn.batch_matmul 720896 16 64 128 16
// ---- stderr
// ---- exit 0
// ---- perfc predict %s --emit=kernels --mode eager --dtype fp16 --predictor whitebox --device a100-40gb
// ---- stdout
// nn.attention 196608 16 64 256 16
// cast 98304 256 64 1 1
// cast 196608 512 64 1 1
// cast 196608 512 64 1 1
// multiply 131072 256 64 1 1
// copy 655360 2048 64 1 1
// copy 655360 2048 64 1 1
// multiply 1048576 2048 64 1 1
// nn.batch_matmul 720896 16 128 64 16
// add 266240 256 128 1 1
// nn.softmax 262144 256 128 1 1
// equal 163840 256 128 1 1
// max 32768 256 128 1 1
// where 262144 256 128 1 1
// cast 196608 256 128 1 1
// nn.batch_matmul 720896 16 64 128 16
// cast 98304 256 64 1 1
// ---- stderr
// ---- exit 0
