"""`perfc sweep`: its rows beside those of `perfc predict`, killed and continued, and what it refuses.

    python3 tests/cli/sweep_test.py build/release/perfc
"""
import csv
import fcntl
import io
import itertools
import json
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests"))
from support import MPI_ENVIRONMENT, as_ranks, skip_part  # noqa: E402

PERFC = str(pathlib.Path(sys.argv.pop(1) if len(sys.argv) > 1 else ROOT / "build/release/perfc").resolve())
MPI = pathlib.Path(PERFC).with_name("perfc-mpi")
RESNET = ROOT / "examples/resnet50.onnx"
HALF = ROOT / "tests/golden/report/half.pir"  # runs in its own 16 bits
DEVICES = ["a100-40gb", "h100-sxm", "l4", "t4"]
FIGURES = {"latency_ms": ("latency_ms", ), "latency_lo_ms": ("latency_ms_interval", 0),
           "latency_hi_ms": ("latency_ms_interval", 1), "device_ms": ("device_ms", ), "host_ms": ("host_ms", ),
           "memory_mib": ("memory_mib", ), "energy_j": ("energy_j", ), "power_w": ("power_w", )}
KEY = ["model", "batch", "device", "dtype", "runtime"]


def perfc(*args):
    done = subprocess.run([PERFC, *map(str, args)], capture_output=True, text=True, timeout=120)
    return done.returncode, done.stdout, done.stderr


def rows_of(text: str) -> list[dict]:
    return list(csv.DictReader(io.StringIO(text)))


