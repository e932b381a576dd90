"""`perfc diff`, `baseline` and `check --baseline`, held against runs of the program itself, and read by other readers.

    python3 tests/cli/diff_test.py build/release/perfc
"""
import html.parser
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PERFC = str(pathlib.Path(sys.argv.pop(1) if len(sys.argv) > 1 else ROOT / "build/release/perfc").resolve())
GOLDEN = ROOT / "tests/golden/diff"
GIT = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull, "GIT_AUTHOR_NAME": "a",
       "GIT_AUTHOR_EMAIL": "a@b", "GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@b"}


def perfc(*args, cwd=GOLDEN, env=GIT):
    done = subprocess.run([PERFC, *map(str, args)], cwd=cwd, env=env, capture_output=True, text=True, timeout=120)
    return done.returncode, done.stdout, done.stderr


def diff(*args, **how):
    code, out, err = perfc("diff", *args, "--format", "json", **how)
    assert code in (0, 3), err
    return json.loads(out)


def predict(*args):
    code, out, err = perfc("predict", *args, "--json")
    assert code == 0, err
    return json.loads(out)["predictions"]


def figures(device):
    return {f["figure"]: f for f in device["figures"]}


class Folder(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)

    def git(self, *args):
        done = subprocess.run(["git", *args], cwd=self.folder, env=GIT, check=True, capture_output=True, text=True)
        return done.stdout

    def write(self, name, text):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path


class Figures(unittest.TestCase):
    def test_are_those_of_predict(self):
        settings = ["-b", "64", "-d", "a100-40gb,l4", "--mode", "compiled", "--dtype", "bf16", "--layout", "nhwc"]
        model = diff("base/net.pir", "head/net.pir", *settings, "--price", "l4=0.36")["models"][0]
        for side in ("base", "head"):
            for device, said in zip(model["devices"], predict(f"{side}/net.pir", *settings)):
                of = figures(device)
                self.assertEqual(device["device"], said["device"])
                self.assertEqual(of["latency"][side], said["latency_ms"])
                self.assertEqual(of["memory"][side], said["memory_mib"])
                self.assertEqual(of["energy"][side], said["energy_j"])
                self.assertEqual(of["macs"][side], said["static"]["macs"])
                self.assertEqual(of["params"][side], said["static"]["params"])
                if said["mig"]:
                    self.assertEqual(of["mig"][side], said["mig"]["profile"])
                if said["device"] == "l4":
                    self.assertAlmostEqual(of["cost"][side], 0.36 / 3600 * said["latency_ms"] / 1e3 / 64 * 1e6, 5)

    def test_largest_batch_fits_and_the_next_does_not(self):
        of = figures(diff("base/net.pir", "head/net.pir", "-b", "64", "-d", "l4")["models"][0]["devices"][0])
        for side in ("base", "head"):
            batch = int(of["largest-batch"][side])
            self.assertTrue(predict(f"{side}/net.pir", "-b", batch, "-d", "l4")[0]["fits"])
            self.assertFalse(predict(f"{side}/net.pir", "-b", batch + 100, "-d", "l4")[0]["fits"])

    def test_changes_and_the_rest_are_all_of_the_device_time(self):
        model = diff("base/net.pir", "head/net.pir", "-b", "64", "-d", "l4", "--predictor", "whitebox")["models"][0]
        device = model["devices"][0]
        for i, side in enumerate(("base", "head")):
            total = device["unchanged_us"][i] + sum(c["device_us"]["l4"][i] for c in model["changes"])
            self.assertAlmostEqual(total / 1e3 / device[side]["device_ms"], 1, 4)

    def test_a_model_is_like_itself(self):
        for options in ([], ["--task", "train"], ["--runtime", "tensorrt"], ["-b", "1,64"]):
            for model in diff(ROOT / "examples/resnet50.onnx", ROOT / "examples/resnet50.onnx", *options)["models"]:
                self.assertEqual((model["changes"], model["operators_changed"]), ([], 0))
                for f in model["devices"][0]["figures"]:
                    self.assertEqual(f["verdict"], "equal", f)

    def test_versions_are_predicted_alike(self):
        # The networks answer for one precision and not for another; both versions always have the same predictor.
        for dtype in ("amp", "fp32"):
            device = diff("base/net.pir", "head/net.pir", "-b", "8", "--dtype", dtype)["models"][0]["devices"][0]
            self.assertIn(device["predictor"], ("corrected", "whitebox"))


