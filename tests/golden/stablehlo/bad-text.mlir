// RUN: perfc import %s
not MLIR at all
// ---- stdout
// ---- stderr
// bad-text.mlir: error: holds no function; is it a module of StableHLO?
// ---- exit 1