class Sweep(unittest.TestCase):

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="perfc-sweep-"))
        self.addCleanup(shutil.rmtree, self.folder)
        self.models = self.folder / "models"
        (self.models / "deep").mkdir(parents=True)
        self.out = self.folder / "results.csv"

    def copies(self, count: int):
        for i in range(count):
            shutil.copy(RESNET, self.models / "deep" / f"net{i}.onnx")

    def test_rows_are_those_of_predict(self):
        self.copies(1)
        shutil.copy(RESNET, self.models / "a,b \"c\".onnx")
        (self.models / "damaged.onnx").write_bytes(RESNET.read_bytes()[:20000])
        (self.models / "config.json").write_text("{}")
        code, out, err = perfc("sweep", self.models, "--batch", "1,8", "--device", ",".join(DEVICES), "--dtype",
                               "bf16,amp", "-o", self.out)
        self.assertEqual((code, out), (1, ""), err)
        self.assertIn(f"{self.models}/config.json: note: left out: it is named as a model and is none", err)
        rows = rows_of(self.out.read_text())
        names = [f"{self.models}/{n}" for n in ('a,b "c".onnx', "damaged.onnx", "deep/net0.onnx")]
        self.assertEqual([[r[k] for k in KEY] for r in rows],
                         [[m, b, d, t, "pytorch"]
                          for m, b, t, d in itertools.product(names, ("1", "8"), ("bf16", "amp"), DEVICES)])
        seen = warned = 0
        for name, dtype in itertools.product((names[0], names[2]), ("bf16", "amp")):
            told = json.loads(perfc(name, "--batch", "1,8", "--device", ",".join(DEVICES), "--dtype", dtype,
                                    "--json")[1])["predictions"]
            by_key = {tuple(str(p[k]) for k in KEY): p for p in told}
            for r in rows:
                if r["model"] != name or r["dtype"] != dtype:
                    continue
                p = by_key[tuple(r[k] for k in KEY)]
                for column, (field, *index) in FIGURES.items():
                    value = p[field][index[0]] if index else p[field]
                    self.assertEqual(float(r[column]), float(f"{value:.6g}"), (column, r))
                self.assertEqual((r["fits"], r["predictor"], r["error"]),
                                 (str(p["fits"]).lower(), p["predictor"], ""))
                self.assertEqual(int(r["warnings"]), len(p["warnings"]) - (not p["fits"]), r)
                warned += int(r["warnings"])
                seen += 1
        self.assertEqual(seen, 32)
        self.assertGreater(warned, 0)  # T4 has no bfloat16
        damaged = [r for r in rows if r["model"] == names[1]]
        self.assertTrue(all(r["error"].startswith(f"{names[1]}: ") and not r["latency_ms"] for r in damaged))
        self.assertIn("48 rows, 16 of them with errors", err)

    def test_a_device_that_cannot_has_its_error(self):
        code, out, err = perfc("sweep", RESNET, "--device", "l4,xeon-8375c", "--runtime", "tensorrt,pytorch", "--dtype",
                               "fp16")
        rows = rows_of(out)
        self.assertEqual(code, 1, err)
        self.assertEqual([(r["device"], r["runtime"], bool(r["error"])) for r in rows],
                         [("l4", "tensorrt", False), ("xeon-8375c", "tensorrt", True), ("l4", "pytorch", False),
                          ("xeon-8375c", "pytorch", False)])
        self.assertIn("--runtime tensorrt is for", rows[1]["error"])
        self.assertEqual([r["batch"] for r in rows], ["1", "", "1", "1"])  # the file's, where it could be predicted

    def test_all_devices(self):
        own = json.loads((ROOT / "data/devices.json").read_text())
        entry = dict(next(d for d in own["devices"] if d["name"] == "l4"), name="mine", aliases=[], title="Mine")
        file = self.folder / "own.json"
        file.write_text(json.dumps(dict(own, devices=[entry])))
        code, out, err = perfc("sweep", RESNET, "--device", "all,l4,L4", "--device-file", file, "--quiet")
        self.assertEqual((code, err), (0, ""))
        devices = [r["device"] for r in rows_of(out)]
        listed = [d["name"] for d in json.loads(perfc("devices", "--json")[1])["devices"]]
        self.assertEqual(sorted(devices), sorted(listed + ["mine"]))

    def test_threads_give_the_same_bytes(self):
        self.copies(3)
        command = ("sweep", self.models, "--batch", "1,8", "--device", "l4,t4", "--quiet")
        self.assertEqual(perfc(*command, "--threads", 1), perfc(*command, "--threads", 3))

    def test_ten_kills(self):
        self.copies(12)
        command = [PERFC, "sweep", str(self.models), "--batch", "1,8", "--device", ",".join(DEVICES), "--threads", "2",
                   "-o", str(self.out)]
        start = time.monotonic()
        whole = subprocess.run([*command[:-1], str(self.folder / "whole.csv")], capture_output=True, timeout=120)
        took = time.monotonic() - start
        self.assertEqual(whole.returncode, 0, whole.stderr)
        expected = (self.folder / "whole.csv").read_bytes()
        draw = random.Random(1)
        kinds = [signal.SIGKILL, signal.SIGTERM, signal.SIGINT]
        lengths, ended = [], 0
        for i in range(10):
            process = subprocess.Popen(command, stderr=subprocess.PIPE)
            time.sleep(draw.uniform(0.02, took / 4))
            process.send_signal(kinds[i % 3])
            process.communicate(timeout=60)
            ended += process.returncode == -kinds[i % 3]
            found = self.out.read_bytes() if self.out.exists() else b""
            self.assertTrue(expected.startswith(found), "a stopped run leaves a beginning of the table")
            lengths.append(len(found))
        self.assertEqual(lengths, sorted(lengths))
        self.assertGreater(ended, 2)
        code, _, err = perfc(*command[1:])
        self.assertEqual(code, 0, err)
        self.assertEqual(self.out.read_bytes(), expected)
        code, _, err = perfc(*command[1:])  # and nothing is left to do
        self.assertEqual((code, self.out.read_bytes()), (0, expected), err)
        self.assertIn("96 rows, 0 of them with errors, 96 were there", err)

    def ranks(self, *args, count=2):
        if not MPI.exists():
            skip_part(f"{self.id()}: perfc-mpi is not built: no MPI")
            self.skipTest("perfc-mpi is not built: no MPI")
        return subprocess.Popen(as_ranks(count, PERFC, *args), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                text=True, env={**os.environ, **MPI_ENVIRONMENT})

    def test_ranks_make_the_same_table(self):
        self.copies(5)
        (self.models / "deep/net2.onnx").write_bytes(RESNET.read_bytes()[:20000])
        (self.models / "config.json").write_text("{}")
        command = ["sweep", self.models, "--batch", "1,8", "--device", "all"]
        whole, table, _ = perfc(*command)
        for count, more in ((2, ["--threads", "1"]), (3, ["--threads", "2"]), (7, [])):
            process = self.ranks(*command, *more, "-o", self.out, "--overwrite", count=count)
            _, err = process.communicate(timeout=120)
            self.assertEqual((process.returncode, self.out.read_text()), (whole, table), err)
            self.assertEqual(err.count("left out: it is named as a model"), 1)
            self.assertEqual(err.count("rows per second"), 1)
        process = self.ranks("sweep", self.models / "none.onnx")
        self.assertIn("none.onnx: no such file or folder", process.communicate(timeout=60)[1])
        self.assertEqual(process.returncode, 1)
        process = self.ranks("sweep", self.models, "--device", "l4,t4")
        self.assertTrue(process.stdout.readline().startswith("model,batch,"))
        process.stdout.close()  # whoever has read enough ends all ranks
        process.wait(timeout=60)
        process.stderr.close()

    def test_ten_kills_of_ranks(self):
        self.copies(40)
        command = ["sweep", self.models, "--batch", "1,2,4,8,16,32", "--device", ",".join(DEVICES), "--threads", "1",
                   "-o"]
        process = self.ranks(*command, self.folder / "whole.csv")
        _, err = process.communicate(timeout=120)
        self.assertEqual(process.returncode, 0, err)
        self.assertEqual(perfc(*command, self.folder / "one.csv")[0], 0)
        expected = (self.folder / "one.csv").read_bytes()
        self.assertEqual((self.folder / "whole.csv").read_bytes(), expected)
        draw = random.Random(3)
        lengths = []
        for i in range(10):
            process = self.ranks(*command, self.out)
            enough = (lengths[-1] if lengths else 0) + draw.randrange(len(expected) // 12)
            while process.poll() is None and (not self.out.exists() or self.out.stat().st_size <= enough):
                time.sleep(0.002)
            children = pathlib.Path(f"/proc/{process.pid}/task/{process.pid}/children")
            ranks = [int(p) for p in children.read_text().split()] if children.exists() else []
            if i < 9 and ranks:
                os.kill(ranks[i % len(ranks)], signal.SIGKILL)  # a rank dies, and mpirun ends the other
            else:
                process.terminate()
            process.communicate(timeout=60)
            found = self.out.read_bytes() if self.out.exists() else b""
            self.assertTrue(expected.startswith(found), "a stopped run leaves a beginning of the table")
            lengths.append(len(found))
        self.assertEqual(lengths, sorted(lengths))
        self.assertGreater(len(set(lengths)), 2, (lengths, len(expected)))
        process = self.ranks(*command, self.out)
        _, err = process.communicate(timeout=120)
        self.assertEqual((process.returncode, self.out.read_bytes()), (0, expected), err)

    def test_torn_anywhere(self):
        self.copies(1)
        (self.models / "bad.onnx").write_bytes(RESNET.read_bytes()[:20000])
        shutil.copy(HALF, self.models)
        command = ("sweep", self.models, "--device", "l4,t4", "-o", self.out)
        self.assertEqual(perfc(*command)[0], 1)
        expected = self.out.read_bytes()
        head = expected.index(b"\n") + 1
        draw = random.Random(2)
        for cut in [0, 1, head - 1, head, head + 1, *draw.sample(range(head, len(expected)), 8), len(expected)]:
            self.out.write_bytes(expected[:cut])
            code, _, err = perfc(*command)  # 1 even where the rows with errors were there
            self.assertEqual((code, self.out.read_bytes()), (1, expected), (cut, err))

    def refused(self, *command, says: str, code: int = 1):
        before = self.out.read_bytes()
        found, _, err = perfc(*command)
        self.assertEqual(found, code, err)
        self.assertIn(says, err)
        self.assertEqual(self.out.read_bytes(), before)

    def test_other_settings_are_refused(self):
        self.copies(2)
        own = self.folder / "own.json"
        shutil.copy(ROOT / "data/devices.json", own)
        command = ["sweep", self.models, "--batch", "1", "--device", "l4", "--device-file", own, "-o", self.out]
        self.assertEqual(perfc(*command)[0], 0)
        expected = self.out.read_bytes()
        self.refused(*command, "--layout", "nhwc", says="'layout' was \"\", now it is \"nhwc\"")
        self.refused(*command, "--dtype", "fp16",
                     says="'runtime and dtype' was [\"pytorch amp or the model's 16 bits\"]")
        self.refused(*command, "--dtype", "amp", says="'runtime and dtype' was")
        self.refused(*command, "--dim", "x=1", says="'dim' was []")
        self.refused(*command[:3], "8", *command[4:], says="'batch' was [1], now it is [8]")
        self.refused(*command[:5], "t4", *command[6:], says="'device' was [\"l4\"]")
        own.write_text(own.read_text() + "\n")
        self.refused(*command, says=f"'files' was {{\"{own}\"")
        shutil.copy(ROOT / "data/devices.json", own)
        os.utime(self.models / "deep/net1.onnx", (1, 1))
        self.refused(*command, says=f"other models: {self.models}/deep/net1.onnx was changed, added or removed")
        self.assertEqual(perfc(*command, "--overwrite")[0], 0)
        self.assertEqual((self.out.read_bytes(), perfc(*command)[0]), (expected, 0))
        (self.models / "deep/net1.onnx").unlink()
        self.refused(*command, says=f"{self.models}/deep/net1.onnx was changed, added or removed")

    def test_other_files_are_kept(self):
        self.out.write_text("mine\n")
        command = ("sweep", RESNET, "--device", "l4,t4", "-o", self.out)
        self.refused(*command, says=f"is there, but no {self.out}.settings to say what it was made with")
        self.assertEqual(perfc(*command, "--overwrite")[0], 0)
        table = self.out.read_text()
        for line, text in ((1, "model," + table), (2, table.replace(",l4,", ",a30,")), (4, table + "more\n")):
            self.out.write_text(text)
            self.refused(*command, says=f"{self.out}:{line}: ")
        self.out.write_text(table)
        pathlib.Path(f"{self.out}.settings").write_text("{")
        self.refused(*command, says="has no settings of a sweep")
        with open(self.out, "rb+") as held:
            fcntl.flock(held, fcntl.LOCK_EX)
            self.refused(*command, says=f"{self.out}: another sweep is writing it")

    def test_errors_come_before_work(self):
        for args, says, code in (
            ([RESNET, "-o", self.folder / "none/x.csv"], "none/x.csv: cannot write: No such file or directory", 1),
            ([RESNET, "-o", self.folder], "cannot write: Is a directory", 1),
            ([self.folder / "none.onnx"], "none.onnx: no such file or folder", 1),
            ([self.models], f"no model in {self.models}", 1),
            ([RESNET, "-o", self.folder / "x.parquet"], "x.parquet: Debian has no library for Parquet", 2),
            (["-"], "a sweep reads files and folders", 1),
            ([RESNET, "--device", "l5"], "unknown device 'l5'", 2),
            ([RESNET, "--dtype", "fp16,fp15"], "--dtype: 'fp15' is none of", 2),
            ([RESNET, "--runtime", "pytorch,tensorrt", "--dtype", "amp"], "--runtime tensorrt: --dtype amp", 2),
            ([RESNET, "--threads", "0"], "--threads", 2),
            ([RESNET, "--batch", "1,x"], "--batch: 'x' is not", 2)):
            found, out, err = perfc("sweep", *args)
            self.assertEqual((found, out), (code, ""), err)
            self.assertIn(says, err)

    def test_streams(self):
        self.copies(8)
        command = [PERFC, "sweep", str(self.models), "--device", "l4", "--threads", "1"]
        piped = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.assertTrue(piped.stdout.readline().startswith("model,batch,"))
        piped.stdout.close()  # whoever has read enough ends it
        self.assertEqual(piped.stderr.read(), "")
        self.assertEqual(piped.wait(timeout=60), 0)
        piped.stderr.close()
        if os.path.exists("/dev/full"):
            code, _, err = perfc(*command[1:], "-o", "/dev/full")
            self.assertEqual(code, 1)
            self.assertIn("/dev/full: cannot write: No space left on device", err)
            self.assertFalse(os.path.exists("/dev/full.settings"))

    def test_revisions(self):
        git = ["git", "-C", str(self.folder), "-c", "user.name=x", "-c", "user.email=x@example.org"]
        self.copies(1)
        for words in (["init", "-q"], ["add", "models"], ["commit", "-qm", "models"]):
            subprocess.run([*git, *words], check=True)
        given = "git:HEAD:models"
        for was_there in ("", ", 1 were there"):
            done = subprocess.run([PERFC, "sweep", given, "--device", "l4", "-o", str(self.out)], cwd=self.folder,
                                  capture_output=True, text=True, timeout=60)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn(f"1 rows, 0 of them with errors{was_there};", done.stderr)
            self.assertEqual(rows_of(self.out.read_text())[0]["model"], f"{given}/deep/net0.onnx")


if __name__ == "__main__":
    unittest.main()
