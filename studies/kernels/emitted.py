"""What perfc says of a model's kernels, for studies of one kernel."""
import argparse
import csv
import io
import lzma
import statistics
import subprocess


def kernels(perfc, model, *options):
    """The whitebox' kernels of a model, as --emit=kernels has them."""
    text = subprocess.check_output([perfc, "predict", model, "--emit=kernels", "--predictor", "whitebox", "--quiet",
                                    *options], text=True)
    return csv.DictReader(io.StringIO(text))


def predicted_us(perfc, model, device, dtype, column, value):
    """Time of the kernels of a .pir file in whose column a value stands."""
    found = kernels(perfc, model, "--device", device, "--dtype", dtype)
    return sum(float(k["time_us"]) for k in found if value in k[column].split())


def arguments(doc):
    """Of a study that fits, or with --judge says how well perfc does: perfc, judge, shared."""
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--perfc", default="build/release/perfc")
    parser.add_argument("--judge", action="store_true")
    parser.add_argument("--shared", default="../shared")
    return parser.parse_args()


def datacenter(shared, name):
    """Rows of shared/data/datacenter/NAME, those of L40S included."""
    for part in ("", ".l40s"):
        with lzma.open(f"{shared}/data/datacenter/{name}{part}.csv.xz", "rt") as f:
            yield from csv.DictReader(f)


def summary(ratios):
    """Of predicted over measured times."""
    ratios = [float(r) for r in ratios]
    return (f"median {statistics.median(ratios):.2f}, "
            f"MAPE {100 * statistics.mean(abs(r - 1) for r in ratios):.1f} %")
