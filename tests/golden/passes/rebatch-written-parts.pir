// RUN: perfc opt %s --passes=rebatch,eliminate-dead --batch=8 --verify-each
// Heads that are written side by side into a tensor made for two samples (DeepSeek's rotary and plain channels), and a
// part of all samples that is written over all of them.
#[version = "perfc-ir/1"]
def @main(%x: Tensor[(2, 4, 32, 16), float32]) {
  %1 = const[2, 4, 32, 24] : Tensor[(4,), int64];
  %2 = full(%1, inside=1, value=const[0.0]: Tensor[(1,), float32]) @empty;
  %3 = const[0] : Tensor[(1,), int64];
  %4 = const[16] : Tensor[(1,), int64];
  %5 = const[3] : Tensor[(1,), int64];
  %6 = const[1] : Tensor[(1,), int64];
  %7 = strided_set(%2, %3, %4, %5, %6, %x);
  %8 = const[2] : Tensor[(1,), int64];
  %9 = const[2, 4, 32, 24] : Tensor[(4,), int64];
  %10 = full(%9, value=const[1.0]: Tensor[(1,), float32]) @ones;
  %11 = strided_set(%7, %3, %8, %3, %6, %10);
  (%11)
}
// ---- stdout
// #[version = "perfc-ir/1"]
// def @main(%x: Tensor[(8, 4, 32, 16), float32]) -> (Tensor[(8, 4, 32, 24), float32]) {
//   %1 = const[8, 4, 32, 24] : Tensor[(4,), int64];
//   %2 = full(%1, inside=1, value=const[0.0]: Tensor[(1,), float32]) : Tensor[(8, 4, 32, 24), float32] @empty;
//   %3 = const[0] : Tensor[(1,), int64];
//   %4 = const[16] : Tensor[(1,), int64];
//   %5 = const[3] : Tensor[(1,), int64];
//   %6 = const[1] : Tensor[(1,), int64];
//   %7 = strided_set(%2, %3, %4, %5, %6, %x) : Tensor[(8, 4, 32, 24), float32];
//   %8 = const[8, 4, 32, 24] : Tensor[(4,), int64];
//   %9 = full(%8, value=const[1.0]: Tensor[(1,), float32]) : Tensor[(8, 4, 32, 24), float32] @ones;
//   %10 = const[0] : Tensor[(1,), int64];
//   %11 = const[9223372036854775807] : Tensor[(1,), int64];
//   %12 = strided_set(%7, %10, %11, %3, %6, %9) : Tensor[(8, 4, 32, 24), float32];
//   (%12)
// }
// ---- stderr
// ---- exit 0
