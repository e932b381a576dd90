#!/usr/bin/env python3
"""Every `./perfc` line in README.md runs as written: exit 0 and something on stdout.
Links point to files that exist. The commands of docs/tutorial.md run one after the other, and none fails."""
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent


def main() -> int:
    text = (ROOT / "README.md").read_text()
    problems = [f"no such file: {link}" for link in re.findall(r"\]\(([^)#:]+)\)", text) if not (ROOT / link).exists()]
    commands = [line for block in re.findall(r"```sh\n(.*?)```", text, re.S) for line in block.splitlines()
                if line.startswith("./perfc")]
    for command in commands:
        done = subprocess.run(command, shell=True, cwd=ROOT, capture_output=True, text=True)
        if done.returncode or not done.stdout:
            problems.append(f"{command}: exit {done.returncode}: {done.stderr.strip()[:300]}")
    steps = "".join(re.findall(r"```sh\n(.*?)```", (ROOT / "docs" / "tutorial.md").read_text(), re.S))
    done = subprocess.run(["bash", "-euc", steps], cwd=ROOT, capture_output=True, text=True)
    if done.returncode or not done.stdout:
        problems.append(f"docs/tutorial.md: exit {done.returncode}: {done.stderr.strip()[-300:]}")
    print(f"{len(commands)} commands, {steps.count('./perfc ')} of the tutorial")
    for p in problems:
        print("PROBLEM", p)
    return 1 if problems or len(commands) < 5 else 0


if __name__ == "__main__":
    sys.exit(main())
