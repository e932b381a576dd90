#!/usr/bin/env python3
"""python -m perfc.measure without a device: timing, order, labels file, meters, checks, and NVML's side of the CUDA
back end on a made-up GPU. Needs no torch; what does is in harness_test.py."""
import csv
import itertools
import pathlib
import sys
import tempfile
import types
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "python"))
from perfc.isolate import Outcome  # noqa: E402
from perfc.measure import cells, cli, describe, protocol, rapl, session, table  # noqa: E402
from perfc.measure.backend import Sample, Sensors, Unavailable  # noqa: E402
from perfc.measure.cells import Cell  # noqa: E402
from perfc.measure.cuda import CudaSensors, Nvml  # noqa: E402
from perfc.measure.protocol import PROTOCOLS, Protocol, Timing  # noqa: E402


class Timings(unittest.TestCase):
    def test_statistics(self):
        t = Timing([float(v) for v in range(1, 102)])
        self.assertEqual((t.mean_ms, t.median_ms, t.p95_ms), (51, 51, 96))
        self.assertAlmostEqual(t.std_ms, 29.300, places=3)
        self.assertAlmostEqual(t.spread, 34 / 51)

    def test_one_interruption_is_no_spread(self):
        self.assertEqual(Timing([1.0] * 29 + [50.0]).spread, 0)

    def test_runs_last_as_long_as_the_protocol_says(self):
        self.assertEqual(protocol.run_count(Protocol(), [100, 50, 2, 2, 2]), 500)
        self.assertEqual(protocol.run_count(Protocol(), [100.0] * 5), 30)
        self.assertEqual(protocol.run_count(Protocol(), [1e-4] * 5), protocol.MOST_RUNS)
        self.assertEqual(protocol.run_count(PROTOCOLS["dippm"], [0.1] * 5), 30)

    def attempts(self, spreads):
        """Attempts whose runs spread so much; what is kept of them, and in how many runs."""
        asked = []

        def time_runs(count):
            asked.append(count)
            spread = 0 if len(asked) == 1 else spreads[len(asked) - 2]
            return [10 * (1 + spread * (-1 if i % 2 else 1)) for i in range(count)]
        return protocol.measure(time_runs, Protocol()), asked

    def test_a_quiet_cell_is_measured_once(self):
        t, asked = self.attempts([0.01])
        self.assertEqual((t.attempts, asked), (1, [5, 100]))

    def test_a_restless_cell_is_measured_again_and_the_quietest_attempt_kept(self):
        t, asked = self.attempts([0.30, 0.04])
        self.assertEqual((t.attempts, t.attempt, len(asked)), (2, 1, 3))
        self.assertAlmostEqual(t.spread, 0.04)
        t, asked = self.attempts([0.30, 0.10, 0.20])
        self.assertEqual((t.attempts, t.attempt, len(asked)), (3, 1, 4))

    def test_dippm_is_the_mean_of_thirty_after_five(self):
        asked = []
        t = protocol.measure(lambda n: asked.append(n) or [1.0] * (n - 1) + [31.0], PROTOCOLS["dippm"])
        self.assertEqual((asked, t.attempts, t.latency_ms(PROTOCOLS["dippm"]), t.latency_ms(Protocol())),
                         ([5, 30], 1, 2, 1))


class Order(unittest.TestCase):
    MODELS = [("a1", "a"), ("a2", "a"), ("a3", "a"), ("b1", "b"), ("c1", "c")]

    def test_every_family_comes_before_a_second_cell_of_one(self):
        order = cells.in_order(cells.grid(self.MODELS, [1, 8], ["fp32", "fp16"], ["eager"], ["nchw"], ["infer"]))
        self.assertEqual(len(order), 20)
        self.assertEqual(len(set(order)), 20)
        self.assertEqual({c.family for c in order[:3]}, {"a", "b", "c"})
        self.assertEqual({(c.dtype, c.batch) for c in order[:4]}, set(itertools.product(["fp32", "fp16"], [1, 8])))
        self.assertEqual({(c.family, c.batch) for c in order[:6]}, set(itertools.product("abc", [1, 8])))

    def test_inference_before_training(self):
        order = cells.in_order(cells.grid(self.MODELS, [1], ["fp32"], ["eager"], ["nchw"], ["train", "infer"]))
        self.assertEqual([c.task for c in order], ["infer"] * 5 + ["train"] * 5)

    def test_what_is_done_is_not_news(self):
        grid = cells.grid(self.MODELS, [1, 8], ["fp32"], ["eager"], ["nchw"], ["infer"])
        done = [c for c in grid if c.family == "a" and c.batch == 1]
        order = cells.in_order([c for c in grid if c not in done], done)
        self.assertEqual({c.family for c in order[:2]}, {"b", "c"})