class Formats(Folder):
    def test_readers_of_others_read_them(self):
        names = {"json": "d.json", "sarif": "d.sarif", "junit": "d.xml", "html": "d.html", "markdown": "d.md"}
        writes = [w for f, name in names.items() for w in ("--write", f"{f}={self.folder / name}")]
        code, out, err = perfc("diff", "base", "head", "-b", "256", "-d", "rtx4090", "--fail-on", "macs", *writes)
        self.assertEqual(code, 3, err)
        said = json.loads((self.folder / "d.json").read_text())
        self.assertEqual(said["failures"], 1)
        sarif = json.loads((self.folder / "d.sarif").read_text())
        result = sarif["runs"][0]["results"][0]
        self.assertEqual((sarif["version"], result["ruleId"], result["level"]), ("2.1.0", "perfc/macs", "error"))
        rules = {r["id"] for r in sarif["runs"][0]["tool"]["driver"]["rules"]}
        self.assertIn(result["ruleId"], rules)
        suite = xml.etree.ElementTree.parse(self.folder / "d.xml").getroot()
        self.assertEqual(len(suite.findall("testcase")), int(suite.get("tests")))
        self.assertEqual(len(suite.findall("testcase/failure")), 1)
        open_tags, texts = [], []

        class Reader(html.parser.HTMLParser):
            def handle_starttag(self, tag, attrs):
                if tag not in ("meta", "link", "input"):
                    open_tags.append(tag)

            def handle_endtag(self, tag):
                assert open_tags.pop() == tag

            def handle_data(self, data):
                texts.append(data)

        page = (self.folder / "d.html").read_text()
        Reader().feed(page)
        self.assertEqual(open_tags, [])
        self.assertIn('<script>alert("1")</script> | `tick` @everyone #1', texts)
        # The page's own scripts and data stand behind what is written of the models.
        self.assertNotIn("<script", page[page.index("<main>"):page.index("</main>")])
        self.assertNotIn("alert(", page.replace("&lt;script&gt;alert(", "").replace("u003cscript>alert(", ""))
        self.assertNotIn("<script", (self.folder / "d.md").read_text().replace("`", ""))

    def test_code_quality(self):
        """The members that GitLab asks for (docs.gitlab.com, Code Quality report format)."""
        def violations(*args):
            _, out, err = perfc("diff", "base", "head", "-b", "256", "-d", "rtx4090", "--format", "codequality", *args)
            return json.loads(out), err

        self.assertEqual(violations()[0], [])
        found, err = violations("--fail-on", "macs")
        self.assertEqual(len(found), 1, err)
        self.assertEqual(set(found[0]), {"description", "check_name", "fingerprint", "severity", "location"})
        self.assertRegex(found[0]["fingerprint"], "^[0-9a-f]{16}$")
        self.assertEqual((found[0]["check_name"], found[0]["severity"]), ("perfc/macs", "major"))
        self.assertEqual(found[0]["location"]["lines"], {"begin": 1})
        self.assertEqual(found[0]["location"]["path"], "head/net.pir")
        name = json.loads(perfc("diff", "base", "head", "-b", "256", "-d", "rtx4090", "--format", "json", "--fail-on",
                                "macs")[1])["exceeded"][0]["model"]
        (self.folder / "meant.yaml").write_text("acknowledged:\n  - figure: macs\n    reason: wider\n")
        meant, _ = violations("--fail-on", "macs", "--acknowledge", self.folder / "meant.yaml")
        self.assertEqual([(v["severity"], v["fingerprint"]) for v in meant], [("info", found[0]["fingerprint"])])
        self.assertIn("(meant: wider)", meant[0]["description"])
        self.assertIn(name, meant[0]["description"])

    def test_badge(self):
        """The members of shields.io's endpoint badges."""
        def badge(*args):
            call = ("diff", "base", "head", "-b", "256", "-d", "rtx4090", "--format", "badge")
            return json.loads(perfc(*call, *args)[1])

        quiet = badge()
        self.assertEqual((quiet["schemaVersion"], quiet["label"], quiet["color"], quiet["isError"]),
                         (1, "perfc", "brightgreen", False))
        self.assertRegex(quiet["message"], r"^latency [+-][\d.]+ % to [+-][\d.]+ %$")
        self.assertEqual(badge("--fail-on", "macs")["color"], "red")
        self.assertTrue(badge("--fail-on", "macs")["message"].startswith("1 beyond a limit; "))
        (self.folder / "meant.yaml").write_text("acknowledged:\n  - figure: macs\n    reason: wider\n")
        self.assertEqual(badge("--fail-on", "macs", "--acknowledge", self.folder / "meant.yaml")["color"], "yellow")
        one = perfc("diff", "base/net.pir", "head/net.pir", "-b", "256", "-d", "rtx4090", "--format", "badge")[1]
        self.assertRegex(json.loads(one)["message"], r"^[\d.]+ ms \([+-][\d.]+ %\)$")

    def test_same_call_same_bytes(self):
        for name in ("text", "markdown", "github-comment", "json", "junit", "sarif", "codequality", "badge", "html"):
            runs = {perfc("diff", "base", "head", "-b", "8", "--format", name) for _ in range(2)}
            self.assertEqual(len(runs), 1)


