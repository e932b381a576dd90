// RUN: perfc predict %s --emit=kernels --dtype fp8 --predictor whitebox --device h100-sxm
// RUN: perfc predict %s --emit=kernels --dtype fp8 --mode compiled --predictor whitebox --device h100-sxm
//
// Dense layers multiply in float8: one kernel quantises what they read, once for both; their weights take a byte. The
// product of two values stays in bfloat16.
#[version = "perfc-ir/1"]
def @main(%x: Tensor[(1024, 1024), float32] @x) {
  %1 = weight : Tensor[(1024, 1024), float32] @w_query;
  %2 = weight : Tensor[(1024, 1024), float32] @w_key;
  %3 = nn.dense(%x, %1) @query;
  %4 = nn.dense(%x, %2) @key;
  %5 = nn.dense(%3, %4) @scores;
  (%5)
}
// ---- perfc predict %s --emit=kernels --dtype fp8 --predictor whitebox --device h100-sxm
// ---- stdout
// device,kernel,node,operators,kind,width,repeat,macs,flops,bytes,m,n,k,products,compute_us,memory_us,conversion_us,time_us,bound
// h100-sxm,0,"query",qnn.dynamic_quantize,vector,16,1,0,4194304,3145728,1024,1024,1,1,0.722,0.711,0.000,2.785,launch
// h100-sxm,1,"query",nn.dense,matmul,8,1,1073741824,0,4194304,1024,1024,1024,1,1.451,1.348,0.000,5.550,launch
// h100-sxm,2,"key",nn.dense,matmul,8,1,1073741824,0,4194304,1024,1024,1024,1,1.451,1.348,0.000,5.550,launch
// h100-sxm,3,"scores",nn.dense,matmul,16,1,1073741824,0,6291456,1024,1024,1024,1,2.754,2.600,0.000,7.437,launch
// ---- stderr
// ---- exit 0
// ---- perfc predict %s --emit=kernels --dtype fp8 --mode compiled --predictor whitebox --device h100-sxm
// ---- stdout
// device,kernel,node,operators,kind,width,repeat,macs,flops,bytes,m,n,k,products,compute_us,memory_us,conversion_us,time_us,bound
// h100-sxm,0,"query",qnn.dynamic_quantize,vector,16,1,0,4194304,3145728,1024,1024,1,1,0.722,0.711,0.000,2.785,launch
// h100-sxm,1,"query",nn.dense,matmul,8,1,1073741824,0,4194304,1024,1024,1024,1,1.451,1.348,0.000,5.550,launch
// h100-sxm,2,"key",nn.dense,matmul,8,1,1073741824,0,4194304,1024,1024,1024,1,1.451,1.348,0.000,5.550,launch
// h100-sxm,3,"scores",nn.dense,matmul,16,1,1073741824,0,6291456,1024,1024,1024,1,2.754,2.600,0.000,7.437,launch
// ---- stderr
// ---- exit 0
