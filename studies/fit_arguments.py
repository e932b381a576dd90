"""The command line of the studies that fit constants on measured runs, or check the shipped ones."""
import argparse
import pathlib

ROOT = pathlib.Path(__file__).resolve().parent.parent


def parse(description):
    """.check: None, or the most MAPE in % that the shipped constants may have; .graphs: DIR, there unless .check is."""
    p = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--graphs", type=pathlib.Path)
    p.add_argument("--perfc", default=str(ROOT / "build/release/perfc"))
    p.add_argument("--check", type=float, metavar="PERCENT")
    args = p.parse_args()
    if args.check is None and not args.graphs:
        p.error("--graphs is missing")
    return args
