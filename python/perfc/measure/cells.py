"""What is measured, and in which order."""
from __future__ import annotations

import heapq
import itertools
from collections import Counter
from dataclasses import dataclass
from typing import Iterable

DTYPES = ("fp32", "tf32", "amp", "fp16", "bf16")
SESSION = "onnxruntime-cpu"  #: the mode that runs the exported model in ONNX Runtime
MODES = ("eager", "compiled", "cuda-graph", SESSION)
TASKS = ("infer", "train")
LAYOUTS = ("nchw", "nhwc")


@dataclass(frozen=True)
class Cell:
    """One measurement. `target` names the model (perfc.export.targets), the rest its setting."""
    target: str
    family: str
    batch: int                  #: 0: that of the model's own examples
    dtype: str = "fp32"
    mode: str = "eager"
    layout: str = "nchw"
    task: str = "infer"

    def key(self) -> tuple[str, ...]:
        """What makes two cells the same measurement, as labels.csv has it."""
        return self.target, str(self.batch), self.dtype, self.mode, self.layout, self.task

    def title(self) -> str:
        extra = [v for v, usual in ((self.mode, "eager"), (self.layout, "nchw"), (self.task, "infer")) if v != usual]
        return " ".join([self.target, *([f"batch {self.batch}"] if self.batch else []), self.dtype, *extra])


def grid(models: Iterable[tuple[str, str]], batches, dtypes, modes, layouts, tasks) -> list[Cell]:
    """All cells of (target, family) pairs."""
    settings = list(itertools.product(tasks, dtypes, modes, layouts, batches))
    return [Cell(target, family, batch, dtype, mode, layout, task)
            for target, family in models for task, dtype, mode, layout, batch in settings]


#: What a cell's news is counted by: a cell is worth more the fewer cells before it share these with it.
ASPECTS = (
    (8.0, lambda c: c.family),
    (4.0, lambda c: c.target),
    (4.0, lambda c: (c.family, c.batch)),
    (4.0, lambda c: (c.family, c.dtype)),
    (2.0, lambda c: (c.dtype, c.batch)),
    (2.0, lambda c: c.mode),
    (2.0, lambda c: c.layout),
    (1.0, lambda c: (c.target, c.dtype, c.mode)),
    (1.0, lambda c: (c.target, c.batch)),
)


def in_order(cells: list[Cell], done: Iterable[Cell] = ()) -> list[Cell]:
    """The cells in the order in which they teach most: each next one repeats the least of those before it and of
    `done`. Inference goes before training. Ties go by place in the list."""
    seen: list[Counter] = [Counter() for _ in ASPECTS]

    def count(cell: Cell) -> None:
        for counter, (_, aspect) in zip(seen, ASPECTS):
            counter[aspect(cell)] += 1

    def repeats(cell: Cell) -> float:
        # A family with more models is not news for longer: its count weighs by itself.
        return sum(weight * counter[aspect(cell)] for counter, (weight, aspect) in zip(seen, ASPECTS))

    for cell in done:
        count(cell)
    out = []
    for task in TASKS:
        # Counts only grow, so the least is the first whose count, when looked at again, is still least.
        heap = [(repeats(cell), place, cell) for place, cell in enumerate(cells) if cell.task == task]
        heapq.heapify(heap)
        while heap:
            _, place, cell = heapq.heappop(heap)
            now = repeats(cell)
            if heap and (now, place) > heap[0][:2]:
                heapq.heappush(heap, (now, place, cell))
                continue
            count(cell)
            out.append(cell)
    return out
