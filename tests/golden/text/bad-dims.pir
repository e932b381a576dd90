// RUN: perfc import %s
#[version = "perfc-ir/1"]
def @main(%x: Tensor[(-1, 2), float32], %y: Tensor[(1.5,), float32], %z: Tensor[(99999999999999999999,), int8],
          %u: Tensor[(2,), flaot32], %v: Sequence[Tensor[(2,), float32], %w: None) {
  (%x)
}
// ---- stdout
// ---- stderr
// bad-dims.pir:3:23: error: a dim cannot be -1; '?' stands for an unknown one
// bad-dims.pir:3:53: error: an integer belongs here, not '1.5'
// bad-dims.pir:3:82: error: 99999999999999999999 does not fit into 64 bits
// bad-dims.pir:4:28: error: unknown element type 'flaot32' (did you mean 'float32'?)
// bad-dims.pir:4:42: error: this type opens 1 '[' and closes 0
// bad-dims.pir:4:78: error: a param needs a type
// ---- exit 1
