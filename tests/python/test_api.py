"""The package by itself: what it takes, returns and refuses."""
import ast
import copy
import os
import pathlib
import pickle
import random
import resource
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import perfc
from conftest import MODELS, ROOT
from perfc import _perfc

RESNET = MODELS[0]


def test_options_are_those_of_the_command_line(cli):
    """The type checkers' list of options, and the docstring's, have every option and no other."""
    from perfc import _options
    known = [name for name, _ in _perfc.options()]
    source = ast.parse(pathlib.Path(_options.__file__).read_text())
    declared, = [c for c in ast.walk(source) if isinstance(c, ast.ClassDef) and c.name == "Options"]
    assert sorted(s.target.id for s in declared.body if isinstance(s, ast.AnnAssign)) == sorted(known)
    text = cli("predict", "--help")
    for name in known:
        assert "--" + name.replace("_", "-") in text
        assert name in perfc.predict.__doc__, name


def test_every_name_is_there():
    assert set(perfc.__all__) <= set(dir(perfc))
    for name in perfc.__all__:
        assert getattr(perfc, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'predicts'"):
        perfc.predicts
    assert perfc.__version__ == "0.2.0"


def test_from_a_checkout_without_the_compiled_part():
    """The tools of measuring run; what needs the compiled part says what to do."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "python")}
    done = subprocess.run([sys.executable, "-m", "perfc.measure", "--help"], env=environment, capture_output=True)
    assert done.returncode == 0, done.stderr.decode()
    done = subprocess.run([sys.executable, "-c", "import perfc; perfc.predict"], env=environment, capture_output=True,
                          text=True)
    assert done.returncode == 1 and "run `pip install .` in the checkout" in done.stderr.splitlines()[-1]


def test_importing_is_cheap():
    done = subprocess.run([sys.executable, "-c", "import sys, perfc; perfc.predict('examples/resnet50.onnx'); "
                           "print('numpy' in sys.modules, 'torch' in sys.modules)"], cwd=ROOT, capture_output=True,
                          text=True, check=True)
    assert done.stdout == "False False\n"


@pytest.mark.parametrize("options, said, what_to_do", (
    ({"dtype": "fp17"}, "dtype: 'fp17' is none of", "did you mean 'fp16'?"),
    ({"dtyp": "fp16"}, "unknown option 'dtyp'", "did you mean 'dtype'?"),
    ({"qqqqq": 1}, "unknown option 'qqqqq'", "there are batch"),
    ({"device": "l5"}, "unknown device 'l5'", "did you mean 'l4'?"),
    ({"batch": 0}, "batch: '0' is not a whole number from 1", ""),
    ({"batch": 1.5}, "batch: 1.5 is neither a whole number nor a list of them", ""),
    ({"batch": []}, "batch: [] is neither", ""),
    ({"batch": True}, "batch: True is neither", ""),
    ({"headroom": 3}, "headroom: 3 is not from 0 to 0.9", ""),
    ({"headroom": "x"}, "headroom: a number was expected", ""),
    ({"max_latency": -1}, "max_latency: -1 is not positive", ""),
    ({"dim": {"n": 1.5}}, "dim: 'n=1.5' is not NAME=VALUE with a whole number", ""),
    ({"shape": {"input": "x"}}, "shape: 'input=x' is not", ""),
    ({"host": 3}, "host: 3 is no str", ""),
    ({"device": 3}, "3 is no name", "")))
def test_usage(options, said, what_to_do):
    with pytest.raises(perfc.UsageError) as caught:
        perfc.predict(RESNET, **options)
    error = caught.value
    assert said in str(error) and "--" not in str(error), str(error)
    assert error.what_to_do.startswith(what_to_do)
    assert isinstance(error, ValueError) and error.diagnostics and error.cause


def test_no_model():
    for arguments in ({}, {"model": RESNET, "path": RESNET}):
        with pytest.raises(perfc.UsageError, match="give one model"):
            perfc.predict(**arguments)
    with pytest.raises(perfc.UsageError, match="dict is no model"):
        perfc.predict({})
    with pytest.raises(perfc.UsageError, match="example_inputs are of a torch.nn.Module"):
        perfc.predict(RESNET, [1, 2])


def test_diagnostics():
    with pytest.raises(perfc.ModelError) as caught:
        perfc.predict(b'#[version = "perfc-ir/1"]\ndef @main(%x: Tensor[(8, W), float32]) {\n  %1 = exp(%x) : '
                      b'Tensor[(8, W), float32];\n  (%1)\n}\n')
    error = caught.value
    assert error.file == "<bytes>" and error.place == "" and error.cause == "dim W is open"
    assert error.what_to_do == "bind it with dim={'W': N}"
    assert str(error) == "<bytes>: error: dim W is open; bind it with --dim W=N"
    with pytest.raises(perfc.ModelError) as caught:
        perfc.predict(b'#[version = "perfc-ir/1"]\ndef @main(%x: Tensor[(8), float32]) {\n  %1 = nn.conv9d(%x);\n')
    assert caught.value.place.startswith("line 3, column") and "nn.conv9d" in caught.value.cause
    assert caught.value.what_to_do.startswith("did you mean 'nn.conv")
    again = pickle.loads(pickle.dumps(caught.value))
    assert type(again) is perfc.ModelError and again.diagnostics == caught.value.diagnostics
    with pytest.raises(perfc.ModelError) as caught:
        perfc.predict("nowhere.onnx")
    assert caught.value.what_to_do == "check the path"


def test_values_of_options(cli):
    net = "examples/ci/models/net.pir"
    expected = cli(net, "--dim", "N=4", "--device", "l4", "--json")
    for options in ({"dim": {"N": 4}}, {"dim": "N=4"}, {"dim": ["N=4"]}, {"dim": {"N": np.int64(4)}}):
        assert perfc.predict(net, device="l4", **options).to_json() == expected
    expected = cli(RESNET, "--shape", "2,3,160,160", "--device", "l4", "--json")
    for options in ({"shape": (2, 3, 160, 160)}, {"shape": "2,3,160,160"}, {"shape": np.array([2, 3, 160, 160])}):
        assert perfc.predict(RESNET, device="l4", **options).to_json() == expected
    named = perfc.predict(pathlib.Path(RESNET), device="l4", shape={"input": (2, 3, 160, 160)})
    assert named.latency_ms == perfc.predict(RESNET, device="l4", shape=(2, 3, 160, 160)).latency_ms


def test_one_or_several():
    assert isinstance(perfc.predict(RESNET, device="l4", batch=2), perfc.Prediction)
    for options in ({"device": ["l4"]}, {"batch": [2]}, {"device": "l4,t4"}, {"batch": range(1, 3)}):
        assert isinstance(perfc.predict(RESNET, **{"device": "l4", "batch": 2, **options}), perfc.Predictions)
    several = perfc.predict(RESNET, device=["l4", "t4"], batch=[1, 2])
    assert [(p.device, p.batch) for p in several] == [("l4", 1), ("l4", 2), ("t4", 1), ("t4", 2)]
    assert several.of(device="t4", batch=2) == [several[3]] and list(several[1:3]) == [several[1], several[2]]
    assert [r["latency_ms"] for r in several.rows()] == [p.latency_ms for p in several]


def test_dippm():
    p = perfc.predict(framework="onnx", path=RESNET, batch=4, input="3,224,224", device="A100")
    assert (p.device, p.batch) == ("a100-40gb", 4) and p.latency_ms == perfc.predict(RESNET, batch=4).latency_ms
    assert perfc.predict(path=RESNET, batch=4, input=(3, 128, 128)).static.macs < p.static.macs
    for options, said in (({"framework": "pytorch"}, "is no file of pytorch: it is read as onnx"),
                          ({"framework": "caffe"}, "'caffe' is none of"), ({"input": "3,x"}, "no shape of one sample"),
                          ({"input": (3, 224, 224), "batch": [1, 2]}, "takes one batch"),
                          ({"input": (3, 224, 224), "shape": (1, 3, 224, 224)}, "leave out shape")):
        with pytest.raises(perfc.UsageError, match=said):
            perfc.predict(path=RESNET, **options)


def test_results_are_values():
    p = perfc.predict(RESNET, device="l4", batch=2)
    assert p == perfc.predict(RESNET, device="l4", batch=2) == copy.deepcopy(pickle.loads(pickle.dumps(p)))
    assert p != perfc.predict(RESNET, device="l4", batch=3)
    with pytest.raises(AttributeError):
        p.latency_ms = 0
    assert p.latency_ms_interval.lo < p.latency_ms < p.latency_ms_interval.hi
    assert "\n" not in repr(p) and f"{p.latency_ms:g} ms" in repr(p)
    pickled = pickle.loads(pickle.dumps(perfc.predict(RESNET, device=["l4", "t4"])))
    assert len(pickled) == 2 and "l4" in str(pickled)
    for ask in (pickled.to_json, pickled[0].to_json, lambda: pickled[0].kernels):
        with pytest.raises(ValueError, match="predict it again"):
            ask()


def test_html():
    name = '<script>alert("x")</script>&.onnx'
    with open(RESNET, "rb") as file:
        content = file.read()
    reports = _perfc.predict(name, None, content, {"device": ["l4", "a100-40gb"]}, False)
    from perfc.results import Predictions, predictions_of
    made = Predictions(predictions_of(reports, 5), (reports, 5))
    for html in (made._repr_html_(), made[0]._repr_html_(), made[1]._repr_html_()):
        assert "<script" not in html and "&lt;script&gt;" in html
    assert "out of memory" in perfc.predict(RESNET, device="t4", batch=60000)._repr_html_()


def test_arrays_are_the_compiled_parts_memory():
    g = perfc.load(RESNET, batch=2)
    f = g.features()
    for array in (f.matrix, f.edges, f.static, g.columns.macs, perfc.predict(RESNET).kernels.time_us):
        assert not array.flags.owndata and not array.flags.writeable
    address = f.matrix.__array_interface__["data"][0]
    matrix, total = f.matrix, f.matrix.sum()
    del f, g
    junk = [np.full(matrix.shape, 7.0) for _ in range(50)]  # what was freed would be written over
    assert matrix.sum() == total and matrix.__array_interface__["data"][0] == address and junk


def test_graph():
    g = perfc.load(RESNET, batch=2)
    assert len(g) == len(list(g)) and g[-1] == g[len(g) - 1] and g.nodes is g
    with pytest.raises(IndexError):
        g[len(g)]
    convolutions = [n for n in g if n.op == "nn.conv2d"]
    assert len(convolutions) == g.totals["conv2d"] == 53
    first = convolutions[0]
    assert first.types[0].shape == (2, 64, 112, 112) and first.types[0].dtype == "float32"
    assert first.attrs["strides"] == [2, 2] and g.type_of(first.operands[1]).shape == (64, 3, 7, 7)
    assert str(g.type_of(g.params[0])) == "Tensor[(2, 3, 224, 224), float32]"
    c = g.columns
    assert [c.ops[i] if i >= 0 else None for i in c.op] == [n.op for n in g]
    assert c.macs.sum() == g.totals["macs"]
    for i, node in enumerate(g):
        operands = c.operands[c.operand_offsets[i]:c.operand_offsets[i + 1]]
        assert [tuple(v) for v in operands] == [v or (-1, -1) for v in node.operands]
        for r, type_ in zip(range(c.result_offsets[i], c.result_offsets[i + 1]), node.types):
            assert c.dims[c.dim_offsets[r]:c.dim_offsets[r + 1]].tolist() == list(type_.shape)
            assert c.dtypes[c.dtype[r]] == type_.dtype and c.bytes[r] == type_.nbytes


def test_open_dims_and_bodies():
    net = perfc.load("examples/ci/models/net.pir", passes=[])
    assert net.type_of(net.params[0]).shape == ("N", 3, 112, 112) and net.type_of(net.params[0]).nbytes is None
    flow = perfc.load("tests/robustness/seeds/control_flow.onnxtxt", passes=[])
    bodies = [r for n in flow for r in n.regions]
    assert bodies and all(isinstance(b, perfc.Graph) and len(b) for b in bodies)
    with pytest.raises(perfc.UsageError, match="did you mean 'fold-batch-norm'"):
        perfc.load(RESNET, passes=["fold-batchnorm"])


def test_other_threads_run():
    """While a model is read and predicted, which takes the compiled part a while, Python goes on."""
    with open(RESNET, "rb") as file:
        content = file.read()
    counted, done = 0, threading.Event()

    def predict():
        for _ in range(20):
            perfc.predict(content, device="l4", batch=8)
        done.set()

    thread = threading.Thread(target=predict)
    thread.start()
    switches = []
    while not done.is_set():
        begin = time.monotonic()
        time.sleep(0)  # gives the interpreter away; without its release in C++ it is back after a prediction
        switches.append(time.monotonic() - begin)
        counted += 1
    thread.join()
    assert counted > 1000, counted


def test_many():
    models = [MODELS[0], MODELS[2], *(pathlib.Path(RESNET) for _ in range(6))]
    one_by_one = [perfc.predict(m, device="l4", alternatives=False) for m in models]
    for workers in (None, 1, 8):
        assert perfc.predict_many(models, workers=workers, device="l4") == one_by_one
    assert perfc.predict_many([], device="l4") == []
    with pytest.raises(perfc.ModelError):
        perfc.predict_many([RESNET, "nowhere.onnx"], device="l4")
    found = perfc.predict_many(["nowhere.onnx", RESNET], device="l4", return_exceptions=True)
    assert isinstance(found[0], perfc.ModelError) and found[1] == one_by_one[0]


def test_many_use_all_cores(monkeypatch):
    """As many predictions at the same time as there are cores: each waits for the others before it begins."""
    from perfc import _api
    cores = len(os.sched_getaffinity(0))
    together = threading.Barrier(cores, timeout=60)
    predict = _api.predict

    def meet(*words, **options):
        together.wait()
        return predict(*words, **options)

    monkeypatch.setattr(_api, "predict", meet)
    assert len(perfc.predict_many([RESNET] * (4 * cores), device="l4")) == 4 * cores


def test_hostile_bytes():
    """Cut and flipped files raise, or are predicted; the process lives on and does not grow."""
    with open(RESNET, "rb") as file:
        content = file.read()
    chance = random.Random(23)
    outcomes = {"raised": 0, "predicted": 0}

    def attempt(data: bytes) -> None:
        try:
            perfc.predict(data, device="l4", alternatives=False)
            outcomes["predicted"] += 1
        except perfc.ModelError as error:
            assert error.diagnostics
            outcomes["raised"] += 1

    for i in range(300):
        if i == 100:
            before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        data = bytearray(content[:chance.randrange(len(content))] if i % 2 else content)
        for _ in range(chance.randrange(8)):
            if data:
                data[chance.randrange(len(data))] = chance.randrange(256)
        attempt(bytes(data))
    assert outcomes["raised"] > 100, outcomes
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 64 << 10, "KiB"


def test_the_compiled_part_checks_what_it_is_given():
    """Wrong types raise; nothing is made by hand."""
    for call in (lambda: _perfc.predict(1, 2, 3, 4, 5), lambda: _perfc.predict("x", None, None), lambda: _perfc.Graph(),
                 lambda: _perfc.predict("x", None, "text", {}, True), lambda: _perfc.load("x", 3, None, {}, None),
                 lambda: _perfc.predict("x", RESNET, None, {"device": "l4"}, True),
                 lambda: _perfc.predict("x", RESNET, None, {"device": [3]}, True),
                 lambda: _perfc.predict("x", RESNET, None, {"dtype": 3}, True),
                 lambda: _perfc.load("x", RESNET, None, {}, [3])):
        with pytest.raises(TypeError):
            call()
    with pytest.raises(ValueError, match="null character"):
        perfc.predict(RESNET + "\0.onnx")
    reports = _perfc.predict("x", RESNET, None, {}, False)
    for call in (lambda: reports.json(1, 1, 5), lambda: reports.json(-1, 1, 5), lambda: reports.kernels(7),
                 lambda: reports.json(0, 1 << 62, 5), lambda: _perfc.load("x", RESNET, None, {}, None).node(-1)):
        with pytest.raises(IndexError):
            call()
    with pytest.raises(perfc.UsageError, match="schema: 'x' is none of"):
        perfc.load(RESNET).features("x")
    with pytest.raises(perfc.UsageError, match="format: 'x' is none of"):
        perfc.diff(RESNET, RESNET, device="l4").to_text("x")


def test_diff_refuses(tmp_path):
    with pytest.raises(perfc.UsageError, match="is a folder and .* is a file"):
        perfc.diff(tmp_path, RESNET)
    with pytest.raises(perfc.ModelError, match="cannot open: No such file"):
        perfc.diff("nowhere.onnx", RESNET)
    with pytest.raises(perfc.ModelError, match="has a model"):
        perfc.diff(tmp_path, tmp_path)
    with pytest.raises(perfc.UsageError, match="price"):
        perfc.diff(RESNET, RESNET, device="l4", price={"t4": 1})
    with pytest.raises(perfc.UsageError, match="fail_on"):
        perfc.diff(RESNET, RESNET, device="l4", fail_on="speed=1")


def test_diff_of_folders(tmp_path):
    for side, text in (("base", "nn.relu"), ("head", "tanh")):
        (tmp_path / side).mkdir()
        (tmp_path / side / "net.pir").write_text(open("examples/ci/models/net.pir").read().replace("nn.relu", text))
    (tmp_path / "head" / "broken.pir").write_text('#[version = "perfc-ir/1"]\nnothing')
    d = perfc.diff(tmp_path / "base", tmp_path / "head", device="l4", batch=8)
    assert [m["model"] for m in d.models] == ["broken.pir", "net.pir"] and "error" in d.models[0]
    assert any(x.severity == "error" for x in d.diagnostics) and "2 models" in repr(d)
    assert d._repr_html_().startswith("<iframe srcdoc=")


def test_onnx_in_memory():
    onnx = pytest.importorskip("onnx")
    model = onnx.load(RESNET, load_external_data=False)
    for big in (False, True):
        if big:
            from onnx import numpy_helper
            weights = [numpy_helper.from_array(np.zeros([d for d in t.dims], np.float32), t.name)
                       for t in model.graph.initializer]
            del model.graph.initializer[:]
            model.graph.initializer.extend(weights)
            size = model.ByteSize()
            from perfc import _models
            assert len(_models.onnx_bytes(model)) < size / 10 and model.ByteSize() == size
        p = perfc.predict(model, device="l4", batch=2)
        assert p.latency_ms == perfc.predict(model, device="l4", batch=2, input=(3, 224, 224)).latency_ms
        assert {**p.to_dict(), "model": RESNET} == perfc.predict(RESNET, device="l4", batch=2).to_dict()


def test_callbacks():
    price = perfc_callbacks().Pricer(device="l4", batch=8, limits={"latency_ms": 10, "memory_mib": 100000})
    good, slow, bad = price([RESNET, "tests/maelstrom/ap4_unet.json", "nowhere.onnx"])
    assert good.feasible and good.latency_ms == perfc.predict(RESNET, device="l4", batch=8).latency_ms
    assert not bad.feasible and isinstance(bad.error, perfc.ModelError) and bad.latency_ms == float("inf")
    assert slow.feasible == (slow.latency_ms <= 10)
    tight = perfc_callbacks().Pricer(device="l4", limits={"latency_ms": 1e-3}).one(RESNET)
    assert not tight.feasible and tight.exceeded[0].figure == "latency_ms"
    with pytest.raises(perfc.UsageError, match="'latency' is no figure"):
        perfc_callbacks().Pricer(limits={"latency": 1})


def perfc_callbacks():
    import perfc.callbacks
    return perfc.callbacks


def test_optuna(monkeypatch):
    """The objective, on a stand-in for Optuna's two names that it uses."""
    import types

    class TrialPruned(Exception):
        pass

    class Trial:

        def __init__(self):
            self.user_attrs = {}

        def set_user_attr(self, name, value):
            self.user_attrs[name] = value

    monkeypatch.setitem(sys.modules, "optuna", types.SimpleNamespace(TrialPruned=TrialPruned))
    callbacks = perfc_callbacks()
    trial = Trial()
    latency = callbacks.Pricer(device="l4").objective(lambda t: RESNET)(trial)
    assert trial.user_attrs["latency_ms"] == latency == perfc.predict(RESNET, device="l4").latency_ms
    both = callbacks.Pricer(device="l4").objective(lambda t: RESNET, lambda t, m: 0.9)(Trial())
    assert both == (latency, 0.9)
    with pytest.raises(TrialPruned, match="latency_ms .* limit 0.001"):
        callbacks.Pricer(device="l4", limits={"latency_ms": 0.001}).objective(lambda t: RESNET)(Trial())


def test_sources_are_of_python_3_9():
    for path in pathlib.Path(perfc.__file__).parent.glob("*.py"):
        ast.parse(path.read_text(), feature_version=(3, 9))
