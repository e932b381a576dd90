#!/usr/bin/env python3
"""Every operator that a peer's converter knows must be known here.

usage: operators_test.py FRONTEND    reads FRONTEND.txt beside this script, one name a line

`perfc ops` must list each name, and name what it becomes.
"""
import json
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from support import PERFC  # noqa: E402


def main(frontend: str) -> int:
    lines = (HERE / f"{frontend}.txt").read_text().splitlines()
    names = [line for line in lines if line and not line.startswith("#")]
    run = subprocess.run([PERFC, "ops", "--json"], capture_output=True, text=True, check=True)
    known = {row["op"]: row["becomes"] for row in json.loads(run.stdout)["frontends"][frontend]}
    missing = [name for name in names if not known.get(name)]
    print(
        f"{frontend}: {len(names) - len(missing)} of {len(names)} operators of the list are read, {len(known)} in all")
    for name in missing:
        print(f"not read: {name}")
    if len(names) != len(set(names)) or not names:
        print(f"{frontend}.txt is empty or names an operator twice")
        return 1
    return 1 if missing else 0


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1]))
