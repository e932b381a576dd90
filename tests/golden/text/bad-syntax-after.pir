// RUN: perfc import %s
#[version = "perfc-ir/1"]
def @main() { () }
def @again() { () }
// ---- stdout
// ---- stderr
// bad-syntax-after.pir:4:1: error: expected the end of the file, found 'def'
// ---- exit 1
