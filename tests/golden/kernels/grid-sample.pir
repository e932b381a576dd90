// RUN: perfc predict %s --emit=kernels --mode eager --dtype fp32 --predictor whitebox --device a100-40gb
// COLUMNS: node,operators,flops,bytes,m,n
// Each result of 2 × 16 × 20 × 20 reads 1 (nearest), 4 (bilinear) or 16 elements (bicubic), wherever the grid says.
#[version = "perfc-ir/1"]
def @main(%x: Tensor[(2, 16, 64, 64), float32], %grid: Tensor[(2, 20, 20, 2), float32]) {
  %2 = image.grid_sample(%x, %grid, mode="nearest") @nearest;
  %3 = image.grid_sample(%x, %grid, mode="linear") @bilinear;
  %4 = image.grid_sample(%x, %grid, mode="cubic") @bicubic;
  (%2, %3, %4)
}
// ---- stdout
// nearest image.grid_sample 32000 108800 640 20
// bilinear image.grid_sample 108800 262400 640 20
// bicubic image.grid_sample 416000 876800 640 20
// ---- stderr
// ---- exit 0
