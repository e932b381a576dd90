#!/usr/bin/env python3
"""python -m perfc.measure and perfc.export with torch: real processes that die, run out of memory, hang and are killed;
what one cell measures; the CUDA back end on a made-up torch.cuda. Needs torch (support.torch_python)."""
import collections
import csv
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import types
import unittest
from unittest import mock

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(ROOT / "python"), str(HERE), str(HERE.parent)]
import support  # noqa: E402

if __name__ == "__main__":
    python = support.torch_python()
    if os.path.abspath(python) != os.path.abspath(sys.executable):  # a venv's interpreter links to another
        os.execv(python, [python, *sys.argv])

import torch  # noqa: E402

import zoo  # noqa: E402
from measure_test import FakeNvml  # noqa: E402
from perfc.export import targets  # noqa: E402
from perfc.export.targets import Entry, Model  # noqa: E402
from perfc.measure import cli, host, products, worker  # noqa: E402
from perfc.measure.cells import Cell  # noqa: E402
from perfc.measure.cpu import CpuBackend, live_bytes_peak  # noqa: E402
from perfc.measure.cuda import CudaBackend, Nvml  # noqa: E402
from perfc.measure.protocol import Protocol  # noqa: E402

ENVIRONMENT = {
    **os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT / "python"), str(HERE)]), "PYTHONWARNINGS": "ignore"
}
QUICK = ("--backend", "cpu", "--threads", "1", "--device", "here", "--runs", "5", "--seconds", "0.01")


class Silent:
    """A caller that nobody listens to."""

    def __init__(self):
        self.told = []

    def tell(self, name, value=None):
        self.told.append(name)


