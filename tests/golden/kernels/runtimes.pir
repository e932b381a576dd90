// RUN: perfc predict %s --emit=kernels --runtime pytorch --dtype fp16 --predictor whitebox --device a100-40gb
// RUN: perfc predict %s --emit=kernels --runtime onnxruntime --predictor whitebox --device a100-40gb
// RUN: perfc predict %s --emit=kernels --runtime onnxruntime --predictor whitebox --device a100-40gb --dtype tf32
// RUN: perfc predict %s --emit=kernels --runtime tensorrt --predictor whitebox --device a100-40gb
// RUN: perfc predict %s --emit=kernels --runtime tensorrt-8 --predictor whitebox --device a100-40gb
// RUN: perfc predict %s --emit=kernels --runtime tensorrt --dtype int8 --predictor whitebox --device a100-40gb
// COLUMNS: operators,width,bytes
// A residual block, and attention that was written out. ONNX Runtime's convolution takes ReLU, with bias and the other
// branch before it, in float32 alone; TensorRT takes any activation, has one kernel for attention, and casts its inputs,
// which are float32. What two kernels read is written; before 8.6 it has none, and norms are written out. In int8
// TensorRT hands on 8 bits from layer to layer.
#[version = "perfc-ir/1"]
def @main(%x: Tensor[(4, 64, 28, 28), float32], %q: Tensor[(4, 8, 64, 64), float32]) {
  %2 = weight : Tensor[(64, 64, 3, 3), float32];
  %3 = weight : Tensor[(64), float32];
  %4 = nn.conv2d(%x, %2, padding=[1, 1, 1, 1]);
  %5 = nn.bias_add(%4, %3, axis=1);
  %6 = nn.silu(%5);
  %7 = nn.conv2d(%6, %2, padding=[1, 1, 1, 1]);
  %8 = nn.bias_add(%7, %3, axis=1);
  %9 = add(%8, %x);
  %10 = nn.relu(%9);
  %11 = nn.max_pool2d(%10, kernel_size=[2, 2], strides=[2, 2], padding=[0, 0, 0, 0]);
  %12 = nn.sdpa(%q, %q, %q, explicit=1);
  %13 = weight : Tensor[(64), float32];
  %14 = nn.layer_norm(%q, %13, %13, axis=-1);
  (%10, %11, %12, %14)
}
// ---- perfc predict %s --emit=kernels --runtime pytorch --dtype fp16 --predictor whitebox --device a100-40gb
// ---- stdout
// nn.conv2d 16 876544
// nn.bias_add 16 802944
// nn.silu 16 802816
// nn.conv2d 16 876544
// nn.bias_add 16 802944
// add 16 1204224
// nn.relu 16 802816
// nn.max_pool2d 16 903168
// nn.batch_matmul 16 786432
// nn.softmax 16 524288
// nn.batch_matmul 16 786432
// nn.layer_norm 16 524544
// ---- stderr
// ---- exit 0
// ---- perfc predict %s --emit=kernels --runtime onnxruntime --predictor whitebox --device a100-40gb
// ---- stdout
// nn.conv2d 16 876544
// nn.bias_add 16 802944
// nn.silu 16 802816
// nn.conv2d 16 876544
// nn.bias_add 16 802944
// add 16 1204224
// nn.relu 16 802816
// nn.max_pool2d 16 501760
// nn.batch_matmul 16 786432
// nn.softmax 16 524288
// nn.batch_matmul 16 786432
// nn.layer_norm 16 524544
// ---- stderr
// ---- exit 0
// ---- perfc predict %s --emit=kernels --runtime onnxruntime --predictor whitebox --device a100-40gb --dtype tf32
// ---- stdout
// nn.conv2d 32 1753088
// nn.bias_add 32 1605888
// nn.silu 32 1605632
// nn.conv2d nn.bias_add add nn.relu 32 1753088
// nn.max_pool2d 32 1003520
// nn.batch_matmul 32 1572864
// nn.softmax 32 1048576
// nn.batch_matmul 32 1572864
// nn.layer_norm 32 1049088
// ---- stderr
// ---- exit 0
// ---- perfc predict %s --emit=kernels --runtime tensorrt --predictor whitebox --device a100-40gb
// ---- stdout
// cast 32 1204224
// cast 32 786432
// nn.conv2d nn.bias_add nn.silu 16 876544
// nn.conv2d nn.bias_add add nn.relu 16 876544
// nn.max_pool2d 16 501760
// nn.sdpa 16 524288
// nn.layer_norm 16 524416
// ---- stderr
// ---- exit 0
// ---- perfc predict %s --emit=kernels --runtime tensorrt-8 --predictor whitebox --device a100-40gb
// ---- stdout
// cast 32 1204224
// cast 32 786432
// nn.conv2d nn.bias_add nn.silu 16 876544
// nn.conv2d nn.bias_add add nn.relu 16 876544
// nn.max_pool2d 16 501760
// nn.batch_matmul 16 786432
// nn.softmax multiply 16 524288
// nn.batch_matmul 16 786432
// nn.layer_norm 16 262272
// copy 16 524288
// nn.layer_norm 16 262272
// nn.layer_norm 16 524416
// ---- stderr
// ---- exit 0
// ---- perfc predict %s --emit=kernels --runtime tensorrt --dtype int8 --predictor whitebox --device a100-40gb
// ---- stdout
// qnn.dynamic_quantize 16 602112
// cast 32 786432
// nn.conv2d nn.bias_add nn.silu 8 438272
// nn.conv2d nn.bias_add add nn.relu 8 438272
// nn.max_pool2d 16 501760
// nn.sdpa 16 524288
// nn.layer_norm 16 524416
// ---- stderr
// ---- exit 0
