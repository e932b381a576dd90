"""Runs perfc_import_dump over many files, on two cores."""
import concurrent.futures
import json
import subprocess

from support import IMPORT_DUMP


def run(files: list[str], *options: str) -> list[dict]:
    """One result per file, in the files' order."""
    def half(part):
        out = subprocess.run([str(IMPORT_DUMP), *options], input="\n".join(part) + "\n", text=True,
                             stdout=subprocess.PIPE, check=True).stdout
        return [json.loads(line) for line in out.splitlines()]

    parts = [part for part in (files[0::2], files[1::2]) if part]
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        results = {r["file"]: r for half_results in pool.map(half, parts) for r in half_results}
    return [results[f] for f in files]