class Harness(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def models(self, *names):
        (self.folder / "list.txt").write_text("".join(f"zoo:{n}\n" for n in names))

    def command(self, *options):
        return [sys.executable, "-m", "perfc.measure", "list.txt", "-o", "labels.csv", *QUICK, *options]

    def measure(self, *options):
        done = subprocess.run(self.command(*options), cwd=self.folder, env=ENVIRONMENT, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def rows(self):
        with open(self.folder / "labels.csv", newline="") as f:
            return list(csv.DictReader(f))

    def test_whatever_a_model_does_is_a_row(self):
        self.models("runs_out_of_memory", "exits", "segfaults", "raises", "hangs", "mlp_small")
        # Of the model that needs 64 GiB there is nothing to export either: it is left out by name.
        said = subprocess.run(self.command("--batch", "1", "--memory-limit", "2000", "--timeout", "30s"),
                              cwd=self.folder, env=ENVIRONMENT, capture_output=True, text=True)
        self.assertEqual(said.returncode, 0, said.stderr)
        self.assertIn("left out, not exported: zoo:runs_out_of_memory json: ", said.stderr)
        found = {r["architecture"]: (r["status"], r["message"]) for r in self.rows()}
        self.assertEqual(
            found, {
                "exits": ("crashed", "exit code 3"), "segfaults": ("crashed", "signal 11 (SIGSEGV)"), "raises":
                    ("failed", "ValueError: a model of the user's own"), "hangs":
                        ("timeout", "not done after 30 s"), "mlp_small": ("ok", "")
            })

    def test_out_of_memory_is_a_row(self):
        self.models("mlp_large")
        self.assertIn("1 cells measured", self.measure("--batch", "1,4000000", "--memory-limit", "2000"))
        self.assertEqual([(r["batch"], r["status"], bool(r["latency_ms"])) for r in self.rows()],
                         [("1", "ok", True), ("4000000", "oom", False)])
        self.assertIn("2 known from before", self.measure("--batch", "1,4000000", "--memory-limit", "2000"))
        self.assertIn("0 cells measured, 0 of them flagged; 1 oom; 1 known",
                      self.measure("--batch", "1,4000000", "--memory-limit", "2000", "--retry-failed"))
        self.assertEqual(len(self.rows()), 2)

    def test_a_killed_run_goes_on_without_repeating_a_cell(self):
        self.models("mlp_small", "plain_small", "hangs")
        process = subprocess.Popen(self.command("--batch", "1,2,4", "--timeout",
                                                "5s"), cwd=self.folder, env=ENVIRONMENT, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL, start_new_session=True)
        deadline = time.monotonic() + 1800
        while not (self.folder / "labels.csv").exists() or len(self.rows()) < 3:
            self.assertLess(time.monotonic(), deadline, "three cells take more than half an hour")
            time.sleep(0.05)
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        before = (self.folder / "labels.csv").read_bytes()
        before = before[:before.rfind(b"\n") + 1]
        self.assertLess(before.count(b"\n"), 9)
        self.measure("--batch", "1,2,4", "--timeout", "2s")
        self.assertTrue((self.folder / "labels.csv").read_bytes().startswith(before))
        self.assertEqual(sorted((r["architecture"], r["batch"]) for r in self.rows()),
                         sorted((m, b) for m in ("mlp_small", "plain_small", "hangs") for b in "124"))

    def test_exports_go_on_too(self):
        command = [
            sys.executable, "-m", "perfc.export", "--out", "files", "--jobs", "2", "zoo:mlp_small", "zoo:exits",
            "zoo:nothing"
        ]
        first = subprocess.run(command, cwd=self.folder, env=ENVIRONMENT, capture_output=True, text=True)
        self.assertEqual((first.returncode, first.stdout), (1, "files/manifest.csv: 2 files, 1 failed\n"))
        self.assertIn("zoo:nothing json: failed: 'zoo' has no 'nothing'; it has ", first.stderr)
        written = (self.folder / "files" / "mlp_small.json").stat().st_mtime_ns
        again = subprocess.run([*command, "zoo:vit"], cwd=self.folder, env=ENVIRONMENT, capture_output=True, text=True)
        self.assertEqual((again.stdout, again.stderr),
                         ("files/manifest.csv: 3 files, 1 failed\n", "[1/1] zoo:vit json: 115 nodes\n"))
        self.assertEqual((self.folder / "files" / "mlp_small.json").stat().st_mtime_ns, written)
        with open(self.folder / "files" / "manifest.csv", newline="") as f:
            self.assertEqual([(r["target"], r["status"]) for r in csv.DictReader(f)], [("zoo:mlp_small", "ok"),
                                                                                       ("zoo:exits", "ok"),
                                                                                       ("zoo:nothing", "failed"),
                                                                                       ("zoo:vit", "ok")])


class OneCell(unittest.TestCase):
    def cell(self, make, backend=None, seconds=0.01, **setting):
        entry = Entry("zoo:x")
        module, inputs = make()
        caller = Silent()
        row = worker.measure_cell(caller, lambda device: Model(module, inputs if isinstance(inputs, tuple) else
                                                               (inputs,), "f"), Cell(entry.target, "f", **setting),
                                  Protocol(runs=3, seconds=seconds, attempts=1), backend or CpuBackend(1))
        return row, caller

    def test_columns(self):
        row, caller = self.cell(zoo.TRAINING["mlp_small"], batch=4)
        self.assertEqual(caller.told, ["context", "start", "stop"])
        self.assertEqual((row["torch"], row["threads"], row["cuda"]), (torch.__version__, 1, None))
        self.assertGreaterEqual(row["runs"], 3)
        self.assertGreater(row["window_s"] * 1e3, row["latency_ms"])

    def test_the_clock_is_what_is_measured(self):
        ticks = iter(range(1000))
        row, _ = self.cell(zoo.TRAINING["mlp_small"], CpuBackend(1, clock=lambda: next(ticks) * 0.25), batch=1)
        self.assertEqual((row["latency_ms"], row["latency_p95_ms"], row["latency_std_ms"], row["spread_percent"]),
                         (250, 250, 0, 0))

    def test_the_batch_is_what_is_asked_for(self):
        inputs = worker.rebatched((torch.zeros(2, 3), torch.zeros(5), 7, torch.zeros(2)), 6)
        self.assertEqual([tuple(i.shape) if isinstance(i, torch.Tensor) else i for i in inputs], [(6, 3), (5,), 7,
                                                                                                  (6,)])
        with self.assertRaisesRegex(ValueError, "the example inputs have a batch of 2; batch 3 is not a multiple"):
            worker.rebatched((torch.zeros(2, 3),), 3)

    def test_a_training_step_changes_the_weights(self):
        module, inputs = zoo.TRAINING["residual_small"]()
        before = module[0][0].weight.detach().clone()
        step, _ = worker.prepare(module, (inputs,), Cell("t", "f", 2, task="train"), CpuBackend(1))
        step()
        self.assertGreater((module[0][0].weight - before).abs().max().item(), 0)

    def test_settings(self):
        module, inputs = zoo.TRAINING["residual_small"]()
        step, tensors = worker.prepare(module, (inputs,), Cell("t", "f", 2, dtype="bf16", layout="nhwc"), CpuBackend(1))
        self.assertEqual(step().dtype, torch.bfloat16)
        self.assertTrue(tensors[-1].is_contiguous(memory_format=torch.channels_last))
        with self.assertRaisesRegex(ValueError, "mode cuda-graph needs CUDA, this is cpu"):
            self.cell(zoo.TRAINING["mlp_small"], batch=1, mode="cuda-graph")

    def test_onnx_runtime_runs_what_is_exported(self):
        made = []

        class Session:
            def __init__(self, file, options, providers):
                made.append((pathlib.Path(file).stat().st_size, options.intra_op_num_threads, providers))

            def get_inputs(self):
                return [types.SimpleNamespace(name="data")]

            def run(self, outputs, feed):
                made.append({name: values.shape for name, values in feed.items()})

        fake = types.ModuleType("onnxruntime")
        fake.InferenceSession, fake.SessionOptions, fake.__version__ = Session, types.SimpleNamespace, "1.0"
        with mock.patch.dict(sys.modules, onnxruntime=fake):
            row, _ = self.cell(zoo.TRAINING["mlp_small"], batch=4, mode="onnxruntime-cpu")
        self.assertEqual(made[0][1:], (1, ["CPUExecutionProvider"]))
        self.assertGreater(made[0][0], 4 * 64 * 128)  # its weights
        self.assertEqual(made[1], {"data": (4, 64)})
        self.assertEqual((row["onnxruntime"], row["memory_allocated_mib"]), ("1.0", None))
        with mock.patch.dict(sys.modules, onnxruntime=None):
            with self.assertRaisesRegex(ValueError, "the package onnxruntime is not installed: pip install"):
                self.cell(zoo.TRAINING["mlp_small"], batch=4, mode="onnxruntime-cpu")

    def test_live_bytes(self):
        x = torch.zeros(1 << 18)  # 1 MiB

        def step():
            y = x + 1        # 1
            y = y * 2        # 2, then 1
            y.add_(1)        # in place
            return y[:100]   # a view
        self.assertEqual(live_bytes_peak(step, 0), 2 << 20)

    def test_memory_is_weights_and_what_lives_beside_them(self):
        row, _ = self.cell(
            lambda:
            (torch.nn.Sequential(torch.nn.Linear(1024, 1024, bias=False), torch.nn.ReLU()), torch.zeros(1, 1024)),
            batch=256)
        self.assertEqual(row["memory_allocated_mib"], 4 + 1 + 2)  # weights, input, both results


class FakeEvent:
    now_ms = 0.0

    def __init__(self, enable_timing):
        assert enable_timing

    def record(self):
        self.at = FakeEvent.now_ms

    def elapsed_time(self, later):
        return later.at - self.at


class Host(unittest.TestCase):
    KINDS = ["view", "inner", "kernel", "product", "convolution", "normalization", "composite"]  # devices/host.h

    def test_without_a_gpu_calls_on_the_cpu_and_a_launch_each(self):
        with mock.patch.multiple(host, ATTEMPTS=5, CALLS=50):
            found = host.entry("cpu", "here")
        self.assertEqual(list(found["eager_us"]), self.KINDS)
        self.assertEqual((found["name"], found["interval"]), ("here", host.INTERVAL["cpu"]))
        self.assertGreater(found["eager_us"]["view"], 0)
        for kind in self.KINDS[1:]:
            self.assertGreater(found["eager_us"][kind], host.LAUNCH_US, kind)
        self.assertLess(found["eager_us"]["inner"], found["eager_us"]["convolution"])  # a module's call does more

    def test_with_a_gpu_the_launch_is_in_what_was_timed(self):
        waited = []
        nothing = lambda: None  # noqa: E731
        model = lambda: None  # noqa: E731
        us = {nothing: 10.0, model: 2 * 3 * 10.0}
        with mock.patch.object(host, "calls", lambda device: {kind: [nothing] for kind in self.KINDS}), \
             mock.patch.object(host, "models", lambda device: [(model, {"kernel": 2, "view": 1})]), \
             mock.patch.object(host, "call_us", lambda call, wait, calls=None: wait() or us.get(call, 0.0)), \
             mock.patch.object(torch.cuda, "synchronize", lambda: waited.append(True)):
            found = host.entry("cuda")
        self.assertEqual(len(waited), len(self.KINDS) + 1)
        # In a small model twice as long as in a loop, in large ones longer.
        self.assertEqual(set(found["eager_us"].values()), {2 * 10.0 * host.WHOLE})
        self.assertLess(found["interval"], host.INTERVAL["cpu"])

    def test_a_model_makes_as_many_calls_as_it_says(self):
        from torch.utils._python_dispatch import TorchDispatchMode
        counted = collections.Counter()

        class Count(TorchDispatchMode):
            def __torch_dispatch__(self, function, types, args=(), kwargs=None):
                counted[function.overloadpacket.__name__] += 1
                return function(*args, **(kwargs or {}))

        for run, of in host.models("cpu"):
            counted.clear()
            with torch.no_grad(), Count():
                run()
            products = counted["addmm"] + counted["linear"]
            self.assertEqual(counted["convolution"], of.get("convolution", 0))
            self.assertEqual(products, of.get("product", 0))
            self.assertEqual(counted["relu_"], of.get("inner", 0))
            self.assertEqual(counted["native_batch_norm"] + counted["_native_batch_norm_legit_no_training"] +
                             counted["native_layer_norm"] + counted["cudnn_batch_norm"], of["normalization"], counted)

    def test_the_command_writes_a_file_of_one_host(self):
        done = subprocess.run([sys.executable, "-m", "perfc.measure", "--host", "--backend", "cpu", "--device", "here"],
                              env=ENVIRONMENT, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        found = json.loads(done.stdout)
        self.assertEqual((found["schema"], [h["name"] for h in found["hosts"]]), ("perfc.hosts/1", ["here"]))


class Products(unittest.TestCase):
    class Captured(CpuBackend):
        """Captures as CUDA would, and counts the graphs."""

        def __init__(self):
            super().__init__(1)
            self.graphs = 0

        def capture(self, step):
            self.graphs += 1
            return step

    def measured(self, sizes, free):
        backend, left_out = self.Captured(), []
        with mock.patch.multiple(products, PRODUCTS=sizes, free_bytes=lambda torch: free,
                                 TIMING=Protocol(warm_up=1, runs=3, seconds=0)):
            return products.rows(backend, "here", "bf16", left_out.append), left_out, backend

    def test_a_call_takes_what_a_product_takes(self):
        rows, left_out, backend = self.measured([(1, 64, 64), (64, 512, 2048)], 1e9)
        self.assertEqual((left_out, backend.graphs), ([], 2 * len(rows)))
        self.assertEqual([tuple(r) for r in rows], [products.COLUMNS] * 2)
        self.assertEqual([r["copies"] for r in rows], [products.COPIES] * 2)
        x, w = torch.randn(64, 2048, dtype=torch.bfloat16), torch.randn(512, 2048, dtype=torch.bfloat16)
        runs = [time_of(lambda: torch.nn.functional.linear(x, w)) for _ in range(20)]
        self.assertLess(max(float(rows[1]["us"]) / min(runs), min(runs) / float(rows[1]["us"])), 5)
        self.assertLess(float(rows[0]["us"]), float(rows[1]["us"]))

    def test_as_many_copies_as_half_of_the_memory_holds(self):
        of_weight, of_result = 2 * 512 * 2048, 2 * 64 * 512
        data = 2 * 64 * 2048
        self.assertEqual(products.copies_within(2 * (data + 3 * (of_weight + of_result)), 64, 512, 2048), 3)
        rows, left_out, _ = self.measured([(64, 512, 2048), (1, 64, 64)], of_weight)
        self.assertEqual([r["k"] for r in rows], [64])
        self.assertEqual(left_out, ["left out, for want of memory: m=64, n=512, k=2048"])

    def test_sizes_that_small_gpus_hold(self):
        self.assertEqual(len(set(products.PRODUCTS)), 24)
        for m, n, k in products.PRODUCTS:
            self.assertGreater(products.copies_within(4e9, m, n, k), 0, (m, n, k))

    def test_the_command_writes_a_table_for_calibrate(self):
        with tempfile.TemporaryDirectory() as folder, \
             mock.patch.object(cli, "find_backend", lambda wanted: "cuda"), \
             mock.patch.object(cli, "make_sensors", lambda backend: types.SimpleNamespace(host="NVIDIA A, B")), \
             mock.patch.object(worker, "make_backend", lambda name, threads: self.Captured()), \
             mock.patch.multiple(products, PRODUCTS=[(1, 64, 64)], free_bytes=lambda torch: 1e9,
                                 native_dtype=lambda: "bf16", TIMING=Protocol(warm_up=1, runs=3, seconds=0)):
            path = pathlib.Path(folder) / "products.csv"
            self.assertEqual(cli.main(["--products", "-o", str(path)]), 0)
            with open(path, newline="") as f:
                [row] = csv.DictReader(f)
        self.assertEqual([row[c] for c in ("device", "kind", "m", "n", "k", "dtype", "copies")],
                         ["NVIDIA A, B", "gemm", "1", "64", "64", "bf16", str(products.COPIES)])
        self.assertGreater(float(row["us"]), 0)

    def test_the_command_says_what_is_missing(self):
        done = subprocess.run([sys.executable, "-m", "perfc.measure", "--products", "--backend", "cpu"],
                              env=ENVIRONMENT, capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn("error: --products needs a GPU", done.stderr)


def time_of(call) -> float:
    """µs."""
    start = time.perf_counter()
    call()
    return (time.perf_counter() - start) * 1e6


class Targets(unittest.TestCase):
    """What a library's models are made and called with, the library faked."""

    def test_a_model_of_transformers_gets_its_inputs_by_name(self):
        class Model(torch.nn.Module):
            main_input_name = "input_ids"

            def __init__(self, config):
                super().__init__()
                self.config = config

            def forward(self, input_ids, past_key_values=None, attention_mask=None):  # as GPT-2's
                assert past_key_values is None
                return (input_ids + attention_mask,)

        Model.config_class = lambda: types.SimpleNamespace(
            model_type="model", max_position_embeddings=-1, is_encoder_decoder=False, return_dict=True, use_cache=True)
        library = types.SimpleNamespace(Model=Model, __version__="5.1.0")
        with mock.patch.dict(sys.modules, transformers=library):
            made = targets.build("transformers/Model")
        self.assertEqual([tuple(i.shape) for i in made.inputs], [(1, targets.TOKENS)] * 2)  # XLNet's -1: any length
        self.assertEqual(int(made.module(*made.inputs)[0].sum()), targets.TOKENS)

    def test_a_backbones_weights_stay_where_they_are(self):
        def builder(*, weights=None, weights_backbone="loaded"):
            self.assertIsNone(weights_backbone)
            return torch.nn.Identity()

        models = types.SimpleNamespace(
            get_model_builder=lambda name: builder, get_model=lambda name, **config: builder(**config),
            get_model_weights=lambda name: types.SimpleNamespace(
                DEFAULT=types.SimpleNamespace(transforms=lambda: types.SimpleNamespace(crop_size=[32]))))
        with mock.patch.dict(sys.modules, torchvision=types.SimpleNamespace(models=models)):
            made = targets.build("torchvision/segments")
        self.assertEqual(tuple(made.inputs[0].shape), (1, 3, 32, 32))


class Cuda(unittest.TestCase):
    """What the CUDA back end asks of torch.cuda, in which order; there is no GPU behind it."""

    def setUp(self):
        self.said = []

        def noted(name, value=None):
            return lambda *a, **k: self.said.append(name) or value

        class Noted:
            def __init__(me, name):
                me.name = name

            def __enter__(me):
                self.said.append(me.name)

            def __exit__(me, *error):
                self.said.append("end " + me.name)

        class Graph:
            def replay(me):
                self.said.append("replay")
                FakeEvent.now_ms += 2

        class Stream:
            wait_stream = staticmethod(noted("wait"))

        fakes = {
            "is_available": lambda: True, "init": noted("init"), "synchronize":
                noted("synchronize"), "Event": FakeEvent, "Stream": Stream, "current_stream": Stream,
            "stream": lambda s: Noted("stream"), "graph": lambda g: Noted("graph"), "CUDAGraph": Graph, "empty_cache":
                noted("empty_cache"), "reset_peak_memory_stats": noted("reset"),
            "max_memory_allocated": lambda: 3 << 20, "max_memory_reserved": lambda: 20 << 20
        }
        for name, fake in fakes.items():
            patch = mock.patch.object(torch.cuda, name, fake)
            patch.start()
            self.addCleanup(patch.stop)
        self.nvml = FakeNvml()
        self.backend = CudaBackend(Nvml(self.nvml, visible="0"))
        self.backend.device = "cpu"  # tensors have to be somewhere

    def step(self):
        self.said.append("step")
        FakeEvent.now_ms += 5

    def test_runs_are_timed_by_events_and_waited_for_once(self):
        self.assertEqual(self.backend.time_runs(self.step, 3), [5, 5, 5])
        self.assertEqual(self.said, ["synchronize", "step", "step", "step", "synchronize"])

    def test_a_graph_is_warmed_up_on_its_own_stream_and_captured_once(self):
        replay = self.backend.capture(self.step)
        self.assertEqual(self.said,
                         ["wait", "stream", "step", "step", "step", "end stream", "wait", "graph", "step", "end graph"])
        self.assertEqual(self.backend.time_runs(replay, 2), [2, 2])

    def test_a_cell(self):
        def forward(x):
            self.step()
            return x

        class Net(torch.nn.Module):
            def forward(self, x):
                return forward(x)

        model = Model(Net(), (torch.zeros(1, 4),), "f")
        for mode, latency in (("eager", 5), ("cuda-graph", 2)):
            self.said.clear()
            row = worker.measure_cell(Silent(), lambda device: model, Cell("t", "f", 2, mode=mode), Protocol(seconds=0),
                                      self.backend)
            self.assertEqual((row["latency_ms"], row["runs"], row["memory_allocated_mib"], row["memory_reserved_mib"],
                              row["driver"], row["window_j"]), (latency, 30, 3, 20, "560.35.03", 0))
            self.assertEqual(self.said[:4], ["init", "synchronize", "empty_cache", "reset"])
        self.assertFalse(torch.backends.cuda.matmul.allow_tf32)

    def test_a_torch_without_a_gpu_says_so(self):
        with mock.patch.object(torch.cuda, "is_available", lambda: False), self.assertRaisesRegex(
                Exception, "torch sees no CUDA device"):
            self.backend.open()


if __name__ == "__main__":
    unittest.main()
