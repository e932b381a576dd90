"""What perfc says of a model's kernels, for studies of one kernel."""
import csv
import io
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
