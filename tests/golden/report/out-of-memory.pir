// RUN: perfc %s -b 16777216 -d t4 --fail-on-oom
// RUN: perfc %s -b 16777216 -d t4,h100-sxm --top 1
// RUN: perfc %s -b 16777216 -d t4 -q --fail-on-oom
// RUN: perfc %s -b 8 -d t4 -q --fail-on-oom
// RUN: perfc %s -d t4 --emit=ir --fail-on-oom
// WORDS ONLY
#[version = "perfc-ir/1"]
def @main(%x: Tensor[(N, 4096), float32]) -> (y: Tensor[(N, 4096), float32]) {
  %1 = weight : Tensor[(4096, 4096), float32];
  %2 = nn.dense(%x, %1) : Tensor[(N, 4096), float32];
  %3 = nn.relu(%2) : Tensor[(N, 4096), float32];
  %4 = nn.dense(%3, %1) : Tensor[(N, 4096), float32];
  (%4)
}
// ---- perfc %s -b 16777216 -d t4 --fail-on-oom
// ---- stdout
// OUT OF MEMORY: needs # MiB, t4 has # MiB; the largest batch that fits is #
// out-of-memory.pir · batch # · Tesla T4 · PyTorch eager, amp nchw · corrected
//   latency # ms # % interval # ms … # ms; device # ms, host # ms; #/s
//   host server-# # calls of # µs, PyTorch # to #
//   bound by device # % of device time in kernels bound by arithmetic, # % by memory, # % by launches
//   runtime pytorch others (--runtime): torch-compile # ms, cuda-graph # ms, onnxruntime # ms in fp16, tensorrt # ms in fp16
//   memory # MiB # % interval # … #; context # + weights # + activations # + workspace #; the device has #
//   stack pytorch-# PyTorch #.x, CUDA # or later, lazy loading: its context is uncertain by a factor of # (--stack)
//   energy # J per batch, # % interval # … # J; # J per sample; # W on average
//   model #MACs # params, # operators
//   predictor corrected the time of each kernel by models of the hardware, corrected by networks trained on rtx3090, rtx4090, rtx5090
//   slowest operators, with their shares of device time
//      # % # µs compute nn.dense
//      # % # µs compute nn.dense
//       # % # µs memory nn.relu
//   unfamiliar: waves (tiles / SMs) outside of what training saw (# % of the time)
//   unfamiliar: no run in training is like this model at this batch size (similarity #; #: the same kernels, #: none alike), so # % of what the networks say of its kernels counts, and the interval is wide
//   unfamiliar: device t4 has no measurements in training: half of what networks say counts
// ---- stderr
// ---- exit 3
// ---- perfc %s -b 16777216 -d t4,h100-sxm --top 1
// ---- stdout
// OUT OF MEMORY: # of # predictions do not fit
// device latency # % interval samples/s memory fits energy per sample MIG model
// t4 # ms # ms … # ms # # MiB NO, batch # does # J # J - out-of-memory.pir
// h100-sxm # ms # ms … # ms # # MiB NO, batch # does # J # J none out-of-memory.pir
// hosts differ: t4: server-# (# µs per call), h100-sxm: server (# µs per call); --host NAME puts one beside all
//
// OUT OF MEMORY: needs # MiB, t4 has # MiB; the largest batch that fits is #
// out-of-memory.pir · batch # · Tesla T4 · PyTorch eager, amp nchw · corrected
//   latency # ms # % interval # ms … # ms; device # ms, host # ms; #/s
//   host server-# # calls of # µs, PyTorch # to #
//   bound by device # % of device time in kernels bound by arithmetic, # % by memory, # % by launches
//   runtime pytorch others (--runtime): torch-compile # ms, cuda-graph # ms, onnxruntime # ms in fp16, tensorrt # ms in fp16
//   memory # MiB # % interval # … #; context # + weights # + activations # + workspace #; the device has #
//   stack pytorch-# PyTorch #.x, CUDA # or later, lazy loading: its context is uncertain by a factor of # (--stack)
//   energy # J per batch, # % interval # … # J; # J per sample; # W on average
//   model #MACs # params, # operators
//   predictor corrected the time of each kernel by models of the hardware, corrected by networks trained on rtx3090, rtx4090, rtx5090
//   slowest operators, with their shares of device time
//      # % # µs compute nn.dense
//   unfamiliar: waves (tiles / SMs) outside of what training saw (# % of the time)
//   unfamiliar: no run in training is like this model at this batch size (similarity #; #: the same kernels, #: none alike), so # % of what the networks say of its kernels counts, and the interval is wide
//   unfamiliar: device t4 has no measurements in training: half of what networks say counts
//
// OUT OF MEMORY: needs # MiB, h100-sxm has # MiB; the largest batch that fits is #
// out-of-memory.pir · batch # · NVIDIA H100 80GB HBM3 · PyTorch eager, amp nchw · corrected
//   latency # ms # % interval # ms … # ms; device # ms, host # ms; #/s
//   host server # calls of # µs, PyTorch #.x
//   bound by device # % of device time in kernels bound by arithmetic, # % by memory, # % by launches
//   runtime pytorch others (--runtime): torch-compile # ms, cuda-graph # ms, onnxruntime # ms in fp16, tensorrt # ms in fp16
//   memory # MiB # % interval # … #; context # + weights # + activations # + workspace #; the device has #
//   stack pytorch-# PyTorch #.x, CUDA # or later, lazy loading: its context is uncertain by a factor of # (--stack)
//   energy # J per batch, # % interval # … # J; # J per sample; # W on average
//   model #MACs # params, # operators
//   predictor corrected the time of each kernel by models of the hardware, corrected by networks trained on rtx3090, rtx4090, rtx5090
//   MIG none no profile fits and meets the goals
//     profile latency slices samples/s, all needs MiB has MiB
//     1g.10gb # ms # # # # needs # of # MiB (# % kept free)
//     1g.10gb+me # ms # # # # needs # of # MiB (# % kept free)
//     1g.20gb # ms # # # # needs # of # MiB (# % kept free)
//     2g.20gb # ms # # # # needs # of # MiB (# % kept free)
//     3g.40gb # ms # # # # needs # of # MiB (# % kept free)
//     4g.40gb # ms # # # # needs # of # MiB (# % kept free)
//     7g.80gb # ms # # # # needs # of # MiB (# % kept free)
//     needs: less than the whole device's # MiB, for the context grows with the SMs, of which a slice has fewer
//     +me: with media engines (NVDEC, NVJPG, OFA), which one slice of a GPU can have
//   slowest operators, with their shares of device time
//      # % # µs compute nn.dense
//   unfamiliar: no run in training is like this model at this batch size (similarity #; #: the same kernels, #: none alike), so # % of what the networks say of its kernels counts, and the interval is wide
//   unfamiliar: device h100-sxm has no measurements in training: half of what networks say counts
// ---- stderr
// ---- exit 0
// ---- perfc %s -b 16777216 -d t4 -q --fail-on-oom
// ---- stdout
// out-of-memory.pir	t4	# ms	# MiB	# J	-	batch #	out of memory
// ---- stderr
// ---- exit 3
// ---- perfc %s -b 8 -d t4 -q --fail-on-oom
// ---- stdout
// out-of-memory.pir	t4	# ms	# MiB	# J	-	batch #	fits
// ---- stderr
// ---- exit 0
// ---- perfc %s -d t4 --emit=ir --fail-on-oom
// ---- stdout
// ---- stderr
// perfc: error: --fail-on-oom: --emit=ir predicts no memory
// ---- exit 2
