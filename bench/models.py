"""Writes the ONNX files that the benches read: resnet50 and vgg16 with weights,
and chains of a given number of nodes. Needs the `onnx` package.

Weights are zeros: their bytes are there (102 MB and 553 MB) but never matter.
Architectures: He et al. 2015 (v1.5 strides, batch-norm folded), Simonyan & Zisserman 2014.
"""
import argparse
import pathlib

try:
    import numpy
    import onnx
    from onnx import TensorProto, helper
except ModuleNotFoundError:  # write_tensorflow needs none of them
    onnx = None


class Network:
    def __init__(self, name):
        self.name, self.nodes, self.weights, self.count = name, [], [], 0

    def weight(self, shape):
        name = f"w{len(self.weights)}"
        data = numpy.zeros(shape, numpy.float32).tobytes()
        self.weights.append(helper.make_tensor(name, TensorProto.FLOAT, shape, data, raw=True))
        return name

    def add(self, op, inputs, **attrs):
        self.count += 1
        out = f"{op.lower()}_{self.count}"
        self.nodes.append(helper.make_node(op, inputs, [out], name=out, **attrs))
        return out

    def conv(self, x, cin, cout, k, stride=1, relu=True):
        p = k // 2
        x = self.add("Conv", [x, self.weight((cout, cin, k, k)), self.weight((cout,))],
                     kernel_shape=[k, k], strides=[stride, stride], pads=[p, p, p, p])
        return self.add("Relu", [x]) if relu else x

    def dense(self, x, cin, cout, relu):
        x = self.add("Gemm", [x, self.weight((cout, cin)), self.weight((cout,))], transB=1)
        return self.add("Relu", [x]) if relu else x

    def model(self, output, shape, input_shape=(1, 3, 224, 224)):
        graph = helper.make_graph(
            self.nodes, self.name,
            [helper.make_tensor_value_info("input", TensorProto.FLOAT, input_shape)],
            [helper.make_tensor_value_info(output, TensorProto.FLOAT, shape)], self.weights)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def resnet50():
    n = Network("resnet50")
    x = n.conv("input", 3, 64, 7, 2)
    x = n.add("MaxPool", [x], kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])
    cin = 64
    for stage, (width, blocks) in enumerate([(64, 3), (128, 4), (256, 6), (512, 3)]):
        for block in range(blocks):
            stride = 2 if stage and not block else 1
            y = n.conv(x, cin, width, 1)
            y = n.conv(y, width, width, 3, stride)
            y = n.conv(y, width, 4 * width, 1, relu=False)
            if not block:
                x = n.conv(x, cin, 4 * width, 1, stride, relu=False)
            cin = 4 * width
            x = n.add("Relu", [n.add("Add", [y, x])])
    x = n.add("Flatten", [n.add("GlobalAveragePool", [x])], axis=1)
    return n.model(n.dense(x, 2048, 1000, False), (1, 1000))


def vgg16():
    n = Network("vgg16")
    x, cin = "input", 3
    for width, convs in [(64, 2), (128, 2), (256, 3), (512, 3), (512, 3)]:
        for _ in range(convs):
            x, cin = n.conv(x, cin, width, 3), width
        x = n.add("MaxPool", [x], kernel_shape=[2, 2], strides=[2, 2])
    x = n.add("Flatten", [x], axis=1)
    x = n.dense(x, 25088, 4096, True)
    x = n.dense(x, 4096, 4096, True)
    return n.model(n.dense(x, 4096, 1000, False), (1, 1000))


def chain(nodes):
    """Blocks of Conv, Relu, Conv, Add: as many nodes as asked for."""
    n = Network(f"chain{nodes}")
    x, w = "input", n.weight((8, 8, 3, 3))
    pads = dict(kernel_shape=[3, 3], pads=[1, 1, 1, 1])
    while n.count + 4 <= nodes:
        y = n.add("Relu", [n.add("Conv", [x, w], **pads)])
        x = n.add("Add", [n.add("Conv", [y, w], **pads), x])
    while n.count < nodes:
        x = n.add("Relu", [x])
    return n.model(x, (1, 8, 16, 16), (1, 8, 16, 16))


