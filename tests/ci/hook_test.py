"""The hook of .pre-commit-hooks.yaml, run by pre-commit on a repository with a model and budgets.

    python3 tests/ci/hook_test.py build/release/perfc
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests"))
import support  # noqa: E402

BUDGET = "models:\n  - {{model: net.onnx, device: l4, batch: 8, max_latency_ms: {}}}\n"


def git(folder, *words):
    subprocess.run(["git", "-c", "user.name=t", "-c", "user.email=t@t", *words], cwd=folder, check=True,
                   capture_output=True)


def commit(folder):
    git(folder, "init", "-q")
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", "all")


def main() -> int:
    perfc = pathlib.Path(sys.argv[1]).resolve()
    python = support.installed_python("venv-precommit", "requirements-precommit.txt", "pre-commit")
    with tempfile.TemporaryDirectory(prefix="perfc-hook-") as temporary:
        hooks, work = pathlib.Path(temporary, "hooks"), pathlib.Path(temporary, "work")
        hooks.mkdir()
        work.mkdir()
        env = {**os.environ, "PRE_COMMIT_HOME": str(pathlib.Path(temporary, "home"))}

        def pre_commit(*words):
            done = subprocess.run([python, "-m", "pre_commit", *map(str, words)], cwd=work, env=env, text=True,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            return done.returncode, done.stdout

        # A clone of perfc whose ./perfc is built.
        shutil.copy(ROOT / ".pre-commit-hooks.yaml", hooks)
        (hooks / "perfc").write_text(f'#!/bin/sh\nexec "{perfc}" "$@"\n')
        (hooks / "perfc").chmod(0o755)
        commit(hooks)
        revision = subprocess.check_output(["git", "rev-parse", "HEAD"], cwd=hooks, text=True).strip()
        shutil.copy(ROOT / "examples/resnet50.onnx", work / "net.onnx")
        (work / "budgets.yaml").write_text(BUDGET.format(1000))
        (work / ".pre-commit-config.yaml").write_text(
            f"repos:\n  - repo: {hooks}\n    rev: {revision}\n    hooks: [{{id: perfc-check}}]\n")
        commit(work)
        code, said = pre_commit("validate-manifest", hooks / ".pre-commit-hooks.yaml")
        assert code == 0, said
        code, said = pre_commit("run", "--all-files")
        assert code == 0 and "Passed" in said, said
        (work / "budgets.yaml").write_text(BUDGET.format(0.1))
        git(work, "add", "-A")
        code, said = pre_commit("run")
        assert code == 1 and "exit code: 3" in said and "net.onnx" in said, said
        (work / "budgets.yaml").write_text(BUDGET.format(1000))
        (work / "notes.txt").write_text("x")
        git(work, "add", "-A")
        code, said = pre_commit("run")
        assert code == 0 and "Skipped" in said, said
    print("the hook passes, fails beyond a budget, and leaves other files alone")
    return 0


if __name__ == "__main__":
    sys.exit(main())
