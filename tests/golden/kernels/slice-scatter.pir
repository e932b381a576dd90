// RUN: perfc predict %s --emit=kernels --mode eager --dtype fp32 --predictor whitebox --device a100-40gb
// COLUMNS: node,operators,bytes,m,n
// torch.slice_scatter keeps its operand: a copy, then the slice. index_copy_ writes rows alone, index_copy all of it.
#[version = "perfc-ir/1"]
def @main(%x: Tensor[(4, 16, 32), float32], %part: Tensor[(4, 2, 32), float32], %rows: Tensor[(4, 2, 32), int64]) {
  %3 = nn.relu(%x) @relu;
  %4 = const[3] : Tensor[(1,), int64];
  %5 = const[5] : Tensor[(1,), int64];
  %6 = const[1] : Tensor[(1,), int64];
  %7 = strided_set(%3, %4, %5, %6, %6, %part) @slice_scatter;
  %8 = scatter_elements(%7, %rows, %part, axis=1) @index_copy_;
  %9 = scatter_elements(%8, %rows, %part, axis=1) @index_copy;
  (%9)
}
// ---- stdout
// relu nn.relu 16384 64 32
// slice_scatter copy 16384 64 32
// slice_scatter strided_set 2048 64 32
// index_copy_ scatter_elements 4096 8 32
// index_copy scatter_elements 20480 64 32
// ---- stderr
// ---- exit 0
