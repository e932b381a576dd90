"""The program from outside: options, exit codes, messages, formats.

    python3 tests/cli/cli_test.py build/release/perfc
"""
import gzip
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree as ET
import zipfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests"))
from support import skip_part  # noqa: E402

PERFC = sys.argv.pop(1) if len(sys.argv) > 1 else str(ROOT / "build/release/perfc")
MODEL = str(ROOT / "examples/resnet50.onnx")
PIR = '''#[version = "perfc-ir/1"]
def @main(%x: Tensor[(N, 3), float32]) -> (y: Tensor[(N, 3), float32]) {
  %1 = nn.relu(%x) : Tensor[(N, 3), float32];
  (%1)
}
'''


def perfc(*args, stdin=None, env=None):
    done = subprocess.run([PERFC, *map(str, args)], input=stdin, capture_output=True, text=True,
                          env={**os.environ, **(env or {})})
    return done.returncode, done.stdout, done.stderr


def report(*args):
    code, out, err = perfc(*args, "--json")
    assert code == 0, err
    return json.loads(out)


class Predict(unittest.TestCase):
    def test_short_and_long_form_agree(self):
        self.assertEqual(perfc(MODEL, "--batch", 8), perfc("predict", MODEL, "--batch", 8))

    def test_json_has_every_key_of_the_schema(self):
        doc = report(MODEL, "--batch", 32)
        self.assertEqual(doc["schema"], "perfc.report/1")
        (p,) = doc["predictions"]
        for key in ("model", "batch", "device", "dtype", "mode", "task", "latency_ms", "latency_ms_interval",
                    "memory_mib", "memory_breakdown_mib", "energy_j", "energy_j_interval", "mig", "static", "novelty",
                    "hot_ops", "warnings"):
            self.assertIn(key, p)
        self.assertEqual(p["batch"], 32)
        self.assertEqual(p["static"]["macs"], 32 * 4089184256)
        lo, hi = p["latency_ms_interval"]
        self.assertTrue(0 < lo < p["latency_ms"] < hi)
        self.assertAlmostEqual(sum(p["memory_breakdown_mib"].values()), p["memory_mib"], delta=0.01 * p["memory_mib"])

    def test_same_call_same_bytes(self):
        self.assertEqual(perfc(MODEL, "--json"), perfc(MODEL, "--json"))

    def test_several_devices_make_a_table(self):
        code, out, _ = perfc(MODEL, "--device", "rtx4090,a100-40gb:1g.5gb")
        self.assertEqual(code, 0)
        self.assertTrue(out.startswith("device"))
        self.assertIn("a100-40gb:1g.5gb", out)

    def test_a_slice_is_slower_than_the_device(self):
        whole, part = report(MODEL, "--batch", 64, "--device", "a100-40gb,a100-40gb:1g.5gb")["predictions"]
        self.assertGreater(part["latency_ms"], 4 * whole["latency_ms"])

    def test_a_training_step_takes_longer_and_more_memory(self):
        reports = {
            task: report(MODEL, "--batch", 64, "--dtype", "fp32", "--task", task)["predictions"][0]
            for task in ("infer", "forward", "train")
        }
        memory = {task: r["memory_mib"] for task, r in reports.items()}
        self.assertGreater(memory["forward"], 2 * memory["infer"])
        self.assertGreater(memory["train"], memory["forward"])
        parts = reports["train"]["memory_breakdown_mib"]
        self.assertAlmostEqual(parts["optimizer"], 2 * parts["gradients"], delta=0.01)     # Adam
        self.assertEqual(reports["forward"]["latency_ms"], reports["infer"]["latency_ms"])
        self.assertGreater(reports["train"]["latency_ms"], 2.5 * reports["infer"]["latency_ms"])
        self.assertEqual(
            report(MODEL, "--task", "train", "--optimizer",
                   "sgd")["predictions"][0]["memory_breakdown_mib"]["optimizer"], 0)
        self.assertEqual(perfc(MODEL, "--task", "trian")[0], 2)

    def test_what_a_monitor_sees_of_cudnn_searching(self):
        args = (MODEL, "--batch", 8, "--dtype", "fp32", "--task", "train")
        need, seen = report(*args)["predictions"][0], report(*args, "--cudnn-benchmark")["predictions"][0]
        self.assertNotIn("memory_odds", need)
        self.assertAlmostEqual(seen["memory_mib"], need["memory_mib"] + seen["memory_breakdown_mib"]["search"],
                               delta=0.1)
        mib, odds = zip(*seen["memory_odds"])
        self.assertEqual((list(mib), list(odds)), (sorted(mib, reverse=True), sorted(odds)))
        self.assertEqual(seen["mig"], need["mig"])    # a slice is chosen by the need

    def test_options_change_the_prediction(self):
        base = report(MODEL, "--batch", 64, "--device", "rtx3090")["predictions"][0]["latency_ms"]
        for change in (("--dtype", "fp32"), ("--mode", "compiled"), ("--layout", "nhwc"), ("--batch", "128"),
                       ("--fold-batch-norm", "on")):
            args = {"--batch": "64", change[0]: change[1]}
            other = report(MODEL, "--device", "rtx3090",
                           *[x for kv in args.items() for x in kv])["predictions"][0]["latency_ms"]
            self.assertNotEqual(base, other, change)

    def test_norms_in_16_bits(self):
        norm = """#[version = "perfc-ir/1"]
def @main(%x: Tensor[(65536, 512), float32]) {
  %1 = weight : Tensor[(512, 512), float32];
  %2 = nn.dense(%x, %1);
  %3 = weight : Tensor[(512,), float32];
  %4 = nn.layer_norm(%2, %3, %3);
  %5 = nn.dense(%4, %1);
  (%5)
}
"""
        with tempfile.TemporaryDirectory() as d:
            file = pathlib.Path(d) / "norm.pir"
            file.write_text(norm)
            full, half = (
                report(file, "--device", "rtx3090", "--norms", norms)["predictions"][0] for norms in ("full", "half"))
            self.assertEqual((full["norms"], half["norms"]), ("full", "half"))
            self.assertLess(half["latency_ms"], 0.8 * full["latency_ms"])
            self.assertIn("half norms", perfc(file, "--norms", "half")[1])
            self.assertEqual(perfc(file, "--norms", "ful")[0], 2)

    def test_mig_goals(self):
        free = report(MODEL, "--batch", 32)["predictions"][0]["mig"]["profile"]
        fast = report(MODEL, "--batch", 32, "--max-latency", 30)["predictions"][0]["mig"]["profile"]
        none = report(MODEL, "--batch", 32, "--max-latency", 0.1)["predictions"][0]["mig"]["profile"]
        self.assertEqual(free, "1g.5gb")
        self.assertNotEqual(fast, "1g.5gb")
        self.assertIsNone(none)

    def test_emit(self):
        for kind, start in (("ir", "#[version"), ("dot", "digraph"), ("static", "batch,gmacs"),
                            ("adjacency", "from,to"), ("features", "node,"), ("kernels", "device,kernel")):
            code, out, err = perfc(MODEL, "--emit", kind)
            self.assertEqual(code, 0, err)
            self.assertTrue(out.startswith(start), kind)
        rows = perfc(MODEL, "--emit", "features", "--schema", "dippm")[1].splitlines()
        self.assertEqual(rows[0].count(","), 32)
        self.assertEqual(perfc(MODEL, "--batch", 32, "--emit", "static")[1].splitlines()[1].split(",")[0], "32")

    def test_stdin(self):
        code, out, err = perfc("-", "--batch", 4, "--json", stdin=PIR)
        self.assertEqual(code, 0, err)
        self.assertEqual(json.loads(out)["predictions"][0]["batch"], 4)

    def test_open_dims(self):
        text = PIR.replace("(N, 3)", "(2, seq_len)")
        code, _, err = perfc("-", stdin=text)
        self.assertEqual(code, 1)
        self.assertIn("--dim seq_len=N", err)
        self.assertEqual(perfc("-", "--dim", "seq_len=7", stdin=text)[0], 0)
        code, _, err = perfc("-", "--dim", "seq_le=7", stdin=text)
        self.assertEqual(code, 1)
        self.assertIn("did you mean 'seq_len'?", err)

    def test_batch_of_a_bound_dim(self):
        # The batch is no leading dim of the first input: per-sample figures are of 8 samples all the same.
        text = PIR.replace("(N, 3)", "(20, batch)")
        of_dim, of_axis = (json.loads(perfc("-", "--json", *flags, stdin=text)[1])["predictions"][0]
                           for flags in (("--dim", "batch=8"), ("--batch", 8, "--batch-axis", "x=1")))
        self.assertEqual((of_dim["batch"], of_axis["batch"]), (8, 8))
        self.assertEqual(of_dim["latency_ms"], of_axis["latency_ms"])
        self.assertIn(" · batch 8 · ", perfc("-", "--dim", "batch=8", stdin=text)[1])
        self.assertEqual(perfc("-", "--dim", "batch=8", "--batch", 8, stdin=PIR.replace("N", "batch"))[0], 0)

    def test_saved_model_directory(self):
        graph = """saved_model_schema_version: 1
meta_graphs {
  graph_def {
    node { name: "x" op: "Placeholder" attr { key: "dtype" value { type: DT_FLOAT } }
           attr { key: "shape" value { shape { dim { size: -1 } dim { size: 16 } } } } }
    node { name: "y" op: "Relu" input: "x" attr { key: "T" value { type: DT_FLOAT } } }
    node { name: "z" op: "Relu" input: "nobody" attr { key: "T" value { type: DT_FLOAT } } }
  }
%s
}
"""
        signature = """  signature_def { key: "%s" value {
    inputs { key: "in" value { name: "x:0" dtype: DT_FLOAT tensor_shape { dim { size: -1 } dim { size: 16 } } } }
    outputs { key: "out" value { name: "%s:0" dtype: DT_FLOAT tensor_shape { dim { size: -1 } dim { size: 16 } } } } }
    }"""
        with tempfile.TemporaryDirectory() as d:
            file = pathlib.Path(d, "saved_model.pbtxt")
            file.write_text(graph % "\n".join(signature % (key, node) for key, node in
                                              (("serving_default", "y"), ("again", "y"), ("broken", "z"))))
            self.assertEqual(report(d, "--batch", 4)["predictions"][0]["batch"], 4)
            self.assertEqual(perfc(d, "--emit", "ir")[1].count("nn.relu"), 1)
            self.assertEqual(perfc(d, "--signature", "again", "-q")[0], 0)
            code, _, err = perfc(d, "--signature", "agian")
            self.assertEqual(
                (code, err),
                (1, f"{file}: error: --signature: the model has none named 'agian' (did you mean 'again'?); "
                 "it has serving_default, again, broken\n"))
            code, _, err = perfc(d, "--signature", "broken")
            self.assertEqual(code, 1)
            self.assertIn(f"{file}:7:10: node 2 'z': error: reads 'nobody', which nothing produces", err)
            file.unlink()
            code, _, err = perfc(d)
            self.assertEqual(code, 1)
            self.assertIn("is a directory without a saved_model.pb or saved_model.pbtxt", err)
        code, _, err = perfc(MODEL, "--signature", "serving_default")
        self.assertEqual(
            (code, err),
            (1, f"{MODEL}: error: --signature: only TensorFlow models have signatures; this is ONNX, binary\n"))

    def test_packed_models_are_refused(self):
        with tempfile.TemporaryDirectory() as d:
            packed = pathlib.Path(d, "saved_model.pb.gz")
            packed.write_bytes(gzip.compress(pathlib.Path(MODEL).read_bytes()[:1000]))
            code, _, err = perfc(packed)
            self.assertEqual(code, 1)
            self.assertIn("cannot import: compressed with gzip; unpack it", err)
            packed = pathlib.Path(d, "model.zip")
            with zipfile.ZipFile(packed, "w") as archive:
                archive.writestr("model/saved_model.pb", b"\x08\x01")
            code, _, err = perfc(packed)
            self.assertEqual(code, 1)
            self.assertIn("cannot import: a zip archive of a TensorFlow SavedModel; unpack it", err)

    def test_output_file_is_complete_or_absent(self):
        with tempfile.TemporaryDirectory() as d:
            target = pathlib.Path(d, "out.json")
            self.assertEqual(perfc(MODEL, "--json", "-o", target)[0], 0)
            self.assertEqual(json.loads(target.read_text())["schema"], "perfc.report/1")
            self.assertEqual(perfc("missing.onnx", "--json", "-o", pathlib.Path(d, "none"))[0], 1)
            self.assertEqual(sorted(os.listdir(d)), ["out.json"])
        code, _, err = perfc(MODEL, "-o", "/nonexistent/out")
        self.assertEqual(code, 1)
        self.assertIn("/nonexistent/out: cannot write", err)

    def test_no_colour_outside_a_terminal(self):
        self.assertNotIn("\x1b", perfc(MODEL)[1])

    def test_quiet_is_one_line(self):
        self.assertEqual(len(perfc(MODEL, "--quiet")[1].splitlines()), 1)


