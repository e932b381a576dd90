// RUN: perfc import %s
#[version = "perfc-ir/2"]
def @main() { () }
// ---- stdout
// ---- stderr
// bad-version.pir:2:13: error: this is version "perfc-ir/2"; perfc reads "perfc-ir/1"
// ---- exit 1
