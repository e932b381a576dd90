// RUN: perfc %s --device a100-40gb --predictor whitebox --emit=kernels
// Weights that are stored in 16 bits and widened before they are read: OpenVINO compresses them so. It is no such model.
#[version = "perfc-ir/1"]
def @main(%x: Tensor[(8, 256), float32]) {
  %1 = weight : Tensor[(256, 512), float16] @w;
  %2 = cast(%1, to="float32");
  %3 = nn.batch_matmul(%x, %2) @product;
  (%3)
}
// ---- stdout
// device,kernel,node,operators,kind,width,repeat,macs,flops,bytes,m,n,k,products,compute_us,memory_us,conversion_us,time_us,bound
// a100-40gb,0,"",cast,vector,32,1,0,131072,786432,256,512,1,1,0.654,0.181,0.000,2.654,launch
// a100-40gb,1,"product",cast,vector,32,1,0,131072,786432,131072,1,1,1,0.310,0.544,0.000,2.545,launch
// a100-40gb,2,"product",cast,vector,32,1,0,2048,12288,8,256,1,1,0.005,0.008,0.000,2.009,launch
// a100-40gb,3,"product",nn.dense,matmul,16,1,1048576,0,274432,8,512,256,1,1.177,0.212,0.000,5.813,launch
// ---- stderr
// ---- exit 0
