"""Kernels out of a trace of torch.profiler: which call launched them, on which shapes, for how long."""
import bisect
import collections
import json
import sys

COLUMNS = ("cell", "position", "call", "operator", "dims", "types", "strides", "arguments", "kernel", "grid", "block",
           "us")


def short(value):
    return json.dumps(value, separators=(",", ":")) if value not in (None, "", []) else ""


class Trace:
    """A Chrome trace (docs.pytorch.org/docs/stable/profiler.html, export_chrome_trace)."""

    def __init__(self, path):
        with open(path) as file:
            events = json.load(file)["traceEvents"]
        self.kernels, self.launches, self.cells = [], {}, []
        threads = collections.defaultdict(list)
        for e in events:
            kind = e.get("cat")
            if kind in ("kernel", "gpu_memcpy", "gpu_memset"):
                self.kernels.append(e)
            elif kind in ("cuda_runtime", "cuda_driver"):
                self.launches[e["args"].get("correlation")] = e
                threads[e["tid"]].append(e)
            elif kind == "cpu_op":
                threads[e["tid"]].append(e)
            elif kind == "user_annotation" and e["name"].startswith("cell:"):
                self.cells.append((e["ts"], e["ts"] + e["dur"], e["name"][5:]))
        self.cells.sort()
        self.starts = [c[0] for c in self.cells]
        for thread in threads.values():
            open_calls = []
            for e in sorted(thread, key=lambda e: (e["ts"], -e["dur"])):
                while open_calls and open_calls[-1]["ts"] + open_calls[-1]["dur"] <= e["ts"]:
                    open_calls.pop()
                if e["cat"] == "cpu_op":
                    open_calls.append(e)
                elif open_calls:
                    e["operator"], e["call"] = open_calls[-1], open_calls[0]["name"]

    def cell_at(self, ts):
        at = bisect.bisect_right(self.starts, ts) - 1
        return self.cells[at] if at >= 0 and ts <= self.cells[at][1] else None

    def rows(self):
        """Rows of COLUMNS in the order of launches; `position` counts within one run of the cell."""
        found = collections.defaultdict(list)
        for kernel in self.kernels:
            args = kernel["args"]
            launch = self.launches.get(args.get("correlation"))
            cell = self.cell_at(launch["ts"]) if launch else None
            if cell:
                found[cell].append((launch, kernel))
        for cell in self.cells:
            for position, (launch, kernel) in enumerate(sorted(found[cell], key=lambda pair: pair[0]["ts"])):
                args, operator = kernel["args"], launch.get("operator", {"name": "", "args": {}})
                of = operator["args"]
                yield (cell[2], position, launch.get("call", ""), operator["name"], short(of.get("Input Dims")),
                       short(of.get("Input type")), short(of.get("Input Strides")), short(of.get("Concrete Inputs")),
                       kernel["name"].replace("\t", " "), short(args.get("grid")), short(args.get("block")),
                       kernel["dur"])


def merge(rows):
    """Runs of one cell become one row per position: the mean of their times. Where runs differ in what they launch,
    the first stands alone."""
    runs = []
    for row in rows:
        if row[1] == 0:
            runs.append([])
        runs[-1].append(row)
    by_cell = collections.OrderedDict()
    for run in runs:
        by_cell.setdefault(run[0][0], []).append(run)
    for same in by_cell.values():
        alike = [r for r in same if [x[8] for x in r] == [x[8] for x in same[0]]]
        for position, row in enumerate(same[0]):
            us = sum(r[position][-1] for r in alike) / len(alike)
            yield row[:-1] + (f"{us:.3f}",)


def convert(path, out):
    with open(out, "w") as file:
        for row in merge(Trace(path).rows()):
            file.write("\t".join(map(str, row)) + "\n")


if __name__ == "__main__":
    convert(sys.argv[1], sys.argv[2])
