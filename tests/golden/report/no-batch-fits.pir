// RUN: perfc %s -d t4 --predictor whitebox
// WORDS ONLY
#[version = "perfc-ir/1"]
def @main(%x: Tensor[(N, 100000), float32]) -> (y: Tensor[(N, 100000), float32]) {
  %1 = weight : Tensor[(100000, 100000), float32];
  %2 = nn.dense(%x, %1) : Tensor[(N, 100000), float32];
  (%2)
}
// ---- stdout
// OUT OF MEMORY: needs # MiB, t4 has # MiB; not even one sample fits
// no-batch-fits.pir · batch # · Tesla T4 · PyTorch eager, amp nchw · whitebox
//   latency # ms # % interval # ms … # ms; device # ms, host # ms; #/s
//   host server-# # calls of # µs, PyTorch # to #
//   bound by device # % of device time in kernels bound by arithmetic, # % by memory, # % by launches
//   runtime pytorch others (--runtime): torch-compile # ms, cuda-graph # ms, onnxruntime # ms in fp16, tensorrt # ms in fp16
//   memory # MiB # % interval # … #; context # + weights # + activations # + workspace #; the device has #
//   stack pytorch-# PyTorch #.x, CUDA # or later, lazy loading: its context is uncertain by a factor of # (--stack)
//   energy # J per batch, # % interval # … # J; # J per sample; # W on average
//   model #MACs # params, # operators
//   predictor whitebox the time of each kernel by models of the hardware, which no network corrects
//   slowest operators, with their shares of device time
//     # % # µs memory nn.dense
//   unfamiliar: device t4 was not calibrated with measurements
// ---- stderr
// ---- exit 0
