// RUN: perfc opt %s --passes=rebatch --batch=8 --batch-axis all=0 --verify-each
// RUN: perfc opt %s --passes=rebatch --batch=8 --batch-axis images=0 --verify-each
// RUN: perfc opt %s --passes=rebatch --batch=8
// RUN: perfc opt %s --passes=rebatch --batch=8 --batch-axis images=none
// One image and two texts (CLIP). Named, both hold the batch, two texts to an image; with one named the other stays;
// with none the first input is the batch, and a warning says what stays behind.
#[version = "perfc-ir/1"]
def @main(%texts: Tensor[(2, 7, 32), float32], %images: Tensor[(1, 9, 48), float32]) -> (y: Tensor[(1, 2), float32]) {
  %2 = const[2, 224] : Tensor[(2,), int64];
  %3 = reshape(%texts, %2);
  %4 = weight : Tensor[(224, 64), float32];
  %5 = nn.dense(%3, %4) @text_tower;
  %6 = const[1, 432] : Tensor[(2,), int64];
  %7 = reshape(%images, %6);
  %8 = weight : Tensor[(432, 64), float32];
  %9 = nn.dense(%7, %8) @image_tower;
  %10 = transpose(%5, perm=[1, 0]);
  %11 = nn.dense(%9, %10) @logits;
  (%11)
}
// ---- perfc opt %s --passes=rebatch --batch=8 --batch-axis all=0 --verify-each
// ---- stdout
// #[version = "perfc-ir/1"]
// def @main(%texts: Tensor[(16, 7, 32), float32], %images: Tensor[(8, 9, 48), float32]) -> (y: Tensor[(8, 16), float32]) {
//   %2 = const[2, 224] : Tensor[(2,), int64];
//   %3 = const[16, 224] : Tensor[(2,), int64];
//   %4 = reshape(%texts, %3) : Tensor[(16, 224), float32];
//   %5 = weight : Tensor[(224, 64), float32];
//   %6 = nn.dense(%4, %5) : Tensor[(16, 64), float32] @text_tower;
//   %7 = const[1, 432] : Tensor[(2,), int64];
//   %8 = const[8, 432] : Tensor[(2,), int64];
//   %9 = reshape(%images, %8) : Tensor[(8, 432), float32];
//   %10 = weight : Tensor[(432, 64), float32];
//   %11 = nn.dense(%9, %10) : Tensor[(8, 64), float32] @image_tower;
//   %12 = transpose(%6, perm=[1, 0]) : Tensor[(64, 16), float32];
//   %13 = nn.dense(%11, %12) : Tensor[(8, 16), float32] @logits;
//   (%13)
// }
// ---- stderr
// batch-axis-multiples.pir:18:3: 'logits': note: multiplies samples with each other: its work grows with the square of the batch
// ---- exit 0
// ---- perfc opt %s --passes=rebatch --batch=8 --batch-axis images=0 --verify-each
// ---- stdout
// #[version = "perfc-ir/1"]
// def @main(%texts: Tensor[(2, 7, 32), float32], %images: Tensor[(8, 9, 48), float32]) -> (y: Tensor[(8, 2), float32]) {
//   %2 = const[2, 224] : Tensor[(2,), int64];
//   %3 = reshape(%texts, %2) : Tensor[(2, 224), float32];
//   %4 = weight : Tensor[(224, 64), float32];
//   %5 = nn.dense(%3, %4) : Tensor[(2, 64), float32] @text_tower;
//   %6 = const[1, 432] : Tensor[(2,), int64];
//   %7 = const[8, 432] : Tensor[(2,), int64];
//   %8 = reshape(%images, %7) : Tensor[(8, 432), float32];
//   %9 = weight : Tensor[(432, 64), float32];
//   %10 = nn.dense(%8, %9) : Tensor[(8, 64), float32] @image_tower;
//   %11 = transpose(%5, perm=[1, 0]) : Tensor[(64, 2), float32];
//   %12 = nn.dense(%10, %11) : Tensor[(8, 2), float32] @logits;
//   (%12)
// }
// ---- stderr
// ---- exit 0
// ---- perfc opt %s --passes=rebatch --batch=8
// ---- stdout
// #[version = "perfc-ir/1"]
// def @main(%texts: Tensor[(8, 7, 32), float32], %images: Tensor[(1, 9, 48), float32]) -> (y: Tensor[(1, 8), float32]) {
//   %2 = const[2, 224] : Tensor[(2,), int64];
//   %3 = const[8, 224] : Tensor[(2,), int64];
//   %4 = reshape(%texts, %3) : Tensor[(8, 224), float32];
//   %5 = weight : Tensor[(224, 64), float32];
//   %6 = nn.dense(%4, %5) : Tensor[(8, 64), float32] @text_tower;
//   %7 = const[1, 432] : Tensor[(2,), int64];
//   %8 = reshape(%images, %7) : Tensor[(1, 432), float32];
//   %9 = weight : Tensor[(432, 64), float32];
//   %10 = nn.dense(%8, %9) : Tensor[(1, 64), float32] @image_tower;
//   %11 = transpose(%6, perm=[1, 0]) : Tensor[(64, 8), float32];
//   %12 = nn.dense(%10, %11) : Tensor[(1, 8), float32] @logits;
//   (%12)
// }
// ---- stderr
// batch-axis-multiples.pir:8:48: 'images': warning: this input stays Tensor[(1, 9, 48), float32]: its first dim is not the 2 of 'texts', which got the batch; 49 % of the work reads it alone. If it holds samples, name it and all others that do with --batch-axis (--batch-axis all=0); if not, --batch-axis images=none
// ---- exit 0
// ---- perfc opt %s --passes=rebatch --batch=8 --batch-axis images=none
// ---- stdout
// #[version = "perfc-ir/1"]
// def @main(%texts: Tensor[(8, 7, 32), float32], %images: Tensor[(1, 9, 48), float32]) -> (y: Tensor[(1, 8), float32]) {
//   %2 = const[2, 224] : Tensor[(2,), int64];
//   %3 = const[8, 224] : Tensor[(2,), int64];
//   %4 = reshape(%texts, %3) : Tensor[(8, 224), float32];
//   %5 = weight : Tensor[(224, 64), float32];
//   %6 = nn.dense(%4, %5) : Tensor[(8, 64), float32] @text_tower;
//   %7 = const[1, 432] : Tensor[(2,), int64];
//   %8 = reshape(%images, %7) : Tensor[(1, 432), float32];
//   %9 = weight : Tensor[(432, 64), float32];
//   %10 = nn.dense(%8, %9) : Tensor[(1, 64), float32] @image_tower;
//   %11 = transpose(%6, perm=[1, 0]) : Tensor[(64, 8), float32];
//   %12 = nn.dense(%10, %11) : Tensor[(1, 8), float32] @logits;
//   (%12)
// }
// ---- stderr
// ---- exit 0
