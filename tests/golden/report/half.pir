// RUN: perfc %s -d h100-sxm
// RUN: perfc %s -d h100-sxm --dtype default
// RUN: perfc %s -d h100-sxm --dtype amp
// RUN: perfc %s -d h100-sxm --runtime tensorrt
// RUN: perfc %s -d xeon-8375c --runtime onnxruntime-cpu
// RUN: perfc sweep %s -d h100-sxm --runtime pytorch,tensorrt
// WORDS ONLY
//
// Most parameters have 16 bits: the model was exported as it runs, and runs so unless --dtype says otherwise.
#[version = "perfc-ir/1"]
def @main(%x: Tensor[(64, 4096), bfloat16]) -> (y: Tensor[(64, 4096), bfloat16]) {
  %1 = weight : Tensor[(4096, 4096), bfloat16];
  %2 = weight : Tensor[(4096), float32];
  %3 = nn.dense(%x, %1) : Tensor[(64, 4096), bfloat16];
  %4 = nn.relu(%3) : Tensor[(64, 4096), bfloat16];
  %5 = cast(%4, to="float32") : Tensor[(64, 4096), float32];
  %6 = multiply(%5, %2) : Tensor[(64, 4096), float32];
  %7 = cast(%6, to="bfloat16") : Tensor[(64, 4096), bfloat16];
  (%7)
}
// ---- perfc %s -d h100-sxm
// ---- stdout
// half.pir · batch # · NVIDIA H100 80GB HBM3 · PyTorch eager, bf16 (the model's) nchw · corrected
//   latency # ms # % interval # ms … # ms; device # ms, host # ms; #/s
//   host server # calls of # µs, PyTorch #.x; with --host server-# # ms, server-# # ms
//   bound by host the device waits # % of the time; what helps:
//     --mode compiled # ms #/s # × the samples per second
//     --batch # # ms #/s # × the samples per second
//   runtime pytorch others (--runtime): torch-compile # ms, cuda-graph # ms, onnxruntime # ms, tensorrt # ms
//   memory # MiB # % interval # … #; context # + weights # + activations # + workspace #; the device has #
//   stack pytorch-# PyTorch #.x, CUDA # or later, lazy loading: its context is uncertain by a factor of # (--stack)
//   energy # J per batch, # % interval # … # J; # J per sample; # W on average
//   model #MACs # params, # operators
//   predictor corrected the time of each kernel by models of the hardware, corrected by networks trained on rtx3090, rtx4090, rtx5090
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
//      # % # µs memory nn.dense
//      # % # µs launch multiply
//      # % # µs launch cast
//       # % # µs launch cast
//       # % # µs launch nn.relu
//   unfamiliar: no run in training is like this model at this batch size (similarity #; #: the same kernels, #: none alike), so # % of what the networks say of its kernels counts, and the interval is wide
//   unfamiliar: device h100-sxm has no measurements in training: half of what networks say counts
//   unfamiliar: precision bf16 is corrected as amp, which is in training
// ---- stderr
// ---- exit 0
// ---- perfc %s -d h100-sxm --dtype default
// ---- stdout
// half.pir · batch # · NVIDIA H100 80GB HBM3 · PyTorch eager, bf16 (the model's) nchw · corrected
//   latency # ms # % interval # ms … # ms; device # ms, host # ms; #/s
//   host server # calls of # µs, PyTorch #.x; with --host server-# # ms, server-# # ms
//   bound by host the device waits # % of the time; what helps:
//     --mode compiled # ms #/s # × the samples per second
//     --batch # # ms #/s # × the samples per second
//   runtime pytorch others (--runtime): torch-compile # ms, cuda-graph # ms, onnxruntime # ms, tensorrt # ms
//   memory # MiB # % interval # … #; context # + weights # + activations # + workspace #; the device has #
//   stack pytorch-# PyTorch #.x, CUDA # or later, lazy loading: its context is uncertain by a factor of # (--stack)
//   energy # J per batch, # % interval # … # J; # J per sample; # W on average
//   model #MACs # params, # operators
//   predictor corrected the time of each kernel by models of the hardware, corrected by networks trained on rtx3090, rtx4090, rtx5090
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
//      # % # µs memory nn.dense
//      # % # µs launch multiply
//      # % # µs launch cast
//       # % # µs launch cast
//       # % # µs launch nn.relu
//   unfamiliar: no run in training is like this model at this batch size (similarity #; #: the same kernels, #: none alike), so # % of what the networks say of its kernels counts, and the interval is wide
//   unfamiliar: device h100-sxm has no measurements in training: half of what networks say counts
//   unfamiliar: precision bf16 is corrected as amp, which is in training
// ---- stderr
// ---- exit 0
// ---- perfc %s -d h100-sxm --dtype amp
// ---- stdout
// half.pir · batch # · NVIDIA H100 80GB HBM3 · PyTorch eager, amp nchw · corrected
//   latency # ms # % interval # ms … # ms; device # ms, host # ms; #/s
//   host server # calls of # µs, PyTorch #.x; with --host server-# # ms, server-# # ms
//   bound by host the device waits # % of the time; what helps:
//     --mode compiled # ms #/s # × the samples per second
//     --batch # # ms #/s # × the samples per second
//   runtime pytorch others (--runtime): torch-compile # ms, cuda-graph # ms, onnxruntime # ms in fp16, tensorrt # ms in fp16
//   memory # MiB # % interval # … #; context # + weights # + activations # + workspace #; the device has #
//   stack pytorch-# PyTorch #.x, CUDA # or later, lazy loading: its context is uncertain by a factor of # (--stack)
//   energy # J per batch, # % interval # … # J; # J per sample; # W on average
//   model #MACs # params, # operators
//   predictor corrected the time of each kernel by models of the hardware, corrected by networks trained on rtx3090, rtx4090, rtx5090
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
//      # % # µs memory nn.dense
//      # % # µs launch multiply
//      # % # µs launch cast
//       # % # µs launch cast
//       # % # µs launch nn.relu
//   unfamiliar: no run in training is like this model at this batch size (similarity #; #: the same kernels, #: none alike), so # % of what the networks say of its kernels counts, and the interval is wide
//   unfamiliar: device h100-sxm has no measurements in training: half of what networks say counts
// ---- stderr
// ---- exit 0
// ---- perfc %s -d h100-sxm --runtime tensorrt
// ---- stdout
// half.pir · batch # · NVIDIA H100 80GB HBM3 · TensorRT #, bf16 (the model's) · whitebox
//   latency # ms # % interval # ms … # ms; device # ms, host # ms; #/s
//   host - # kernels of # µs, TensorRT #
//   bound by host the device waits # % of the time; what helps:
//     --batch # # ms #/s # × the samples per second
//   runtime tensorrt others (--runtime): pytorch # ms, torch-compile # ms, cuda-graph # ms, onnxruntime # ms
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
//     # % # µs memory nn.dense
//   unfamiliar: the whitebox answers: trained on PyTorch only, this is TensorRT #
//   unfamiliar: TensorRT #: what it launches is from its documents, held against a few published runs (docs/whitebox.md); memory is PyTorch's, for nobody measured its own
//   unfamiliar: device h100-sxm was not calibrated with measurements
// ---- stderr
// ---- exit 0
// ---- perfc %s -d xeon-8375c --runtime onnxruntime-cpu
// ---- stdout
// half.pir · batch # · Intel Xeon Platinum 8375C · ONNX Runtime, CPU, fp32 nchw · whitebox
//   latency # ms # % interval # ms … # ms; device # ms, host # ms; #/s
//   host - # graphs of # µs, ONNX Runtime, CPU
//   bound by device # % of device time in kernels bound by arithmetic, # % by memory, # % by launches
//   runtime onnxruntime-cpu others (--runtime): pytorch # ms in bf16, torch-compile # ms in bf16
//   memory # MiB # % interval # … #; context # + weights # + activations # + workspace #; the device has #
//   stack cpu PyTorch #.x: its context is uncertain by a factor of # (--stack)
//   energy # J per batch, # % interval # … # J; # J per sample; # W on average
//   model #MACs # params, # operators
//   predictor whitebox the time of each kernel by models of the hardware, which no network corrects
//   slowest operators, with their shares of device time
//      # % # µs compute nn.dense
//       # % # µs launch multiply
//       # % # µs launch cast
//       # % # µs launch cast
//   unfamiliar: the whitebox answers: trained on GPUs only, xeon-8375c is a cpu
//   unfamiliar: ONNX Runtime, CPU: its kernels were measured on one CPU (docs/whitebox.md); memory is PyTorch's, for nobody measured its own
//   unfamiliar: device xeon-8375c was not calibrated with measurements
// ---- stderr
// ---- exit 0
// ---- perfc sweep %s -d h100-sxm --runtime pytorch,tensorrt
// ---- stdout
// model,batch,device,dtype,runtime,latency_ms,latency_lo_ms,latency_hi_ms,device_ms,host_ms,memory_mib,energy_j,power_w,fits,predictor,warnings,error
// half.pir,#,h100-sxm,bf16,pytorch,#,#,#,#,#,#,#,#,true,corrected,#,
// half.pir,#,h100-sxm,bf16,tensorrt,#,#,#,#,#,#,#,#,true,whitebox,#,
// ---- stderr
// # rows, # of them with errors; # s, # rows per second
// ---- exit 0