class Usage(unittest.TestCase):
    def fails(self, code, text, *args):
        got, _, err = perfc(*args)
        self.assertEqual(got, code, err)
        self.assertIn(text, err)

    def test_misspelt_words(self):
        self.fails(2, "did you mean 'devices'?", "devcies")
        self.fails(2, "did you mean '--batch'?", MODEL, "--bach", 3)
        self.fails(2, "did you mean 'a100-40gb'?", MODEL, "--device", "a100-40bg")
        self.fails(2, "did you mean '1g.5gb'?", MODEL, "--device", "a100-40gb:1g.5g")
        self.fails(2, "did you mean 'compiled'?", MODEL, "--mode", "compile")
        self.fails(2, "did you mean 'fp16'?", MODEL, "--dtype", "fp166")
        self.fails(2, "did you mean 'fold-constants'?", "opt", MODEL, "--passes=fold-constant")
        self.fails(2, "'0' is not a whole number from 1 to 2147483648", MODEL, "--batch", 0)
        self.fails(2, "is not INPUT=d0,d1", MODEL, "--shape", "x=1,y")

    def test_bad_files(self):
        self.fails(1, "nope.onnx: error: cannot open: No such file", "nope.onnx")
        self.fails(1, "is a directory", str(ROOT / "examples"))
        with tempfile.NamedTemporaryFile(suffix=".onnx") as f:
            self.fails(1, "the file is empty", f.name)

    def test_one_bad_model_does_not_stop_the_others(self):
        code, out, err = perfc("nope.onnx", MODEL, "--json")
        self.assertEqual(code, 1)
        self.assertEqual(len(json.loads(out)["predictions"]), 1)
        self.assertIn("nope.onnx", err)

    def test_version_help_completion(self):
        self.assertRegex(perfc("--version")[1], r"^perfc \d+\.\d+")
        self.assertIn("predict", perfc("--help")[1])
        for shell in ("bash", "zsh", "fish"):
            self.assertIn("perfc", perfc("completion", shell)[1])


