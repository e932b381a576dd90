// RUN: perfc import %s
#[version = "perfc-ir/1"]
def @main(%x: Tensor[(4,), float32]) -> (Tensor[(4,), float32], Tensor[(4,), float32]) {
  %1:2 = split(%x) : Tensor[(2,), float32];
  %2 = split(%x) : (Tensor[(2,), float32], Tensor[(2,), float32]);
  %3:4000000000 = split(%x);
  %4:1000 = split(%x);
  (%x)
}
// ---- stdout
// ---- stderr
// bad-results.pir:4:10: error: 2 results, but 1 types; `%1:1 =` names that many results
// bad-results.pir:5:8: error: 1 results, but 2 types; `%2:2 =` names that many results
// bad-results.pir:6:6: error: too many results
// bad-results.pir:7:6: error: more than 256 results need their types
// bad-results.pir:3:6: error: the header lists 2 results, the body returns 1
// ---- exit 1
