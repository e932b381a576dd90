"""The whitebox's constants as they ship, for studies that fit, check or apply them."""
import functools
import math
import pathlib
import re

HEADERS = pathlib.Path(__file__).resolve().parent.parent / "whitebox/constants"


@functools.cache
def constants():
    """Constants of the headers by name: a number, or the numbers of its braces."""
    text = "".join(header.read_text() for header in sorted(HEADERS.glob("*.h")))
    text = re.sub(r"//.*|(?<=[{\s])\.\w+ = ", "", text)
    number = r"[\d.]+(?:e-?\d+)?(?: \* [\d.]+)*"
    out = {}
    for name, alone, several in re.findall(
            rf"\b(k[A-Z]\w*)(?: = ({number})(?=[,;])|\{{({number}(?:,\s*{number})*)\}})", text):
        values = [math.prod(map(float, v.split("*"))) for v in (alone or several).split(",")]
        out[name] = values[0] if alone else tuple(values)
    return out
