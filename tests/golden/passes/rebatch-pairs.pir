// RUN: perfc opt %s --passes=rebatch --batch=8 --verify-each
// Every image with every text (CLIP): both dims of the product hold the batch, and so does what is made of it.
#[version = "perfc-ir/1"]
def @main(%images: Tensor[(1, 64), float32], %texts: Tensor[(1, 64), float32]) {
  %2 = transpose(%texts, perm=[1, 0]);
  %3 = nn.dense(%images, %2);
  %4 = transpose(%3, perm=[1, 0]);
  (%4, %3)
}
// ---- stdout
// #[version = "perfc-ir/1"]
// def @main(%images: Tensor[(8, 64), float32], %texts: Tensor[(8, 64), float32]) -> (Tensor[(8, 8), float32], Tensor[(8, 8), float32]) {
//   %2 = transpose(%texts, perm=[1, 0]) : Tensor[(64, 8), float32];
//   %3 = nn.dense(%images, %2) : Tensor[(8, 8), float32];
//   %4 = transpose(%3, perm=[1, 0]) : Tensor[(8, 8), float32];
//   (%4, %3)
// }
// ---- stderr
// rebatch-pairs.pir:6:3: note: multiplies samples with each other: its work grows with the square of the batch
// ---- exit 0
