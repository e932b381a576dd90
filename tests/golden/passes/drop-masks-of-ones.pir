// RUN: perfc opt %s --passes=drop-trivial-masks --verify-each
// Padding that the program itself filled with ones (DETR makes such a mask of pixels and resizes it, BERT one of tokens),
// as torch.export writes what transformers' create_bidirectional_mask makes of it. With data the model looks whether
// all are ones, and makes no mask, neither for SDPA nor one that is added to scores; a padding that is read stays.
#[version = "perfc-ir/1"]
def @main(%x: Tensor[(1, 8, 4, 32), float32], %given: Tensor[(1, 4), bool]) {
  %2 = const[1, 1, 16, 16] : Tensor[(4,), int64];
  %3 = full(%2, launched=1, value=const[1.0]: Tensor[(1,), float32]) @"m/pixels";
  %4 = const[1, 1, 2, 2] : Tensor[(4,), int64];
  %5 = image.resize2d(%3, _, _, %4, coordinate_transformation_mode="asymmetric", launched=1, mode="nearest", nearest_mode="floor") @"m/resize";
  %6 = cast(%5, launched=1, to="bool") @"m/to";
  %7 = const[0] : Tensor[(), int64];
  %8 = take(%6, %7, axis=0) @"m/select";
  %9 = const[1, 4] : Tensor[(2,), int64];
  %10 = reshape(%8, %9) @"m/flatten";
  %11 = const[1] : Tensor[(), int64];
  %12 = const[4] : Tensor[(), int64];
  %13 = arange(%7, %11, %11, launched=1) @"m/of_batch";
  %14 = arange(%7, %11, %11, launched=1) @"m/of_heads";
  %15 = arange(%7, %12, %11, launched=1) @"m/of_queries";
  %16 = arange(%7, %12, %11, launched=1) @"m/of_keys";
  %17 = const[0, 1, 3] : Tensor[(3,), int64];
  %18 = expand_dims(%15, %17) @"m/of_queries";
  %19 = const[0, 1, 2] : Tensor[(3,), int64];
  %20 = expand_dims(%16, %19) @"m/of_keys";
  %21 = const[1, 2, 3] : Tensor[(3,), int64];
  %22 = expand_dims(%13, %21) @"m/of_batch";
  %23 = const[] : Tensor[(0,), int64];
  %24 = full(%23, launched=1, value=const[1]: Tensor[(1,), bool]) @"m/new_ones";
  %25 = greater_equal(%18, %7, launched=1) @"m/ge";
  %26 = logical_and(%24, %25, launched=1) @"m/and";
  %27 = const[1, 1, 1, 4] : Tensor[(4,), int64];
  %28 = broadcast_to(%22, %27) @"m/index";
  %29 = const[4] : Tensor[(1,), int64];
  %30 = expand_dims(%28, %29) @"m/index";
  %31 = expand_dims(%20, %29) @"m/index";
  %32 = concatenate(%30, %31, axis=4, inside=1) @"m/index";
  %33 = gather_nd(%10, %32, launched=1) @"m/index";
  %34 = logical_and(%26, %33, launched=1) @"m/and";
  %35 = const[1, 1, 4, 4] : Tensor[(4,), int64];
  %36 = broadcast_to(%34, %35) @"m/expand";
  %37 = nn.sdpa(%x, %x, %x, %36) @"m/attention";
  %38 = full(%23, launched=1, value=const[0.0]: Tensor[(1,), float32]) @"m/zeros";
  %39 = full(%23, launched=1, value=const[-10000.0]: Tensor[(1,), float32]) @"m/least";
  %40 = where(%36, %38, %39, launched=1) @"m/where";
  %41 = const[0, 1, 3, 2] : Tensor[(4,), int64];
  %42 = transpose(%x, perm=[0, 1, 3, 2]);
  %43 = nn.batch_matmul(%37, %42) @"m/scores";
  %44 = add(%43, %40) @"m/added";
  %45 = nn.softmax(%44, axis=-1) @"m/softmax";
  %46 = gather_nd(%given, %32, launched=1) @"m/given";
  %47 = logical_and(%26, %46, launched=1) @"m/given";
  %48 = broadcast_to(%47, %35) @"m/given";
  %49 = nn.sdpa(%x, %x, %x, %48) @"m/padded_attention";
  (%45, %49)
}
// ---- stdout
// #[version = "perfc-ir/1"]
// def @main(%x: Tensor[(1, 8, 4, 32), float32], %given: Tensor[(1, 4), bool]) -> (Tensor[(1, 8, 4, 4), float32], Tensor[(1, 8, 4, 32), float32]) {
//   %2 = const[1, 1, 16, 16] : Tensor[(4,), int64];
//   %3 = full(%2, launched=1, value=const[1.0]: Tensor[(1,), float32]) : Tensor[(1, 1, 16, 16), float32] @"m/pixels";
//   %4 = const[1, 1, 2, 2] : Tensor[(4,), int64];
//   %5 = image.resize2d(%3, _, _, %4, coordinate_transformation_mode="asymmetric", launched=1, mode="nearest", nearest_mode="floor") : Tensor[(1, 1, 2, 2), float32] @"m/resize";
//   %6 = cast(%5, launched=1, to="bool") : Tensor[(1, 1, 2, 2), bool] @"m/to";
//   %7 = const[0] : Tensor[(), int64];
//   %8 = take(%6, %7, axis=0) : Tensor[(1, 2, 2), bool] @"m/select";
//   %9 = const[1, 4] : Tensor[(2,), int64];
//   %10 = reshape(%8, %9) : Tensor[(1, 4), bool] @"m/flatten";
//   %11 = const[1] : Tensor[(), int64];
//   %12 = const[4] : Tensor[(), int64];
//   %13 = arange(%7, %11, %11, launched=1) : Tensor[(1,), int64] @"m/of_batch";
//   %14 = arange(%7, %12, %11, launched=1) : Tensor[(4,), int64] @"m/of_queries";
//   %15 = arange(%7, %12, %11, launched=1) : Tensor[(4,), int64] @"m/of_keys";
//   %16 = const[0, 1, 3] : Tensor[(3,), int64];
//   %17 = expand_dims(%14, %16) : Tensor[(1, 1, 4, 1), int64] @"m/of_queries";
//   %18 = const[0, 1, 2] : Tensor[(3,), int64];
//   %19 = expand_dims(%15, %18) : Tensor[(1, 1, 1, 4), int64] @"m/of_keys";
//   %20 = const[1, 2, 3] : Tensor[(3,), int64];
//   %21 = expand_dims(%13, %20) : Tensor[(1, 1, 1, 1), int64] @"m/of_batch";
//   %22 = const[] : Tensor[(0,), int64];
//   %23 = full(%22, launched=1, value=const[1]: Tensor[(1,), bool]) : Tensor[(), bool] @"m/new_ones";
//   %24 = greater_equal(%17, %7, launched=1) : Tensor[(1, 1, 4, 1), bool] @"m/ge";
//   %25 = logical_and(%23, %24, launched=1) : Tensor[(1, 1, 4, 1), bool] @"m/and";
//   %26 = const[1, 1, 1, 4] : Tensor[(4,), int64];
//   %27 = broadcast_to(%21, %26) : Tensor[(1, 1, 1, 4), int64] @"m/index";
//   %28 = const[4] : Tensor[(1,), int64];
//   %29 = expand_dims(%27, %28) : Tensor[(1, 1, 1, 4, 1), int64] @"m/index";
//   %30 = expand_dims(%19, %28) : Tensor[(1, 1, 1, 4, 1), int64] @"m/index";
//   %31 = concatenate(%29, %30, axis=4, inside=1) : Tensor[(1, 1, 1, 4, 2), int64] @"m/index";
//   %32 = all(%10, keepdims=1, launched=1) : Tensor[(1, 1), bool] @"m/index";
//   %33 = const[1, 1, 4, 4] : Tensor[(4,), int64];
//   %34 = nn.sdpa(%x, %x, %x) : Tensor[(1, 8, 4, 32), float32] @"m/attention";
//   %35 = transpose(%x, perm=[0, 1, 3, 2]) : Tensor[(1, 8, 32, 4), float32];
//   %36 = nn.batch_matmul(%34, %35) : Tensor[(1, 8, 4, 4), float32] @"m/scores";
//   %37 = nn.softmax(%36, axis=-1) : Tensor[(1, 8, 4, 4), float32] @"m/softmax";
//   %38 = gather_nd(%given, %31, launched=1) : Tensor[(1, 1, 1, 4), bool] @"m/given";
//   %39 = logical_and(%25, %38, launched=1) : Tensor[(1, 1, 4, 4), bool] @"m/given";
//   %40 = broadcast_to(%39, %33) : Tensor[(1, 1, 4, 4), bool] @"m/given";
//   %41 = nn.sdpa(%x, %x, %x, %40) : Tensor[(1, 8, 4, 32), float32] @"m/padded_attention";
//   (%37, %41)
// }
// ---- stderr
// ---- exit 0
