// RUN: perfc opt %s --passes=recognise-patterns --verify-each
// hardswish and hardsigmoid as run_decompositions() writes them: one clamp for each bound.
#[version = "perfc-ir/1"]
def @main(%x: Tensor[(8, 16), float32]) {
  %1 = const[3.0] : Tensor[(), float32];
  %2 = const[0.0] : Tensor[(), float32];
  %3 = const[6.0] : Tensor[(), float32];
  %4 = add(%x, %1);
  %5 = clip(%4, %2);
  %6 = clip(%5, _, %3);
  %7 = multiply(%x, %6);
  %8 = divide(%7, %3);
  %9 = add(%8, %1);
  %10 = clip(%9, %2);
  %11 = clip(%10, _, %3);
  %12 = divide(%11, %3);
  (%12)
}
// ---- stdout
// #[version = "perfc-ir/1"]
// def @main(%x: Tensor[(8, 16), float32]) -> (Tensor[(8, 16), float32]) {
//   %1 = const[3.0] : Tensor[(), float32];
//   %2 = const[0.0] : Tensor[(), float32];
//   %3 = const[6.0] : Tensor[(), float32];
//   %4 = nn.hard_swish(%x) : Tensor[(8, 16), float32];
//   %5 = nn.hard_sigmoid(%4, alpha=0.16666666666666666, beta=0.5) : Tensor[(8, 16), float32];
//   (%5)
// }
// ---- stderr
// ---- exit 0
