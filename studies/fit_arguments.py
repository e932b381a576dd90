"""The command line of the studies that fit constants on measured runs, or check the shipped ones."""
import argparse
import pathlib

ROOT = pathlib.Path(__file__).resolve().parent.parent


def parse(description, exports=False):
    """.check: None, or the most MAPE in % that the shipped constants may have; .graphs and, where asked for, .exports:
    folders, there unless .check is."""
    p = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--graphs", type=pathlib.Path)
    p.add_argument("--perfc", default=str(ROOT / "build/release/perfc"))
    p.add_argument("--check", type=float, metavar="PERCENT")
    if exports:
        p.add_argument("--exports", type=pathlib.Path)
    args = p.parse_args()
    for wanted in ("graphs", "exports")[:1 + exports]:
        if args.check is None and not getattr(args, wanted):
            p.error(f"--{wanted} is missing")
    return args