class File(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.path = pathlib.Path(self.folder.name) / "labels.csv"

    def row(self, **more):
        return {
            "model": "m.json", "batch": 1, "dtype": "fp32", "mode": "eager", "layout": "nchw", "task": "infer",
            "device": "d", "target": "t", "family": "f", "status": "ok", "protocol": "default", **more
        }

    def test_a_row_that_was_cut_off_is_gone(self):
        labels = table.LabelsFile(str(self.path))
        labels.append(self.row(message="two\nlines"))
        labels.close()
        with open(self.path, "a") as f:
            f.write("m.json,8,d,fp")
        labels = table.LabelsFile(str(self.path))
        self.assertEqual([(r["batch"], r["message"]) for r in labels.rows], [("1", "two lines")])
        labels.append(self.row(batch=32))
        labels.close()
        with open(self.path, newline="") as f:
            self.assertEqual([r["batch"] for r in csv.DictReader(f)], ["1", "32"])

    def test_two_writers_are_one_too_many(self):
        labels = table.LabelsFile(str(self.path))
        with self.assertRaisesRegex(table.LabelsError, "another run is writing"):
            table.LabelsFile(str(self.path))
        labels.close()

    def test_others_files_are_left_alone(self):
        self.path.write_text("model,latency_ms\nx,1\n")
        with self.assertRaisesRegex(table.LabelsError, r"labels.csv:1: the columns are not those of perfc.measure"):
            table.LabelsFile(str(self.path))
        self.assertEqual(self.path.read_text(), "model,latency_ms\nx,1\n")

    def test_failed_rows_can_be_forgotten(self):
        labels = table.LabelsFile(str(self.path))
        for batch, status in ((1, "ok"), (8, "oom"), (32, "crashed")):
            labels.append(self.row(batch=batch, status=status))
        self.assertEqual(labels.forget_failed(), 2)
        labels.append(self.row(batch=64))
        labels.close()
        with open(self.path, newline="") as f:
            self.assertEqual([r["batch"] for r in csv.DictReader(f)], ["1", "64"])


class Meters(unittest.TestCase):
    def test_rapl_adds_packages_and_survives_a_wrap(self):
        with tempfile.TemporaryDirectory() as folder:
            zones = []
            for name in ("intel-rapl:0", "intel-rapl:1", "intel-rapl:0:0"):
                zone = pathlib.Path(folder) / name
                zone.mkdir()
                (zone / "max_energy_range_uj").write_text("10000000\n")
                (zone / "energy_uj").write_text("9000000\n")
                zones.append(zone)
            meter = rapl.Rapl(pathlib.Path(folder))
            self.assertEqual(meter.energy_j(), 0)
            (zones[0] / "energy_uj").write_text("9500000\n")
            (zones[1] / "energy_uj").write_text("2000000\n")  # 3 J with a wrap
            (zones[2] / "energy_uj").write_text("9900000\n")  # a part of package 0
            self.assertEqual(meter.energy_j(), 3.5)

    def test_no_rapl_is_no_energy(self):
        self.assertIsNone(rapl.Rapl(pathlib.Path("/nowhere")).energy_j())

    def test_names(self):
        self.assertEqual(describe.device_name("Intel(R) Core(TM) i9-10940X CPU @ 3.30GHz"),
                         "intel-core-i9-10940x-cpu-3-30ghz")
        self.assertEqual(describe.device_name("NVIDIA H200"), "NVIDIA H200")
        self.assertEqual(describe.flops_per_clock({"avx2", "avx512f", "fma"}), 64)
        self.assertEqual(describe.flops_per_clock({"avx2", "avx512f", "fma"}, "AMD EPYC 9654 96-Core Processor"), 32)


class Checks(unittest.TestCase):
    def combined(self, samples, idle_w=50.0, sensors=None, **result):
        recorder = session.Recorder(sensors or Fixed())
        recorder.context_mib, recorder.samples = 400.0, {0: samples}
        base = {
            "attempt": 0, "window_s": 2.0, "window_j": 400.0, "latency_ms": 10.0, "spread_percent": 1.0,
            "memory_reserved_mib": 600.0
        }
        return session.combine({**base, **result}, recorder, session.Options("cuda", "d", Protocol()), idle_w)

    def test_energy_of_a_batch_with_and_without_idle_power(self):
        row = self.combined([Sample(power_w=200.0, memory_mib=1000.0)] * 3)
        self.assertAlmostEqual(row["energy_j"], 2.0)              # 200 W for 10 ms
        self.assertAlmostEqual(row["energy_above_idle_j"], 1.5)
        self.assertAlmostEqual(row["energy_ratio"], 1.0)
        self.assertEqual((row["memory_mib"], row["memory_unexplained_mib"], row["flags"]), (1000, 0, ""))

    def test_energy_is_held_against_power_times_time(self):
        self.assertEqual(self.combined([Sample(power_w=300.0)])["flags"], "energy")
        self.assertEqual(self.combined([Sample(power_w=100.0)])["flags"], "energy")
        self.assertEqual(self.combined([Sample(power_w=190.0)])["flags"], "")
        short = self.combined([Sample(power_w=300.0)], window_s=0.3)  # too short to tell
        self.assertEqual((short["flags"], short.get("energy_j"), short.get("energy_ratio")), ("", None, None))

    def test_memory_is_held_against_the_sum_of_its_parts(self):
        self.assertEqual(self.combined([Sample(memory_mib=1090.0)])["flags"], "")
        row = self.combined([Sample(memory_mib=1300.0), Sample(memory_mib=800.0)])
        self.assertEqual((row["memory_mib"], row["memory_unexplained_mib"], row["flags"]), (1300, 300, "memory"))
        self.assertEqual(self.combined([Sample(memory_mib=700.0)])["flags"], "memory")

    def test_spread_and_throttling_are_flagged(self):
        row = self.combined(
            [Sample(throttle=("thermal",)), Sample(throttle=("power-cap", "thermal"))], spread_percent=5.1)
        self.assertEqual((row["flags"], row["throttle"]), ("spread+throttled", "power-cap+thermal"))

    def test_what_no_meter_says_is_empty(self):
        row = self.combined([], idle_w=None, window_j=None)
        self.assertEqual([row.get(k) for k in ("energy_j", "power_w", "energy_ratio", "memory_mib", "clock_mhz")],
                         [None] * 5)

    def test_samples_are_those_of_the_attempt_that_is_kept(self):
        recorder = session.Recorder(Fixed())
        recorder.started(7)
        recorder.message("context", None)
        recorder.tick()
        for attempt in (0, 1):
            recorder.message("start", attempt)
            recorder.tick()
            recorder.message("stop", attempt)
        recorder.tick()
        self.assertEqual(({k: len(v) for k, v in recorder.samples.items()}, recorder.sensors.pids), ({0: 2, 1: 2}, {7}))


class Fixed(Sensors):
    """Sensors of a machine that is always the same."""
    host = "A machine"

    def __init__(self):
        self.pids = set()

    def sample(self, pid):
        self.pids.add(pid)
        return Sample(memory_mib=100.0)


class Sessions(unittest.TestCase):
    """Cells in, rows out, with processes that are made up."""
    RESULT = {
        "attempt": 0, "window_s": 1.0, "window_j": None, "latency_ms": 2.0, "spread_percent": 1.0,
        "memory_reserved_mib": None
    }

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.path = str(pathlib.Path(self.folder.name) / "labels.csv")
        self.now = 0.0
        entry = types.SimpleNamespace
        self.models = [
            session.Model(entry(target=t, model=None), t, f, {"json": f"models/{t}.json"}) for t, f in Order.MODELS
        ]
        self.cells = cells.grid([(m.entry.target, m.family) for m in self.models], [1, 8], ["fp32"], ["eager"],
                                ["nchw"], ["infer"])

    def go(self, *, budget_s=None, take=10.0, outcomes=None, stop_after=None):
        """A run whose cells take `take` seconds each; its summary and the targets it ran."""
        ran = []

        def call(function, *arguments, timeout_s, memory_mib=None, watch=None):
            if function is session.worker.idle_power:
                return Outcome("ok", 20.0)
            ran.append(arguments[1])
            if stop_after is not None and len(ran) > stop_after:
                raise KeyboardInterrupt
            if take > timeout_s:
                self.now += timeout_s
                return Outcome("timeout", message="not done")
            self.now += take
            return (outcomes or {}).get(arguments[1].target) or Outcome("ok", dict(self.RESULT))

        labels = table.LabelsFile(self.path)
        options = session.Options("cpu", "d", Protocol(), budget_s=budget_s)
        try:
            summary = session.run(self.models, self.cells, labels, Fixed(), options, say=lambda line: None, call=call,
                                  budget=session.Budget(budget_s, clock=lambda: self.now))
        finally:
            labels.close()
        return summary, ran

    def rows(self):
        with open(self.path, newline="") as f:
            return list(csv.DictReader(f))

    def test_every_cell_is_a_row(self):
        summary, ran = self.go()
        self.assertEqual((summary.ok, summary.left, len(self.rows())), (10, 0, 10))
        row = self.rows()[0]
        self.assertEqual([row[k] for k in ("model", "device", "latency_ms", "status", "host", "idle_w")],
                         ["models/a1.json", "d", "2", "ok", "A machine", "20"])
        self.assertEqual(self.go()[1], [])

    def test_an_interrupted_run_goes_on_without_repeating_a_cell(self):
        with self.assertRaises(KeyboardInterrupt):
            self.go(stop_after=4)
        self.assertEqual(len(self.rows()), 4)
        _, ran = self.go()
        self.assertEqual(len(ran), 6)
        self.assertEqual(len({(r["target"], r["batch"]) for r in self.rows()}), 10)

    def test_a_failure_is_a_row_and_the_run_goes_on(self):
        summary, _ = self.go(
            outcomes={"a1": Outcome("oom", message="no memory"), "b1": Outcome("crashed", message="signal 11")})
        self.assertEqual((summary.ok, summary.not_ok), (6, {"oom": 2, "crashed": 2}))
        found = {(r["target"], r["status"], r["message"], r["latency_ms"]) for r in self.rows() if r["status"] != "ok"}
        self.assertEqual(found, {("a1", "oom", "no memory", ""), ("b1", "crashed", "signal 11", "")})
        self.assertEqual(self.go()[1], [])  # known to fail

    def test_a_budget_takes_the_most_informative_cells(self):
        summary, ran = self.go(budget_s=35.0)
        self.assertEqual((summary.ok, summary.left), (3, 7))
        self.assertEqual({c.family for c in ran[:3]}, {"a", "b", "c"})
        self.assertEqual(len(self.go(budget_s=1000.0)[1]), 7)

    def test_a_cell_that_the_budget_ends_is_no_result(self):
        summary, ran = self.go(budget_s=5.0)
        self.assertEqual((len(ran), summary.ok, summary.left, self.rows()), (1, 0, 10, []))

    def test_a_cell_that_takes_too_long_is_a_result(self):
        summary, _ = self.go(take=301.0)
        self.assertEqual(summary.not_ok, {"timeout": 10})


class FakeNvml(types.ModuleType):
    """A GPU with what nvml.h says of it. `mig`: it is cut in slices."""
    NVML_CLOCK_SM, NVML_CLOCK_MEM, NVML_TEMPERATURE_GPU = 1, 2, 0

    class NVMLError(Exception):
        pass

    def __init__(self, mig=False, reasons=0x4 | 0x20, knows_energy=True):
        super().__init__("pynvml")
        self.mig, self.reasons, self.knows_energy, self.used = mig, reasons, knows_energy, 1000
        self.asked = []

    def nvmlDeviceGetHandleByIndex(self, index):
        self.asked.append(index)
        return f"gpu{index}"

    def nvmlDeviceGetHandleByUUID(self, uuid):
        if uuid not in ("GPU-1", "MIG-1"):
            raise self.NVMLError("Not Found")
        return {"GPU-1": "gpu1", "MIG-1": "slice1"}[uuid]

    def nvmlDeviceGetDeviceHandleFromMigDeviceHandle(self, part):
        return "gpu1"

    def nvmlDeviceGetMigMode(self, gpu):
        if self.mig is None:
            raise self.NVMLError("Not Supported")
        return int(self.mig), int(self.mig)

    def nvmlDeviceGetMaxMigDeviceCount(self, gpu):
        return 7

    def nvmlDeviceGetMigDeviceHandleByIndex(self, gpu, index):
        if index != 2:
            raise self.NVMLError("Not Found")
        return "slice2"

    def nvmlDeviceGetName(self, handle):
        return "NVIDIA A100-SXM4-40GB" + (" MIG 1g.5gb" if "slice" in handle else "")

    def nvmlSystemGetDriverVersion(self):
        return b"560.35.03"

    def nvmlDeviceGetTotalEnergyConsumption(self, handle):
        if not self.knows_energy:
            raise self.NVMLError("Not Supported")
        return 123456

    def nvmlDeviceGetPowerUsage(self, handle):
        return 250_000

    def nvmlDeviceGetMemoryInfo(self, handle):
        return types.SimpleNamespace(used=self.used * 2**20 * (10 if "gpu" in handle else 1))

    def nvmlDeviceGetClockInfo(self, handle, kind):
        return {1: 1410, 2: 1215}[kind]

    def nvmlDeviceGetTemperature(self, handle, sensor):
        return 61

    def nvmlDeviceGetCurrentClocksThrottleReasons(self, handle):
        return self.reasons


class Gpu(unittest.TestCase):
    def test_a_sample(self):
        fake = FakeNvml()
        sensors = CudaSensors(Nvml(fake, visible=""))
        sensors.process_starts()
        fake.used += 50
        self.assertEqual(sensors.sample(1), Sample(250, 1410, 1215, 61, 500, ("power-cap", "thermal")))
        self.assertEqual((sensors.host, sensors.mig, sensors.nvml.energy_j(), sensors.nvml.driver()),
                         ("NVIDIA A100-SXM4-40GB", None, 123.456, "560.35.03"))

    def test_the_gpu_is_that_of_cuda(self):
        for visible, handle in (("", "gpu0"), ("3,1", "gpu3"), ("GPU-1", "gpu1")):
            self.assertEqual(Nvml(FakeNvml(), visible).gpu, handle)
        with self.assertRaisesRegex(Unavailable,
                                    "NVML does not know the GPU 'GPU-9' of CUDA_VISIBLE_DEVICES: Not Found"):
            Nvml(FakeNvml(), "GPU-9")

    def test_a_slice_has_its_own_memory_and_no_energy(self):
        for visible, handle in (("0", "slice2"), ("MIG-1", "slice1")):
            found = Nvml(FakeNvml(mig=True), visible)
            self.assertEqual((found.slice, found.mig(), found.used_mib(), found.energy_j(), found.power_w()),
                             (handle, "1g.5gb", 1000, None, None))

    def test_what_a_gpu_does_not_know_is_empty(self):
        found = Nvml(FakeNvml(mig=None, knows_energy=False, reasons=0x1 | 0x2), "0")
        self.assertEqual((found.mig(), found.energy_j(), found.throttle()), (None, None, ()))

    def test_without_the_package_it_says_what_to_install(self):
        hidden, sys.modules["pynvml"] = sys.modules.get("pynvml"), None
        try:
            with self.assertRaisesRegex(Unavailable, "pip install nvidia-ml-py"):
                Nvml()
        finally:
            sys.modules.pop("pynvml")
            if hidden:
                sys.modules["pynvml"] = hidden


class CommandLine(unittest.TestCase):
    def test_times_and_lists(self):
        args = cli.parse([
            "list.txt", "-o", "labels.csv", "--budget", "8m", "--batch", "8,1,8", "--dtype", "fp16,bf16", "--timeout",
            "90s"
        ])
        self.assertEqual((args.budget, args.batch, args.dtype, args.timeout), (480, [8, 1], ["fp16", "bf16"], 90))

    def test_mistakes_are_named(self):
        for arguments in (["x", "-o", "y", "--budget", "soon"], ["x", "-o", "y", "--batch",
                                                                 "0"], ["x", "-o", "y", "--dtype",
                                                                        "fp31"], ["x"], ["-o", "y"], ["--host", "x"],
                          ["x", "-o", "y", "--mode", "onnxruntime-cpu"],
                          ["x", "-o", "y", "--backend", "cpu", "--mode", "onnxruntime-cpu", "--dtype", "bf16"]):
            with self.assertRaises(SystemExit) as stopped, open("/dev/null", "w") as sys.stderr:
                cli.parse(arguments)
            sys.stderr = sys.__stderr__
            self.assertEqual(stopped.exception.code, 2)


if __name__ == "__main__":
    unittest.main()
