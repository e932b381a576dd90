// RUN: perfc %s -b 8,64,16777216 -d t4
// RUN: perfc %s -b 8,64 -d t4,rtx4090
// RUN: perfc %s -b 8,64 -q -d t4
// WORDS ONLY
#[version = "perfc-ir/1"]
def @main(%x: Tensor[(N, 4096), float32]) -> (y: Tensor[(N, 4096), float32]) {
  %1 = weight : Tensor[(4096, 4096), float32];
  %2 = nn.dense(%x, %1) : Tensor[(N, 4096), float32];
  %3 = nn.relu(%2) : Tensor[(N, 4096), float32];
  %4 = nn.dense(%3, %1) : Tensor[(N, 4096), float32];
  (%4)
}
// ---- perfc %s -b 8,64,16777216 -d t4
// ---- stdout
// OUT OF MEMORY: # of # predictions do not fit
// device batch latency # % interval samples/s memory fits energy per sample MIG model
// t4 # # ms # ms … # ms # # MiB yes # J # J - sweep.pir
// t4 # # ms # ms … # ms # # MiB yes # J # J - sweep.pir
// t4 # # ms # ms … # ms # # MiB NO, batch # does # J # J - sweep.pir
// unfamiliar: no run in training is like this model at this batch size (similarity #; #: the same kernels, #: none alike), so # % of what the networks say of its kernels counts, and the interval is wide
// unfamiliar: device t4 has no measurements in training: half of what networks say counts
// unfamiliar: waves (tiles / SMs) outside of what training saw (# % of the time) [batch #]
// ---- stderr
// ---- exit 0
// ---- perfc %s -b 8,64 -d t4,rtx4090
// ---- stdout
// device batch latency # % interval samples/s memory fits energy per sample MIG model
// t4 # # ms # ms … # ms # # MiB yes # J # J - sweep.pir
// t4 # # ms # ms … # ms # # MiB yes # J # J - sweep.pir
// rtx4090 # # ms # ms … # ms # # MiB yes # J # J - sweep.pir
// rtx4090 # # ms # ms … # ms # # MiB yes # J # J - sweep.pir
// hosts differ: t4: server-# (# µs per call), rtx4090: timm-rtx4090 (# µs per call); --host NAME puts one beside all
// unfamiliar: no run in training is like this model at this batch size (similarity #; #: the same kernels, #: none alike), so # % of what the networks say of its kernels counts, and the interval is wide
// unfamiliar: device t4 has no measurements in training: half of what networks say counts [t4]
// ---- stderr
// ---- exit 0
// ---- perfc %s -b 8,64 -q -d t4
// ---- stdout
// sweep.pir	t4	# ms	# MiB	# J	-	batch #	fits
// sweep.pir	t4	# ms	# MiB	# J	-	batch #	fits
// ---- stderr
// ---- exit 0
