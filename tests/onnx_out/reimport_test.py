#!/usr/bin/env python3
"""What `perfc opt -o out.onnx` writes is a valid model that perfc reads back: the same work and weights.

usage: reimport_test.py [PERFC]

The example and, with ../shared, exports of PyTorch, TensorFlow and PaddlePaddle. onnx.checker looks at each where the
package onnx is installed; tests/onnx_out/corpus.py lets onnxruntime compute originals and outputs of a whole corpus.
"""
import json
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import support  # noqa: E402

try:
    import onnx
except ImportError:
    onnx = None
FRAMEWORKS = ("onnx/resnet18.dynamo.onnx", "onnx/mobilenet_v2.dynamo.onnx", "pt2/gpt2.pt2",
              "torchscript/t5_small.trace.json",
              "tf_text/keras_mha_block.saved_model.pbtxt", "paddle/pd_transformer.pdmodel")
STATIC = ("macs", "params", "conv2d")


def static(perfc, path):
    done = subprocess.run([perfc, str(path), "--batch", "2", "--json", "--top", "0", "--quiet", "--predictor",
                           "whitebox"], capture_output=True, text=True)
    if done.returncode:
        return done.stderr.strip().splitlines()[0]
    found = json.loads(done.stdout)["predictions"][0]["static"]
    return {key: found[key] for key in STATIC}


def main():
    perfc = sys.argv[1] if len(sys.argv) > 1 else str(support.PERFC)
    files = [support.ROOT / "examples" / "resnet50.onnx"]
    if support.shared("frameworks").exists():
        folder = support.unpack_frameworks()
        files += [folder / name for name in FRAMEWORKS if (folder / name).exists()]
    problems = []
    with tempfile.TemporaryDirectory() as name:
        for i, file in enumerate(files):
            out = pathlib.Path(name) / f"{i}.onnx"
            done = subprocess.run([perfc, "opt", str(file), "--batch", "2", "-o", str(out)], capture_output=True,
                                  text=True)
            if done.returncode:
                problems.append(f"{file.name}: {done.stderr.strip().splitlines()[:1]}")
                continue
            before, after = static(perfc, file), static(perfc, out)
            print(f"{file.name:40} {before}")
            if before != after:
                problems.append(f"{file.name}: {before}, written and read again {after}")
            if onnx:
                onnx.checker.check_model(str(out), full_check=True)
    print(f"{len(files)} models, {'onnx.checker agrees, ' if onnx else ''}{len(problems)} problems")
    print("\n".join("  " + p for p in problems))
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
