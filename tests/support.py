"""What the test scripts share: where things are, skipping, the reference's Python."""
import fcntl
import lzma
import os
import pathlib
import subprocess
import sys
import tarfile
import venv

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = ROOT / "build"
RELEASE = pathlib.Path(os.environ.get("PERFC_BUILD", BUILD / "release"))
PERFC = RELEASE / "perfc"
IMPORT_DUMP = RELEASE / "tests" / "perfc_import_dump"
SKIPPED = 77


def skip(why: str):
    print(f"SKIP: {why}")
    sys.exit(SKIPPED)


def skip_part(why: str):
    """A part of a test that is left out while the rest runs: tests/summary.py counts and lists it."""
    print(f"SKIP: {why}", flush=True)


#: Of a process that calls mpirun, as root in a container too.
MPI_ENVIRONMENT = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_btl_vader_single_copy_mechanism": "none", "OMPI_MCA_btl_base_warn_component_unused": "0",
    "OMPI_MCA_mpi_yield_when_idle": "1"
}


def as_ranks(count: int, *command) -> list[str]:
    """The command as so many ranks, however few cores there are."""
    return ["mpirun", "-n", str(count), "--oversubscribe", "--bind-to", "none", *map(str, command)]


def shared_folder() -> pathlib.Path:
    """../shared, or $PERFC_SHARED; may be absent."""
    return pathlib.Path(os.environ.get("PERFC_SHARED", ROOT.parent / "shared"))


def shared(*parts: str) -> pathlib.Path:
    """A path below shared_folder(); skips the test where it is absent."""
    path = shared_folder().joinpath(*parts)
    if not path.exists():
        skip(f"{path} is not here")
    return path


def timm_torchscript() -> pathlib.Path:
    """The folder with ../shared/graphs' TorchScript programs of timm, unpacked."""
    folder = unpack("graphs", "timm_torchscript.tar.xz", into="timm_torchscript")
    return folder if any(folder.glob("*.json")) else next(p.parent for p in folder.rglob("resnet50_224.json"))


def unpack(*parts: str, into: str) -> pathlib.Path:
    """build/`into` with the files of an archive of ../shared, members that end in .xz decompressed.

    Done once, also when several tests ask at the same time; skips where the archive is absent.
    """
    archive, folder = shared(*parts), BUILD / into
    done = folder / ".unpacked"
    BUILD.mkdir(exist_ok=True)
    with open(BUILD / f".{into}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if done.exists():
            return folder
        with tarfile.open(archive) as tar:
            for member in tar:
                path = pathlib.PurePosixPath(member.name)
                if not member.isfile() or path.is_absolute() or ".." in path.parts:
                    continue
                data = tar.extractfile(member).read()
                if path.suffix == ".xz":
                    path, data = path.with_suffix(""), lzma.decompress(data)
                target = folder / path
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(data)
        done.touch()
    return folder


def unpack_frameworks() -> pathlib.Path:
    """The whole-model exports of ../shared/frameworks, a folder per format."""
    return unpack("frameworks", "models.tar.xz", into="frameworks")


def installed_python(folder: str, requirements: str, what: str, seconds: float | None = None) -> str:
    """The interpreter of build/`folder` with a requirements file of tests/ installed, once; skips where that fails."""
    wanted = (ROOT / "tests" / requirements).read_text()
    python, stamp = BUILD / folder / "bin" / "python", BUILD / folder / "requirements.txt"
    BUILD.mkdir(exist_ok=True)
    with open(BUILD / f".{folder}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if stamp.exists() and stamp.read_text() == wanted:
            return str(python)
        venv.create(BUILD / folder, with_pip=True)
        try:
            pip = subprocess.run([
                python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--timeout", "20",
                "--retries", "1", "-r", ROOT / "tests" / requirements
            ], capture_output=True, text=True, timeout=seconds)
        except subprocess.TimeoutExpired:
            skip(f"cannot install {what}: not done after {seconds:.0f} s")
        if pip.returncode:
            skip(f"cannot install {what}: {pip.stderr.strip().splitlines()[-1:]}")
        stamp.write_text(wanted)
    return str(python)


def reference_python() -> str:
    """The interpreter of build/venv with tests/requirements.txt installed; skips when offline."""
    return installed_python("venv", "requirements.txt", "the onnx package")


def torch_python() -> str:
    """An interpreter with torch: $PERFC_TORCH_PYTHON, this one, or that of build/venv-torch, which is made where the
    network allows; skips elsewhere."""
    def has_torch(python) -> bool:
        return subprocess.run([python, "-c", "import torch"], capture_output=True).returncode == 0

    named = os.environ.get("PERFC_TORCH_PYTHON")
    if named and not has_torch(named):
        skip(f"PERFC_TORCH_PYTHON is {named}, which has no torch")
    if named or has_torch(sys.executable):
        return named or sys.executable
    return installed_python("venv-torch", "requirements-torch.txt", "torch", seconds=1200)


def read_table(path: pathlib.Path, columns: int) -> list[list[str]]:
    """Rows of a tab-separated table; '#' lines are comments, the first other line is the head."""
    lines = [line for line in path.read_text().splitlines() if line and not line.startswith("#")]
    rows = [line.split("\t") for line in lines[1:]]
    for row in rows:
        if len(row) != columns:
            sys.exit(f"{path}: {columns} columns expected: {row}")
    return rows


if __name__ == "__main__":  # support.py torch: makes it ready for the tests that need it
    print(
        subprocess.check_output(
            [torch_python(), "-c", "import sys, torch; print('torch', torch.__version__, 'in', sys.executable)"],
            text=True).strip())
