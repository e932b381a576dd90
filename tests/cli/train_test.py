"""Training and evaluation from outside: repeatable, resumable, honest about its input.

    python3 tests/cli/train_test.py build/release/perfc
"""
import json
import os
import pathlib
import signal
import struct
import subprocess
import sys
import tempfile
import time
import unittest
import xml.etree.ElementTree

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests"))
from support import MPI_ENVIRONMENT, as_ranks, skip_part  # noqa: E402

PERFC = pathlib.Path(sys.argv.pop(1) if len(sys.argv) > 1 else ROOT / "build/release/perfc").resolve()
MPI = PERFC.with_name("perfc-mpi")
QUICK = ["--threads", "1", "--recipe", "normalised", "--device", "rtx4090"]


def chain(depth, width):
    """A multilayer perceptron of `depth` layers as IR text."""
    text = [
        '#[version = "perfc-ir/1"]',
        f"def @main(%x: Tensor[(8, {width}), float32]) -> (y: Tensor[(8, {width}), float32]) {{"
    ]
    last = "x"
    for i in range(depth):
        text.append(f"  %r{i} = nn.relu(%{last}) : Tensor[(8, {width}), float32];")
        text.append(f"  %a{i} = add(%r{i}, %{last}) : Tensor[(8, {width}), float32];")
        last = f"a{i}"
    return "\n".join(text + [f"  (%{last})", "}", ""])


def perfc(*args, program=(PERFC,), env=None):
    done = subprocess.run([*map(str, program), *map(str, args)], capture_output=True, text=True,
                          env={**os.environ, **(env or {})})
    return done.returncode, done.stdout, done.stderr


def header(path):
    data = path.read_bytes()
    (length,) = struct.unpack("<Q", data[:8])
    return json.loads(data[8:8 + length]), data[8 + length:]


def rewrite(path, head, data):
    text = json.dumps(head).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)


