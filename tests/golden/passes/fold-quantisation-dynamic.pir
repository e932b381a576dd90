// RUN: perfc opt --passes=fold-quantisation,eliminate-dead %s
// As onnxruntime's quantize_dynamic writes a dense layer: a product of integers, made a float, times both scales.
#[version = "perfc-ir/1"]
def @dynamic(%x: Tensor[(4, 16), float32]) -> (y: Tensor[(4, 16), float32]) {
  %1:3 = qnn.dynamic_quantize(%x) : (Tensor[(4, 16), uint8], Tensor[(), float32], Tensor[(), uint8]) @q;
  %2 = weight : Tensor[(16, 16), int8] @w;
  %3 = const[0] : Tensor[(), int8] @zero;
  %4 = qnn.matmul_integer(%1.0, %2, %1.2, %3) : Tensor[(4, 16), int32] @product;
  %5 = cast(%4, to="float32") : Tensor[(4, 16), float32] @float;
  %6 = const[0.5] : Tensor[(), float32] @weight_scale;
  %7 = multiply(%1.1, %6) : Tensor[(), float32] @scales;
  %8 = multiply(%5, %7) : Tensor[(4, 16), float32] @scaled;
  (%8)
}
// ---- stdout
// #[version = "perfc-ir/1"]
// def @dynamic(%x: Tensor[(4, 16), float32]) -> (y: Tensor[(4, 16), float32]) {
//   %1 = weight : Tensor[(16, 16), float32] @w;
//   %2 = nn.batch_matmul(%x, %1, data_bits=8, weight_bits=8) : Tensor[(4, 16), float32] @product;
//   (%2)
// }
// ---- stderr
// ---- exit 0