class Tables(unittest.TestCase):
    def test_devices(self):
        self.assertIn("a100-40gb", perfc("devices")[1])
        self.assertIn("1g.5gb", perfc("devices", "A100")[1])
        doc = json.loads(perfc("devices", "t4", "--json")[1])
        doc["devices"][0]["name"] = "mine"
        with tempfile.NamedTemporaryFile("w", suffix=".json") as f:
            json.dump(doc, f)
            f.flush()
            self.assertEqual(
                report(MODEL, "--device-file", f.name, "--device", "mine")["predictions"][0]["device"], "mine")
        doc["devices"][0]["bandwith_gb_s"] = 1
        with tempfile.NamedTemporaryFile("w", suffix=".json") as f:
            json.dump(doc, f)
            f.flush()
            code, _, err = perfc(MODEL, "--device-file", f.name, "--device", "mine")
            self.assertEqual(code, 1)
            self.assertIn("devices[0].bandwith_gb_s: is not a field (did you mean 'bandwidth_gb_s'?)", err)

    def test_a_host_is_a_name_or_a_file(self):
        one = ("--batch", "1", "--device", "h100-sxm", "--predictor", "whitebox")
        hosts = json.loads(perfc("devices", "--hosts", "--json")[1])
        desktop = next(h for h in hosts["hosts"] if h["name"] == "desktop")
        with tempfile.NamedTemporaryFile("w", suffix=".json") as f:
            json.dump({**hosts, "hosts": [{**desktop, "name": "mine"}]}, f)
            f.flush()
            stock, named, filed = (report(MODEL, *one, *how)["predictions"][0]
                                   for how in ((), ("--host", "desktop"), ("--host", f.name)))
            self.assertEqual([p["host"]["name"] for p in (stock, named, filed)], ["server", "desktop", "mine"])
            self.assertEqual([p["bound"] for p in (stock, named)], ["host", "host"])
            self.assertLess(named["latency_ms"], stock["latency_ms"])
            self.assertEqual(named["latency_ms"], filed["latency_ms"])
            # A host whose age is not known is predicted as of either.
            kinds = [h["host"] for h in stock["hosts"]]
            self.assertEqual(kinds, ["server-2024", "server-2020"])
            for told, kind in zip(stock["hosts"], kinds):
                self.assertEqual(told["latency_ms"],
                                 report(MODEL, *one, "--host", kind)["predictions"][0]["latency_ms"])
            self.assertEqual([p["hosts"] for p in (named, filed)], [[], []])
            self.assertAlmostEqual(stock["host"]["calls"] * stock["host"]["us_per_call"] / 1e3, stock["host_ms"], 3)
            f.seek(0)
            f.truncate()
            json.dump(hosts, f)
            f.flush()
            code, _, err = perfc(MODEL, *one, "--host", f.name)
            self.assertEqual(code, 1)
            self.assertIn(f"{f.name}: error: hosts: has {len(hosts['hosts'])} entries", err)
        code, _, err = perfc(MODEL, *one, "--host", "dekstop")
        self.assertEqual(code, 2)
        self.assertIn("unknown host 'dekstop' (did you mean 'desktop'?)", err)

    def test_a_stack_is_a_name_or_a_file(self):
        one = ("--batch", "8", "--device", "a100-40gb", "--predictor", "whitebox")
        stacks = json.loads(perfc("devices", "--stacks", "--json")[1])
        old = next(s for s in stacks["stacks"] if s["name"] == "migprofiler-40gb")
        with tempfile.NamedTemporaryFile("w", suffix=".json") as f:
            json.dump({**stacks, "stacks": [{**old, "name": "mine"}]}, f)
            f.flush()
            stock, named, filed = (report(MODEL, *one, *how)["predictions"][0]
                                   for how in ((), ("--stack", old["name"]), ("--stack", f.name)))
        self.assertEqual([p["stack"]["name"] for p in (stock, named, filed)], ["pytorch-2", old["name"], "mine"])
        self.assertEqual(named["memory_mib"], filed["memory_mib"])
        self.assertAlmostEqual(named["stack"]["context_mib"], 1446 + 2.14 * 108 * 2 + 256, 0)
        self.assertAlmostEqual(named["memory_mib"] - named["stack"]["context_mib"],
                               stock["memory_mib"] - stock["stack"]["context_mib"], 1)
        self.assertEqual(named["latency_ms"], stock["latency_ms"])
        for p in (stock, named):
            self.assertLess(p["memory_mib_interval"][0], p["memory_mib"])
            self.assertGreater(p["memory_mib_interval"][1], p["memory_mib"])
        code, _, err = perfc(MODEL, *one, "--stack", "pytorch2")
        self.assertEqual(code, 2)
        self.assertIn("unknown stack 'pytorch2' (did you mean 'pytorch-2'?)", err)
        self.assertEqual(perfc("devices", "--stacks", "--hosts")[0], 2)
        self.assertEqual(perfc("devices", "--stacks", "a100-40gb")[0], 2)

    def test_calibrated_device_is_a_device_file(self):
        with tempfile.TemporaryDirectory() as folder:
            labels, device = f"{folder}/labels.csv", f"{folder}/mine.json"
            with open(labels, "w") as f:
                f.write("model,batch,device,dtype,mode,task,latency_ms,memory_mib,energy_j\n")
                f.writelines(f"{MODEL},{batch},t4,fp32,eager,infer,{batch * 10},,\n" for batch in (16, 32, 64))
            code, out, err = perfc("devices", "calibrate", labels, "-o", device, "--predictor", "whitebox", "--name",
                                   "mine")
            self.assertEqual((code, out), (0, ""))
            self.assertRegex(
                err, r"mine calibrated on 3 labels \(0 left out\); mean error on them [\d.]+ % before, [\d.]+ % after")
            before, after = (float(x) for x in re.findall(r"([\d.]+) %", err))
            self.assertLess(after, before / 2)
            said = report(MODEL, "--batch", "32", "--device-file", device, "--device", "mine", "--dtype", "fp32",
                          "--predictor", "whitebox")
            self.assertAlmostEqual(said["predictions"][0]["latency_ms"], 320, delta=64)
            code, _, err = perfc("devices", "calibrate", f"{folder}/none.csv")
            self.assertEqual(code, 1)
            self.assertIn("none.csv", err)
        self.assertEqual(perfc("devices", "calibrate")[0], 2)

    def test_nvidia_smi(self):
        folder = ROOT.parent / "shared/formats/nvidia_smi"
        if not folder.exists():
            skip_part("test_nvidia_smi: ../shared is not there")
            self.skipTest("../shared is not there")
        for f in sorted(folder.glob("*.xml")):
            code, out, err = perfc("devices", "--from-nvidia-smi", f)
            self.assertEqual(code, 0, err)
            self.assertIn("MiB free", out)
        self.assertEqual(report(MODEL, "--from-nvidia-smi", folder / "tesla-t4.xml")["predictions"][0]["device"], "t4")

    def test_ops(self):
        ops = {o["op"]: o["becomes"] for o in json.loads(perfc("ops", "--json")[1])["frontends"]["onnx"]}
        self.assertEqual(ops["Relu"], "nn.relu")
        self.assertIn("nn.conv2d", ops["Conv"])
        self.assertIn("com.microsoft.FusedConv", ops)
        with open(os.path.join(ROOT, "docs", "ops.md")) as f:
            self.assertEqual(f.read(), perfc("ops", "--markdown")[1], "rewrite it: perfc ops --markdown > docs/ops.md")


