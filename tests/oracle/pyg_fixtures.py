#!/usr/bin/env python3
"""Writes tests/fixtures/pyg/*.json: what PyTorch Geometric computes for given weights,
for tests/unit/gnn_pyg_test.cpp. Run once, when a layer is added:

  python -m pip install torch==2.13.0 torch_geometric==2.8.1
  python tests/oracle/pyg_fixtures.py

Inputs and weights are multiples of 1/64, exact in text and in float; results are in
double. Each file: name, arguments, edges, inputs, parameters, the output, the upstream
gradient, and the gradients of (output * upstream).sum().
"""
import json
import pathlib

import torch
import torch.nn.functional as F
import torch_geometric
import torch_geometric.nn as tgnn
from torch import nn

FOLDER = pathlib.Path(__file__).resolve().parent.parent / "fixtures" / "pyg"
# Two graphs: a diamond with a shortcut and a tail, and a chain. One node has no edge.
EDGES = [(0, 1), (0, 2), (1, 3), (2, 3), (0, 3), (3, 4), (4, 5), (2, 5), (7, 8), (8, 9)]
GRAPH_OF = [0, 0, 0, 0, 0, 0, 0, 1, 1, 1]
NODES, IN, OUT = len(GRAPH_OF), 5, 4
STATIC, HIDDEN, OUTPUTS = 3, 6, 3


def draw(generator, *shape):
    return torch.randint(-64, 65, shape, generator=generator).double() / 64


def numbers(tensor):
    return [float(f"{v:.12g}") for v in tensor.detach().flatten().tolist()]


def vanishes(tensors):
    """Whether some gradient says nothing, dead behind a ReLU for one."""
    sizes = [float(t.abs().max()) for t in tensors]
    return min(sizes, default=1) < 1e-3 * max(sizes, default=1)


def write(name, module, arguments, inputs, run):
    module = module.double().eval()
    for seed in range(1000):
        generator = torch.Generator().manual_seed(seed)
        with torch.no_grad():
            for p in module.parameters():
                p.copy_(draw(generator, *p.shape))
        module.zero_grad()
        x = {key: draw(generator, *shape).requires_grad_() for key, shape in inputs.items()}
        y = run(module, **x)
        upstream = draw(generator, *y.shape)
        (y * upstream).sum().backward()
        # Behind other layers, attention's own weights cancel: no score changes sign.
        own = [p.grad for key, p in module.named_parameters() if name != "pmgns_gat" or "att_" not in key]
        if not vanishes(own + [v.grad for v in x.values()]):
            break
    else:
        raise SystemExit(f"{name}: every seed leaves some gradient at 0")
    fixture = {
        "name": name, "torch": torch.__version__, "torch_geometric": torch_geometric.__version__,
        "arguments": arguments, "nodes_per_graph": [GRAPH_OF.count(g) for g in (0, 1)], "edges": EDGES,
        "inputs": {key: numbers(v) for key, v in x.items()}, "output": numbers(y), "upstream": numbers(upstream),
        "input_gradients": {key: numbers(v.grad) for key, v in x.items() if v.grad is not None},
        "parameters": {key: {"value": numbers(p), "gradient": numbers(p.grad)} for key, p in module.named_parameters()},
    }
    text = json.dumps(fixture, separators=(",", ":")).replace(',"', ',\n"')
    (FOLDER / f"{name}.json").write_text(text + "\n")


class Pmgns(nn.Module):
    """The network of arXiv 2303.11733, figure 3, small."""

    def __init__(self, block):
        super().__init__()
        self.block = block
        if block:
            for i, width in enumerate((IN, HIDDEN, HIDDEN), 1):
                # The paper's convolutions: GraphSAGE divides its rows by their length.
                extra = {"normalize": True} if block is tgnn.GraphSAGE else {}
                setattr(self, f"graph_conv_{i}", block(width, HIDDEN, num_layers=2, **extra))
        self.fc_1 = nn.Linear((HIDDEN if block else 0) + STATIC, HIDDEN)
        self.fc_2 = nn.Linear(HIDDEN, HIDDEN)
        self.fc_3 = nn.Linear(HIDDEN, HIDDEN)
        self.predictor = nn.Linear(HIDDEN, OUTPUTS)

    def forward(self, globals, nodes=None):
        x = globals
        if self.block:
            edges = torch.tensor(EDGES).T
            for i in (1, 2, 3):
                nodes = F.relu(getattr(self, f"graph_conv_{i}")(nodes, edges))
            x = torch.cat([tgnn.global_add_pool(nodes, torch.tensor(GRAPH_OF)), globals], dim=1)
        for layer in (self.fc_1, self.fc_2, self.fc_3):
            x = F.relu(layer(x))
        return -F.logsigmoid(self.predictor(x))


def main():
    FOLDER.mkdir(parents=True, exist_ok=True)
    edges, graph_of = torch.tensor(EDGES).T, torch.tensor(GRAPH_OF)
    x = {"nodes": (NODES, IN)}
    conv = lambda m, nodes: m(nodes, edges)  # noqa: E731
    sizes = {"in": IN, "out": OUT}
    write("sage", tgnn.SAGEConv(IN, OUT), sizes, x, conv)
    write("sage_l2", tgnn.SAGEConv(IN, OUT, normalize=True), sizes, x, conv)
    write("gcn", tgnn.GCNConv(IN, OUT), sizes, x, conv)
    write("gat", tgnn.GATConv(IN, OUT), {**sizes, "heads": 1}, x, conv)
    write("gat_heads", tgnn.GATConv(IN, OUT // 2, heads=2), {**sizes, "heads": 2}, x, conv)
    write("gin", tgnn.GINConv(tgnn.MLP([IN, OUT, OUT], norm=None)), {**sizes, "epsilon": 0}, x, conv)
    write("gin_epsilon", tgnn.GINConv(tgnn.MLP([IN, OUT, OUT], norm=None), eps=0.5), {**sizes, "epsilon": 0.5}, x, conv)
    write("linear", nn.Linear(IN, OUT), sizes, x, lambda m, nodes: m(nodes))
    write("layer_norm", nn.LayerNorm(IN), sizes, x, lambda m, nodes: m(nodes))
    write("gelu", nn.GELU(), sizes, x, lambda m, nodes: m(nodes))
    for pool in ("add", "mean", "max"):
        run = getattr(tgnn, f"global_{pool}_pool")
        write(f"pool_{pool}", nn.Identity(), sizes, x, lambda m, nodes, run=run: run(nodes, graph_of))
    for name, block in (("sage", tgnn.GraphSAGE), ("gcn", tgnn.GCN), ("gat", tgnn.GAT), ("gin", tgnn.GIN), ("mlp",
                                                                                                            None)):
        inputs = {"globals": (2, STATIC), **({"nodes": (NODES, IN)} if block else {})}
        arguments = {"convolution": name, "in": IN, "static": STATIC, "hidden": HIDDEN, "outputs": OUTPUTS}
        write(f"pmgns_{name}", Pmgns(block), arguments, inputs, lambda m, **kw: m(**kw))


if __name__ == "__main__":
    main()
