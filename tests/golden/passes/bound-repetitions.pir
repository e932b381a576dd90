// RUN: perfc opt %s --passes=bound-dims --dynamic=typical
// RUN: perfc opt %s --passes=bound-dims --dynamic=upper
// RUN: perfc opt %s --passes=bound-dims --dynamic=least
// RUN: perfc opt %s --passes=bound-dims --bound=all=71
// Entries that stand as often as clipped counts say: as PyTorch's repeat_interleave numbers them, and as ONNX' exporter
// writes it, entry by entry. Counts that nothing clips leave their dim open.
#[version = "perfc-ir/1"]
def @main(%x: Tensor[(7,), float32] @x, %one: Tensor[(1, 16), float32] @one) {
  %2 = const[0.5] : Tensor[(), float32];
  %3 = const[9.5] : Tensor[(), float32];
  %4 = clip(%x, %2, %3);
  %5 = round(%4);
  %6 = cast(%5, to="int64");
  %7 = const[0] : Tensor[(), int64];
  %8 = cumsum(%6, %7);
  %9 = const[-1] : Tensor[(), int64];
  %10 = take(%8, %9, axis=0);
  %11 = const[1] : Tensor[(), int64];
  %12 = arange(%7, %10, %11) @all;
  %13 = const[0] : Tensor[(1,), int64];
  %14 = take(%6, %13, axis=0);
  %15 = const[16] : Tensor[(1,), int64];
  %16 = concatenate(%14, %15, axis=0);
  %17 = broadcast_to(%one, %16) @first;
  %18 = cast(%x, to="int64");
  %19 = cumsum(%18, %7);
  %20 = take(%19, %9, axis=0);
  %21 = arange(%7, %20, %11) @unclipped;
  (%12, %17, %21)
}
// ---- perfc opt %s --passes=bound-dims --dynamic=typical
// ---- stdout
// #[version = "perfc-ir/1"]
// def @main(%x: Tensor[(7,), float32], %one: Tensor[(1, 16), float32]) -> (Tensor[(35,), int64], Tensor[(5, 16), float32], Tensor[(?,), int64]) {
//   %2 = const[0.5] : Tensor[(), float32];
//   %3 = const[9.5] : Tensor[(), float32];
//   %4 = clip(%x, %2, %3) : Tensor[(7,), float32];
//   %5 = round(%4) : Tensor[(7,), float32];
//   %6 = cast(%5, to="int64") : Tensor[(7,), int64];
//   %7 = const[0] : Tensor[(), int64];
//   %8 = cumsum(%6, %7) : Tensor[(7,), int64];
//   %9 = const[-1] : Tensor[(), int64];
//   %10 = take(%8, %9, axis=0) : Tensor[(), int64];
//   %11 = const[1] : Tensor[(), int64];
//   %12 = arange(%7, %10, %11, bound=[0, 0, 35], bound_by="counts, each in the middle of what it is clipped to") : Tensor[(35,), int64] @all;
//   %13 = const[0] : Tensor[(1,), int64];
//   %14 = take(%6, %13, axis=0) : Tensor[(1,), int64];
//   %15 = const[16] : Tensor[(1,), int64];
//   %16 = concatenate(%14, %15, axis=0) : Tensor[(2,), int64];
//   %17 = broadcast_to(%one, %16, bound=[0, 0, 5], bound_by="counts, each in the middle of what it is clipped to") : Tensor[(5, 16), float32] @first;
//   %18 = cast(%x, to="int64") : Tensor[(7,), int64];
//   %19 = cumsum(%18, %7) : Tensor[(7,), int64];
//   %20 = take(%19, %9, axis=0) : Tensor[(), int64];
//   %21 = arange(%7, %20, %11) : Tensor[(?,), int64] @unclipped;
//   (%12, %17, %21)
// }
// ---- stderr
// ---- exit 0
// ---- perfc opt %s --passes=bound-dims --dynamic=upper
// ---- stdout
// #[version = "perfc-ir/1"]
// def @main(%x: Tensor[(7,), float32], %one: Tensor[(1, 16), float32]) -> (Tensor[(70,), int64], Tensor[(10, 16), float32], Tensor[(?,), int64]) {
//   %2 = const[0.5] : Tensor[(), float32];
//   %3 = const[9.5] : Tensor[(), float32];
//   %4 = clip(%x, %2, %3) : Tensor[(7,), float32];
//   %5 = round(%4) : Tensor[(7,), float32];
//   %6 = cast(%5, to="int64") : Tensor[(7,), int64];
//   %7 = const[0] : Tensor[(), int64];
//   %8 = cumsum(%6, %7) : Tensor[(7,), int64];
//   %9 = const[-1] : Tensor[(), int64];
//   %10 = take(%8, %9, axis=0) : Tensor[(), int64];
//   %11 = const[1] : Tensor[(), int64];
//   %12 = arange(%7, %10, %11, bound=[0, 0, 70], bound_by="counts, each as large as it is clipped to") : Tensor[(70,), int64] @all;
//   %13 = const[0] : Tensor[(1,), int64];
//   %14 = take(%6, %13, axis=0) : Tensor[(1,), int64];
//   %15 = const[16] : Tensor[(1,), int64];
//   %16 = concatenate(%14, %15, axis=0) : Tensor[(2,), int64];
//   %17 = broadcast_to(%one, %16, bound=[0, 0, 10], bound_by="counts, each as large as it is clipped to") : Tensor[(10, 16), float32] @first;
//   %18 = cast(%x, to="int64") : Tensor[(7,), int64];
//   %19 = cumsum(%18, %7) : Tensor[(7,), int64];
//   %20 = take(%19, %9, axis=0) : Tensor[(), int64];
//   %21 = arange(%7, %20, %11) : Tensor[(?,), int64] @unclipped;
//   (%12, %17, %21)
// }
// ---- stderr
// ---- exit 0
// ---- perfc opt %s --passes=bound-dims --dynamic=least
// ---- stdout
// #[version = "perfc-ir/1"]
// def @main(%x: Tensor[(7,), float32], %one: Tensor[(1, 16), float32]) -> (Tensor[(0,), int64], Tensor[(0, 16), float32], Tensor[(?,), int64]) {
//   %2 = const[0.5] : Tensor[(), float32];
//   %3 = const[9.5] : Tensor[(), float32];
//   %4 = clip(%x, %2, %3) : Tensor[(7,), float32];
//   %5 = round(%4) : Tensor[(7,), float32];
//   %6 = cast(%5, to="int64") : Tensor[(7,), int64];
//   %7 = const[0] : Tensor[(), int64];
//   %8 = cumsum(%6, %7) : Tensor[(7,), int64];
//   %9 = const[-1] : Tensor[(), int64];
//   %10 = take(%8, %9, axis=0) : Tensor[(), int64];
//   %11 = const[1] : Tensor[(), int64];
//   %12 = arange(%7, %10, %11, bound=[0, 0, 0], bound_by="counts, each as large as it is clipped to") : Tensor[(0,), int64] @all;
//   %13 = const[0] : Tensor[(1,), int64];
//   %14 = take(%6, %13, axis=0) : Tensor[(1,), int64];
//   %15 = const[16] : Tensor[(1,), int64];
//   %16 = concatenate(%14, %15, axis=0) : Tensor[(2,), int64];
//   %17 = broadcast_to(%one, %16, bound=[0, 0, 0], bound_by="counts, each as large as it is clipped to") : Tensor[(0, 16), float32] @first;
//   %18 = cast(%x, to="int64") : Tensor[(7,), int64];
//   %19 = cumsum(%18, %7) : Tensor[(7,), int64];
//   %20 = take(%19, %9, axis=0) : Tensor[(), int64];
//   %21 = arange(%7, %20, %11) : Tensor[(?,), int64] @unclipped;
//   (%12, %17, %21)
// }
// ---- stderr
// ---- exit 0
// ---- perfc opt %s --passes=bound-dims --bound=all=71
// ---- stdout
// ---- stderr
// bound-repetitions.pir:19:3: 'all': error: arange: --bound asks for 71, there can be 70 at most (counts, each as large as it is clipped to)
// ---- exit 1
