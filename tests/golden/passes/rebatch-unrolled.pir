// RUN: perfc opt %s --passes=rebatch,eliminate-dead --batch=3 --verify-each
// What a program computes of each image by calls of its own and joins (LLaVA's torch.cat(image_features)): calls for
// the third image too.
#[version = "perfc-ir/1"]
def @main(%x: Tensor[(2, 16, 64), float32]) {
  %1 = weight : Tensor[(32, 64), float32];
  %2 = const[0] : Tensor[(), int64];
  %3 = take(%x, %2, axis=0);
  %4 = nn.dense(%3, %1, transB=1);
  %5 = const[1] : Tensor[(), int64];
  %6 = take(%x, %5, axis=0);
  %7 = nn.dense(%6, %1, transB=1);
  %8 = concatenate(%4, %7, axis=0);
  (%8)
}
// ---- stdout
// #[version = "perfc-ir/1"]
// def @main(%x: Tensor[(3, 16, 64), float32]) -> (Tensor[(48, 32), float32]) {
//   %1 = weight : Tensor[(32, 64), float32];
//   %2 = const[0] : Tensor[(), int64];
//   %3 = take(%x, %2, axis=0) : Tensor[(16, 64), float32];
//   %4 = nn.dense(%3, %1, transB=1) : Tensor[(16, 32), float32];
//   %5 = const[1] : Tensor[(), int64];
//   %6 = take(%x, %5, axis=0) : Tensor[(16, 64), float32];
//   %7 = nn.dense(%6, %1, transB=1) : Tensor[(16, 32), float32];
//   %8 = const[2] : Tensor[(), int64];
//   %9 = take(%x, %8, axis=0) : Tensor[(16, 64), float32];
//   %10 = nn.dense(%9, %1, transB=1) : Tensor[(16, 32), float32];
//   %11 = concatenate(%4, %7, %10, axis=0) : Tensor[(48, 32), float32];
//   (%11)
// }
// ---- stderr
// ---- exit 0
