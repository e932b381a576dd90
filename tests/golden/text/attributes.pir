// RUN: perfc import %s
// Integers and reals stay apart, reals are exact, empty lists have a kind.
#[version = "perfc-ir/1"]
def @attributes(%x: Tensor[(2,), float32]) {
  %1 = nn.relu(%x, int=-9223372036854775808, one=1.0, tenth=0.1, tiny=5e-324, minus_zero=-0.0, huge=1.7976931348623157e+308,
               inf=inf, minus_inf=-inf, nan=nan, odd_nan=nan(0x7ff8000000000001));
  %2 = nn.relu(%1, ints=[1, -2], none=[], reals=[1.0, 1e-5, inf], no_reals=floats[], texts=["a", ""], no_texts=strings[],
               "not an identifier"="tab \t quote \" byte \xff é");
  %3 = nn.relu(%2, tensor=const[1, 2]: Tensor[(2,), int64], absent=weight: Tensor[(64, 64), float32],
               type=Sequence[Tensor[*, float32]]);
  (%3)
}
// ---- stdout
// #[version = "perfc-ir/1"]
// def @attributes(%x: Tensor[(2,), float32]) -> (Tensor[(2,), float32]) {
//   %1 = nn.relu(%x, huge=1.7976931348623157e+308, inf=inf, int=-9223372036854775808, minus_inf=-inf, minus_zero=-0.0, nan=nan, odd_nan=nan(0x7ff8000000000001), one=1.0, tenth=0.1, tiny=5e-324) : Tensor[(2,), float32];
//   %2 = nn.relu(%1, ints=[1, -2], no_reals=floats[], no_texts=strings[], none=[], "not an identifier"="tab \t quote \" byte \xff é", reals=[1.0, 1e-05, inf], texts=["a", ""]) : Tensor[(2,), float32];
//   %3 = nn.relu(%2, absent=weight: Tensor[(64, 64), float32], tensor=const[1, 2]: Tensor[(2,), int64], type=Sequence[Tensor[*, float32]]) : Tensor[(2,), float32];
//   (%3)
// }
// ---- stderr
// ---- exit 0
