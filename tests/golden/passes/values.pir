// RUN: perfc opt %s --value rate=16000 --verify-each
// RUN: perfc opt %s --value rate=8000 --value scale=2 --verify-each
// RUN: perfc opt %s --value rat=8000
// RUN: perfc opt %s --value rate=8000,16000
// RUN: perfc opt %s --value rate=true
// RUN: perfc opt %s --value scale=fast
// RUN: perfc opt %s --value x=1
// RUN: perfc opt %s --value rate=8000 --value rate=16000
// What an input holds decides which branch runs.
#[version = "perfc-ir/1"]
def @main(%x: Tensor[(N, 6), float32], %rate: Tensor[(), int64], %scale: Tensor[(1,), float32]) -> (y: Tensor[(N, 6), float32]) {
  %3 = const[16000] : Tensor[(), int64];
  %4 = equal(%rate, %3);
  %5 = if(%4, %x, captures=1) @by_rate {
    fn @wide(%v: Tensor[(N, 6), float32]) { %1 = exp(%v) @wide; (%1) }
    fn @narrow(%v: Tensor[(N, 6), float32]) { %1 = log(%v) @narrow; (%1) }
  };
  %6 = multiply(%5, %scale);
  (%6)
}
// ---- perfc opt %s --value rate=16000 --verify-each
// ---- stdout
// #[version = "perfc-ir/1"]
// def @main(%x: Tensor[(N, 6), float32], %rate: Tensor[(), int64] = [16000], %scale: Tensor[(1,), float32]) -> (y: Tensor[(N, 6), float32]) {
//   %3 = exp(%x) : Tensor[(N, 6), float32] @wide;
//   %4 = multiply(%3, %scale) : Tensor[(N, 6), float32];
//   (%4)
// }
// ---- stderr
// ---- exit 0
// ---- perfc opt %s --value rate=8000 --value scale=2 --verify-each
// ---- stdout
// #[version = "perfc-ir/1"]
// def @main(%x: Tensor[(N, 6), float32], %rate: Tensor[(), int64] = [8000], %scale: Tensor[(1,), float32] = [2.0]) -> (y: Tensor[(N, 6), float32]) {
//   %3 = log(%x) : Tensor[(N, 6), float32] @narrow;
//   %4 = multiply(%3, %scale) : Tensor[(N, 6), float32];
//   (%4)
// }
// ---- stderr
// ---- exit 0
// ---- perfc opt %s --value rat=8000
// ---- stdout
// ---- stderr
// values.pir: error: --value: no input is named 'rat' (did you mean 'rate'?); the inputs are x, rate, scale
// ---- exit 1
// ---- perfc opt %s --value rate=8000,16000
// ---- stdout
// ---- stderr
// values.pir:11:40: 'rate': error: --value: 2 values are given, the input has 1: Tensor[(), int64]; give as many, or one that fills it
// ---- exit 1
// ---- perfc opt %s --value rate=true
// ---- stdout
// ---- stderr
// values.pir:11:40: 'rate': error: --value: 'true' is no whole number, which the input holds: Tensor[(), int64]
// ---- exit 1
// ---- perfc opt %s --value scale=fast
// ---- stdout
// ---- stderr
// values.pir:11:66: 'scale': error: --value: 'fast' is no number, which the input holds: Tensor[(1,), float32]
// ---- exit 1
// ---- perfc opt %s --value x=1
// ---- stdout
// ---- stderr
// values.pir:11:11: 'x': error: --value: the input's dims are open, Tensor[(N, 6), float32]; bind them with --shape x=… or --dim
// ---- exit 1
// ---- perfc opt %s --value rate=8000 --value rate=16000
// ---- stdout
// ---- stderr
// values.pir: 'rate': error: --value: the input is given twice
// ---- exit 1
