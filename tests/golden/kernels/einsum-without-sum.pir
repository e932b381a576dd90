// RUN: perfc predict %s --emit=kernels --predictor whitebox --device a100-40gb --dtype fp32
//
// torch.einsum multiplies element by element where nothing of more than one element is summed, and by a product else.
#[version = "perfc-ir/1"]
def @main(%x: Tensor[(8, 2, 64, 1), float32] @x, %y: Tensor[(8, 2, 1, 32), float32] @y, %z: Tensor[(8, 2, 64, 16), float32] @z, %w: Tensor[(8, 2, 16, 32), float32] @w) {
  %4 = einsum(%x, %y, equation="bhij,bhjd->bhid") @outer;
  %5 = einsum(%z, %w, equation="bhij,bhjd->bhid") @product;
  (%4, %5)
}
// ---- stdout
// device,kernel,node,operators,kind,width,repeat,macs,flops,bytes,m,n,k,products,compute_us,memory_us,conversion_us,time_us,bound
// a100-40gb,0,"outer",multiply,vector,32,1,0,32768,137216,1024,32,0.03125,1,0.054,0.004,0.000,2.054,launch
// a100-40gb,1,"product",einsum,matmul,32,1,524288,0,229376,64,32,16,16,2.427,0.031,0.000,5.918,launch
// ---- stderr
// ---- exit 0
