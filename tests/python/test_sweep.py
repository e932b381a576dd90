"""perfc.sweep: the rows of the program, in threads, on two local workers of Dask, in files, stopped and continued."""
import csv
import io
import json
import os
import pathlib
import random
import shutil
import subprocess
import sys
import time

import pytest

import perfc

ROOT = pathlib.Path(__file__).resolve().parents[2]
RESNET = ROOT / "examples/resnet50.onnx"
DEVICES = ["l4", "t4", "a100-40gb"]
HOW = {"batch": [1, 8], "device": DEVICES, "dtype": ["bf16", "amp"]}
WORDS = ["--batch", "1,8", "--device", ",".join(DEVICES), "--dtype", "bf16,amp"]


def words(row) -> list[str]:
    """A row as the program prints it."""
    said = {type(None): lambda v: "", bool: lambda v: str(v).lower(), float: lambda v: f"{v:.6g}"}
    return [said.get(type(v), str)(v) for v in row]


@pytest.fixture
def models(tmp_path):
    folder = tmp_path / "models"
    folder.mkdir()
    for name in ("net.onnx", 'a,b "c".onnx', "other.onnx"):
        shutil.copy(RESNET, folder / name)
    (folder / "damaged.onnx").write_bytes(RESNET.read_bytes()[:20000])
    return folder


@pytest.fixture
def expected(cli, models):
    return cli("sweep", models, *WORDS, code=1)


def as_table(rows) -> list[list[str]]:
    return [list(perfc.Row._fields), *map(words, rows)]


def read(text: str) -> list[list[str]]:
    return list(csv.reader(io.StringIO(text)))


def test_rows_are_the_programs(models, expected):
    rows = list(perfc.sweep(models, **HOW))
    assert as_table(rows) == read(expected)
    assert as_table(perfc.sweep([str(models)], **HOW, workers=1)) == read(expected)
    good, bad = rows[0], next(r for r in rows if r.error)
    assert (type(good.batch), type(good.latency_ms), good.fits, good.error) == (int, float, True, None)
    assert bad.model == f"{models}/damaged.onnx" and "damaged or truncated" in bad.error and bad.latency_ms is None
    every = list(perfc.sweep(RESNET, device="all"))
    assert sorted(r.device for r in every) == sorted(d["name"] for d in perfc.devices())
    first = next(perfc.sweep(models, **HOW))  # the rest is not waited for
    assert first == rows[0]


def test_dask(models, expected, tmp_path, monkeypatch):
    distributed = pytest.importorskip("distributed")
    monkeypatch.chdir(tmp_path)
    own = tmp_path / "own.json"
    entry = json.loads((ROOT / "data/devices.json").read_text())
    own.write_text(json.dumps(dict(entry, devices=[dict(entry["devices"][0], name="mine", aliases=[])])))
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None,
                                  local_directory=str(tmp_path / "dask")) as cluster, \
            distributed.Client(cluster) as client:
        assert as_table(perfc.sweep(models, **HOW, client=client)) == read(expected)
        out = tmp_path / "out.csv"
        list(perfc.sweep(models, **HOW, client=client, output=out))
        assert out.read_text() == expected
        monkeypatch.chdir(models)  # names as given, files wherever workers run
        here = list(perfc.sweep("net.onnx", device="mine", device_file="../own.json", client=client))
        assert here == list(perfc.sweep("net.onnx", device="mine", device_file="../own.json"))
        with pytest.raises(perfc.UsageError, match="workers"):
            perfc.sweep(models, client=client, workers=2)


