"""What perfc says of a model's kernels, for studies of one kernel."""
import csv
import io
import subprocess


def predicted_us(perfc, model, device, dtype, column, value):
    """Time of the whitebox' kernels of a .pir file in whose column (of --emit=kernels) a value stands."""
    text = subprocess.check_output([perfc, "predict", model, "--emit=kernels", "--predictor", "whitebox", "--device",
                                    device, "--dtype", dtype, "--quiet"], text=True)
    return sum(float(k["time_us"]) for k in csv.DictReader(io.StringIO(text)) if value in k[column].split())
