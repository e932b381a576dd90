// RUN: perfc predict %s --emit=kernels --predictor whitebox --device a100-40gb
// RUN: perfc predict %s --emit=kernels --predictor whitebox --device a100-40gb --runtime onnxruntime
// RUN: perfc predict %s --emit=kernels --predictor whitebox --device a100-40gb --runtime tensorrt
// COLUMNS: operators,width,repeat,flops,bytes
// Scores are sorted, boxes brought into their order and compared, and what is kept is picked: by torchvision and ONNX
// Runtime for each of 2 images and 3 classes, by TensorRT for all at once, a thread block per image, with the scores
// that pass the threshold or, where there is none, all. Of the second the model takes 20 rows. What pads to a limit
// runs as TensorRT's plugins, the last one class by class.
#[version = "perfc-ir/1"]
def @main(%boxes: Tensor[(2, 1000, 4), float32], %scores: Tensor[(2, 3, 1000), float32],
          %box: Tensor[(1, 1000, 4), float32], %score: Tensor[(1, 1, 1000), float32],
          %all: Tensor[(2, 9000, 1, 4), float32], %of: Tensor[(2, 9000, 3), float32]) {
  %6 = const[50] : Tensor[(1,), int64];
  %7 = const[0.5] : Tensor[(1,), float32];
  %8 = vision.non_max_suppression(%boxes, %scores, %6, %7, %7) @several;
  %9 = const[1000] : Tensor[(1,), int64];
  %10 = vision.non_max_suppression(%box, %score, %9, %7) @one;
  %11 = const[2] : Tensor[(), int64];
  %12 = take(%10, %11, axis=1);
  %13 = const[0] : Tensor[(1,), int64];
  %14 = const[20] : Tensor[(1,), int64];
  %15 = strided_slice(%12, %13, %14);
  %16:4 = vision.multiclass_nms(%all, %of, max_per_class=100, max_total=100, score_threshold=0.25) @at_once;
  %17:4 = vision.multiclass_nms(%all, %of, max_per_class=400, max_total=100, class_by_class=1) @class_by_class;
  (%8, %15, %16.0, %17.0)
}
// ---- perfc predict %s --emit=kernels --predictor whitebox --device a100-40gb
// ---- stdout
// arange 32 6 0 8000
// topk 32 6 0 100000
// take 32 6 0 40000
// vision.non_max_suppression 32 6 9490500 80000
// vision.non_max_suppression 32 6 0 3133
// compress 32 6 0 9133
// arange 32 1 0 8000
// topk 32 1 0 100000
// take 32 1 0 40000
// vision.non_max_suppression 32 1 9490500 80000
// vision.non_max_suppression 32 1 0 3560
// compress 32 1 0 9160
// full 32 1 0 4800
// compress 32 1 0 347072
// arange 32 1 0 24
// topk 32 6 0 163840
// vision.multiclass_nms 32 1 0 266944
// copy 32 1 0 576000
// transpose 32 1 0 432000
// compress 32 1 0 648000
// topk 32 6 0 1080000
// vision.multiclass_nms 32 1 0 76800
// topk 32 6 0 48000
// take 32 1 0 11200
// ---- stderr
// ---- exit 0
// ---- perfc predict %s --emit=kernels --predictor whitebox --device a100-40gb --runtime onnxruntime
// ---- stdout
// arange 16 6 0 4000
// topk 16 6 0 26000
// take 16 6 0 20000
// count_nonzero 16 6 0 2000
// full 16 6 0 128000
// vision.non_max_suppression 16 6 9490500 72000
// arange 16 6 0 4000
// vision.non_max_suppression 16 6 0 3133
// compress 16 6 0 5067
// take 16 6 0 200
// concatenate 16 6 0 467
// arange 16 1 0 4000
// topk 16 1 0 26000
// take 16 1 0 20000
// full 16 1 0 128000
// vision.non_max_suppression 16 1 9490500 72000
// arange 16 1 0 4000
// vision.non_max_suppression 16 1 0 3560
// compress 16 1 0 5080
// take 16 1 0 240
// concatenate 16 1 0 560
// take 16 1 0 320
// full 16 1 0 2800
// compress 16 1 0 222688
// arange 16 1 0 24
// topk 16 3 0 114688
// vision.multiclass_nms 16 1 0 183024
// copy 16 1 0 288000
// transpose 16 1 0 216000
// compress 16 1 0 432000
// topk 16 3 0 756000
// vision.multiclass_nms 16 1 0 48000
// topk 16 3 0 33600
// take 16 1 0 6800
// ---- stderr
// ---- exit 0
// ---- perfc predict %s --emit=kernels --predictor whitebox --device a100-40gb --runtime tensorrt
// ---- stdout
// cast 32 1 8000 48000
// cast 32 1 6000 36000
// cast 32 1 4000 24000
// cast 32 1 1000 6000
// cast 32 1 72000 432000
// cast 32 1 54000 324000
// full 16 1 0 1400
// copy 16 1 0 24000
// compress 16 1 0 96000
// topk 16 3 0 84000
// vision.non_max_suppression 16 1 0 133400
// full 16 1 0 280
// copy 16 1 0 4000
// compress 16 1 0 16000
// topk 16 3 0 14000
// vision.non_max_suppression 16 1 0 22280
// full 16 1 0 2800
// compress 16 1 0 222688
// arange 16 1 0 24
// topk 16 3 0 114688
// vision.multiclass_nms 16 1 0 183024
// copy 16 1 0 288000
// transpose 16 1 0 216000
// compress 16 1 0 432000
// topk 16 3 0 756000
// vision.multiclass_nms 16 1 0 48000
// topk 16 3 0 33600
// take 16 1 0 6800
// ---- stderr
// ---- exit 0
