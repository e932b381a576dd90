// RUN: perfc predict %s --emit=kernels --runtime onnxruntime-cpu --device epyc-9004-2core:1t
// COLUMNS: operators,width,bytes
// Convolutions and what stands between them keep blocks of channels: the second copies what it reads from the first
// into none, the sum with another branch is part of it, SiLU reads a copy in order. A convolution of 18 channels has no
// blocks. Transposes are copies, reshapes move nothing; a sum that a layer norm alone reads is part of it.
#[version = "perfc-ir/1"]
def @main(%x: Tensor[(1, 3, 32, 32), float32], %q: Tensor[(4, 8, 16, 16), float32],
          %r: Tensor[(1, 16, 1024), float32]) {
  %3 = weight : Tensor[(32, 3, 3, 3), float32];
  %4 = weight : Tensor[(32, 32, 3, 3), float32];
  %5 = weight : Tensor[(32), float32];
  %6 = weight : Tensor[(18, 32, 1, 1), float32];
  %7 = weight : Tensor[(18, 18, 1, 1), float32];
  %8 = weight : Tensor[(1024), float32];
  %9 = nn.conv2d(%x, %3, padding=[1, 1, 1, 1]);
  %10 = nn.relu(%9);
  %11 = nn.conv2d(%10, %4, padding=[1, 1, 1, 1]);
  %12 = nn.bias_add(%11, %5, axis=1);
  %13 = add(%12, %10);
  %14 = nn.relu(%13);
  %15 = nn.silu(%14);
  %16 = nn.conv2d(%15, %6);
  %17 = nn.conv2d(%16, %7);
  %18 = nn.batch_flatten(%17);
  %19 = transpose(%18, perm=[1, 0]);
  %20 = nn.sdpa(%q, %q, %q, explicit=1);
  %21 = add(%r, %r);
  %22 = nn.layer_norm(%21, %8, %8, axis=-1);
  (%19, %20, %22)
}
// ---- stdout
// nn.conv2d nn.relu 32 146816
// nn.conv2d nn.bias_add add nn.relu 32 299008
// copy 32 262144
// nn.silu 32 262144
// copy 32 262144
// nn.conv2d 32 207104
// copy 32 147456
// nn.conv2d 32 148752
// nn.batch_flatten 32 0
// transpose 32 147456
// nn.batch_matmul 32 98304
// nn.softmax 32 65536
// nn.batch_matmul 32 98304
// nn.skip_layer_norm 32 139264
// ---- stderr
// ---- exit 0
