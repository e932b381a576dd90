// RUN: perfc opt --passes=fold-quantisation,eliminate-dead %s
// QLinear operators and views of quantised values between them; a data input that is quantised is dequantised.
#[version = "perfc-ir/1"]
def @operators(%x: Tensor[(2, 8, 4, 4), uint8]) -> (y: Tensor[(2, 32), float32]) {
  %1 = const[0.5] : Tensor[(), float32] @scale;
  %2 = const[128] : Tensor[(), uint8] @zero;
  %3 = const[0] : Tensor[(), int8] @none;
  %4 = weight : Tensor[(8, 8, 1, 1), int8] @w;
  %5 = weight : Tensor[(8,), int32] @bias;
  %6 = qnn.conv2d(%x, %1, %2, %4, %1, %3, %1, %2, %5) : Tensor[(2, 8, 4, 4), uint8] @conv;
  %7 = nn.max_pool2d(%6, kernel_size=[2, 2], strides=[2, 2]) : Tensor[(2, 8, 2, 2), uint8] @pool;
  %8 = const[2, 32] : Tensor[(2,), int64] @shape;
  %9 = reshape(%7, %8) : Tensor[(2, 32), uint8] @rows;
  %10 = weight : Tensor[(32, 32), int8] @v;
  %11 = qnn.matmul(%9, %1, %2, %10, %1, %3, %1, %2) : Tensor[(2, 32), uint8] @product;
  %12 = qnn.add(%11, %1, %2, %9, %1, %2, %1, %2) : Tensor[(2, 32), uint8] @sum;
  %13 = qnn.dequantize(%12, %1, %2) : Tensor[(2, 32), float32] @y;
  (%13)
}
// ---- stdout
// #[version = "perfc-ir/1"]
// def @operators(%x: Tensor[(2, 8, 4, 4), uint8]) -> (y: Tensor[(2, 32), float32]) {
//   %1 = const[0.5] : Tensor[(), float32] @scale;
//   %2 = const[128] : Tensor[(), uint8] @zero;
//   %3 = qnn.dequantize(%x, %1, %2) : Tensor[(2, 8, 4, 4), float32] @conv;
//   %4 = weight : Tensor[(8, 8, 1, 1), float32] @w;
//   %5 = weight : Tensor[(8,), float32] @bias;
//   %6 = nn.conv2d(%3, %4, %5, data_bits=8, result_bits=8, weight_bits=8) : Tensor[(2, 8, 4, 4), float32] @conv;
//   %7 = nn.max_pool2d(%6, kernel_size=[2, 2], strides=[2, 2]) : Tensor[(2, 8, 2, 2), float32] @pool;
//   %8 = const[2, 32] : Tensor[(2,), int64] @shape;
//   %9 = reshape(%7, %8) : Tensor[(2, 32), float32] @rows;
//   %10 = weight : Tensor[(32, 32), float32] @v;
//   %11 = nn.batch_matmul(%9, %10, data_bits=8, result_bits=8, weight_bits=8) : Tensor[(2, 32), float32] @product;
//   %12 = add(%11, %9, result_bits=8) : Tensor[(2, 32), float32] @sum;
//   (%12)
// }
// ---- stderr
// ---- exit 0
