"""What a report says of memory, batches and the host, held against runs of the program itself.

    python3 tests/cli/report_test.py build/release/perfc
"""
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests/robustness"))
import hostile_torch  # noqa: E402

PERFC = sys.argv.pop(1) if len(sys.argv) > 1 else str(ROOT / "build/release/perfc")
MODEL = str(ROOT / "examples/resnet50.onnx")
OPEN_BATCH = """#[version = "perfc-ir/1"]
def @main(%x: Tensor[(N, 256), float32]) -> (y: Tensor[(N, 256), float32]) {
  %1 = weight : Tensor[(256, 256), float32];
  %2 = nn.dense(%x, %1) : Tensor[(N, 256), float32];
  %3 = nn.relu(%2) : Tensor[(N, 256), float32];
  (%3)
}
"""


def perfc(*args, stdin=None):
    done = subprocess.run([PERFC, *map(str, args)], input=stdin, capture_output=True, text=True, timeout=120)
    return done.returncode, done.stdout, done.stderr


def predictions(*args, stdin=None):
    code, out, err = perfc(*args, "--json", stdin=stdin)
    assert code == 0, err
    return json.loads(out)["predictions"]


def without(prediction, *keys):
    return {key: value for key, value in prediction.items() if key not in keys}


class Memory(unittest.TestCase):
    def test_the_largest_batch_fits_and_one_more_does_not(self):
        for device, options in (("t4", []), ("rtx4090", []), ("a100-40gb:1g.5gb", []), ("t4", ["--dtype", "fp32"]),
                                ("t4", ["--task", "train"]), ("h100-sxm", ["--mode", "compiled"])):
            with self.subTest(device=device, options=options):
                (refused,) = predictions(MODEL, "-b", 200_000, "-d", device, *options)
                self.assertFalse(refused["fits"])
                self.assertGreater(refused["memory_mib"], refused["device_memory_mib"])
                largest = refused["largest_batch"]
                fits, over = predictions(MODEL, "-b", f"{largest},{largest + 1}", "-d", device, *options)
                self.assertTrue(fits["fits"])
                self.assertFalse(over["fits"])
                self.assertEqual(over["largest_batch"], largest)
                self.assertNotIn("largest_batch", fits)
                self.assertTrue(any("run out of memory" in w for w in over["warnings"]))
                self.assertFalse(any("memory" in w for w in fits["warnings"]))

    def test_where_not_one_sample_fits(self):
        text = OPEN_BATCH.replace("256", "100000")
        (p,) = predictions("-", "-d", "t4", "-b", 8, stdin=text)
        self.assertEqual((p["fits"], p["largest_batch"]), (False, 0))

    def test_exit_code(self):
        self.assertEqual(perfc(MODEL, "-b", 8, "-d", "t4", "--fail-on-oom")[0], 0)
        self.assertEqual(perfc(MODEL, "-b", 100_000, "-d", "t4")[0], 0)
        for more in ([], ["--json"], ["-q"]):
            self.assertEqual(perfc(MODEL, "-b", "8,100000", "-d", "t4", "--fail-on-oom", *more)[0], 3)
        self.assertEqual(perfc("nope.onnx", MODEL, "-b", 100_000, "-d", "t4", "--fail-on-oom")[0], 1)

    def test_the_verdict_is_the_first_line(self):
        self.assertRegex(perfc(MODEL, "-b", 100_000, "-d", "t4")[1],
                         r"^OUT OF MEMORY: needs \d+ MiB, t4 has 15360 MiB; the largest batch that fits is \d+\n")
        self.assertRegex(perfc(MODEL, "-b", 100_000, "-d", "t4,l4")[1],
                         r"^OUT OF MEMORY: 2 of 2 predictions do not fit\n")


