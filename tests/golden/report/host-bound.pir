// RUN: perfc %s -b 8 -d h100-sxm --predictor whitebox
// RUN: perfc %s -b 8 -d h100-sxm --mode compiled --predictor whitebox
// RUN: perfc %s -b 8 -d h100-sxm --pacing queued --predictor whitebox
// RUN: perfc %s -b 8 -d h100-sxm --task train --pacing awaited --predictor whitebox
// RUN: perfc %s -b 8 -d h100-sxm --pacing often
// WORDS ONLY
#[version = "perfc-ir/1"]
def @main(%x: Tensor[(N, 64), float32]) -> (y: Tensor[(N, 64), float32]) {
  %1 = nn.relu(%x) : Tensor[(N, 64), float32];
  %2 = exp(%1) : Tensor[(N, 64), float32];
  %3 = tanh(%2) : Tensor[(N, 64), float32];
  (%3)
}
// ---- perfc %s -b 8 -d h100-sxm --predictor whitebox
// ---- stdout
// host-bound.pir · batch # · NVIDIA H100 80GB HBM3 · PyTorch eager, amp nchw · whitebox
//   latency # ms # % interval # ms … # ms; device # ms, host # ms; #/s
//   host server # calls of # µs, PyTorch #.x; with --host server-# # ms, server-# # ms
//   bound by host the device waits # % of the time; what helps:
//     --batch # # ms #/s # × the samples per second
//   runtime pytorch others (--runtime): torch-compile # ms, cuda-graph # ms, onnxruntime # ms in fp16, tensorrt # ms in fp16
//   memory # MiB # % interval # … #; context # + weights # + activations # + workspace #; the device has #
//   stack pytorch-# PyTorch #.x, CUDA # or later, lazy loading: its context is uncertain by a factor of # (--stack)
//   energy # J per batch, # % interval # … # J; # J per sample; # W on average
//   model #MACs # params, # operators
//   predictor whitebox the time of each kernel by models of the hardware, which no network corrects
//   MIG 1g.10gb smallest profile that fits # MiB
//     profile latency slices samples/s, all needs MiB has MiB
//     1g.10gb # ms # # # #
//     1g.10gb+me # ms # # # #
//     1g.20gb # ms # # # #
//     2g.20gb # ms # # # #
//     3g.40gb # ms # # # #
//     4g.40gb # ms # # # #
//     7g.80gb # ms # # # #
//     needs: less than the whole device's # MiB, for the context grows with the SMs, of which a slice has fewer
//     +me: with media engines (NVDEC, NVJPG, OFA), which one slice of a GPU can have
//   slowest operators, with their shares of device time
//      # % # µs launch nn.relu
//      # % # µs launch exp
//      # % # µs launch tanh
//   unfamiliar: device h100-sxm was not calibrated with measurements
// ---- stderr
// ---- exit 0
// ---- perfc %s -b 8 -d h100-sxm --mode compiled --predictor whitebox
// ---- stdout
// host-bound.pir · batch # · NVIDIA H100 80GB HBM3 · PyTorch compiled, amp nchw · whitebox
//   latency # ms # % interval # ms … # ms; device # ms, host # ms; #/s
//   host server # kernels of # µs, PyTorch #.x; with --host server-# # ms, server-# # ms
//   bound by host the device waits # % of the time; what helps:
//     --batch # # ms #/s # × the samples per second
//   runtime torch-compile others (--runtime): pytorch # ms, cuda-graph # ms, onnxruntime # ms in fp16, tensorrt # ms in fp16
//   memory # MiB # % interval # … #; context # + weights # + activations # + workspace #; the device has #
//   stack pytorch-# PyTorch #.x, CUDA # or later, lazy loading: its context is uncertain by a factor of # (--stack)
//   energy # J per batch, # % interval # … # J; # J per sample; # W on average
//   model #MACs # params, # operators
//   predictor whitebox the time of each kernel by models of the hardware, which no network corrects
//   MIG 1g.10gb smallest profile that fits # MiB
//     profile latency slices samples/s, all needs MiB has MiB
//     1g.10gb # ms # # # #
//     1g.10gb+me # ms # # # #
//     1g.20gb # ms # # # #
//     2g.20gb # ms # # # #
//     3g.40gb # ms # # # #
//     4g.40gb # ms # # # #
//     7g.80gb # ms # # # #
//     needs: less than the whole device's # MiB, for the context grows with the SMs, of which a slice has fewer
//     +me: with media engines (NVDEC, NVJPG, OFA), which one slice of a GPU can have
//   slowest operators, with their shares of device time
//     # % # µs launch nn.relu
//   unfamiliar: device h100-sxm was not calibrated with measurements
// ---- stderr
// ---- exit 0
// ---- perfc %s -b 8 -d h100-sxm --pacing queued --predictor whitebox
// ---- stdout
// host-bound.pir · batch # · NVIDIA H100 80GB HBM3 · PyTorch eager, amp nchw, runs queued · whitebox
//   latency # ms # % interval # ms … # ms; device # ms, host # ms; #/s
//   host server # calls of # µs, PyTorch #.x; with --host server-# # ms, server-# # ms
//   bound by host the device waits # % of the time; what helps:
//     --batch # # ms #/s # × the samples per second
//   runtime pytorch others (--runtime): torch-compile # ms, cuda-graph # ms, onnxruntime # ms in fp16, tensorrt # ms in fp16
//   memory # MiB # % interval # … #; context # + weights # + activations # + workspace #; the device has #
//   stack pytorch-# PyTorch #.x, CUDA # or later, lazy loading: its context is uncertain by a factor of # (--stack)
//   energy # J per batch, # % interval # … # J; # J per sample; # W on average
//   model #MACs # params, # operators
//   predictor whitebox the time of each kernel by models of the hardware, which no network corrects
//   MIG 1g.10gb smallest profile that fits # MiB
//     profile latency slices samples/s, all needs MiB has MiB
//     1g.10gb # ms # # # #
//     1g.10gb+me # ms # # # #
//     1g.20gb # ms # # # #
//     2g.20gb # ms # # # #
//     3g.40gb # ms # # # #
//     4g.40gb # ms # # # #
//     7g.80gb # ms # # # #
//     needs: less than the whole device's # MiB, for the context grows with the SMs, of which a slice has fewer
//     +me: with media engines (NVDEC, NVJPG, OFA), which one slice of a GPU can have
//   slowest operators, with their shares of device time
//      # % # µs launch nn.relu
//      # % # µs launch exp
//      # % # µs launch tanh
//   unfamiliar: device h100-sxm was not calibrated with measurements
// ---- stderr
// ---- exit 0
// ---- perfc %s -b 8 -d h100-sxm --task train --pacing awaited --predictor whitebox
// ---- stdout
// host-bound.pir · batch # · NVIDIA H100 80GB HBM3 · PyTorch eager, amp nchw, runs awaited · whitebox
//   latency # ms # % interval # ms … # ms; device # ms, host # ms; #/s
//   host server # calls of # µs, PyTorch #.x; with --host server-# # ms, server-# # ms
//   bound by host the device waits # % of the time; what helps:
//     --mode compiled # ms #/s # × the samples per second
//     --batch # # ms #/s # × the samples per second
//   memory # MiB # % interval # … #; context # + weights # + gradients # + adam # + activations # + workspace #; the device has #
//   stack pytorch-# PyTorch #.x, CUDA # or later, lazy loading: its context is uncertain by a factor of # (--stack)
//   energy # J per batch, # % interval # … # J; # J per sample; # W on average
//   model #MACs # params, # operators
//   predictor whitebox the time of each kernel by models of the hardware, which no network corrects
//   MIG 1g.10gb smallest profile that fits # MiB
//     profile latency slices samples/s, all needs MiB has MiB
//     1g.10gb # ms # # # #
//     1g.10gb+me # ms # # # #
//     1g.20gb # ms # # # #
//     2g.20gb # ms # # # #
//     3g.40gb # ms # # # #
//     4g.40gb # ms # # # #
//     7g.80gb # ms # # # #
//     needs: less than the whole device's # MiB, for the context grows with the SMs, of which a slice has fewer
//     +me: with media engines (NVDEC, NVJPG, OFA), which one slice of a GPU can have
//   slowest operators, with their shares of device time
//      # % # µs launch nn.relu
//      # % # µs launch exp
//      # % # µs launch tanh
//   unfamiliar: device h100-sxm was not calibrated with measurements
// ---- stderr
// ---- exit 0
// ---- perfc %s -b 8 -d h100-sxm --pacing often
// ---- stdout
// ---- stderr
// perfc: error: --pacing: 'often' is none of awaited, queued
// ---- exit 2
