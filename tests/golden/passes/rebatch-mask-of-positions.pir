// RUN: perfc opt %s --passes=rebatch,eliminate-dead --batch=8 --verify-each
// A mask that was made for two samples, by their positions (transformers 5): it is made for eight, not repeated.
#[version = "perfc-ir/1"]
def @main(%x: Tensor[(2, 4, 32, 16), float32], %keep: Tensor[(2, 32), bool]) {
  %2 = const[0] : Tensor[(), int64];
  %3 = const[2] : Tensor[(), int64];
  %4 = const[1] : Tensor[(), int64];
  %5 = arange(%2, %3, %4);
  %6 = const[1, 2, 3, 4] : Tensor[(4,), int64];
  %7 = expand_dims(%5, %6);
  %8 = const[2, 1, 1, 32, 1] : Tensor[(5,), int64];
  %9 = broadcast_to(%7, %8);
  %10 = weight : Tensor[(1, 1, 1, 32, 1), int64];
  %11 = broadcast_to(%10, %8);
  %12 = concatenate(%9, %11, axis=-1);
  %13 = gather_nd(%keep, %12);
  %14 = const[2, 1, 32, 32] : Tensor[(4,), int64];
  %15 = broadcast_to(%13, %14);
  %16 = nn.sdpa(%x, %x, %x, %15);
  (%16)
}
// ---- stdout
// #[version = "perfc-ir/1"]
// def @main(%x: Tensor[(8, 4, 32, 16), float32], %keep: Tensor[(8, 32), bool]) -> (Tensor[(8, 4, 32, 16), float32]) {
//   %2 = const[0] : Tensor[(), int64];
//   %3 = const[1] : Tensor[(), int64];
//   %4 = const[8] : Tensor[(), int64];
//   %5 = arange(%2, %4, %3) : Tensor[(8,), int64];
//   %6 = const[1, 2, 3, 4] : Tensor[(4,), int64];
//   %7 = expand_dims(%5, %6) : Tensor[(8, 1, 1, 1, 1), int64];
//   %8 = const[8, 1, 1, 32, 1] : Tensor[(5,), int64];
//   %9 = broadcast_to(%7, %8) : Tensor[(8, 1, 1, 32, 1), int64];
//   %10 = weight : Tensor[(1, 1, 1, 32, 1), int64];
//   %11 = const[8, 1, 1, 32, 1] : Tensor[(5,), int64];
//   %12 = broadcast_to(%10, %11) : Tensor[(8, 1, 1, 32, 1), int64];
//   %13 = concatenate(%9, %12, axis=-1) : Tensor[(8, 1, 1, 32, 2), int64];
//   %14 = gather_nd(%keep, %13) : Tensor[(8, 1, 1, 32), bool];
//   %15 = const[8, 1, 32, 32] : Tensor[(4,), int64];
//   %16 = broadcast_to(%14, %15) : Tensor[(8, 1, 32, 32), bool];
//   %17 = nn.sdpa(%x, %x, %x, %16) : Tensor[(8, 4, 32, 16), float32];
//   (%17)
// }
// ---- stderr
// ---- exit 0