class Counters(unittest.TestCase):
    FIXTURES = ROOT / "tests/fixtures/counters"

    def test_show_tells_read_derived_and_missing(self):
        code, out, err = perfc("counters", "show", self.FIXTURES / "perf.csv")
        self.assertEqual((code, err), (0, ""))
        for line in ("  instructions:u                                               8000 ",
                     "  cache-misses:u                                    <not supported>",
                     "  branch_miss_ratio                0.05 1    branch-misses:u / branches:u",
                     "  page_faults            not measured; needs page-faults",
                     "  warp_blocks            not measured; this tool has no counter for it"):
            self.assertIn(line + "\n", out)

    def test_json_of_a_folder(self):
        code, out, err = perfc("counters", "show", "--json", self.FIXTURES / "hpctoolkit-db")
        self.assertEqual((code, err), (0, ""))
        doc = json.loads(out)
        self.assertEqual((doc["schema"], doc["format"]), ("perfc.profile/1", "hpctoolkit-db"))
        self.assertEqual(doc["record"]["cpu_to_gpu_bandwidth"],
                         {"value": 2e9, "unit": "B/s", "from": "GXCOPY:H2D (B) / GXCOPY (sec)"})
        self.assertIsNone(doc["record"]["page_faults"]["value"])
        self.assertIn("missing", doc["record"]["page_faults"])
        self.assertEqual([r["parent"] for r in doc["regions"]], [0, 1, 2])

    def test_mapping(self):
        table, mapping = self.FIXTURES / "table.csv", self.FIXTURES / "table_mapping.csv"
        code, out, _ = perfc("counters", "show", "--json", "--mapping", mapping, table)
        self.assertEqual((code, json.loads(out)["record"]["cache_miss_ratio"]["value"]), (0, 0.4))
        code, out, err = perfc("counters", "show", "--mapping", mapping, self.FIXTURES / "hpctoolkit-db")
        self.assertEqual((code, out), (1, ""))
        self.assertIn("error: --mapping is for a plain CSV file; this is a folder", err)

    def test_standard_input_and_what_is_no_profile(self):
        code, out, _ = perfc("counters", "show", "--json", "-", stdin=(self.FIXTURES / "perf.jsonl").read_text())
        self.assertEqual((code, json.loads(out)["record"]["page_faults"]["value"]), (0, 111))
        for path, words in ((MODEL, "not a profile that perfc reads; it reads hpctoolkit-db"),
                            ("/nonexistent", "cannot open"), (ROOT / "tests", "not a profile that perfc reads")):
            code, out, err = perfc("counters", "show", path)
            self.assertEqual((code, out), (1, ""))
            self.assertIn(words, err)

    def test_predict_from_a_profile(self):
        profile = self.FIXTURES / "caliper.json"
        code, out, err = perfc("counters", "predict", profile, "--machines", "quartz,lassen", "--json")
        self.assertEqual((code, err), (0, ""))
        doc = json.loads(out)
        self.assertEqual((doc["schema"], doc["model"], doc["relative_to"]), ("perfc.relative/1", "rajaperf", "quartz"))
        (run,) = doc["workloads"]
        machines = {m["machine"]: m for m in run["machines"]}
        self.assertEqual(set(machines), {"quartz", "lassen"})
        self.assertEqual(machines["quartz"]["relative_time"], 1)
        self.assertTrue(machines["lassen"]["low"] < machines["lassen"]["relative_time"] < machines["lassen"]["high"])
        self.assertEqual(run["order"], sorted(machines, key=lambda m: machines[m]["relative_time"]))
        self.assertIn("work:bytes", run["missing"])
        self.assertNotIn("counter:topdown_retiring", run["missing"])
        code, out, _ = perfc("counters", "predict", profile, "--machines", "quartz,lassen")
        self.assertIn("  order: lassen < quartz\n  missing: 22 of 26 columns; ", out)
        code, out, _ = perfc("counters", "predict", self.FIXTURES / "caliper.json", "--regions", "--json", "--model",
                             "rajaperf")
        self.assertEqual([w["workload"] for w in json.loads(out)["workloads"]],
                         ["(outside of regions)", "solve", "apply"])

    def test_predict_from_a_table_that_has_all(self):
        """A row of RAJAPerf as its Caliper files name it: nothing is missing, and the interval is the model's own."""
        names = (
            "retiring frontend_bound backend_bound bad_speculation branch_mispredict machine_clears frontend_latency "
            "frontend_bandwidth memory_bound "
            "core_bound ext_memory_bound l1_bound l2_bound l3_bound").split()
        with tempfile.TemporaryDirectory() as folder:
            table = pathlib.Path(folder) / "run.csv"
            table.write_text("kernel,Reps,Kernels/Rep,Bytes/Rep,Flops/Rep,Iterations/Rep,time_s," +
                             ",".join("topdown_" + n for n in names) + "\n"
                             "TRIAD,10,1,201326592,16777216,8388608,0.4," + ",".join(["0.1"] * len(names)) + "\n")
            code, out, err = perfc("counters", "predict", table, "--machines", "lassen", "--json")
            self.assertEqual((code, err), (0, ""))
            (run,) = json.loads(out)["workloads"]
            self.assertEqual(run["missing"], [])
            # 200 MB at 900 GB/s take 0.22 ms, of the 40 ms on Quartz.
            self.assertTrue(0.003 < run["machines"][0]["relative_time"] < 0.02, run)

    def test_schedule(self):
        with tempfile.TemporaryDirectory() as folder:
            jobs, machines = pathlib.Path(folder) / "jobs.csv", pathlib.Path(folder) / "machines.json"
            jobs.write_text("job,predicted:fast,predicted:slow,time:fast,time:slow\na,3,6,3,6\nb,4,8,4,20\nc,6,12,6,12\n")
            machines.write_text('{"machines": [{"name": "fast"}, {"name": "slow", "count": 1}]}')
            code, out, err = perfc("counters", "schedule", jobs, "--machines", machines, "--json")
            self.assertEqual((code, err), (0, ""))
            doc = json.loads(out)
            self.assertTrue(doc["measured"])
            makespans = {p["policy"]: p["makespan_s"] for p in doc["policies"]
                        }  # by hand: tests/unit/counter_schedule_test.cpp
            self.assertEqual({k: makespans[k] for k in ("predicted", "oracle", "round-robin", "single-best")},
                             {"predicted": 20, "oracle": 10, "round-robin": 20, "single-best": 13})
            self.assertEqual([(p["job"], p["machine"]) for p in doc["schedule"]], [("c", "fast"), ("b", "slow"),
                                                                                   ("a", "fast")])
            again = [
                perfc("counters", "schedule", jobs, "--machines", machines, "--rate", 0.1, "--seed", s)
                for s in (1, 1, 2)
            ]
            self.assertEqual(again[0], again[1])
            self.assertNotEqual(again[0], again[2])
            dataset = pathlib.Path(folder) / "workloads.csv"
            dataset.write_text("workload,work:launch,work:bytes,work:flops,work:iterations,work:seconds,time:quartz,time:lassen\n"
                               "x,1,2e8,2e7,8e6,0.02,0.02,3e-4\ny,1,4e8,4e7,16e6,0.04,0.04,6e-4\n")
            machines.write_text('{"machines": [{"name": "quartz"}, {"name": "lassen"}]}')
            code, out, err = perfc("counters", "schedule", dataset, "--machines", machines, "--json")
            self.assertEqual((code, err), (0, ""))
            doc = json.loads(out)
            self.assertEqual((doc["model"], [p["machine"] for p in doc["schedule"]]),
                             ("rajaperf", ["lassen", "lassen"]))
            for args, want, words in (([jobs, "--machines", jobs], 1, "jobs.csv: error: not valid JSON; wants"), ([
                    jobs, "--machines", machines
            ], 1, "'a' has a predicted time on none of quartz, lassen"), ([
                    jobs, "--machines", machines, "--model", "aiwc"
            ], 2, "is no dataset of workloads"), ([jobs], 2, "--machines is required")):
                code, out, err = perfc("counters", "schedule", *args)
                self.assertEqual((code, out), (want, ""), err)
                self.assertIn(words, err)

    def test_adapt(self):
        with tempfile.TemporaryDirectory() as folder:
            data, sheet = pathlib.Path(folder) / "data.csv", pathlib.Path(folder) / "sheet.csv"
            rows = [
                f"{i},{10.0 ** (5 + i / 4)}," + ",".join(f"{2 * 10.0 ** (5 + i / 4) / rate:.6g}"
                                                         for rate in (1e9, 2e9, 4e9)) for i in range(12)
            ]
            data.write_text("workload,work:words,time:a,time:b,time:c,time:new\n" +
                            "".join(r + (",\n" if i else ",2.5e-5\n") for i, r in enumerate(rows)))
            sheet.write_text("machine,work,units_per_s\n" + "".join(
                f"{m},words,{r}e9\n" for m, r in (("a", 1), ("b", 2), ("c", 4), ("new", 8), ("newer", 16))))
            code, out, err = perfc("counters", "adapt", "--data", data, "--data-sheet", sheet, "--machine", "new",
                                   "--json")
            self.assertEqual((code, err), (0, ""))
            doc = json.loads(out)
            self.assertEqual((doc["machine"], doc["samples"], len(doc["workloads"])), ("new", 1, 11))
            for i, w in enumerate(doc["workloads"], start=1):
                self.assertAlmostEqual(w["seconds"] / (2 * 10.0 ** (5 + i / 4) / 8e9), 1, delta=0.1)
                self.assertTrue(w["low"] <= w["seconds"] <= w["high"])
            code, out, _ = perfc("counters", "adapt", "--data", data, "--data-sheet", sheet, "--machine", "newer",
                                 "--machines", "a,b,c", "--json")
            doc = json.loads(out)
            self.assertEqual((code, doc["samples"], len(doc["workloads"])), (0, 0, 12))
            self.assertAlmostEqual(doc["workloads"][0]["seconds"] / (2e5 / 16e9), 1, delta=0.15)
            code, out, _ = perfc("counters", "adapt", "--data", data, "--machines", "a,b,c", "--samples", "0,2",
                                 "--seeds", 1, "--json")
            self.assertEqual((code, [p["samples"] for p in json.loads(out)["curve"]]), (0, [0, 2]))
            for args, want, words in ((["--machine", "a"], 1, "every workload was measured on 'a'"), ([
                    "--machines", "a,b,x"
            ], 2, "'x' has no column of times in"), (["--machines", "a,b,c", "--samples", "11"], 2,
                                                     "'a' has times of 12 workloads; 11 and two more are needed"), ([
                                                         "--machines", "a,b"
                                                     ], 1, "wants times on three machines")):
                code, out, err = perfc("counters", "adapt", "--data", data, "--samples", "0,1", *args)
                self.assertEqual((code, out), (want, ""), err)
                self.assertIn(words, err)

    def test_eval_folds_and_predictions(self):
        with tempfile.TemporaryDirectory() as folder:
            data, predictions = pathlib.Path(folder) / "data.csv", pathlib.Path(folder) / "predictions.csv"
            data.write_text("workload,application,counter:c,work:w,time:a,time:b\n" +
                            "".join(f"{i},app{i // 3},{i},{i + 1},{i + 1},{2 * i + 3}\n" for i in range(12)))
            args = [
                "counters", "eval", "--data", data, "--split", "application", "--seeds", 1, "--models", "mean,costs"
            ]
            code, out, err = perfc(*args, "--folds", 2, "--markdown", "--predictions", predictions)
            self.assertEqual((code, err), (0, ""))
            self.assertEqual([line.split("|")[1].strip() for line in out.splitlines()],
                             ["model", "---", "mean", "costs"])
            rows = predictions.read_text().splitlines()
            self.assertEqual((rows[0], len(rows)), ("model,seed,workload,machine,predicted,measured", 1 + 2 * 12 * 2))
            # More folds than applications: each alone, as without the option.
            self.assertEqual(perfc(*args, "--folds", 1000), perfc(*args))
            for folds in (0, 1, 1001, -1, "x"):
                code, out, err = perfc(*args, "--folds", folds)
                self.assertEqual((code, out), (2, ""))
                self.assertIn("--folds", err)

    def test_predict_refuses(self):
        for args, code, words in (([
                self.FIXTURES / "caliper.json", "--machines", "lassen,frontier"
        ], 2, "no built-in model knows lassen and frontier (rajaperf: lassen, quartz;"), ([
                self.FIXTURES / "caliper.json", "--machines", "x", "--model", "aiwc"
        ], 2, "--machines: 'x' is none of the model's i7-6700k, "), ([
                self.FIXTURES / "table.csv"
        ], 1, "holds none of the 26 columns of the model 'rajaperf'; `perfc counters show` tells what it holds"), ([
                self.FIXTURES / "caliper.json", "--model", MODEL
        ], 1, "error:"), (["/nonexistent"], 1, "cannot open")):
            got, out, err = perfc("counters", "predict", *args)
            self.assertEqual((got, out), (code, ""), args)
            self.assertIn(words, err)

    def test_names_and_usage(self):
        code, out, _ = perfc("counters", "names", "--json")
        doc = json.loads(out)
        self.assertEqual((code, len(doc["columns"])), (0, 16))
        self.assertIn({"name": "PAPI_BR_MSP", "family": "papi", "quantity": "branch_misses"}, doc["counters"])
        for args, words in ((["shw", "x"], "(did you mean 'show'?)"), ([], "is followed by one of show"),
                            (["show", "x", "--mappin", "y"], "(did you mean '--mapping'?)")):
            code, _, err = perfc("counters", *args)
            self.assertEqual(code, 2)
            self.assertIn(words, err)


