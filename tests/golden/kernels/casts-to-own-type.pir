// RUN: perfc predict %s --emit=kernels --mode eager --dtype fp32 --predictor whitebox --device a100-40gb
// RUN: perfc predict %s --emit=kernels --mode eager --dtype bf16 --predictor whitebox --device a100-40gb
// RUN: perfc predict %s --emit=kernels --mode eager --dtype fp16 --predictor whitebox --device a100-40gb
// RUN: perfc predict %s --emit=kernels --mode eager --dtype amp --predictor whitebox --device a100-40gb
// COLUMNS: node,operators,width,bytes
// What a program casts to the type that it has, `x.to(torch.float32)` and `.to(input_dtype)`, is nothing in float32. In
// 16 bits an RMS norm computes in 32 and is cast back; the residual that a tracer lets read the cast is not. A softmax
// with a dtype reads float16 as it is, bfloat16 is cast. `.to(weight.dtype)` before a product is nothing in either.
#[version = "perfc-ir/1"]
def @main(%x: Tensor[(4, 64), float32]) {
  %1 = weight : Tensor[(64, 64), float32];
  %2 = weight : Tensor[(64), float32];
  %3 = nn.dense(%x, %1, recast=1) @"product";
  %4 = const[2.0] : Tensor[(), float32];
  %5 = power(%3, %4, recast=1) @"square";
  %6 = mean(%5, axis=[-1], keepdims=1) @"mean";
  %7 = rsqrt(%6) @"rsqrt";
  %8 = multiply(%3, %7, recast=1) @"norm";
  %9 = multiply(%2, %8, recast=2) @"scale";
  %10 = nn.dense(%9, %1) @"product2";
  %11 = add(%3, %10, recast=1) @"residual";
  %12 = nn.softmax(%11, axis=-1, widens=1) @"softmax";
  %13 = multiply(%12, %11, recast=1) @"times";
  (%13)
}
// ---- perfc predict %s --emit=kernels --mode eager --dtype fp32 --predictor whitebox --device a100-40gb
// ---- stdout
// product nn.dense 32 18432
// square power 32 2052
// mean mean 32 1028
// rsqrt rsqrt 32 8
// norm multiply 32 2052
// scale multiply 32 2304
// product2 nn.dense 32 18432
// residual add 32 3072
// softmax nn.softmax 32 2048
// times multiply 32 3072
// ---- stderr
// ---- exit 0
// ---- perfc predict %s --emit=kernels --mode eager --dtype bf16 --predictor whitebox --device a100-40gb
// ---- stdout
// product nn.dense 16 9216
// square cast 32 1536
// square power 32 2050
// mean mean 32 1028
// rsqrt rsqrt 32 8
// norm multiply 32 2052
// scale cast 32 1536
// scale multiply 16 1152
// product2 nn.dense 16 9216
// residual add 16 1536
// softmax cast 32 1536
// softmax nn.softmax 32 2048
// times cast 32 1536
// times multiply 16 1536
// ---- stderr
// ---- exit 0
// ---- perfc predict %s --emit=kernels --mode eager --dtype fp16 --predictor whitebox --device a100-40gb
// ---- stdout
// product nn.dense 16 9216
// square cast 32 1536
// square power 32 2050
// mean mean 32 1028
// rsqrt rsqrt 32 8
// norm multiply 32 2052
// scale cast 32 1536
// scale multiply 16 1152
// product2 nn.dense 16 9216
// residual add 16 1536
// softmax nn.softmax 32 1536
// times cast 32 1536
// times multiply 16 1536
// ---- stderr
// ---- exit 0
// ---- perfc predict %s --emit=kernels --mode eager --dtype amp --predictor whitebox --device a100-40gb
// ---- stdout
// product cast 32 24576
// product cast 32 1536
// product nn.dense 16 9216
// square cast 32 1536
// square power 32 2052
// mean mean 32 1028
// rsqrt rsqrt 32 8
// norm multiply 32 2052
// scale cast 32 1536
// scale multiply 32 1792
// product2 cast 32 24576
// product2 cast 32 1536
// product2 nn.dense 16 9216
// residual add 16 1536
// softmax nn.softmax 32 1536
// times multiply 32 2560
// ---- stderr
// ---- exit 0
