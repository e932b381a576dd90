"""The graph of a model, read node by node or as columns."""
from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, overload

from .errors import Diagnostic

if TYPE_CHECKING:
    import numpy as np

    from . import _perfc

    Floats = np.ndarray[Any, np.dtype[np.float64]]
    Integers = np.ndarray[Any, np.dtype[np.int64]]


@dataclass(frozen=True)
class Type:
    """The type of a value. `str()` is the text form's: "Tensor[(1, 3), float32]"."""
    text: str
    dtype: str | None  #: of tensors
    shape: tuple[int | str | None, ...] | None  #: of tensors: an extent, the name of an open dim, or None where unknown
    nbytes: float | None  #: of tensors whose dims are all known

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True)
class Literal:
    """A constant among attributes."""
    type: Type
    values: list[Any] | None  #: None: not read


class Value(NamedTuple):
    """A result of a node."""
    node: int
    result: int


@dataclass(frozen=True)
class Node:
    """One node. Operands precede their users in the graph."""
    index: int
    kind: str  #: "var" (an input), "constant" or "call"
    op: str | None  #: of calls
    name: str
    operands: tuple[Value | None, ...]  #: None: an optional one that is left out
    types: tuple[Type, ...]  #: of the results
    attrs: dict[str, Any]
    regions: tuple[Graph, ...]  #: bodies of control flow
    line: int  #: where the file has it; -1: not known
    column: int
    source_node: int  #: its index in binary formats
    offset: int  #: byte offset


def _attr(value: Any) -> Any:
    if isinstance(value, tuple):
        return Literal(Type(*value[0]), value[1]) if len(value) == 2 else Type(*value)
    return value


class Column(NamedTuple):
    """What a column of features holds."""
    name: str
    unit: str
    meaning: str


@dataclass(frozen=True, eq=False)
class Features:
    """What networks see of a graph: a row per operator in post-order, chains of views merged. Arrays are the compiled
    part's memory in place, read-only."""
    matrix: Floats  #: rows × columns
    columns: tuple[Column, ...]
    op: tuple[str, ...]  #: of each row
    name: tuple[str, ...]
    edges: Integers  #: data flow: (from, to), rows
    static: Floats  #: of the whole graph
    static_columns: tuple[Column, ...]

    def to_pyg(self) -> Any:
        """A torch_geometric.data.Data: x (float32), edge_index, static (1 × its columns), op and name of each node."""
        try:
            from torch_geometric.data import Data
        except ModuleNotFoundError as error:
            raise ImportError(f"to_pyg needs the package {error.name}; pip install torch torch_geometric",
                              name=error.name) from None
        import torch
        return Data(x=torch.tensor(self.matrix, dtype=torch.float32),
                    edge_index=torch.tensor(self.edges, dtype=torch.int64).T.contiguous(),
                    static=torch.tensor(self.static, dtype=torch.float32)[None], op=list(self.op), name=list(self.name))


@dataclass(frozen=True, eq=False)
class Columns:
    """All nodes of a graph as arrays, in place and read-only. Node i has the operands from operand_offsets[i] to
    operand_offsets[i + 1] and the results from result_offsets[i] on; result r the dims from dim_offsets[r] on."""
    ops: tuple[str, ...]  #: what `op` counts
    dtypes: tuple[str, ...]  #: what `dtype` counts
    kind: np.ndarray[Any, np.dtype[np.uint8]]  #: 0 var, 1 constant, 2 call
    op: np.ndarray[Any, np.dtype[np.int32]]  #: -1: no call
    operands: np.ndarray[Any, np.dtype[np.int32]]  #: (node, result); -1: left out
    operand_offsets: Integers
    result_offsets: Integers
    dtype: np.ndarray[Any, np.dtype[np.int32]]  #: by result; -1: no tensor
    rank: np.ndarray[Any, np.dtype[np.int32]]  #: by result; -1: not known
    dims: Integers  #: -1: not known
    dim_offsets: Integers
    bytes: Floats  #: by result; 0: not known
    macs: Floats  #: by node
    flops: Floats  #: by node


class Graph(Sequence[Node]):
    """A typed graph, a sequence of its nodes in the order of their execution. `str()` is its text form (.pir)."""

    def __init__(self, graph: _perfc.Graph) -> None:
        self._graph = graph
        self.name: str
        self.name, self._size, params, results, names = graph.about()
        self.params: tuple[Value, ...] = tuple(Value(*v) for v in params)  #: inputs
        self.results: tuple[Value, ...] = tuple(Value(*v) for v in results)  #: outputs
        self.result_names: tuple[str, ...] = tuple(names)

    def __len__(self) -> int:
        return self._size

    @overload
    def __getitem__(self, index: int) -> Node: ...
    @overload
    def __getitem__(self, index: slice) -> list[Node]: ...

    def __getitem__(self, index: int | slice) -> Node | list[Node]:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        place = index + len(self) if index < 0 else index
        kind, op, name, operands, types, attrs, regions, line, column, node, offset = self._graph.node(place)
        return Node(place, kind, op, name, tuple(Value(*v) if v else None for v in operands),
                    tuple(Type(*t) for t in types), {key: _attr(v) for key, v in attrs.items()},
                    tuple(Graph(r) for r in regions), line, column, node, offset)

    def __iter__(self) -> Iterator[Node]:
        return (self[i] for i in range(len(self)))

    @property
    def nodes(self) -> Graph:
        """The graph itself, which is a sequence of its nodes."""
        return self

    def type_of(self, value: Value) -> Type:
        """The type of a value, such as one of `params`."""
        return self[value.node].types[value.result]

    @property
    def columns(self) -> Columns:
        """All nodes as NumPy arrays."""
        import numpy as np
        made = self._graph.columns()
        arrays: dict[str, Any] = {
            key: tuple(v) if isinstance(v, list) else np.asarray(v) for key, v in made.items()
        }
        return Columns(**arrays)

    def features(self, schema: str = "perfc-op") -> Features:
        """What networks see of it, as NumPy arrays without a copy; schemas are "perfc-op" and "dippm"
        (docs/features.md). Needs types that are all known."""
        import numpy as np
        made = self._graph.features(schema)
        return Features(np.asarray(made["matrix"]), tuple(Column(*c) for c in made["columns"]), tuple(made["op"]),
                        tuple(made["name"]), np.asarray(made["edges"]), np.asarray(made["static"]),
                        tuple(Column(*c) for c in made["static_columns"]))

    def to_pyg(self, schema: str = "perfc-op") -> Any:
        """The features as a torch_geometric.data.Data."""
        return self.features(schema).to_pyg()

    @property
    def totals(self) -> dict[str, Any]:
        """macs, flops, params, weight_mib, nodes, conv2d, dense, relu: `static` of the JSON report."""
        return self._graph.totals()

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """What was said while it was read."""
        return tuple(Diagnostic(*d) for d in self._graph.diagnostics())

    def to_pir(self) -> str:
        """perfc's text form, which it reads too."""
        return self._graph.text("pir")

    def to_dot(self) -> str:
        """For Graphviz."""
        return self._graph.text("dot")

    def __str__(self) -> str:
        return self.to_pir()

    def __repr__(self) -> str:
        inputs = ", ".join(f"{self[v.node].name}: {self.type_of(v)}" for v in self.params)
        return f"<Graph {self.name}({inputs}), {len(self)} nodes>"