class Page(unittest.TestCase):
    """What --emit=html holds, without a browser (tests/html/page_test.py has one)."""

    def data(self, *args, stdin=None):
        code, out, err = perfc(*args, "--emit=html", stdin=stdin)
        self.assertEqual(code, 0, err)
        return json.loads(out.split('<script type="application/json" id="data">')[1].split("</script>")[0])

    def same(self, figures, said):
        self.assertEqual(figures["latency_ms"], [said["latency_ms"], *said["latency_ms_interval"]])
        self.assertEqual(figures["memory_mib"], [said["memory_mib"], *said["memory_mib_interval"]])
        self.assertEqual((figures["energy_j"], figures["fits"], figures["bound"], figures["batch"]),
                         (said["energy_j"], said["fits"], said["bound"], said["batch"]))

    def test_other_batches_and_devices_are_as_if_they_had_been_asked_for(self):
        dynamic = OPEN_BATCH.replace("nn.relu(%2) : Tensor[(N, 256), float32]", "nonzero(%2) : Tensor[(2, ?), int64]")
        dynamic = dynamic.replace("-> (y: Tensor[(N, 256), float32]) ", "")
        for model, options in ((OPEN_BATCH, []), (OPEN_BATCH, ["--host", "desktop"]), (dynamic, [])):
            with self.subTest(model=model, options=options):
                (run,) = self.data("-", "-b", 24, "-d", "l4", *options, stdin=model)["runs"]
                self.assertEqual(bool(run["dynamic"]), model is dynamic)
                batches = [f["batch"] for f in run["batches"]]
                self.assertEqual(batches, [2, 4, 8, 16, 24, 32, 64, 128])
                said = predictions("-", "-b", ",".join(map(str, batches)), "-d", "l4", *options, stdin=model)
                for figures, prediction in zip(run["batches"], said):
                    self.same(figures, prediction)
                by_device = {f["device"]: f for f in run["devices"]}
                self.assertGreater(len(by_device), 40)
                for prediction in predictions("-", "-b", 24, "-d", "l4,h200,mi300x,a30,t4", *options, stdin=model):
                    self.same(by_device[prediction["device"]], prediction)

    def test_kernels_sum_to_the_report(self):
        (run,) = self.data(MODEL, "-b", 8, "-d", "a100-40gb:1g.5gb")["runs"]
        (said,) = predictions(MODEL, "-b", 8, "-d", "a100-40gb:1g.5gb")
        self.assertAlmostEqual(sum(run["kernels"]["us"]) / 1e3, said["device_ms"], delta=1e-3 * said["device_ms"])
        self.assertEqual(run["devices"][0]["device"], "a100-40gb:1g.5gb")
        self.same(run["devices"][0], said)
        self.assertEqual([n for n, _ in run["memory_parts_mib"]], ["context", "weights", "activations", "workspace"])

    def test_names_end_no_script(self):
        model = OPEN_BATCH.replace(";\n  %3", ' @"\u2028</script>";\n  %3')
        code, out, err = perfc("-", "-b", 1, "--emit=html", stdin=model)
        self.assertEqual(code, 0, err)
        self.assertEqual(out.count("</script>"), out.count("<script"))


class Batches(unittest.TestCase):
    def test_each_is_as_if_it_had_been_asked_for_alone(self):
        with tempfile.TemporaryDirectory() as d:
            opened = pathlib.Path(d, "open.pir")
            opened.write_text(OPEN_BATCH)
            for model in (MODEL, str(opened)):
                alone = [p for device in ("t4", "l4") for b in (8, 1, 32)
                         for p in predictions(model, "-b", b, "-d", device)]
                together = predictions(model, "-b", "8,1,32,8", "-d", "t4,l4")
                # How else a model could be run is said of one batch.
                self.assertEqual(*[[without(p, "alternatives", "hosts", "runtimes") for p in all]
                                   for all in (together, alone)])

    def test_standard_input_is_read_once(self):
        self.assertEqual([p["batch"] for p in predictions("-", "-b", "4,2", stdin=OPEN_BATCH)], [4, 2])

    def test_a_table_has_a_line_for_each(self):
        code, out, _ = perfc(MODEL, "-b", "1,8", "-d", "t4,l4")
        self.assertEqual(code, 0)
        self.assertEqual([line.split()[:2] for line in out.splitlines()[:5]],
                         [["device", "batch"], ["t4", "1"], ["t4", "8"], ["l4", "1"], ["l4", "8"]])

    def test_warnings_of_the_file_are_said_once(self):
        with tempfile.TemporaryDirectory() as d:
            file = pathlib.Path(d, "unknown.pir")
            file.write_text(OPEN_BATCH.replace("nn.relu(%2)",
                                               'opaque(%2, source_op="Mystery", types=["Tensor[(N, 256), float32]"])'))
            code, out, err = perfc(file, "-b", "2,4", "--opaque=warn")
            self.assertEqual(code, 0, err)
            self.assertEqual(out.count("are unknown and counted as copies"), 2, out)  # unfamiliar, and a warning

    def test_a_batch_that_cannot_be_had_does_not_stop_the_others(self):
        text = OPEN_BATCH.split("def")[0] + """def @main(%0: Tensor[(N, 2), float32], %1: Tensor[(4, 2), float32]) {
  %2 = add(%0, %1) : Tensor[(4, 2), float32];
  (%2)
}
"""
        code, out, err = perfc("-", "-b", "4,3,1", "-q", stdin=text)
        self.assertEqual(code, 1)
        self.assertIn("shapes (3, 2) and (4, 2) do not broadcast", err)
        self.assertEqual([line.split("\t")[6] for line in out.splitlines()], ["batch 4", "batch 1"])


