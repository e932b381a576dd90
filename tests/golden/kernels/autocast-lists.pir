// RUN: perfc predict %s --emit=kernels --mode eager --dtype amp --predictor whitebox --device a100-40gb
// COLUMNS: node,operators,width,bytes
// aten/src/ATen/autocast_mode.h: convolutions and PReLU in 16 bits, resizing and softplus in 32, a norm's sum written in
// 32; batch norms follow their data, what is written in place stays as it was, positions are float32.
#[version = "perfc-ir/1"]
def @main(%x: Tensor[(1, 16, 8, 8), float32]) {
  %1 = weight : Tensor[(16, 16, 1, 1), float32];
  %2 = weight : Tensor[(16), float32];
  %3 = nn.conv2d(%x, %1) @"conv";
  %4 = const[1.0, 1.0, 2.0, 2.0] : Tensor[(4,), float32];
  %5 = image.resize2d(%3, _, %4, _, mode="nearest", coordinate_transformation_mode="asymmetric") @"upsample";
  %6 = nn.batch_norm(%5, %2, %2, %2, %2) @"norm of float32";
  %7 = nn.conv2d(%6, %1) @"conv2";
  %8 = nn.batch_norm(%7, %2, %2, %2, %2) @"norm of float16";
  %9 = add(%8, %6) @"add_";
  %10 = nn.prelu(%9, %2) @"prelu";
  %11 = nn.softplus(%10) @"softplus";
  %12 = reduce_l2(%10, axis=[1], keepdims=1) @"length";
  %13 = divide(%10, %12) @"normalise";
  %14 = add(%11, %13) @"sum";
  (%14)
}
// ---- stdout
// conv cast 32 1536
// conv cast 32 6144
// conv nn.conv2d 16 4608
// upsample cast 32 6144
// upsample image.resize2d 32 20496
// norm of float32 nn.batch_norm 32 33024
// conv2 cast 32 1536
// conv2 cast 32 24576
// conv2 nn.conv2d 16 16896
// norm of float16 nn.batch_norm 16 16640
// add_ add 16 32768
// prelu cast 32 96
// prelu nn.prelu 16 16416
// softplus cast 32 24576
// softplus nn.softplus 32 32768
// length reduce_l2 32 8196
// normalise divide 32 24580
// sum add 32 49152
// ---- stderr
// ---- exit 0
