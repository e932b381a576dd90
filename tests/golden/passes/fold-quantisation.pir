// RUN: perfc opt --passes=fold-quantisation,eliminate-dead %s
// Weights of floats, products that are marked; a relu whose result is quantised; a row that nothing quantises stays.
#[version = "perfc-ir/1"]
def @static(%x: Tensor[(4, 16), float32]) -> (y: Tensor[(4, 8), float32], r: Tensor[(4, 16), float32]) {
  %1 = const[0.5] : Tensor[(), float32] @scale;
  %2 = const[128] : Tensor[(), uint8] @zero;
  %3 = const[0] : Tensor[(), int8] @none;
  %4 = qnn.quantize(%x, %1, %2) : Tensor[(4, 16), uint8] @q;
  %5 = qnn.dequantize(%4, %1, %2) : Tensor[(4, 16), float32] @d;
  %6 = weight : Tensor[(16, 16), int8] @w;
  %7 = qnn.dequantize(%6, %1, %3) : Tensor[(16, 16), float32] @wd;
  %8 = nn.batch_matmul(%5, %7) : Tensor[(4, 16), float32] @product;
  %9 = nn.relu(%8) : Tensor[(4, 16), float32] @relu;
  %10 = qnn.quantize(%9, %1, %2) : Tensor[(4, 16), uint8] @rq;
  %11 = qnn.dequantize(%10, %1, %2) : Tensor[(4, 16), float32] @rd;
  %12 = weight : Tensor[(16, 8), float32] @v;
  %13 = nn.batch_matmul(%11, %12) : Tensor[(4, 8), float32] @half;
  %14 = weight : Tensor[(16,), int32] @bias;
  %15 = qnn.dequantize(%14, %1) : Tensor[(16,), float32] @b;
  %16 = add(%x, %15) : Tensor[(4, 16), float32] @sum;
  (%13, %16)
}
// ---- stdout
// #[version = "perfc-ir/1"]
// def @static(%x: Tensor[(4, 16), float32]) -> (y: Tensor[(4, 8), float32], r: Tensor[(4, 16), float32]) {
//   %1 = weight : Tensor[(16, 16), float32] @w;
//   %2 = nn.batch_matmul(%x, %1, data_bits=8, weight_bits=8) : Tensor[(4, 16), float32] @product;
//   %3 = nn.relu(%2, result_bits=8) : Tensor[(4, 16), float32] @relu;
//   %4 = weight : Tensor[(16, 8), float32] @v;
//   %5 = nn.batch_matmul(%3, %4, data_bits=8) : Tensor[(4, 8), float32] @half;
//   %6 = weight : Tensor[(16,), float32] @bias;
//   %7 = add(%x, %6) : Tensor[(4, 16), float32] @sum;
//   (%5, %7)
// }
// ---- stderr
// ---- exit 0
