#!/usr/bin/env python3
"""Writes examples/resnet50.onnx: torchvision's ResNet-50 v1.5 without its weights.

usage: make_resnet50.py OUTPUT.onnx    (needs the onnx package)

Architecture: He et al., "Deep Residual Learning for Image Recognition", 2015,
with the stride in the 3x3 convolution (v1.5). The weights are declared as
external data in a file that is not there: perfc needs their types only.
25,557,032 parameters and 53,120 batch-norm statistics; 4.089 GMACs per image.
"""
import sys

import onnx
from onnx import TensorProto, helper

STAGES = [(64, 3), (128, 4), (256, 6), (512, 3)]  # width, blocks
EXPANSION = 4


class Network:
    def __init__(self):
        self.nodes, self.weights, self.offset = [], [], 0

    def weight(self, name, *dims):
        tensor = TensorProto(name=name, data_type=TensorProto.FLOAT, dims=dims,
                             data_location=TensorProto.EXTERNAL)
        length = 4
        for d in dims:
            length *= d
        for key, value in [("location", "resnet50.weights"), ("offset", self.offset), ("length", length)]:
            tensor.external_data.add(key=key, value=str(value))
        self.offset += length
        self.weights.append(tensor)
        return name

    def node(self, op, inputs, name, **attributes):
        self.nodes.append(helper.make_node(op, inputs, [name], name="/" + name.replace(".", "/"), **attributes))
        return name

    def conv_bn(self, x, conv, bn, cin, cout, kernel, stride=1):
        y = self.node("Conv", [x, self.weight(f"{conv}.weight", cout, cin, kernel, kernel)], conv,
                      kernel_shape=[kernel, kernel], strides=[stride, stride], pads=[kernel // 2] * 4)
        stats = [self.weight(f"{bn}.{s}", cout) for s in ("weight", "bias", "running_mean", "running_var")]
        return self.node("BatchNormalization", [y, *stats], bn, epsilon=1e-5)

    def bottleneck(self, x, at, cin, width, stride):
        y = self.node("Relu", [self.conv_bn(x, f"{at}.conv1", f"{at}.bn1", cin, width, 1)], f"{at}.relu1")
        y = self.node("Relu", [self.conv_bn(y, f"{at}.conv2", f"{at}.bn2", width, width, 3, stride)], f"{at}.relu2")
        y = self.conv_bn(y, f"{at}.conv3", f"{at}.bn3", width, EXPANSION * width, 1)
        if stride != 1 or cin != EXPANSION * width:
            x = self.conv_bn(x, f"{at}.downsample.0", f"{at}.downsample.1", cin, EXPANSION * width, 1, stride)
        return self.node("Relu", [self.node("Add", [y, x], f"{at}.add")], f"{at}.relu3")


def resnet50():
    n = Network()
    x = n.node("Relu", [n.conv_bn("input", "conv1", "bn1", 3, 64, 7, 2)], "relu")
    x = n.node("MaxPool", [x], "maxpool", kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])
    cin = 64
    for i, (width, blocks) in enumerate(STAGES):
        for block in range(blocks):
            x = n.bottleneck(x, f"layer{i + 1}.{block}", cin, width, 2 if i > 0 and block == 0 else 1)
            cin = EXPANSION * width
    x = n.node("Flatten", [n.node("GlobalAveragePool", [x], "avgpool")], "flatten", axis=1)
    n.node("Gemm", [x, n.weight("fc.weight", 1000, cin), n.weight("fc.bias", 1000)], "logits", transB=1)
    graph = helper.make_graph(
        n.nodes, "resnet50",
        [helper.make_tensor_value_info("input", TensorProto.FLOAT, ["batch", 3, 224, 224])],
        [helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["batch", 1000])], n.weights)
    return helper.make_model(graph, producer_name="perfc examples/make_resnet50.py", ir_version=8,
                             opset_imports=[helper.make_opsetid("", 17)])


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    model = resnet50()
    with open(sys.argv[1], "wb") as f:
        f.write(model.SerializeToString(deterministic=True))


if __name__ == "__main__":
    main()
