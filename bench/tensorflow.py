"""Whole-process processor time and memory of perfc on a saved_model.pbtxt of 10 MB, beside Python's own reader
(google.protobuf.text_format) on the same file in the same run. Needs the `protobuf` package.

    build/venv/bin/python bench/tensorflow.py [--perfc build/release/perfc] [--strict]

The reader gets the part of TensorFlow's schema that the file uses, so that TensorFlow need not be
installed; it only parses, while perfc parses, lowers and predicts. One line per bound, `pass` or
`MISS`: 0.5 s, and 10 times the file's size. --strict exits 1 on a miss. Both run in one thread, so
that processor time is what an idle machine takes; on a busy one it is what can be compared.
"""
import argparse
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "bench"))
import compare  # noqa: E402
import models  # noqa: E402

# Message: fields as name, number, kind; "*" repeats, "%" is a map from strings. Numbers and names are
# those of tensorflow/core/{protobuf,framework}/*.proto.
SCHEMA = {
    "SavedModel": "saved_model_schema_version 1 int64, *meta_graphs 2 MetaGraphDef",
    "MetaGraphDef": "meta_info_def 1 MetaInfoDef, graph_def 2 GraphDef, %signature_def 5 SignatureDef",
    "MetaInfoDef": "*tags 4 string",
    "GraphDef": "*node 1 NodeDef",
    "NodeDef": "name 1 string, op 2 string, *input 3 string, %attr 5 AttrValue",
    "AttrValue": "list 1 ListValue, s 2 bytes, i 3 int64, f 4 float, b 5 bool, type 6 DataType, shape 7 "
                 "TensorShapeProto, tensor 8 TensorProto",
    "ListValue": "*i 3 int64, *shape 7 TensorShapeProto",
    "TensorShapeProto": "*dim 2 Dim",
    "Dim": "size 1 int64",
    "TensorProto": "dtype 1 DataType, tensor_shape 2 TensorShapeProto",
    "SignatureDef": "%inputs 1 TensorInfo, %outputs 2 TensorInfo, method_name 3 string",
    "TensorInfo": "name 1 string, dtype 2 DataType, tensor_shape 3 TensorShapeProto",
}


def saved_model_class():
    from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
    field = descriptor_pb2.FieldDescriptorProto
    scalars = {
        "int64": field.TYPE_INT64, "string": field.TYPE_STRING, "bytes": field.TYPE_BYTES, "float": field.TYPE_FLOAT,
        "bool": field.TYPE_BOOL
    }
    file = descriptor_pb2.FileDescriptorProto(name="tensorflow.proto", package="tensorflow", syntax="proto3")
    types = file.enum_type.add(name="DataType")
    types.value.add(name="DT_INVALID", number=0)
    types.value.add(name="DT_FLOAT", number=1)

    def add(message, name, number, kind, label):
        made = message.field.add(name=name, number=number, label=label)
        if kind in scalars:
            made.type = scalars[kind]
        else:
            made.type = field.TYPE_ENUM if kind == "DataType" else field.TYPE_MESSAGE
            made.type_name = f".tensorflow.{kind}"

    for message_name, fields in SCHEMA.items():
        message = file.message_type.add(name=message_name)
        for text in fields.split(", "):
            name, number, kind = text.split()
            if name[0] == "%":
                name = name[1:]
                entry = message.nested_type.add(name=name.title().replace("_", "") + "Entry")
                entry.options.map_entry = True
                add(entry, "key", 1, "string", field.LABEL_OPTIONAL)
                add(entry, "value", 2, kind, field.LABEL_OPTIONAL)
                add(message, name, int(number), f"{message_name}.{entry.name}", field.LABEL_REPEATED)
            else:
                repeated = name[0] == "*"
                add(message, name.lstrip("*"), int(number), kind,
                    field.LABEL_REPEATED if repeated else field.LABEL_OPTIONAL)
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName("tensorflow.SavedModel"))


def read(path):
    """What the reference process does; prints the nodes it found."""
    from google.protobuf import text_format
    model = text_format.Parse(pathlib.Path(path).read_text(), saved_model_class()())
    print(len(model.meta_graphs[0].graph_def.node))


def measure(command, repeats):
    """(processor seconds, peak MiB) of the best of several runs."""
    seconds, mib = [], []
    for _ in range(repeats):
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            sys.exit(f"{' '.join(map(str, command))}: exit {process.returncode}")
        seconds.append(usage.ru_utime + usage.ru_stime)
        mib.append(usage.ru_maxrss / 1024)
    return min(seconds), max(mib)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--perfc", default=str(ROOT / "build/release/perfc"))
    parser.add_argument("--models", default=str(ROOT / "build/bench-models"))
    parser.add_argument("--strict", action="store_true")
    parser.add_argument("--read", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.read:
        read(args.read)
        return 0
    path = models.write_tensorflow(args.models)
    size = path.stat().st_size / 1e6
    ours = measure([args.perfc, path, "--json"], 9)
    theirs = measure([sys.executable, __file__, "--read", str(path)], 1)
    print(
        f"{size:.1f} MB of text: perfc {ours[0]*1e3:.0f} ms, {ours[1]:.0f} MiB; text_format {theirs[0]*1e3:.0f} ms, "
        f"{theirs[1]:.0f} MiB; "
        f"{theirs[0]/ours[0]:.0f} times faster, {theirs[1]/ours[1]:.1f} times smaller\n")
    checked = [compare.Bound("saved_model.pbtxt, time", ours[0], 0.5, "s", 3),
               compare.Bound("saved_model.pbtxt, memory", ours[1] * 1.048576 / size, 10, "x", 1)]
    for bound in checked:
        print(bound)
    return 1 if args.strict and not all(bound.holds() for bound in checked) else 0


if __name__ == "__main__":
    sys.exit(main())