class Git(Folder):
    def setUp(self):
        super().setUp()
        self.git("init", "-q", "-b", "main")
        for name in ("net.pir", "more/same.pir"):
            self.write(f"models/{name}", (GOLDEN / "base" / name).read_text())
        self.write("models/notes.txt", "no model")
        self.git("add", "-A")
        self.git("commit", "-q", "-m", "base")
        self.write("models/net.pir", (GOLDEN / "head/net.pir").read_text())

    def test_files_and_folders_of_a_revision(self):
        before = self.git("status", "--porcelain"), (self.folder / ".git/index").read_bytes()
        of_files = diff("git:HEAD:models/net.pir", "models/net.pir", "-b", "8", cwd=self.folder)
        here = diff(GOLDEN / "base/net.pir", GOLDEN / "head/net.pir", "-b", "8")
        self.assertEqual(of_files["models"][0]["devices"], here["models"][0]["devices"])
        self.assertEqual(of_files["models"][0]["model"], "models/net.pir")
        of_folders = diff("git:main:models", "models", "-b", "8", cwd=self.folder)
        self.assertEqual([m["model"] for m in of_folders["models"]], ["more/same.pir", "net.pir"])
        self.assertEqual(of_folders["models"][1]["devices"], here["models"][0]["devices"])
        below = diff("git:HEAD:./net.pir", "net.pir", "-b", "8", cwd=self.folder / "models")
        self.assertEqual(below["models"][0]["devices"], here["models"][0]["devices"])
        both = diff("git:HEAD:models", "git:main:models", "-b", "8", cwd=self.folder)
        self.assertEqual(sum(m["operators_changed"] for m in both["models"]), 0)
        self.assertEqual(before, (self.git("status", "--porcelain"), (self.folder / ".git/index").read_bytes()))

    def test_errors_are_git_s(self):
        for given, words in (("git:none:models/net.pir", "invalid object name 'none'"),
                             ("git:HEAD:models/none.pir", "does not exist in 'HEAD'"),
                             ("git:--output=x:net.pir", "is no revision")):
            code, out, err = perfc("diff", given, "models/net.pir", cwd=self.folder)
            self.assertEqual((code, out), (1, ""))
            self.assertIn(words, err)
        self.assertFalse((self.folder / "x").exists())
        code, _, err = perfc("diff", "git:HEAD:models", "models", cwd=self.folder, env={**GIT, "PATH": "/nowhere"})
        self.assertEqual(code, 1)
        self.assertIn("cannot start git", err)

    def test_temporary_files_go(self):
        temporary = self.folder / "tmp"
        temporary.mkdir()
        for given in ("git:HEAD:models", "git:none:models"):
            perfc("diff", given, "models", cwd=self.folder, env={**GIT, "TMPDIR": str(temporary)})
            self.assertEqual(list(temporary.iterdir()), [])

    def test_pointers_of_lfs(self):
        self.write("models/net.pir", "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n")
        self.git("commit", "-q", "-a", "-m", "pointer")
        code, _, err = perfc("diff", "git:HEAD:models", "models", cwd=self.folder)
        self.assertEqual(code, 1)
        self.assertIn("git:HEAD:models/net.pir: error: is a pointer of Git LFS", err)


class Baseline(Folder):
    def test_a_version_is_held_against_an_earlier_one(self):
        model = self.write("models/net.pir", (GOLDEN / "base/net.pir").read_text())
        self.write("budgets.yaml", "defaults: {batch: 256, device: rtx4090, fail_on: 'latency=+5%,macs,oom'}\n"
                   "models:\n  - {model: models/net.pir}\n  - {model: models/net.pir, batch: 8}\n")
        check = ["check", "--budget", "budgets.yaml", "--baseline", "baseline.json", "--junit", "b.xml"]
        code, _, err = perfc("baseline", "models/net.pir", "-b", "256", "-d", "rtx4090", "-o", "baseline.json",
                             cwd=self.folder)
        self.assertEqual(code, 0, err)
        code, out, err = perfc(*check, cwd=self.folder)
        self.assertEqual(code, 0, out + err)
        self.assertIn("new", out)  # batch 8 is not in the baseline
        text = (self.folder / "baseline.json").read_text()
        self.assertEqual(json.loads(text)["schema"], "perfc.baseline/1")
        self.assertEqual(text, json.dumps(json.loads(text), indent=1, sort_keys=True, ensure_ascii=False) + "\n")
        model.write_text((GOLDEN / "head/net.pir").read_text())
        code, out, err = perfc(*check, cwd=self.folder)
        self.assertEqual(code, 3, out + err)
        exceeded = [line for line in out.splitlines() if line.startswith("EXCEEDED")]
        self.assertEqual(len(exceeded), 2, out)
        suite = xml.etree.ElementTree.parse(self.folder / "b.xml").getroot()
        self.assertEqual(len(suite.findall("testcase/failure")), 2)
        # Of graphs and of their kinds of operators the same comes out.
        of = figures(diff(GOLDEN / "base/net.pir", GOLDEN / "head/net.pir", "-b", "256", "-d", "rtx4090")["models"][0]
                     ["devices"][0])
        self.assertIn(f"{100 * of['latency']['relative']:+.1f} %", exceeded[0])

    def test_nothing_is_written_where_a_model_fails(self):
        self.write("good.pir", (GOLDEN / "base/net.pir").read_text())
        self.write("bad.pir", "no model")
        code, _, err = perfc("baseline", "good.pir", "bad.pir", "-o", "baseline.json", cwd=self.folder)
        self.assertEqual(code, 1)
        self.assertIn("bad.pir", err)
        self.assertFalse((self.folder / "baseline.json").exists())


if __name__ == "__main__":
    unittest.main()
