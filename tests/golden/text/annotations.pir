// RUN: perfc import %s
// Annotations may be left out, be vaguer than what is inferred, or settle what is not.
#[version = "perfc-ir/1"]
def @annotations(%x: Tensor[(N, 3), float32], %y: Tensor[(?, 3), float32]) -> (Tensor[*, undefined]) {
  %2 = nn.relu(%x);
  %3 = nn.relu(%x) : Tensor[(?, ?), float32];
  %4 = nn.relu(%y) : Tensor[(16, 3), float32];
  (%4)
}
// ---- stdout
// #[version = "perfc-ir/1"]
// def @annotations(%x: Tensor[(N, 3), float32], %y: Tensor[(?, 3), float32]) -> (Tensor[(16, 3), float32]) {
//   %2 = nn.relu(%x) : Tensor[(N, 3), float32];
//   %3 = nn.relu(%x) : Tensor[(N, 3), float32];
//   %4 = nn.relu(%y) : Tensor[(16, 3), float32];
//   (%4)
// }
// ---- stderr
// ---- exit 0
