// RUN: perfc %s -d t4 --top 0 --fail-on-oom
// WORDS ONLY
#[version = "perfc-ir/1"]
def @main(%x: Tensor[(4000000, 4096), float32]) {
  %1 = transpose(%x, axes=[1, 0]);
  %2 = weight : Tensor[(4000000, 8), float32];
  %3 = nn.dense(%1, %2);
  (%3)
}
// ---- stdout
// OUT OF MEMORY: needs # MiB, t4 has # MiB
// fixed-batch.pir · batch # · Tesla T4 · PyTorch eager, amp nchw · corrected
//   latency # ms # % interval # ms … # ms; device # ms, host # ms; #/s
//   host server-# # calls of # µs, PyTorch # to #
//   bound by device # % of device time in kernels bound by arithmetic, # % by memory, # % by launches
//   runtime pytorch others (--runtime): torch-compile # ms, cuda-graph # ms, onnxruntime # ms in fp16, tensorrt # ms in fp16
//   memory # MiB # % interval # … #; context # + weights # + activations # + workspace #; the device has #
//   stack pytorch-# PyTorch #.x, CUDA # or later, lazy loading: its context is uncertain by a factor of # (--stack)
//   energy # J per batch, # % interval # … # J; # J per sample; # W on average
//   model #MACs # params, # operators
//   predictor corrected the time of each kernel by models of the hardware, corrected by networks trained on rtx3090, rtx4090, rtx5090
//   unfamiliar: k (depth) outside of what training saw (# % of the time)
//   unfamiliar: no run in training is like this model at this batch size (similarity #; #: the same kernels, #: none alike), so # % of what the networks say of its kernels counts, and the interval is wide
//   unfamiliar: device t4 has no measurements in training: half of what networks say counts
// ---- stderr
// ---- exit 3
