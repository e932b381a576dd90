"""`kProducts` (whitebox/constants/products.h): from which fits its rows are, as it is printed, and its test's cases."""
import numpy as np
import product_data as data
import product_model as pm

# Rows of `kProducts`: from which fit, at how many times its chips' FLOPs per clock of an SM, and
# whether the launch is Graphics', for NeuSight's has the host's in it. Then what is not of a fit: what square products
# say (square_products.py), shares and TFLOP/s per W (no GeForce was met at its limit); VectorVolta's power, between
# what one T4 holds and what V100 and RTX 6000 do at its W per TFLOP/s (studies/power_limits.py); HopperTf32,
# HopperWindows and the gradients, profiles of an H200 (studies/hopper/fit.py, fit_gradients.py); of AMD in 16 bits the
# power of either generation, which fit_products.py prints.
TWICE_THE_LANES = 2.0  # float32 of an SM since GA10x, beside GA100's
TENSOR_V100 = 0.5      # FLOPs per clock of an SM's tensor cores, beside GA100's: 1,024 of 2,048
SHIPPED = {"Vector": ("vector", 1.0, True), "VectorHopper": ("vector", TWICE_THE_LANES, True),
           "VectorPascal": ("vector_pascal", 1.0, True), "VectorVolta": ("vector_volta", 1.0, True),
           "VectorAmpere": ("vector", TWICE_THE_LANES, True), "VectorAda": ("vector", TWICE_THE_LANES, True),
           "Graphics": ("graphics", 1.0, False), "GraphicsAmpere": ("graphics", 1.0, False),
           "GeForce": ("geforce", 1.0, False), "Turing": ("graphics", 1.0, False), "Ga100": ("ga100", 1.0, False),
           "Volta": ("ga100", TENSOR_V100, False), "Hopper": ("hopper", 1.0, False),
           "HopperTf32": ("hopper", 1.0, False), "HopperWindows": ("hopper", 1.0, False),
           "HopperDataGradients": ("hopper", 1.0, False), "HopperWeightGradients": ("hopper", 1.0, False),
           "HopperWeightGradientsTf32": ("hopper", 1.0, False), "Blackwell": ("blackwell", 1.0, False),
           "Cdna": ("cdna", 1.0, True), "CdnaHalf": ("cdna_half", 1.0, False),
           "Cdna3Half": ("cdna_half", 1.0, False)}
# An epilogue of VectorAmpere and VectorAda: 5,140 ns at the 2.1 GHz of L4, A40 and RTX 4090. Rows of an H200's profiles
# were fitted in ns, at 1.98 GHz.
LANE_STEP = 1720  # clocks of 32 elements along k of a block that is alone on an SM of an H200: kLaneProducts' 53.7
CHANGED = {"VectorHopper": {"tensor_share": 0.897, "step_clocks": LANE_STEP},
           "VectorAmpere": {"tensor_share": 0.686, "step_clocks": LANE_STEP, "tile_clocks": 10800,
                            "power_share": 0.08, "power_exponent": 1},
           "VectorAda": {"tensor_share": 0.686, "step_clocks": LANE_STEP, "tile_clocks": 10800,
                         "power_share": 0.15, "power_exponent": 1},
           "VectorVolta": {"power_share": 0.054}, "GraphicsAmpere": {"power_share": 0.41},
           "GeForce": {"power_share": 0.684, "power_exponent": 0.5},
           "HopperTf32": {"launch_clocks": 8390, "tensor_share": 1.16, "step_clocks": 246, "stream_bytes": 34.2,
                          "exposed": 0.313, "tile_clocks": 10200},
           "HopperWindows": {"launch_clocks": 11500, "tensor_share": 1.2, "step_clocks": 108, "stream_bytes": 37.2,
                             "split_clocks": data.NEVER, "tile_clocks": 7270},
           "HopperDataGradients": {"launch_clocks": 16600, "tensor_share": 1.03, "step_clocks": 299,
                                   "stream_bytes": 27.4, "exposed": 0.017, "split_clocks": data.NEVER,
                                   "tile_clocks": 7170},
           "HopperWeightGradients": {"launch_clocks": 2930, "tensor_share": 1.19, "step_clocks": 501,
                                     "stream_bytes": 83.5, "exposed": 0.476, "split_clocks": 23000,
                                     "tile_clocks": 16600},
           "HopperWeightGradientsTf32": {"launch_clocks": 6000, "tensor_share": 1.26, "step_clocks": 1310,
                                         "stream_bytes": 14.2, "exposed": 0.556, "split_clocks": 19700,
                                         "tile_clocks": 8450},
           "CdnaHalf": {"power_share": 0.518}, "Cdna3Half": {"power_share": 0.695},
           "Turing": {"power_share": 0.343}, "Volta": {"power_share": 0.32, "power_exponent": 1}}
TF32_EXPOSED = 0.85  #: `kTf32Exposed`, of studies/fit_mig.py
DATA_CENTRE = ("Ga100", "Hopper", "Blackwell")
SHALLOW = ("Vector", "VectorVolta", "VectorAmpere", "VectorAda")  #: `epilogue_share` in whitebox/price/matmul_time.cpp
LAUNCHED = (pm.C_LAUNCH, pm.C_GEMV, pm.C_GEMV_STEP)


