#!/usr/bin/env python3
"""A minute of good and damaged models for `perfc serve`.

usage: bench/serve.py [--perfc build/release/perfc] [--seconds 60] [--clients 4] [--bodies 300]

Clients send, each as fast as it is answered, models and damaged ones in turn as they are drawn; half of either are
ResNet-50, the others small models of every format (tests/serve/server.py). Every answer is compared with what the
command line says of the same bytes. Before the time that is measured half as much goes by in which memory settles.
Prints latencies and memory; exits with 1 where an answer is another, a damaged model is not answered 422 with its
diagnostics, the 99th percentile is not below ten times the median, or memory grows by more than 5 %.
"""
import argparse
import pathlib
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests/serve"))
from server import Bodies, Load, Server  # noqa: E402

MOST_GROWTH = 1.05
MOST_SPREAD = 10


def main() -> int:
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--perfc", default=ROOT / "build/release/perfc", type=pathlib.Path)
    p.add_argument("--seconds", type=float, default=60)
    p.add_argument("--clients", type=int, default=4)
    p.add_argument("--bodies", type=int, default=300, help="damaged ones")
    args = p.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        bodies = Bodies(args.perfc.resolve(), pathlib.Path(folder), args.bodies)
    print(f"{len(bodies.good)} models, {len(bodies.bad)} damaged ones")
    with Server(args.perfc.resolve()) as server:
        Load(server, bodies, args.clients, args.seconds / 2).run()
        before = server.rss_mib()
        load = Load(server, bodies, args.clients, args.seconds)
        load.run()
        after = server.rss_mib()
    ended = server.stop()
    for kind, times in (("good", ("good",)), ("damaged", ("bad",)), ("all", ("good", "bad"))):
        shown = "  ".join(f"p{100 * q:g} {1e3 * load.quantile(q, times):7.2f} ms" for q in (0.5, 0.9, 0.99, 1))
        print(f"{kind:<8} {sum(len(load.times[t]) for t in times):>6}  {shown}")
    spread = load.quantile(0.99) / load.quantile(0.5)
    print(f"statuses {load.statuses}, wrong answers {len(load.wrong)}, exit {ended}")
    print(f"p99 / p50 {spread:.1f}; memory {before:.1f} MiB, then {after:.1f} MiB")
    for wrong in load.wrong[:3]:
        print("wrong:", *wrong)
    good = not load.wrong and ended == (0, "") and spread < MOST_SPREAD and after < MOST_GROWTH * before
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
