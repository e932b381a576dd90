// RUN: perfc import %s
// Every kind of type, and dims that are known, named or unknown.
#[version = "perfc-ir/1"]
def @types(
    %scalar: Tensor[(), float64],
    %named: Tensor[(batch, 3, ?, 'height * 2'), bfloat16],
    %unranked: Tensor[*, float8e4m3fn],
    %untyped: Tensor[(1,), undefined],
    %sparse: SparseTensor[(2, 2), int4],
    %list: Sequence[Optional[Tensor[(N,), uint2]]],
    %table: Map[string, Sequence[Tensor[*, complex64]]],
    %foreign: Opaque["torch.classes.Foo"],
    %quoted: Tensor[('inf', '\'', '?'), bool]) {
  (%scalar, %named, %unranked, %untyped, %sparse, %list, %table, %foreign, %quoted)
}
// ---- stdout
// #[version = "perfc-ir/1"]
// def @types(%scalar: Tensor[(), float64], %named: Tensor[(batch, 3, ?, 'height * 2'), bfloat16], %unranked: Tensor[*, float8e4m3fn], %untyped: Tensor[(1,), undefined], %sparse: SparseTensor[(2, 2), int4], %list: Sequence[Optional[Tensor[(N,), uint2]]], %table: Map[string, Sequence[Tensor[*, complex64]]], %foreign: Opaque["torch.classes.Foo"], %quoted: Tensor[('inf', '\'', '?'), bool]) -> (Tensor[(), float64], Tensor[(batch, 3, ?, 'height * 2'), bfloat16], Tensor[*, float8e4m3fn], Tensor[(1,), undefined], SparseTensor[(2, 2), int4], Sequence[Optional[Tensor[(N,), uint2]]], Map[string, Sequence[Tensor[*, complex64]]], Opaque["torch.classes.Foo"], Tensor[('inf', '\'', '?'), bool]) {
//   (%scalar, %named, %unranked, %untyped, %sparse, %list, %table, %foreign, %quoted)
// }
// ---- stderr
// ---- exit 0
