// RUN: perfc import %s
def @main() { () }
// ---- stdout
// ---- stderr
// bad-no-version.pir:2:1: error: expected the version line #[version = "perfc-ir/1"], found 'def'
// ---- exit 1