def tensorflow_text(size):
    """A saved_model.pbtxt of about `size` bytes as TensorFlow prints them: one signature, blocks of
    Conv2D, BiasAdd and Relu with output shapes."""
    def attr(key, value):
        return f'      attr {{\n        key: "{key}"\n        value {{\n          {value}\n        }}\n      }}\n'

    def dims(shape):
        return "".join(f"            dim {{\n              size: {d}\n            }}\n" for d in shape)

    shape = (1, 56, 56, 64)
    shapes = attr("_output_shapes", f"list {{\n            shape {{\n{dims(shape)}            }}\n          }}")
    float_shape = attr("dtype", "type: DT_FLOAT") + attr("shape", f"shape {{\n{dims(shape)}          }}")
    out = [
        f'saved_model_schema_version: 1\nmeta_graphs {{\n  meta_info_def {{\n    tags: "serve"\n  }}\n  graph_def {{\n'
        f'    node {{\n      name: "x"\n      op: "Placeholder"\n{float_shape}    }}\n'
    ]
    for name, extents in (("w", (3, 3, 64, 64)), ("b", (64,))):
        tensor = (f"tensor {{\n            dtype: DT_FLOAT\n"
                  f"            tensor_shape {{\n{dims(extents)}            }}\n          }}")
        out.append(
            f'    node {{\n      name: "{name}"\n      op: "Const"\n'
            f'{attr("dtype", "type: DT_FLOAT")}{attr("value", tensor)}    }}\n'
        )
    written, x, i = sum(map(len, out)), "x", 0
    strides = attr("strides",
                   "list {\n            i: 1\n            i: 1\n            i: 1\n            i: 1\n          }")
    common = attr("T", "type: DT_FLOAT") + shapes + attr("data_format", 's: "NHWC"')
    while written < size:
        for op, inputs, attrs in (("Conv2D", [x, "w"], common + strides + attr("padding", 's: "SAME"')), ("BiasAdd", [
                f"block_{i}/Conv2D", "b"
        ], common), ("Relu", [f"block_{i}/BiasAdd"], common)):
            given = "".join(f'      input: "{n}"\n' for n in inputs)
            text = f'    node {{\n      name: "block_{i}/{op}"\n      op: "{op}"\n{given}{attrs}    }}\n'
            out.append(text)
            written += len(text)
        x, i = f"block_{i}/Relu", i + 1

    def info(role, key, node):
        return (
            f'      {role} {{\n        key: "{key}"\n        value {{\n          name: "{node}:0"\n'
            f'          dtype: DT_FLOAT\n'
            f'          tensor_shape {{\n{dims(shape)}          }}\n        }}\n      }}\n')

    out.append(f'  }}\n  signature_def {{\n    key: "serving_default"\n    value {{\n{info("inputs", "x", "x")}'
               f'{info("outputs", "y", x)}      method_name: "tensorflow/serving/predict"\n    }}\n  }}\n}}\n')
    return "".join(out)


def write_tensorflow(folder):
    """The 10 MB saved_model.pbtxt, which needs no package; its path."""
    folder = pathlib.Path(folder) / "saved_model_10mb"
    folder.mkdir(parents=True, exist_ok=True)
    text = folder / "saved_model.pbtxt"
    if not text.exists():
        part = text.with_suffix(".part")
        part.write_text(tensorflow_text(10_000_000))
        part.rename(text)
    return text


def write(folder):
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    makers = {"resnet50": resnet50, "vgg16": vgg16, "chain1k": lambda: chain(1_000),
              "chain10k": lambda: chain(10_000), "chain100k": lambda: chain(100_000)}
    paths = {}
    for name, make in makers.items():
        paths[name] = folder / f"{name}.onnx"
        if not paths[name].exists():
            part = paths[name].with_suffix(".part")
            onnx.save(make(), part)
            part.rename(paths[name])
    write_tensorflow(folder)
    return paths


if __name__ == "__main__":
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("folder")
    for path in write(arguments.parse_args().folder).values():
        print(path, path.stat().st_size)
