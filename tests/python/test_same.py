"""What Python predicts is what the command line prints, to the last byte."""
import dataclasses
import json

import numpy as np
import pytest

import perfc
from conftest import MODELS

SETTINGS = (
    {}, {"dtype": "fp32"}, {"dtype": "tf32"}, {"dtype": "fp16"}, {"dtype": "bf16"}, {"dtype": "default"},
    {"mode": "compiled"}, {"runtime": "tensorrt"}, {"runtime": "onnxruntime"}, {"task": "train", "optimizer": "sgd"},
    {"layout": "nhwc"}, {"host": "desktop"}, {"predictor": "whitebox"}, {"cudnn_benchmark": True},
    {"fold_batch_norm": True}, {"max_latency": 5, "min_throughput": 100.5, "headroom": 0.1})


def words_of(options: dict) -> list[str]:
    words = []
    for name, value in options.items():
        flag = "--" + name.replace("_", "-")
        if name == "fold_batch_norm":
            value = "on" if value else "off"
        words += [flag] if value is True else [flag, str(value)]
    return words


@pytest.mark.parametrize("options", SETTINGS, ids=str)
def test_settings(cli, options):
    for device, batch in (("l4", 1), ("a100-40gb", 8), ("a100-40gb:1g.5gb", 512)):
        p = perfc.predict(MODELS[0], device=device, batch=batch, **options)
        expected = cli(MODELS[0], "--device", device, "--batch", batch, "--json", *words_of(options))
        assert p.to_json() == expected
        assert p.to_text() == cli(MODELS[0], "--device", device, "--batch", batch, *words_of(options))


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("dtype", ("amp", "fp32"))
def test_tables(cli, model, dtype):
    devices, batches = ["t4", "h100-sxm", "rtx4090"], [1, 8, 32]
    given = [] if model.endswith("onnxtxt") or model.endswith("unet.json") else batches
    there = cli(model, "--device", ",".join(devices), *(["--batch", "1,8,32"] if given else []), "--dtype", dtype,
                "--json", "--top", 3)
    here = perfc.predict(model, device=devices, batch=given or None, dtype=dtype, top=3)
    assert here.to_json() == there
    assert [(p.device, p.batch) for p in here] == [(p["device"], p["batch"])
                                                   for p in json.loads(there)["predictions"]]
    text = json.loads(there)["predictions"]
    assert [json.loads(p.to_json())["predictions"][0] for p in here] == text == [p.to_dict() for p in here]


def as_json(value):
    if dataclasses.is_dataclass(value):
        return {f.name: as_json(getattr(value, f.name)) for f in dataclasses.fields(value)}
    if isinstance(value, tuple):
        return [as_json(v) for v in value]
    return value


@pytest.mark.parametrize("options", ({}, {"dtype": "default"}, {"cudnn_benchmark": True},
                                     {"batch": 4096, "device": "t4"}), ids=str)
def test_every_key_is_a_field(options):
    """The typed result says all that the JSON says, and nothing else."""
    p = perfc.predict(MODELS[0], **{"device": "a100-40gb", "batch": 8, **options})
    typed, untyped = as_json(p), p.to_dict()
    typed.pop("_source")
    optional = {"framework", "largest_batch", "memory_odds", "dynamic"}
    for key in optional - untyped.keys():
        assert typed.pop(key) in (None, [])
    if "search" not in untyped["memory_breakdown_mib"]:
        assert typed["memory_breakdown_mib"].pop("search") is None
    for mig in filter(None, (typed["mig"], )):
        mig.setdefault("dippm_profile", None)
        if "dippm_profile" not in untyped["mig"]:
            del mig["dippm_profile"]
    assert typed == untyped


def test_dynamic(cli):
    text = '''#[version = "perfc-ir/1"]
def @main(%x: Tensor[(4, 100), float32]) {
  %1 = nonzero(%x) : Tensor[(2, found), int64];
  (%1)
}
'''
    p = perfc.predict(text.encode(), device="l4")
    assert p.dynamic is not None and p.dynamic.nodes[0].op == "nonzero"
    assert as_json(p.dynamic) == p.to_dict()["dynamic"]


