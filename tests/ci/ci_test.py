"""The pipelines of examples/ci/ on a copy: shell steps of action.yml and of the GitLab template, with a layer widened.

    python3 tests/ci/ci_test.py build/release/perfc [--update]

The comment must be that of tests/ci/comment.md, figures aside; --update rewrites it. Steps that are not shell (the
checkouts, the comment's script) are GitHub's.
"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
COMMENT = ROOT / "tests/ci/comment.md"
sys.path.insert(0, str(ROOT / "tests/golden"))
import run as golden  # noqa: E402


def block(lines, key):
    """The text of `key: |` or the folded list item below `key:`, by indentation."""
    start = next(i for i, line in enumerate(lines) if line.strip() == key)
    indent = len(lines[start]) - len(lines[start].lstrip())
    rest = lines[start + 1:]
    ends = (i for i, line in enumerate(rest) if line.strip() and len(line) - len(line.lstrip()) <= indent)
    return rest[:next(ends, len(rest))]


def action_steps():
    """(name, environment, shell text) of the action's shell steps, in their order."""
    text = (ROOT / "action.yml").read_text()
    for part in re.split(r"^    - name: ", text, flags=re.M)[1:]:
        lines = part.splitlines()
        if "      run: |" not in lines:
            continue
        env = dict(line.strip().split(": ", 1) for line in block(lines, "env:"))
        yield lines[0], env, "\n".join(line[8:] for line in block(lines, "run: |")) + "\n"


def action_inputs():
    """Defaults of the action, then what the example's workflow gives."""
    inputs, name = {}, ""
    for line in block((ROOT / "action.yml").read_text().splitlines(), "inputs:"):
        if re.match(r"  \S", line):
            name = line.strip().rstrip(":")
        elif line.startswith("    default: "):
            inputs[name] = line.split(": ", 1)[1].strip('"')
    workflow = (ROOT / "examples/ci/.github/workflows/perfc.yml").read_text().split("- uses: ./.perfc")[1]
    for line in block(workflow.splitlines(), "with:"):
        key, value = line.strip().split(": ", 1)
        inputs[key] = value
    return inputs


def gitlab_commands():
    """The script's commands: list items, folded."""
    lines = block((ROOT / "examples/ci/.gitlab-ci.yml").read_text().splitlines(), "script:")
    return [" ".join(item.split()) for item in re.split(r"^    - ", "\n".join(lines), flags=re.M)[1:]]


class Pipeline:
    def __init__(self, program, folder):
        self.folder = folder
        shutil.copytree(ROOT / "examples/ci", folder, dirs_exist_ok=True)
        (folder / "bin").mkdir()
        (folder / "bin/perfc").symlink_to(program)
        home = folder / "home"
        home.mkdir()
        self.env = {**os.environ, "HOME": str(home), "GIT_CONFIG_SYSTEM": os.devnull, "PERFC": str(program),
                    "PATH": f"{folder / 'bin'}:{os.environ['PATH']}", "GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@b",
                    "GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@b"}
        self.env.pop("GIT_CONFIG_GLOBAL", None)
        self.git("init", "-q", "-b", "main")
        self.commit("as it was")
        self.base = self.git("rev-parse", "HEAD").strip()

    def git(self, *args):
        return subprocess.run(["git", *args], cwd=self.folder, env=self.env, check=True, capture_output=True,
                              text=True).stdout

    def commit(self, subject):
        self.git("add", "examples" if (self.folder / "examples").exists() else "models", "*.yaml", "make_model.py")
        self.git("commit", "-q", "--allow-empty", "-m", subject)

    def shell(self, text, **env):
        return subprocess.run(["bash", "--noprofile", "--norc", "-e", "-o", "pipefail", "-c", text], cwd=self.folder,
                              env={**self.env, **env}, capture_output=True, text=True)

    def github(self):
        """The exit code of the step that fails, or 0, as GitHub would run them."""
        output, summary = self.folder / "output", self.folder / "summary.md"
        output.write_text("")
        summary.write_text("")
        inputs = {**action_inputs(), "base": self.base}
        for name, env, text in action_steps():
            said = dict(line.split("=", 1) for line in output.read_text().splitlines())
            values = {}
            for key, value in env.items():
                what = re.fullmatch(r"\$\{\{ (inputs|steps\.diff\.outputs)\.(\S+) \}\}", value)
                values[key] = inputs[what[2]] if what[1] == "inputs" else said[what[2]]
            done = self.shell(text, GITHUB_OUTPUT=str(output), GITHUB_STEP_SUMMARY=str(summary), **values)
            if done.returncode:
                return done.returncode, name, done.stderr
        return 0, "", ""

    def gitlab(self):
        for command in gitlab_commands():
            done = self.shell(command, CI_MERGE_REQUEST_DIFF_BASE_SHA=self.base)
            if done.returncode:
                return done.returncode, done.stderr
        return 0, ""


def expect(what, got, wanted):
    if got != wanted:
        sys.exit(f"FAIL {what}: {got!r}, not {wanted!r}")
    print(f"ok   {what}")


def main():
    program = pathlib.Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory() as temporary:
        pipeline = Pipeline(program, pathlib.Path(temporary) / "repository")
        made = pipeline.shell("python3 make_model.py && git diff --exit-code --stat")
        expect("the model that is committed is the script's", (made.returncode, made.stdout), (0, ""))
        expect("GitHub, nothing changed", pipeline.github(), (0, "", ""))
        expect("GitLab, nothing changed", pipeline.gitlab(), (0, ""))
        pipeline.shell("python3 make_model.py --width 96")
        pipeline.commit("a wider network")
        expect("GitHub, a layer widened", pipeline.github(), (3, "Verdict", ""))
        comment = golden.words((pipeline.folder / "perfc-comment.md").read_text().replace(pipeline.base, "BASE"))
        if "--update" in sys.argv:
            COMMENT.write_text(comment)
        expect("the comment", comment, COMMENT.read_text())
        for name in ("perfc.json", "perfc.sarif", "perfc.xml", "summary.md"):
            expect(f"{name} was written", (pipeline.folder / name).stat().st_size > 0, True)
        expect("GitLab, a layer widened", pipeline.gitlab()[0], 3)
        quality = json.loads((pipeline.folder / "perfc-codequality.json").read_text())
        expect("violations at the models", {v["location"]["path"] for v in quality}, {"models/net.pir"})
        (pipeline.folder / "acknowledged.yaml").write_text(
            "acknowledged:\n" + "".join(f"  - {{model: net.pir, figure: {f}, reason: wider on purpose}}\n"
                                        for f in ("latency", "memory")))
        expect("GitHub, acknowledged", pipeline.github()[0], 0)
        pipeline.base = "no-such-revision"
        expect("GitHub, a base that is not there", pipeline.github()[0] != 0, True)


if __name__ == "__main__":
    main()
