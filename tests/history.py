"""What the tests of changed files ask of git. Without git, or without its history, they say so."""
import pathlib
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent
NOT_SOURCES = {"build", ".git", ".cache", "__pycache__"}


def git(*arguments: str) -> str | None:
    """What it prints; None where it fails, or is not there."""
    try:
        done = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True)
    except OSError:
        return None
    return done.stdout if done.returncode == 0 else None


def tracked() -> list[str]:
    """Files of the checkout, those that are new and not ignored included; of an unpacked archive, all but builds."""
    listed = git("ls-files", "--cached", "--others", "--exclude-standard", "-z")
    if listed is not None:
        return sorted({path for path in listed.split("\0") if path})
    paths = (p.relative_to(ROOT) for p in ROOT.rglob("*") if p.is_file())
    return sorted(str(p) for p in paths if not NOT_SOURCES & set(p.parts))


def base_commit() -> str | None:
    """The commit that this one stems from: where it left main, or on main the one before; None without history."""
    for main in ("origin/main", "main"):
        base = git("merge-base", "HEAD", main)
        if base and base != git("rev-parse", "HEAD"):
            return base.strip()
    before = git("rev-parse", "--verify", "--quiet", "HEAD~1")
    return before.strip() if before else None


def changed() -> list[str] | None:
    """Files that are not as at `base_commit`; None without history."""
    base = base_commit()
    listed = git("diff", "--name-only", "--diff-filter=d", "-z", base) if base else None
    if listed is None:
        return None
    new = git("ls-files", "--others", "--exclude-standard", "-z") or ""
    return sorted({path for path in (listed + new).split("\0") if path})
