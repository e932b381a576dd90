// RUN: perfc opt %s --passes=recognise-patterns,eliminate-dead --verify-each
// Exact and approximate GELU, SiLU; a product with another factor is none.
#[version = "perfc-ir/1"]
def @main(%x: Tensor[(2, 64), float32]) {
  %1 = const[1.4142135381698608] : Tensor[(), float32];
  %2 = const[1.0] : Tensor[(), float32];
  %3 = const[0.5] : Tensor[(), float32];
  %4 = divide(%x, %1);
  %5 = erf(%4);
  %6 = add(%5, %2);
  %7 = multiply(%x, %6);
  %8 = multiply(%7, %3) @gelu;
  %9 = sigmoid(%8);
  %10 = multiply(%8, %9) @silu;
  %11 = sigmoid(%10);
  %12 = multiply(%x, %11) @gate;
  (%12)
}
// ---- stdout
// #[version = "perfc-ir/1"]
// def @main(%x: Tensor[(2, 64), float32]) -> (Tensor[(2, 64), float32]) {
//   %1 = nn.gelu(%x) : Tensor[(2, 64), float32] @gelu;
//   %2 = nn.silu(%1) : Tensor[(2, 64), float32] @silu;
//   %3 = sigmoid(%2) : Tensor[(2, 64), float32];
//   %4 = multiply(%x, %3) : Tensor[(2, 64), float32] @gate;
//   (%4)
// }
// ---- stderr
// ---- exit 0