class Check(unittest.TestCase):
    def check(self, text, *args):
        with tempfile.NamedTemporaryFile("w", suffix=".yaml") as f:
            f.write(text)
            f.flush()
            return perfc("check", MODEL, "--budget", f.name, *args)

    def test_within_and_beyond(self):
        self.assertEqual(self.check("models: [{model: resnet50.onnx, max_latency_ms: 1000}]")[0], 0)
        with tempfile.TemporaryDirectory() as d:
            junit = pathlib.Path(d, "j.xml")
            code, out, _ = self.check("models: [{model: resnet50.onnx, max_latency_ms: 0.001, max_params: 26e6}]",
                                      "--junit", junit)
            self.assertEqual(code, 3)
            self.assertIn("EXCEEDED", out)
            suite = ET.parse(junit).getroot()
            self.assertEqual((suite.get("tests"), suite.get("failures")), ("2", "1"))

    def test_a_budget_names_its_host(self):
        limit = "models: [{model: resnet50.onnx, device: h100-sxm, batch: 1, max_latency_ms: 2.5, host: %s}]"
        self.assertEqual([self.check(limit % host)[0] for host in ("server", "desktop")], [3, 0])

    def test_mig_profile_is_a_limit(self):
        self.assertEqual(self.check("models: [{model: resnet50.onnx, mig_profile: 7g.40gb}]")[0], 0)
        self.assertEqual(
            self.check("models: [{model: resnet50.onnx, batch: 256, mig_profile: 1g.5gb, max_latency_ms: 1e9}]")[0], 0)
        large = "models: [{model: resnet50.onnx, batch: 400, mig_profile: 1g.5gb%s}]"
        self.assertEqual(self.check(large % "")[0], 0)
        code, out, _ = self.check(large % ", stack: migprofiler-40gb")
        self.assertEqual(code, 3)
        self.assertRegex(out, r"EXCEEDED .* mig_profile +1g.10gb +limit 1g.5gb")

    def test_memory_is_a_limit(self):
        limit = "models: [{model: resnet50.onnx, device: t4, batch: %s, fits: true}]"
        self.assertEqual(self.check(limit % 8)[0], 0)
        code, out, _ = self.check(limit % 100000)
        self.assertEqual(code, 3)
        self.assertRegex(out, r"EXCEEDED .* fits +\d+ MiB +limit 15360 MiB, which batch \d+ fits")
        code, _, err = self.check("models: [{model: resnet50.onnx, fits: no}]")
        self.assertEqual(code, 1)
        self.assertIn("'fits' must be true", err)

    def test_inputs_are_said_as_on_the_command_line(self):
        steps = """#[version = "perfc-ir/1"]
            def @main(%x: Tensor[(20, 2, 8), float32], %n: Tensor[(), int64], %go: Tensor[(), bool]) {
              %3 = loop(_, %go, %x, captures=0) @decoder {
                fn @body(%i: Tensor[(), int64], %c: Tensor[(), bool], %h: Tensor[(20, 2, 8), float32]) {
                  %3 = exp(%h);
                  %4 = max(%3, keepdims=0);
                  %5 = const[8.0] : Tensor[(), float32];
                  %6 = less(%4, %5);
                  (%6, %3)
                }
              };
              %4 = const[0] : Tensor[(1,), int64];
              %5 = const[1] : Tensor[(1,), int64];
              %6 = const[-1] : Tensor[(1,), int64];
              %7 = reshape(%n, %6);
              %8 = strided_slice(%3, %4, %7, %4) @taken;
              %9 = exp(%8);
              (%9)
            }
            """
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder, "steps.pir").write_text(steps)
            budgets = pathlib.Path(folder, "budgets.yaml")
            said = {"batch_axis": "[x=1, n=none, go=none]", "value": "n=3", "trip_count": "decoder=5"}
            options = ["--batch-axis", "x=1", "--batch-axis", "n=none", "--batch-axis", "go=none", "--value", "n=3",
                       "--trip-count", "decoder=5"]
            report = perfc("predict", pathlib.Path(folder, "steps.pir"), "--batch", "4", *options, "--json")
            self.assertEqual(report[0], 0, report[2])
            latency = json.loads(report[1])["predictions"][0]["latency_ms"]
            for limit, expected in ((latency * 1.001, 0), (latency * 0.999, 3)):
                rows = "".join(f"    {key}: {value}\n" for key, value in said.items())
                budgets.write_text(f"models:\n  - model: steps.pir\n    batch: 4\n{rows}    max_latency_ms: {limit}\n")
                code, out, err = perfc("check", "--budget", budgets)
                self.assertEqual(code, expected, out + err)
            budgets.write_text("models: [{model: steps.pir, trip_count: decodr=5, max_latency_ms: 1}]")
            code, _, err = perfc("check", "--budget", budgets)
            self.assertEqual(code, 1)
            self.assertIn("no loop whose rounds the file leaves open is named 'decodr'", err)

    def test_errors_in_the_file(self):
        code, _, err = self.check("models:\n  - model: resnet50.onnx\n    max_latency: 3\n")
        self.assertEqual(code, 1)
        self.assertRegex(err, r":3:5: error: unknown key 'max_latency' \(did you mean 'max_latency_ms'\?\)")
        self.assertEqual(self.check("models: [{model: resnet50.onnx, max_latency_ms: fast}]")[0], 1)
        self.assertEqual(self.check("models: [")[0], 1)
        self.assertEqual(self.check("models: [{model: other.onnx, max_macs: 1}]")[0], 2)

    def test_the_example_of_the_docs(self):
        self.assertEqual(perfc("check", "--budget", ROOT / "examples/budgets.yaml")[0], 0)


if __name__ == "__main__":
    unittest.main()
