#!/usr/bin/env python3
"""PMGNS-SAGE beside PyTorch Geometric: the same layer sizes, weights, graph and core, in the same run.

usage: PYTHON bench/gnn.py [--seconds 20] [--rounds 2]

PYTHON has PyTorch and PyTorch Geometric (pip install torch==2.13.0 torch_geometric==2.8.1);
build/release/perfc_gnn_bench is built with -DPERFC_BENCH=ON. First both have to predict the same. Then they take turns
and the fastest pass of each counts, in CPU time: others may be using the machine. A training step is forward with
dropout, backward and Adam (PyTorch's default). Exit code 1 if perfc is below 85 % of OpenBLAS's SGEMM of the same run
or below the promised multiple of PyTorch Geometric.
"""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile
import time

sys.path.pop(0)  # this folder, which has a torch.py of its own
import torch  # noqa: E402
import torch.nn.functional as F  # noqa: E402
import torch_geometric.nn as tgnn  # noqa: E402

BENCH = pathlib.Path(__file__).resolve().parent.parent / "build" / "release" / "perfc_gnn_bench"
SHARE = 0.85
PROMISED = {"inference": 1.2, "training": 1.4}
DROPOUT = 0.05


def read_safetensors(path):
    data = pathlib.Path(path).read_bytes()
    start = 8 + int.from_bytes(data[:8], "little")
    head = json.loads(data[8:start])
    head.pop("__metadata__", None)
    return {
        name: torch.frombuffer(bytearray(data[start + t["data_offsets"][0]:start + t["data_offsets"][1]]),
                               dtype=torch.float32).reshape(t["shape"]) for name, t in head.items()
    }


class Pmgns(torch.nn.Module):
    """As gnn/models/pmgns.cpp, which has its parameters' names."""

    def __init__(self, weights):
        super().__init__()
        size = lambda name: weights[name].shape  # noqa: E731
        for i in (1, 2, 3):
            out, width = size(f"graph_conv_{i}.convs.0.lin_l.weight")
            setattr(self, f"graph_conv_{i}", tgnn.GraphSAGE(width, out, num_layers=2, normalize=True))
        for name in ("fc_1", "fc_2", "fc_3", "predictor"):
            setattr(self, name, torch.nn.Linear(*reversed(size(f"{name}.weight"))))
        self.load_state_dict(weights)

    def forward(self, nodes, edges, graph_of, globals):
        drop = lambda x: F.dropout(x, DROPOUT, self.training)  # noqa: E731
        for i in (1, 2, 3):
            nodes = drop(F.relu(getattr(self, f"graph_conv_{i}")(nodes, edges)))
        x = torch.cat([tgnn.global_add_pool(nodes, graph_of), globals], dim=1)
        for layer in (self.fc_1, self.fc_2, self.fc_3):
            x = drop(F.relu(layer(x)))
        return -F.logsigmoid(self.predictor(x))


def batch_of(graphs, nodes, globals):
    """The graph of gnn_bench.cpp's `sample`, so many times."""
    n = len(nodes)
    edges = [(v - d, v) for v in range(1, n) for d in ((1, 4) if v % 4 == 0 else (1,))]
    edges = torch.tensor([(a + g * n, b + g * n) for g in range(graphs) for a, b in edges]).T.contiguous()
    return nodes.repeat(graphs, 1), edges, torch.arange(graphs).repeat_interleave(n), globals.repeat(graphs, 1)


def torch_passes(network, graph):
    adam = torch.optim.Adam(network.parameters(), lr=1e-6)

    def inference(batch):
        network.eval()
        with torch.inference_mode():
            network(*batch)

    def training(batch):
        network.train()
        adam.zero_grad()
        network(*batch).backward(torch.full((len(batch[3]), 3), 1e-3))
        adam.step()

    for graphs in (1, 64):
        batch = batch_of(graphs, *graph)
        for run in (inference, training):
            yield f"{run.__name__}, batch {graphs}", lambda run=run, batch=batch: run(batch)


def fastest(run, seconds):
    best, end = float("inf"), time.process_time() + seconds
    while (start := time.process_time()) < end:
        run()
        best = min(best, time.process_time() - start)
    return best


def perfc_rows(seconds):
    """{row: (ms, share of SGEMM)}."""
    lines = subprocess.run([BENCH, "1", str(seconds)], capture_output=True, text=True,
                           check=True).stdout.splitlines()[2:]
    return {
        line[:22].strip(): (float(line[22:].split()[0]), float(line.split()[-1].rstrip("%")) / 100) for line in lines
    }


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--seconds", type=float, default=20, help="of each, per round")
    p.add_argument("--rounds", type=int, default=2)
    args = p.parse_args()
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "network.safetensors"
        subprocess.run([BENCH, "--save", file], check=True)
        weights = read_safetensors(file)
    nodes, globals, output = (weights.pop(name) for name in ("nodes", "globals", "output"))
    network = Pmgns(weights).eval()
    with torch.inference_mode():
        error = float(((network(*batch_of(1, nodes, globals)) - output).abs() / output.abs()).max())
    print(f"PyTorch Geometric's prediction differs by {error:.1e}, relative")
    if error > 1e-4:
        sys.exit("not the same network")
    passes = dict(torch_passes(network, (nodes, globals)))
    ours, theirs = {}, {}
    for _ in range(args.rounds):
        for name, (ms, share) in perfc_rows(args.seconds).items():
            ours[name] = max(ours.get(name, (0, 0)), (share, ms))
        for name, run in passes.items():
            theirs[name] = min(theirs.get(name, float("inf")), 1e3 * fastest(run, args.seconds / len(passes)))
    missed = False
    print(f"{'':22} {'perfc':>18} {'PyTorch Geometric':>18} {'ratio':>6}")
    for name, ms in theirs.items():
        share, mine = ours[name]
        promised = PROMISED[name.split(",")[0]]
        holds = share >= SHARE and ms / mine >= promised
        missed |= not holds
        print(
            f"{name:22} {mine:9.2f} ms {share:5.0%} {ms:15.2f} ms {ms / mine:6.2f}  {'pass' if holds else 'MISS'}: "
            f"{SHARE:.0%}, {promised} times"
        )
    sys.exit(1 if missed else 0)


if __name__ == "__main__":
    main()
