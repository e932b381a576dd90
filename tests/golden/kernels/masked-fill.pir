// RUN: perfc predict %s --emit=kernels --predictor whitebox --device a100-40gb --dtype fp16
// RUN: perfc predict %s --emit=kernels --predictor whitebox --device a100-40gb --dtype fp16 --mode compiled
// COLUMNS: operators,width,bytes
// masked_fill fills a copy that it makes first, by itself and in attention that is written out; masked_fill_ makes none.
#[version = "perfc-ir/1"]
def @main(%x: Tensor[(4, 8, 64, 64), float32], %m: Tensor[(64, 64), bool]) {
  %2 = const[0.0] : Tensor[(), float32];
  %3 = where(%m, %2, %x, on_copy=1);
  %4 = where(%m, %2, %3);
  %5 = transpose(%4, perm=[0, 1, 3, 2]);
  %6 = nn.batch_matmul(%4, %5);
  %7 = where(%m, %2, %6, on_copy=1);
  %8 = nn.softmax(%7, axis=-1);
  %9 = nn.batch_matmul(%8, %4);
  (%9)
}
// ---- perfc predict %s --emit=kernels --predictor whitebox --device a100-40gb --dtype fp16
// ---- stdout
// copy 32 524288
// where 16 528386
// where 16 528386
// nn.batch_matmul 16 786432
// copy 32 524288
// where 16 528386
// nn.softmax 16 524288
// nn.batch_matmul 16 786432
// ---- stderr
// ---- exit 0
// ---- perfc predict %s --emit=kernels --predictor whitebox --device a100-40gb --dtype fp16 --mode compiled
// ---- stdout
// where where 16 528386
// nn.batch_matmul 16 786432
// nn.softmax multiply add 16 528384
// nn.batch_matmul 16 786432
// ---- stderr
// ---- exit 0
