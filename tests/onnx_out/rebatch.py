#!/usr/bin/env python3
"""One run of `perfc opt MODEL --batch 8 -o` beside eight runs of the model. Prints a line of JSON per file.

usage: rebatch.py FILE…
"""
import json
import pathlib
import sys
import tempfile

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]
import runs  # noqa: E402
import support  # noqa: E402

BATCH = 8


def outcome(file: pathlib.Path, folder: pathlib.Path) -> tuple[str, str]:
    original = runs.Original(file, folder)
    if original.why or not original.results:
        return "skipped", original.why or ""
    if any(v.ndim < 2 or v.shape[0] != 1 for v in original.feed.values()):
        return "skipped", "its batch is not 1"
    out = folder / "out.onnx"
    code, stderr = runs.perfc(support.PERFC, "opt", original.path, "--batch", BATCH, "-o", out)
    if code != 0:
        return "refused", runs.error_of(stderr)
    rng = np.random.default_rng(0)
    feed = {k: rng.standard_normal((BATCH, *v.shape[1:])).astype(v.dtype) if v.dtype.kind == "f"
            else rng.integers(0, 2, (BATCH, *v.shape[1:])).astype(v.dtype) for k, v in original.feed.items()}
    single = runs.session(str(original.path))
    parts = [runs.run(single, {k: v[i:i + 1] for k, v in feed.items()}) for i in range(BATCH)]
    together = runs.run(runs.session(str(out)), feed)
    for name in original.results:
        d = runs.difference(np.concatenate([p[name] for p in parts]), together[name], original.tolerance)
        if d:
            return "differs", f"{name}: {d}"
    return "equal", ""


def main() -> int:
    for file in sys.argv[1:]:
        with tempfile.TemporaryDirectory(prefix="onnx_out") as folder:
            try:
                status, detail = outcome(pathlib.Path(file), pathlib.Path(folder))
            except Exception as e:  # noqa: BLE001: whatever onnxruntime says
                status, detail = "onnxruntime", str(e).splitlines()[0][:200]
        print(json.dumps({"file": file, "status": status, "detail": detail}), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