class Training(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.dir = pathlib.Path(cls.folder.name)
        rows = ["model,batch,device,dtype,mode,task,latency_ms,memory_mib,energy_j,source,licence,family"]
        for i in range(40):
            depth, width = 1 + i % 8, 64 << (i % 5)
            (cls.dir / f"net{i}.pir").write_text(chain(depth, width))
            rows.append(
                f"net{i}.pir,8,rtx4090,amp,eager,infer,{0.1 * depth + width / 1000},{400 + width},,made "
                f"up,CC0,depth{depth}"
            )
        rows.append("net0.pir,8,rtx3090,amp,eager,infer,1,,,made up,CC0,depth1")
        cls.data = cls.dir / "labels.csv"
        cls.data.write_text("\n".join(rows) + "\n")

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def train(self, name, *more, model="pmgns-mlp"):
        out = self.dir / name
        code, text, err = perfc("train", "--data", self.data, "--model", model, "--out", out, *QUICK, *more)
        self.assertEqual(code, 0, err)
        return out.read_bytes(), text, err

    def test_same_seed_same_bytes(self):
        a, text, _ = self.train("a.safetensors", "--epochs", 2, model="pmgns-sage")
        self.assertIn("trained after", text)
        self.assertEqual(a, self.train("b.safetensors", "--epochs", 2, model="pmgns-sage")[0])
        self.assertNotEqual(a, self.train("c.safetensors", "--epochs", 2, "--seed", 2, model="pmgns-sage")[0])
        self.assertFalse((self.dir / "a.safetensors.state").exists())

    def test_a_killed_run_resumes_to_the_same_bytes(self):
        whole, _, _ = self.train("whole.safetensors", "--epochs", 12)
        out, log = self.dir / "killed.safetensors", self.dir / "killed.jsonl"
        command = [
            str(c) for c in (PERFC, "train", "--data", self.data, "--model", "pmgns-mlp", "--out", out, "--epochs", 12,
                             "--save-every", 1, "--log", log, *QUICK)
        ]
        kills = 0
        for _ in range(3):
            run = subprocess.Popen([*command, "--resume"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            while run.poll() is None and not pathlib.Path(f"{out}.state").exists():
                time.sleep(0.005)
            time.sleep(0.02)
            run.send_signal(signal.SIGKILL)
            kills += run.wait() == -signal.SIGKILL
        self.assertGreater(kills, 0, "every run was over before the kill")
        code, _, err = perfc(*command[1:], "--resume")
        self.assertEqual(code, 0, err)
        self.assertEqual(out.read_bytes(), whole)
        lines = [json.loads(line) for line in log.read_text().splitlines()]
        self.assertEqual([line["epoch"] for line in lines], list(range(1, 13)))

    def test_an_interrupted_run_says_how_to_go_on(self):
        out = self.dir / "stopped.safetensors"
        run = subprocess.Popen([
            str(c) for c in (PERFC, "train", "--data", self.data, "--model", "pmgns-mlp", "--out", out, "--epochs",
                             100000, "--save-every", 1, *QUICK)
        ], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        while run.poll() is None and not pathlib.Path(f"{out}.state").exists():
            time.sleep(0.005)
        run.send_signal(signal.SIGINT)
        _, err = run.communicate()
        self.assertEqual(run.returncode, 1)
        self.assertRegex(err, r"stopped after step \d+; the same command with --resume goes on")
        self.assertFalse(out.exists())

    def test_range_test_prints_its_curve(self):
        code, out, err = perfc("train", "--data", self.data, "--model", "pmgns-mlp", "--find-lr", *QUICK)
        self.assertEqual(code, 0, err)
        lines = out.splitlines()
        self.assertEqual(lines[0], "step,learning_rate,loss,smoothed")
        self.assertGreater(len(lines), 20)
        rates = [float(line.split(",")[1]) for line in lines[1:]]
        self.assertEqual(rates, sorted(rates))
        self.assertRegex(err, r"suggested: --lr [0-9.e-]+")

    def test_eval_prints_every_head_and_split(self):
        self.train("eval.safetensors", "--epochs", 25, "--batch", 4, model="pmgns-sage")
        code, out, err = perfc("eval", self.dir / "eval.safetensors", "--data", self.data, "--device", "rtx4090",
                               "--markdown")
        self.assertEqual(code, 0, err)
        rows = {
            tuple(c.strip() for c in line.split("|")[1:3]): [c.strip() for c in line.split("|")[3:-1]]
            for line in out.splitlines()[2:]
        }
        self.assertEqual(rows["latency", "all"][0], "40")
        parts = [int(rows["latency", part][0]) for part in ("training", "validation", "test")]
        self.assertEqual(sum(parts), 40)
        self.assertLess(float(rows["latency", "training"][1]), 20)   # it has learnt them
        self.assertIn(("memory", "test"), rows)
        self.assertTrue(any(key[1].startswith("test, family depth") for key in rows))
        self.assertFalse(any(key[0] == "energy" for key in rows))     # no labels
        code, out, err = perfc("eval", "--data", self.data)
        self.assertEqual(code, 0, err)
        self.assertIn("41", out.splitlines()[1])

    def test_eval_draws_what_it_measured(self):
        plot = self.dir / "plot.svg"
        code, _, err = perfc("eval", "whitebox", "--data", self.data, "--device", "rtx4090", "--plot", plot)
        self.assertEqual(code, 0, err)
        picture = xml.etree.ElementTree.parse(plot).getroot()
        points = picture.findall("{*}circle/{*}title")
        self.assertEqual(len(points), 40)
        self.assertTrue(any(p.text.startswith("net7.pir, batch 8, rtx4090: ") for p in points))

    def test_labels_are_chosen_by_batch(self):
        for batches, count in (("8-8", 41), ("-8", 41), ("9-", 0), ("1-7", 0)):
            code, out, err = perfc("eval", "whitebox", "--data", self.data, "--batches", batches)
            self.assertEqual(code, 0 if count else 1, err)
            self.assertIn("41" if count else "no label ran in the chosen setting",
                          out.splitlines()[1] if count else err)
        for wrong in ("8", "-", "x-9", "9-8", "0-4", "1-2-3"):
            code, _, err = perfc("eval", "whitebox", "--data", self.data, f"--batches={wrong}")
            self.assertEqual(code, 2, wrong)
            self.assertIn("LEAST-MOST", err)

    def test_checkpoints_tell_what_they_are(self):
        self.train("told.safetensors")
        head, data = header(self.dir / "told.safetensors")
        meta = head["__metadata__"]
        self.assertEqual(meta["perfc.model"], "pmgns-mlp")
        provenance = json.loads(meta["perfc.provenance"])
        self.assertEqual(provenance["licences"], "CC0")
        self.assertEqual(provenance["setting"], "rtx4090, amp, eager, nchw, infer")
        self.assertEqual([o["name"] for o in json.loads(meta["perfc.outputs"])], ["latency", "memory"])
        end = max(t["data_offsets"][1] for name, t in head.items() if name != "__metadata__")
        self.assertEqual(end, len(data))

        model = self.dir / "net3.pir"
        code, out, err = perfc(model, "--predictor", self.dir / "told.safetensors", "--device", "rtx3090", "--json")
        self.assertEqual(code, 0, err)
        (p,) = json.loads(out)["predictions"]
        self.assertEqual(p["predictor"], "pmgns-mlp")
        self.assertIn("PMGNS sees no device and no setting: it answers for rtx4090, amp, eager, nchw, infer",
                      p["novelty"])
        lo, hi = p["latency_ms_interval"]
        self.assertTrue(0 < lo < p["latency_ms"] < hi)
        self.assertAlmostEqual(sum(p["memory_breakdown_mib"].values()), p["memory_mib"], delta=0.01 * p["memory_mib"])
        self.assertEqual(
            perfc(model, "--predictor", "whitebx")[::2],
            (2, "perfc: error: --predictor: 'whitebx' is none of default, whitebox (did you mean 'whitebox'?)\n"))
        code, _, err = perfc(model, "--predictor", self.data)
        self.assertEqual(code, 1)
        self.assertIn("labels.csv: error: no safetensors file", err)

        def refusal(change):
            copy = json.loads(json.dumps(head))
            change(copy)
            bad = self.dir / "bad.safetensors"
            rewrite(bad, copy, data)
            code, _, err = perfc("eval", bad, "--data", self.data)
            self.assertEqual(code, 1)
            return err

        def rename(h):
            h["__metadata__"]["perfc.tables"] = meta["perfc.tables"].replace('"groups"', '"group_count"')
        self.assertIn("dippm: column 24 is 'groups' (1) here and 'group_count' (1) in the checkpoint", refusal(rename))

        def widen(h):
            h["__metadata__"]["perfc.settings"] = '{"graph_hidden":512,"linear_hidden":1e9}'
        self.assertIn("setting 'linear_hidden' is not a whole number from 1 to 8192", refusal(widen))
        self.assertIn("bad.safetensors: 'fc_1.bias': error: parameter: not in the checkpoint",
                      refusal(lambda h: h.update({"fc_1.offset": h.pop("fc_1.bias")})))

    def test_bad_input_is_named(self):
        def train(*args):
            code, _, err = perfc("train", *args)
            return code, err
        out = ("--out", self.dir / "x.safetensors")
        self.assertEqual(train("--data", self.data), (2, "perfc: error: --out: where shall the checkpoint go?\n"))
        code, err = train("--data", self.data, "--model", "pmgns-sag", *out)
        self.assertEqual(code, 2)
        self.assertIn("did you mean 'pmgns-sage'?", err)
        code, err = train("--data", self.data, *out)
        self.assertEqual(code, 1)
        self.assertIn(
            "labels.csv:42:1: error: PMGNS sees no setting, but this row ran as rtx3090, amp, eager, nchw, infer", err)
        bad = self.dir / "bad.csv"
        bad.write_text("model,latency_ms\nnone.onnx,1\nnet0.pir,x\n")
        code, err = train("--data", bad, *out)
        self.assertEqual(code, 1)
        self.assertIn("bad.csv:3:1: error: latency_ms: 'x' is not a positive number", err)
        code, err = train("--data", self.dir / "no.csv", *out)
        self.assertEqual(code, 1)
        self.assertIn("no.csv", err)

    def test_ranks_train_as_one(self):
        if not MPI.exists():
            skip_part("test_ranks_train_as_one: perfc-mpi is not built: no MPI")
            self.skipTest("perfc-mpi is not built: no MPI")
        self.train("one.safetensors", "--epochs", 3, "--batch", 8, model="pmgns-sage")
        two = self.dir / "two.safetensors"
        code, out, err = perfc(
            "train", "--data", self.data, "--model", "pmgns-sage", "--out", two, *QUICK, "--epochs", 3, "--batch", 8,
            program=as_ranks(2, PERFC), env=MPI_ENVIRONMENT)
        self.assertEqual(code, 0, err)
        self.assertEqual(out.count("trained after"), 1)
        (_, a), (_, b) = header(self.dir / "one.safetensors"), header(two)
        self.assertEqual(len(a), len(b))
        count = len(a) // 4
        worst = max(abs(x - y) for x, y in zip(struct.unpack(f"<{count}f", a), struct.unpack(f"<{count}f", b)))
        self.assertLess(worst, 2e-3)   # three epochs of steps of 1e-3; without the sum they would differ by 1e-2


class Corrected(unittest.TestCase):
    """The corrected whitebox: one network per fold of the families, one without each device."""
    FOLDS = 2
    DEVICES = {"rtx4090": 1.0, "rtx3090": 1.5}

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.dir = pathlib.Path(cls.folder.name)
        rows = ["model,batch,device,dtype,mode,task,latency_ms,source,licence,family"]
        for i in range(24):
            depth, width = 1 + i % 6, 4096 << (i % 4)
            (cls.dir / f"net{i}.pir").write_text(chain(depth, width))
            for device, slower in cls.DEVICES.items():
                rows.append(
                    f"net{i}.pir,64,{device},amp,eager,infer,{slower * (0.01 * depth + width / 1e6)},made "
                    f"up,CC0,family{i % 4}"
                )
        cls.data = cls.dir / "labels.csv"
        cls.data.write_text("\n".join(rows) + "\n")

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def command(self, out, *more, epochs=20):
        return [
            str(c) for c in ("train", "--data", self.data, "--model", "corrected", "--out", out, "--folds", self.FOLDS,
                             "--threads", 1, "--epochs", epochs, *more)
        ]

    def train(self, name, *more, epochs=20):
        out = self.dir / name
        code, _, err = perfc(*self.command(out, *more, epochs=epochs))
        self.assertEqual(code, 0, err)
        return out

    def test_it_learns_and_says_what_it_left_out(self):
        held = self.dir / "held.csv"
        out = self.train("a.safetensors", "--held-out", held, epochs=100)
        lines = held.read_text().splitlines()
        self.assertEqual(lines[0].split(",")[:5], ["left_out", "network", "model", "architecture", "family"])
        kinds = [line.split(",")[0] for line in lines[1:]]
        labels = sum(1 for line in self.data.read_text().splitlines()[1:])
        training = len([k for k in kinds if k == "family"])
        self.assertEqual(kinds.count("device"), training)           # each once as a family, once as a device
        self.assertTrue(0 < training < labels)                        # the split's test part is nobody's
        code, table, err = perfc("eval", out, "--data", self.data)
        self.assertEqual(code, 0, err)
        rows = {tuple(line.split()[:2]): line.split()[2:] for line in table.splitlines()[1:]}
        code, before, _ = perfc("eval", "whitebox", "--data", self.data)
        whitebox = {tuple(line.split()[:2]): line.split()[2:] for line in before.splitlines()[1:]}
        self.assertLess(float(rows["latency", "training"][1]), 0.5 * float(whitebox["latency", "training"][1]))

    def test_same_bytes_and_resume(self):
        whole = self.train("whole.safetensors").read_bytes()
        self.assertEqual(self.train("again.safetensors").read_bytes(), whole)
        out = self.dir / "killed.safetensors"
        kills = 0
        for wait in (0.05, 0.3, 0.6):
            run = subprocess.Popen([str(PERFC), *self.command(out, "--resume", "--save-every", 1)],
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            time.sleep(wait)
            run.send_signal(signal.SIGKILL)
            kills += run.wait() == -signal.SIGKILL
        self.assertGreater(kills, 0, "every run was over before the kill")
        code, _, err = perfc(*self.command(out, "--resume", "--save-every", 1))
        self.assertEqual(code, 0, err)
        self.assertEqual(out.read_bytes(), whole)
        self.assertEqual(list(self.dir.glob("killed.safetensors.state*")), [])

    def test_it_falls_back_and_says_so(self):
        out = self.train("told.safetensors")
        columns = json.loads(header(out)[0]["__metadata__"]["perfc.tables"])[0]["columns"]
        words = [c for c in columns if c["name"].startswith("op.")]
        self.assertTrue(words and all(c["deviation"] == 1 for c in words))  # so that rare ones do not outweigh all else

        def predict(*args):
            code, text, err = perfc(self.dir / "net5.pir", "--batch", 64, "--predictor", out, "--json", *args)
            self.assertEqual(code, 0, err)
            return json.loads(text)["predictions"][0]
        known = predict("--device", "rtx4090", "--dtype", "amp")
        self.assertEqual((known["predictor"], known["novelty"]), ("corrected", []))
        other = predict("--device", "rtx5090", "--dtype", "amp")
        self.assertEqual(other["predictor"], "corrected")
        self.assertEqual(other["novelty"], [
            "device rtx5090 has no measurements in training: half of what networks say counts"
        ])

        def width(p):
            low, high = p["latency_ms_interval"]
            return high / low
        self.assertGreaterEqual(width(other), 0.999 * width(known))   # printed with six digits
        fp32 = predict("--device", "rtx4090", "--dtype", "fp32")
        self.assertEqual(fp32["predictor"], "whitebox")
        self.assertEqual(fp32["novelty"][0], "the whitebox answers: precision fp32 is not in training, only amp")
        (self.dir / "strange.pir").write_text((self.dir / "net5.pir").read_text().replace("nn.relu", "erf"))
        code, text, err = perfc(self.dir / "strange.pir", "--batch", 64, "--predictor", out, "--device", "rtx4090",
                                "--dtype", "amp", "--json")
        self.assertEqual(code, 0, err)
        strange = json.loads(text)["predictions"][0]
        self.assertTrue(any("operator erf is not in training" in n for n in strange["novelty"]), strange["novelty"])
        self.assertTrue(strange["predictor"] == "whitebox" or width(strange) > width(known))

    def test_range_test(self):
        code, out, err = perfc(*self.command(self.dir / "x", "--find-lr"))
        self.assertEqual(code, 0, err)
        self.assertEqual(out.splitlines()[0], "step,learning_rate,loss,smoothed")

    def test_a_bad_checkpoint_is_named(self):
        head, data = header(self.train("good.safetensors"))
        settings = json.loads(head["__metadata__"]["perfc.settings"])
        for key, value, message in (("networks", 1e9, "setting 'networks' is not a number from 1 to 64"),
                                    ("terms.rtx4090.launch", -1,
                                     "'terms.rtx4090.launch' is no term of a device, or not positive")):
            head["__metadata__"]["perfc.settings"] = json.dumps({**settings, key: value})
            bad = self.dir / "bad.safetensors"
            rewrite(bad, head, data)
            code, _, err = perfc(self.dir / "net0.pir", "--predictor", bad)
            self.assertEqual(code, 1)
            self.assertIn(message, err)


if __name__ == "__main__":
    unittest.main()
