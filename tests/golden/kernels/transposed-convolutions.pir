// RUN: perfc predict %s --emit=kernels --predictor whitebox --device a100-40gb --dtype fp32
//
// Kernels of transposed convolutions lie (inputs, results of a group, window): columns are results, not inputs.
#[version = "perfc-ir/1"]
def @main(%x: Tensor[(4, 64, 32, 32), float32] @x) {
  %1 = weight : Tensor[(64, 48, 4, 4), float32];
  %2 = nn.conv2d_transpose(%x, %1, strides=[2, 2], padding=[1, 1, 1, 1]);
  %3 = weight : Tensor[(48, 1, 4, 4), float32];
  %4 = nn.conv2d_transpose(%2, %3, strides=[2, 2], padding=[1, 1, 1, 1], groups=48);
  (%4)
}
// ---- stdout
// device,kernel,node,operators,kind,width,repeat,macs,flops,bytes,m,n,k,products,compute_us,memory_us,conversion_us,time_us,bound
// a100-40gb,0,"",nn.conv2d_transpose,convolution,32,1,201326592,0,4390912,16384,48,256,1,40.455,8.811,0.000,48.336,compute
// a100-40gb,1,"",nn.conv2d_transpose,depthwise,32,1,12582912,0,15731712,65536,1,4,48,21.095,3.628,0.000,23.095,compute
// ---- stderr
// ---- exit 0
