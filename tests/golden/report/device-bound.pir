// RUN: perfc %s -b 65536 -d rtx4090
// RUN: perfc %s -b 65536 -d a100-40gb
// RUN: perfc %s -b 65536 -d rtx4090,t4 --top 1
// RUN: perfc %s -b 65536 -d rtx4090,t4 --top 0 --host desktop
// RUN: perfc %s -b 65536 -d rtx4090 --task train
// WORDS ONLY
#[version = "perfc-ir/1"]
def @main(%x: Tensor[(N, 4096), float32]) -> (y: Tensor[(N, 4096), float32]) {
  %1 = weight : Tensor[(4096, 4096), float32];
  %2 = nn.dense(%x, %1) : Tensor[(N, 4096), float32];
  %3 = nn.relu(%2) : Tensor[(N, 4096), float32];
  %4 = nn.dense(%3, %1) : Tensor[(N, 4096), float32];
  (%4)
}
// ---- perfc %s -b 65536 -d rtx4090
// ---- stdout
// device-bound.pir · batch # · NVIDIA GeForce RTX # · PyTorch eager, amp nchw · corrected
//   latency # ms # % interval # ms … # ms; device # ms, host # ms; #/s
//   host timm-rtx4090 # calls of # µs, PyTorch #
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
// ---- stderr
// ---- exit 0
// ---- perfc %s -b 65536 -d a100-40gb
// ---- stdout
// device-bound.pir · batch # · NVIDIA A100-SXM4-40GB · PyTorch eager, amp nchw · corrected
//   latency # ms # % interval # ms … # ms; device # ms, host # ms; #/s
//   host server-# # calls of # µs, PyTorch # to #
//   bound by device # % of device time in kernels bound by arithmetic, # % by memory, # % by launches
//   runtime pytorch others (--runtime): torch-compile # ms, cuda-graph # ms, onnxruntime # ms in fp16, tensorrt # ms in fp16
//   memory # MiB # % interval # … #; context # + weights # + activations # + workspace #; the device has #
//   stack pytorch-# PyTorch #.x, CUDA # or later, lazy loading: its context is uncertain by a factor of # (--stack)
//   energy # J per batch, # % interval # … # J; # J per sample; # W on average
//   model #MACs # params, # operators
//   predictor corrected the time of each kernel by models of the hardware, corrected by networks trained on rtx3090, rtx4090, rtx5090
//   MIG 1g.5gb smallest profile that fits # MiB
//     profile latency slices samples/s, all needs MiB has MiB
//     1g.5gb # ms # # # #
//     1g.5gb+me # ms # # # #
//     1g.10gb # ms # # # #
//     2g.10gb # ms # # # #
//     3g.20gb # ms # # # #
//     4g.20gb # ms # # # #
//     7g.40gb # ms # # # #
//     needs: less than the whole device's # MiB, for the context grows with the SMs, of which a slice has fewer
//     +me: with media engines (NVDEC, NVJPG, OFA), which one slice of a GPU can have
//   slowest operators, with their shares of device time
//      # % # µs compute nn.dense
//      # % # µs compute nn.dense
//       # % # µs memory nn.relu
//   unfamiliar: device a100-40gb has no measurements in training: half of what networks say counts
// ---- stderr
// ---- exit 0
// ---- perfc %s -b 65536 -d rtx4090,t4 --top 1
// ---- stdout
// device latency # % interval samples/s memory fits energy per sample MIG model
// rtx4090 # ms # ms … # ms # # MiB yes # J # J - device-bound.pir
// t4 # ms # ms … # ms # # MiB yes # J # J - device-bound.pir
// hosts differ: rtx4090: timm-rtx4090 (# µs per call), t4: server-# (# µs per call); --host NAME puts one beside all
//
// device-bound.pir · batch # · NVIDIA GeForce RTX # · PyTorch eager, amp nchw · corrected
//   latency # ms # % interval # ms … # ms; device # ms, host # ms; #/s
//   host timm-rtx4090 # calls of # µs, PyTorch #
//   bound by device # % of device time in kernels bound by arithmetic, # % by memory, # % by launches
//   runtime pytorch others (--runtime): torch-compile # ms, cuda-graph # ms, onnxruntime # ms in fp16, tensorrt # ms in fp16
//   memory # MiB # % interval # … #; context # + weights # + activations # + workspace #; the device has #
//   stack pytorch-# PyTorch #.x, CUDA # or later, lazy loading: its context is uncertain by a factor of # (--stack)
//   energy # J per batch, # % interval # … # J; # J per sample; # W on average
//   model #MACs # params, # operators
//   predictor corrected the time of each kernel by models of the hardware, corrected by networks trained on rtx3090, rtx4090, rtx5090
//   slowest operators, with their shares of device time
//      # % # µs compute nn.dense
//
// device-bound.pir · batch # · Tesla T4 · PyTorch eager, amp nchw · corrected
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
//   unfamiliar: device t4 has no measurements in training: half of what networks say counts
// ---- stderr
// ---- exit 0
// ---- perfc %s -b 65536 -d rtx4090,t4 --top 0 --host desktop
// ---- stdout
// device latency # % interval samples/s memory fits energy per sample MIG model
// rtx4090 # ms # ms … # ms # # MiB yes # J # J - device-bound.pir
// t4 # ms # ms … # ms # # MiB yes # J # J - device-bound.pir
//
// device-bound.pir · batch # · NVIDIA GeForce RTX # · PyTorch eager, amp nchw · corrected
//   latency # ms # % interval # ms … # ms; device # ms, host # ms; #/s
//   host desktop # calls of # µs, PyTorch #.x
//   bound by device # % of device time in kernels bound by arithmetic, # % by memory, # % by launches
//   runtime pytorch others (--runtime): torch-compile # ms, cuda-graph # ms, onnxruntime # ms in fp16, tensorrt # ms in fp16
//   memory # MiB # % interval # … #; context # + weights # + activations # + workspace #; the device has #
//   stack pytorch-# PyTorch #.x, CUDA # or later, lazy loading: its context is uncertain by a factor of # (--stack)
//   energy # J per batch, # % interval # … # J; # J per sample; # W on average
//   model #MACs # params, # operators
//   predictor corrected the time of each kernel by models of the hardware, corrected by networks trained on rtx3090, rtx4090, rtx5090
//
// device-bound.pir · batch # · Tesla T4 · PyTorch eager, amp nchw · corrected
//   latency # ms # % interval # ms … # ms; device # ms, host # ms; #/s
//   host desktop # calls of # µs, PyTorch #.x
//   bound by device # % of device time in kernels bound by arithmetic, # % by memory, # % by launches
//   runtime pytorch others (--runtime): torch-compile # ms, cuda-graph # ms, onnxruntime # ms in fp16, tensorrt # ms in fp16
//   memory # MiB # % interval # … #; context # + weights # + activations # + workspace #; the device has #
//   stack pytorch-# PyTorch #.x, CUDA # or later, lazy loading: its context is uncertain by a factor of # (--stack)
//   energy # J per batch, # % interval # … # J; # J per sample; # W on average
//   model #MACs # params, # operators
//   predictor corrected the time of each kernel by models of the hardware, corrected by networks trained on rtx3090, rtx4090, rtx5090
//   unfamiliar: device t4 has no measurements in training: half of what networks say counts
// ---- stderr
// ---- exit 0
// ---- perfc %s -b 65536 -d rtx4090 --task train
// ---- stdout
// device-bound.pir · batch # · NVIDIA GeForce RTX # · PyTorch eager, amp nchw · whitebox
//   latency # ms # % interval # ms … # ms; device # ms, host # ms; #/s
//   host timm-rtx4090 # calls of # µs, PyTorch #
//   bound by device # % of device time in kernels bound by arithmetic, # % by memory, # % by launches
//   memory # MiB # % interval # … #; context # + weights # + gradients # + adam # + activations # + workspace #; the device has #
//   stack pytorch-# PyTorch #.x, CUDA # or later, lazy loading: its context is uncertain by a factor of # (--stack)
//   energy # J per batch, # % interval # … # J; # J per sample; # W on average
//   model #MACs # params, # operators
//   predictor whitebox the time of each kernel by models of the hardware, which no network corrects
//   slowest operators, with their shares of device time
//      # % # µs compute nn.dense
//      # % # µs compute nn.dense
//      # % # µs compute nn.dense
//       # % # µs memory nn.relu
//       # % # µs memory optimizer
//   unfamiliar: the whitebox answers: trained on inference only
// ---- stderr
// ---- exit 0
