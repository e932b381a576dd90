// RUN: perfc opt %s --passes=bind-trip-counts --trip-count decoder=20 --verify-each
// RUN: perfc opt %s --passes=bind-trip-counts --trip-count 20 --verify-each
// RUN: perfc opt %s --passes=bind-trip-counts --trip-count encoder=2
// RUN: perfc opt %s --passes=bind-trip-counts --trip-count decodr=2
// RUN: perfc opt %s --passes=infer-types --trip-count 2
// A loop that goes on as long as something computed from data says so gets the rounds that the user gives.
#[version = "perfc-ir/1"]
def @main(%x: Tensor[(4, 6), float32], %go: Tensor[(), bool]) -> (y: Tensor[(4, 6), float32], steps: Tensor[(?, 4, 6), float32]) {
  %2:2 = loop(_, %go, %x, captures=0) : (Tensor[(4, 6), float32], Tensor[(?, 4, 6), float32]) @decoder {
    fn @body(%i: Tensor[(), int64], %c: Tensor[(), bool], %h: Tensor[(4, 6), float32]) {
      %3 = exp(%h);
      %4 = max(%3, keepdims=0);
      %5 = const[8.0] : Tensor[(), float32];
      %6 = less(%4, %5);
      (%6, %3, %3)
    }
  };
  (%2.0, %2.1)
}
// ---- perfc opt %s --passes=bind-trip-counts --trip-count decoder=20 --verify-each
// ---- stdout
// #[version = "perfc-ir/1"]
// def @main(%x: Tensor[(4, 6), float32], %go: Tensor[(), bool]) -> (y: Tensor[(4, 6), float32], steps: Tensor[(20, 4, 6), float32]) {
//   %2 = const[20] : Tensor[(), int64];
//   %3:2 = loop(%2, _, %x, captures=0) : (Tensor[(4, 6), float32], Tensor[(20, 4, 6), float32]) @decoder {
//     fn @body(%i: Tensor[(), int64], %c: Tensor[(), bool], %h: Tensor[(4, 6), float32]) -> (Tensor[(), bool], Tensor[(4, 6), float32], Tensor[(4, 6), float32]) {
//       %3 = exp(%h) : Tensor[(4, 6), float32];
//       %4 = max(%3, keepdims=0) : Tensor[(), float32];
//       %5 = const[8.0] : Tensor[(), float32];
//       %6 = less(%4, %5) : Tensor[(), bool];
//       (%6, %3, %3)
//     }
//   };
//   (%3.0, %3.1)
// }
// ---- stderr
// ---- exit 0
// ---- perfc opt %s --passes=bind-trip-counts --trip-count 20 --verify-each
// ---- stdout
// #[version = "perfc-ir/1"]
// def @main(%x: Tensor[(4, 6), float32], %go: Tensor[(), bool]) -> (y: Tensor[(4, 6), float32], steps: Tensor[(20, 4, 6), float32]) {
//   %2 = const[20] : Tensor[(), int64];
//   %3:2 = loop(%2, _, %x, captures=0) : (Tensor[(4, 6), float32], Tensor[(20, 4, 6), float32]) @decoder {
//     fn @body(%i: Tensor[(), int64], %c: Tensor[(), bool], %h: Tensor[(4, 6), float32]) -> (Tensor[(), bool], Tensor[(4, 6), float32], Tensor[(4, 6), float32]) {
//       %3 = exp(%h) : Tensor[(4, 6), float32];
//       %4 = max(%3, keepdims=0) : Tensor[(), float32];
//       %5 = const[8.0] : Tensor[(), float32];
//       %6 = less(%4, %5) : Tensor[(), bool];
//       (%6, %3, %3)
//     }
//   };
//   (%3.0, %3.1)
// }
// ---- stderr
// ---- exit 0
// ---- perfc opt %s --passes=bind-trip-counts --trip-count encoder=2
// ---- stdout
// ---- stderr
// bind-trip-counts.pir: error: --trip-count: no loop whose rounds the file leaves open is named 'encoder' (did you mean 'decoder'?)
// ---- exit 1
// ---- perfc opt %s --passes=bind-trip-counts --trip-count decodr=2
// ---- stdout
// ---- stderr
// bind-trip-counts.pir: error: --trip-count: no loop whose rounds the file leaves open is named 'decodr' (did you mean 'decoder'?)
// ---- exit 1
// ---- perfc opt %s --passes=infer-types --trip-count 2
// ---- stdout
// ---- stderr
// perfc: error: --trip-count: --passes has no bind-trip-counts, which reads it
// ---- exit 2
