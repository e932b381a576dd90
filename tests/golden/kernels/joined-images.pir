// RUN: perfc predict %s --emit=kernels --runtime tensorrt --dtype fp16 --predictor whitebox --device t4
// RUN: perfc predict %s --emit=kernels --runtime torch-compile --dtype fp16 --predictor whitebox --device t4
// COLUMNS: node,operators,width,bytes
// As YOLO joins feature maps. TensorRT brings the picture into its order of channels, and computes its convolution's
// and a depthwise one's SiLU in kernels of their own. Of what it joins, halves of a split, a sum that a convolution
// computes and what else than convolutions reads are copied; a convolution's and the last pooling's results are where
// they belong. TorchInductor joins in one kernel, with what is elementwise before it.
#[version = "perfc-ir/1"]
def @main(%picture: Tensor[(1, 3, 64, 64), float32]) {
  %1 = weight : Tensor[(16, 3, 3, 3), float32];
  %2 = nn.conv2d(%picture, %1, strides=[2, 2], padding=[1, 1, 1, 1]) @stem;
  %3 = nn.silu(%2) @stem_act;
  %4 = weight : Tensor[(16, 16, 1, 1), float32];
  %5 = nn.conv2d(%3, %4) @cv1;
  %6 = nn.silu(%5) @cv1_act;
  %7:2 = split(%6, axis=1, indices_or_sections=2) @halves;
  %8 = weight : Tensor[(8, 8, 3, 3), float32];
  %9 = nn.conv2d(%7.1, %8, padding=[1, 1, 1, 1]) @m;
  %10 = nn.silu(%9) @m_act;
  %11 = add(%7.1, %10) @m_add;
  %12 = concatenate(%7.0, %7.1, %11, axis=1) @c2f;
  %13 = weight : Tensor[(16, 24, 1, 1), float32];
  %14 = nn.conv2d(%12, %13) @cv2;
  %15 = nn.silu(%14) @cv2_act;
  %16 = nn.max_pool2d(%15, kernel_size=[5, 5], strides=[1, 1], padding=[2, 2, 2, 2]) @pool1;
  %17 = nn.max_pool2d(%16, kernel_size=[5, 5], strides=[1, 1], padding=[2, 2, 2, 2]) @pool2;
  %18 = concatenate(%15, %16, %17, axis=1) @sppf;
  %19 = weight : Tensor[(16, 48, 1, 1), float32];
  %20 = nn.conv2d(%18, %19, strides=[2, 2]) @cv3;
  %21 = nn.silu(%20) @cv3_act;
  %22 = const[1.0, 1.0, 2.0, 2.0] : Tensor[(4,), float32];
  %23 = image.resize2d(%21, _, %22, mode="nearest", coordinate_transformation_mode="asymmetric") @up;
  %24 = weight : Tensor[(16, 1, 3, 3), float32];
  %25 = nn.conv2d(%15, %24, groups=16, padding=[1, 1, 1, 1]) @depthwise;
  %26 = nn.silu(%25) @depthwise_act;
  %27 = nn.conv2d(%26, %4) @lateral;
  %28 = nn.silu(%27) @lateral_act;
  %29 = concatenate(%23, %28, axis=1) @pan;
  %30 = weight : Tensor[(16, 32, 1, 1), float32];
  %31 = nn.conv2d(%29, %30) @out;
  (%31)
}
// ---- perfc predict %s --emit=kernels --runtime tensorrt --dtype fp16 --predictor whitebox --device t4
// ---- stdout
// stem cast 32 73728
// stem nn.conv2d 16 58208
// stem_act nn.silu 16 65536
// cv1 nn.conv2d nn.silu 16 66048
// m copy 32 32768
// m nn.conv2d nn.silu add 16 33920
// c2f copy 32 32768
// c2f copy 32 32768
// c2f copy 32 32768
// cv2 nn.conv2d nn.silu 16 82688
// pool1 nn.max_pool2d 16 65536
// pool2 nn.max_pool2d 16 65536
// sppf copy 32 65536
// sppf copy 32 65536
// cv3 nn.conv2d nn.silu 16 108032
// up image.resize2d 16 40968
// depthwise nn.conv2d 16 65824
// depthwise_act nn.silu 16 65536
// lateral nn.conv2d nn.silu 16 66048
// pan copy 32 65536
// out nn.conv2d 16 99328
// ---- stderr
// ---- exit 0
// ---- perfc predict %s --emit=kernels --runtime torch-compile --dtype fp16 --predictor whitebox --device t4
// ---- stdout
// stem copy 32 49152
// stem copy 32 1728
// stem nn.conv2d 16 58208
// stem_act nn.silu 16 65536
// cv1 nn.conv2d 16 66048
// cv1_act nn.silu 16 65536
// m copy 32 32768
// m copy 32 2304
// m nn.conv2d 16 33920
// c2f concatenate nn.silu add 16 98304
// cv2 nn.conv2d 16 82688
// cv2_act nn.silu 16 65536
// pool1 nn.max_pool2d 16 65536
// sppf concatenate nn.max_pool2d 16 163840
// cv3 nn.conv2d 16 108032
// pan concatenate nn.silu image.resize2d nn.silu 16 106504
// depthwise nn.conv2d 16 65824
// depthwise_act nn.silu 16 65536
// lateral nn.conv2d 16 66048
// out nn.conv2d 16 99328
// out copy 32 65536
// ---- stderr
// ---- exit 0