def test_bytes_and_path_are_equal():
    with open(MODELS[0], "rb") as file:
        content = file.read()
    path, memory = perfc.predict(MODELS[0], device="l4"), perfc.predict(content, device="l4")
    assert memory.model == "<bytes>"
    assert {**memory.to_dict(), "model": path.model} == path.to_dict()


def test_kernels(cli):
    p = perfc.predict(MODELS[0], device="l4", batch=8, predictor="whitebox")
    lines = cli(MODELS[0], "--device", "l4", "--batch", 8, "--emit", "kernels").splitlines()
    assert len(p.kernels) > 50 and abs(p.kernels.time_us.sum() - p.device_ms * 1e3) < 1e-3 * p.device_ms * 1e3
    assert len([k for k in p.kernels if k.time_us > 0]) <= len(lines)
    assert p.hot_ops[0].time_us == pytest.approx(p.kernels.time_us.max(), rel=1e-5)


def test_other_forms(cli):
    p = perfc.predict(MODELS[0], device="l4", batch=8)
    for form, text in (("trace", p.to_trace()), ("folded", p.to_folded()), ("summary", p.to_summary())):
        assert text == cli(MODELS[0], "--device", "l4", "--batch", 8, "--emit", form)
    assert p.to_summary(1) == cli(MODELS[0], "--device", "l4", "--batch", 8, "--emit", "summary", "--depth", 1)


def test_devices(cli, cli_json):
    assert perfc.devices() == cli_json("devices")["devices"]
    assert perfc.devices("A100", "l4") == cli_json("devices", "a100", "l4")["devices"]
    assert perfc.hosts() == cli_json("devices", "--hosts")["hosts"]
    assert perfc.stacks() == cli_json("devices", "--stacks")["stacks"]


def test_diff(cli, tmp_path):
    base = tmp_path / "base.pir"
    head = tmp_path / "head.pir"
    text = open("examples/ci/models/net.pir").read()
    base.write_text(text)
    head.write_text(text.replace("nn.relu", "tanh"))
    assert head.read_text() != text
    d = perfc.diff(base, head, device=["l4", "t4"], batch=[1, 8], price={"l4": 0.5, "t4": 0.35}, fail_on="latency=+1%")
    words = ("diff", base, head, "--device", "l4,t4", "--batch", "1,8", "--price", "l4=0.5,t4=0.35", "--fail-on",
             "latency=+1%", "--format")
    code = 3 if d.failures else 0
    for form in ("json", "text", "markdown", "github-comment", "sarif", "junit", "html"):
        assert d.to_text(form) == cli(*words, form, code=code)
    assert len(d.models) == 2 and d.models[0]["changes"]


def test_graph(cli):
    g = perfc.load(MODELS[0], batch=4)
    assert g.to_pir() == cli(MODELS[0], "--batch", 4, "--emit", "ir")
    assert g.to_dot() == cli(MODELS[0], "--batch", 4, "--emit", "dot")
    assert perfc.load(MODELS[0], passes=[]).to_pir() == cli("import", MODELS[0])
    assert g.totals == perfc.predict(MODELS[0], batch=4).to_dict()["static"] | {"weight_mib": g.totals["weight_mib"]}


@pytest.mark.parametrize("schema", ("perfc-op", "dippm"))
def test_features(cli, schema):
    import csv
    import io
    f = perfc.load(MODELS[0], batch=4).features(schema)
    rows = list(csv.reader(io.StringIO(cli(MODELS[0], "--batch", 4, "--emit", "features", "--schema", schema))))
    assert [c.name for c in f.columns] == rows[0][-len(f.columns):]
    printed = [[float(v) for v in row[-len(f.columns):]] for row in rows[1:]]
    assert f.matrix == pytest.approx(np.array(printed), rel=1e-5)
    edges = list(csv.reader(io.StringIO(cli(MODELS[0], "--batch", 4, "--emit", "adjacency"))))
    assert f.edges.tolist() == [[int(v) for v in row] for row in edges[1:]] != []
    assert len(f.op) == len(f.name) == len(f.matrix)