def shipped(constants):
    """Constants by row, to three digits, and whether a chip of it has TMA, and always takes its GEMV."""
    rows = {}
    for row, (source, rate, launch) in SHIPPED.items():
        c = pm.at_rate(constants[source], rate)
        if launch:
            c[list(LAUNCHED)] = constants["graphics"][list(LAUNCHED)]
        for name, value in CHANGED.get(row, {}).items():
            c[pm.NAMES.index(name)] = value
        rows[row] = (np.array([float(f"{x:.3g}") if x > 1e-3 else 0.0 for x in c]),
                     row.startswith("Hopper") or row == "Blackwell",
                     row in ("Graphics", "GraphicsAmpere", "GeForce", "Turing"))
    return rows


def print_constants(constants):
    print("\n## Constants\n\n| | " + " | ".join(constants) + " |\n|" + "---|" * (len(constants) + 1))
    for i, name in enumerate(pm.NAMES):
        print(f"| {name} | " + " | ".join(f"{c[i]:.3g}" for c in constants.values()) + " |")
    print("\n" + "\n".join(constants_table(shipped(constants))))


def constants_table(rows):
    """`kProducts` as it is in whitebox/constants/products.h: a chip in three lines, under the names of the fields."""
    cells = [["kNever" if x == data.NEVER else f"{x:g}" for x in c] +
             ["kAllTiles" if tma else "kMmaTiles", str(gemv).lower()]
             for c, tma, gemv in rows.values()]
    heads = [*pm.NAMES, "tiles", "always_gemv"]
    widths = [max(len(x) for x in column) for column in zip(heads, *cells)]
    third = len(heads) // 3
    parts = [slice(at, at + third) for at in range(0, len(heads), third)]

    def line(cells, part):
        return ", ".join(x.rjust(w) for x, w in zip(cells[part], widths[part]))

    yield from ("    // " + line(heads, part).replace(",", " ") for part in parts)
    for name, c in zip(rows, cells):
        yield f"    // {name}"
        first, *rest = (line(c, part) for part in parts)
        yield f"    {{  {first},"
        yield from (f"       {x}," for x in rest[:-1])
        yield f"       {rest[-1]}}},"


PINNED_DEVICES = {"Vector": "NVIDIA A100-PCIE-40GB", "VectorPascal": "Tesla P100-PCIE-16GB",
                  "VectorVolta": "Tesla V100-PCIE-32GB", "VectorHopper": "h100-sxm", "VectorAmpere": "RTX3090",
                  "VectorAda": "l40s", "Graphics": "l40s", "GraphicsAmpere": "l40s", "GeForce": "RTX3090",
                  "Turing": "Tesla T4", "Ga100": "a100-sxm", "Volta": "Tesla V100-PCIE-32GB", "Hopper": "h100-sxm",
                  "HopperTf32": "h100-sxm", "HopperWindows": "h100-sxm", "HopperDataGradients": "h100-sxm",
                  "HopperWeightGradients": "h100-sxm", "HopperWeightGradientsTf32": "h100-sxm",
                  "Blackwell": "b200-sxm", "Cdna": "AMD Instinct MI210", "CdnaHalf": "mi210",
                  "Cdna3Half": "mi355x"}
PINNED_SHAPES = ((1, 1, 4096, 4096, 2), (1, 16, 4096, 4096, 2), (1, 128, 50257, 768, 2), (1, 197, 768, 3072, 2),
                 (1, 4096, 4096, 4096, 2), (1, 8192, 8192, 8192, 1), (96, 128, 128, 64, 2), (1, 7, 33, 5, 4))


def write_pinned(rows, path):
    """What tests/unit/matmul_time_test.cpp compares whitebox/price/matmul_time.cpp with."""
    lines = ["chip\t" + "\t".join(pm.FACTS[:6]) + "\tbatch\tm\tn\tk\twidth\tturns\tseconds"]
    for chip, (row, tma, gemv) in rows.items():
        facts = data.FACTS[PINNED_DEVICES[chip]].copy()
        facts[pm.TMA], facts[pm.GRAPHICS], facts[pm.SHALLOW] = tma, gemv, chip in SHALLOW
        for batch, m, n, k, width in PINNED_SHAPES:
            for turns in (0, 6):
                c = row.copy()
                if chip in DATA_CENTRE and width == 4:  # TF32
                    c[pm.NAMES.index("exposed")] = max(c[pm.NAMES.index("exposed")], TF32_EXPOSED)
                if chip == "HopperWindows" or "Gradients" in chip:  # by the width of what it writes
                    c[pm.NAMES.index("tile_clocks")] *= width / 2
                t = pm.product_time(facts, c, batch, m, n, k, width, width, 2.0, float(turns))
                lines.append("\t".join([chip] + [f"{x:.9g}" for x in (*facts[:6], batch, m, n, k, width, turns, t)]))
    path.write_text("\n".join(lines) + "\n")