def test_csv_is_the_programs(cli, models, expected, tmp_path):
    out = tmp_path / "out.csv"
    assert as_table(perfc.sweep(models, **HOW, output=out)) == read(expected)
    assert out.read_text() == expected
    cli("sweep", models, *WORDS, "-o", out, code=1)  # whose settings are the same
    for cut in (0, 1, 200, len(expected) // 2, len(expected) - 1):
        out.write_text(expected[:cut])
        perfc.sweep(models, **HOW, output=out)
        assert out.read_text() == expected
        out.write_text(expected[:cut])
        cli("sweep", models, *WORDS, "-o", out, code=1)
        assert out.read_text() == expected


def test_parquet(models, expected, tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    out = tmp_path / "out.parquet"
    rows = list(perfc.sweep(models, **HOW, output=out))
    assert as_table(rows) == read(expected)
    assert os.listdir(tmp_path / "models") and sorted(os.listdir(tmp_path)) == ["models", "out.parquet"]
    table = parquet.read_table(out)
    assert [perfc.Row(**r) for r in table.to_pylist()] == rows
    assert {f.name: str(f.type) for f in table.schema if f.name in ("model", "batch", "latency_ms", "fits")} == {
        "model": "string", "batch": "int64", "latency_ms": "double", "fits": "bool"}
    before = out.read_bytes()
    assert list(perfc.sweep(models, **HOW, output=out)) == rows
    with pytest.raises(perfc.UsageError, match="other settings or models"):
        perfc.sweep(models, device="l4", output=out)
    assert out.read_bytes() == before
    assert len(list(perfc.sweep(models, device="l4", output=out, overwrite=True))) == 4
    out.write_bytes(before[:-20])
    with pytest.raises(perfc.UsageError, match="nothing says what it was made with"):
        perfc.sweep(models, **HOW, output=out)


@pytest.mark.parametrize("name", ["out.csv", "out.parquet"])
def test_ten_kills(cli, tmp_path, name):
    pytest.importorskip("pyarrow")
    models, out = tmp_path / "models", tmp_path / name
    models.mkdir()
    for i in range(40):
        shutil.copy(RESNET, models / f"net{i:02}.onnx")
    batches = "1,2,4,8,16,32"
    expected = cli("sweep", models, "--batch", batches, "--device", ",".join(DEVICES))
    program = (f"import perfc; perfc.sweep({str(models)!r}, batch={batches!r}, device={DEVICES}, workers=2, "
               f"output={str(out)!r})")
    growing = out if name.endswith(".csv") else tmp_path / (name + ".rows")
    draw, size, killed = random.Random(4), 0, 0
    for _ in range(10):
        process = subprocess.Popen([sys.executable, "-c", program])
        enough = size + draw.randrange(len(expected) // 12)
        while process.poll() is None and (not growing.exists() or growing.stat().st_size <= enough):
            time.sleep(0.002)
        process.kill()
        killed += process.wait() != 0
        if growing.exists():
            assert expected.encode().startswith(growing.read_bytes())
            size = growing.stat().st_size
        if out != growing and out.exists():
            assert as_table(perfc.sweep(models, batch=batches, device=DEVICES, output=out)) == read(expected)
    assert killed > 2
    rows = list(perfc.sweep(models, batch=batches, device=DEVICES, output=out))
    assert as_table(rows) == read(expected)
    if out == growing:
        assert out.read_text() == expected


def test_what_is_refused(models, tmp_path):
    out = tmp_path / "out.csv"
    out.write_text("mine\n")
    for how, says in (({"output": out}, "nothing says what it was made with"),
                      ({"output": tmp_path / "out.txt"}, "neither .csv nor .parquet"), ({"dtype": "fp15"}, "fp15"),
                      ({"batch": [1, "x"]}, "batch"), ({"device": "l5"}, "l5"), ({"bach": 1}, "bach")):
        with pytest.raises(perfc.UsageError, match=says):
            perfc.sweep(models, **how)
    assert out.read_text() == "mine\n"
    perfc.sweep(models, device="l4", output=out, overwrite=True)
    for how, says in (({"device": "t4"}, "other settings or models"), ({"device": "l4", "layout": "nhwc"}, "other")):
        with pytest.raises(perfc.UsageError, match=says):
            perfc.sweep(models, **how, output=out)
    out.write_text(out.read_text().replace("net.onnx", "nit.onnx"))
    with pytest.raises(perfc.UsageError, match="another row than this sweep in line"):
        perfc.sweep(models, device="l4", output=out)
    with pytest.raises(perfc.UsageError, match="git:HEAD:x is read by the program only"):
        perfc.sweep("git:HEAD:x")
    with pytest.raises(perfc.UsageError, match="bytes is no path"):
        perfc.sweep([b"x"])
    with pytest.raises(perfc.ModelError, match="no such file or folder"):
        perfc.sweep(tmp_path / "none.onnx")
    (models / "config.json").write_text("{}")
    with pytest.warns(UserWarning, match="config.json"):
        perfc.sweep(models, device="l4")
