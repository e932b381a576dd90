// RUN: perfc opt %s --passes=rebatch --batch=8 --batch-axis x=1 --batch-axis state=1 --verify-each
// RUN: perfc opt %s --passes=rebatch --batch=8 --batch-axis all=-2 --verify-each
// RUN: perfc opt %s --passes=rebatch --batch=8
// Steps come first: a recurrent layer's batch is the second dim, and so is that of its state. Without the option the
// first dim is taken, and a warning says which option tells.
#[version = "perfc-ir/1"]
def @main(%x: Tensor[(20, 2, 40), float32], %state: Tensor[(1, 2, 64), float32]) -> (y: Tensor[(40, 16), float32]) {
  %2 = weight : Tensor[(1, 64, 40), float32];
  %3 = weight : Tensor[(1, 64, 64), float32];
  %4:2 = nn.rnn(%x, %2, %3, _, _, %state, hidden_size=64) : (Tensor[(20, 1, 2, 64), float32], Tensor[(1, 2, 64), float32]);
  %5 = const[40, 64] : Tensor[(2,), int64];
  %6 = reshape(%4.0, %5) @rows;
  %7 = weight : Tensor[(64, 16), float32];
  %8 = nn.dense(%6, %7);
  (%8)
}
// ---- perfc opt %s --passes=rebatch --batch=8 --batch-axis x=1 --batch-axis state=1 --verify-each
// ---- stdout
// #[version = "perfc-ir/1"]
// def @main(%x: Tensor[(20, 8, 40), float32], %state: Tensor[(1, 8, 64), float32]) -> (y: Tensor[(160, 16), float32]) {
//   %2 = weight : Tensor[(1, 64, 40), float32];
//   %3 = weight : Tensor[(1, 64, 64), float32];
//   %4:2 = nn.rnn(%x, %2, %3, _, _, %state, hidden_size=64) : (Tensor[(20, 1, 8, 64), float32], Tensor[(1, 8, 64), float32]);
//   %5 = const[40, 64] : Tensor[(2,), int64];
//   %6 = const[160, 64] : Tensor[(2,), int64];
//   %7 = reshape(%4.0, %6) : Tensor[(160, 64), float32] @rows;
//   %8 = weight : Tensor[(64, 16), float32];
//   %9 = nn.dense(%7, %8) : Tensor[(160, 16), float32];
//   (%9)
// }
// ---- stderr
// ---- exit 0
// ---- perfc opt %s --passes=rebatch --batch=8 --batch-axis all=-2 --verify-each
// ---- stdout
// #[version = "perfc-ir/1"]
// def @main(%x: Tensor[(20, 8, 40), float32], %state: Tensor[(1, 8, 64), float32]) -> (y: Tensor[(160, 16), float32]) {
//   %2 = weight : Tensor[(1, 64, 40), float32];
//   %3 = weight : Tensor[(1, 64, 64), float32];
//   %4:2 = nn.rnn(%x, %2, %3, _, _, %state, hidden_size=64) : (Tensor[(20, 1, 8, 64), float32], Tensor[(1, 8, 64), float32]);
//   %5 = const[40, 64] : Tensor[(2,), int64];
//   %6 = const[160, 64] : Tensor[(2,), int64];
//   %7 = reshape(%4.0, %6) : Tensor[(160, 64), float32] @rows;
//   %8 = weight : Tensor[(64, 16), float32];
//   %9 = nn.dense(%7, %8) : Tensor[(160, 16), float32];
//   (%9)
// }
// ---- stderr
// ---- exit 0
// ---- perfc opt %s --passes=rebatch --batch=8
// ---- stdout
// #[version = "perfc-ir/1"]
// def @main(%x: Tensor[(8, 2, 40), float32], %state: Tensor[(1, 2, 64), float32]) -> (y: Tensor[(16, 16), float32]) {
//   %2 = weight : Tensor[(1, 64, 40), float32];
//   %3 = weight : Tensor[(1, 64, 64), float32];
//   %4:2 = nn.rnn(%x, %2, %3, _, _, %state, hidden_size=64) : (Tensor[(8, 1, 2, 64), float32], Tensor[(1, 2, 64), float32]);
//   %5 = const[40, 64] : Tensor[(2,), int64];
//   %6 = const[16, 64] : Tensor[(2,), int64];
//   %7 = reshape(%4.0, %6) : Tensor[(16, 64), float32] @rows;
//   %8 = weight : Tensor[(64, 16), float32];
//   %9 = nn.dense(%7, %8) : Tensor[(16, 16), float32];
//   (%9)
// }
// ---- stderr
// batch-axis-time-major.pir:10:3: warning: --batch changed the steps of this layer, Tensor[(20, 2, 40), float32] to Tensor[(8, 2, 40), float32], and not its samples; if the input is time-major, say --batch-axis INPUT=1
// ---- exit 0