class Alternatives(unittest.TestCase):
    def test_each_is_what_its_options_predict(self):
        (p,) = predictions(MODEL, "-b", 1, "-d", "h100-sxm")
        self.assertEqual(p["bound"], "host")
        self.assertGreater(p["device_waits"], 0)
        self.assertEqual(len(p["alternatives"]), 2)
        for a in p["alternatives"]:
            options = dict(zip(*[iter(a["options"].split())] * 2))
            (same,) = predictions(MODEL, "-d", "h100-sxm", *[w for kv in ({"-b": "1"} | {
                k.replace("--batch", "-b"): v for k, v in options.items()}).items() for w in kv])
            self.assertEqual((same["latency_ms"], same["throughput_per_s"], same["batch"]),
                             (a["latency_ms"], a["throughput_per_s"], a["batch"]))
            self.assertGreater(a["throughput_per_s"], p["throughput_per_s"])

    def test_none_where_the_device_bounds_the_run(self):
        (p,) = predictions(MODEL, "-b", 256, "-d", "t4")
        self.assertEqual((p["bound"], p["alternatives"]), ("device", []))
        self.assertAlmostEqual(sum(p["device_time_bound_by"].values()), 1, places=4)


class Profiles(unittest.TestCase):
    def test_a_trace_holds_the_device_time_kernel_by_kernel(self):
        reports = predictions(MODEL, "-b", "2,4", "-d", "t4,l4")
        code, out, err = perfc(MODEL, "-b", "2,4", "-d", "t4,l4", "--emit=trace")
        self.assertEqual(code, 0, err)
        events = json.loads(out)["traceEvents"]
        for process, report in enumerate(reports, 1):
            mine = [e for e in events if e["pid"] == process]
            named = {e["name"]: e["args"]["name"] for e in mine if e["ph"] == "M" and e["tid"] != 1}
            self.assertEqual(named["process_name"], f"{MODEL} {report['device']} batch {report['batch']}")
            kernels = [e for e in mine if e["ph"] == "X" and e["tid"] == 2]
            self.assertAlmostEqual(sum(e["dur"] for e in kernels) / 1e3, report["device_ms"],
                                   delta=1e-4 * report["device_ms"])
            for before, after in zip(kernels, kernels[1:]):
                self.assertAlmostEqual(before["ts"] + before["dur"], after["ts"], delta=0.002)
        self.assertEqual({e["pid"] for e in events}, {1, 2, 3, 4})

    def test_stacks_are_modules_and_sum_to_the_device_time(self):
        (report,) = predictions(MODEL, "-d", "l4")
        lines = perfc(MODEL, "-d", "l4", "--emit=folded")[1].splitlines()
        stacks = {stack: int(ns) for stack, ns in (line.rsplit(" ", 1) for line in lines)}
        self.assertEqual(len(stacks), len(lines))
        self.assertIn("layer1;0;conv1;nn.conv2d", stacks)
        self.assertAlmostEqual(sum(stacks.values()) / 1e6, report["device_ms"], delta=1e-3 * report["device_ms"])
        both = perfc(MODEL, "-d", "l4,t4", "--emit=folded")[1].splitlines()
        self.assertEqual(len(both), 2 * len(lines))
        self.assertTrue(both[0].startswith(f"{MODEL} l4 batch 1;"))

    def test_a_summary_sums_over_modules(self):
        def rows(depth):
            code, out, err = perfc(MODEL, "-d", "l4", "--emit=summary", "--depth", depth)
            self.assertEqual(code, 0, err)
            table = [line.split() for line in out.splitlines()[2:]]
            return [(line, float(cells[-4])) for line, cells in zip(out.splitlines()[2:], table)]
        (report,) = predictions(MODEL, "-d", "l4")
        ((model, total_us),) = rows(0)
        self.assertAlmostEqual(total_us / 1e3, report["device_ms"], delta=1e-3 * report["device_ms"])
        self.assertIn(f"{report['static']['params'] / 1e6:.4g}M", model)
        for depth in (1, 2, 3):
            inner = [us for line, us in rows(depth)[1:] if line.startswith("  ") and not line.startswith("   ")]
            self.assertAlmostEqual(sum(inner), total_us, delta=0.1 * len(inner))
        self.assertEqual(perfc(MODEL, "--emit=summary", "--depth", "x")[0], 2)


class Messages(unittest.TestCase):
    def test_a_dim_without_upper_bound(self):
        for most, said in ((2**63 - 1, "exported for 2 or more"), (2**63 - 2, "exported for 2 or more"),
                           (8, "exported for 2 to 8"), (None, "exported for 2 or more")):
            program = hostile_torch.exported()
            size = {"as_expr": {"expr_str": "s0", "hint": {"as_int": 4}}}
            for tensor in program["graph_module"]["graph"]["tensor_values"].values():
                tensor["sizes"][0] = size
            program["range_constraints"] = {"s0": {"min_val": 2, "max_val": most}}
            with tempfile.TemporaryDirectory() as d:
                file = pathlib.Path(d, "m.pt2")
                file.write_bytes(hostile_torch.packed(program))
                code, _, err = perfc(file, "-b", 1)
                self.assertEqual(code, 0, err)
                self.assertIn(f"is 1, but the program was {said}", err)


if __name__ == "__main__":
    unittest.main()
