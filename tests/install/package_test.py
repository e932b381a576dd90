#!/usr/bin/env python3
"""The .deb, manual pages and completions.

usage: package_test.py

Makes the package of the build with cpack, unpacks it, and holds it against what `cmake --install` gives: the same
program, pages and completions, with everything that it needs and nothing else. The unpacked program predicts what the
build's does. Every option that --help prints is in its manual page, which mandoc finds nothing wrong with; bash, zsh
and fish complete commands and options with what was installed. Whether it installs elsewhere: chroot.sh.
"""
import gzip
import os
import pathlib
import re
import shutil
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from support import PERFC, RELEASE, ROOT, skip, skip_part  # noqa: E402

WORK = RELEASE / "package-test"
PRIVATE = {"libcpp-httplib", "libfmt", "libmimalloc", "libprotobuf-lite", "libsimdjson", "libtinyxml2", "libyaml-cpp"}
NEEDED = {"libbrotli1", "libc6", "libexpat1", "libgcc-s1", "libssl3", "libstdc++6", "zlib1g"}
DOCS = {"changelog.gz", "changelog.Debian.gz", "copyright"}
OFFERED = [("perfc comp", "completion"), ("perfc predict --batch-", "--batch-axis"), ("perfc check --bud", "--budget")]


def run(*command, **kwargs) -> str:
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, **kwargs)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}: exit {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def files(folder: pathlib.Path) -> set[str]:
    return {str(p.relative_to(folder)) for p in folder.rglob("*") if not p.is_dir()}


def commands(text: str) -> list[str]:
    """Names behind "Subcommands:" of a --help."""
    return re.findall(r"^  ([a-z]\w*) {2}", text.partition("Subcommands:\n")[2], re.M)


def options(text: str) -> set[str]:
    """Long and short options of a --help."""
    heads = re.findall(r"^  (-\S+)", text.partition("Options:\n")[2].partition("\n\n")[0], re.M)
    return {name for head in heads for name in head.split(",")}


def check_package(deb: pathlib.Path, root: pathlib.Path, prefix: pathlib.Path, names: list[str]):
    pages = {f"share/man/man1/perfc{n}.1.gz" for n in [""] + [f"-{n}" for n in names]}
    both = {"bin/perfc", "bin/perfc-serve"} | pages
    both |= {"share/bash-completion/completions/perfc", "share/fish/vendor_completions.d/perfc.fish"}
    installed, packed = files(prefix), files(root / "usr")
    assert not both - installed, f"cmake --install lacks {both - installed}"
    assert "share/zsh/site-functions/_perfc" in installed
    both |= {"share/zsh/vendor-completions/_perfc"}
    assert not both - packed, f"the package lacks {both - packed}"
    assert files(root) == {f"usr/{f}" for f in packed}, "files outside /usr"
    rest = packed - both
    libraries = {pathlib.Path(f).name.partition(".so.")[0] for f in rest if f.startswith("lib/perfc/private/")}
    assert libraries == PRIVATE, libraries
    rest = {f for f in rest if not f.startswith(("lib/perfc/private/", "share/doc/perfc/third-party/"))}
    assert rest == {f"share/doc/perfc/{d}" for d in DOCS} | {"share/lintian/overrides/perfc"}, rest
    licences = {pathlib.Path(f).name for f in packed if "/third-party/" in f}
    assert len(licences) == len(PRIVATE) + 1, f"a licence for each library and D3: {licences}"
    field = {name: run("dpkg-deb", "-f", deb, name).strip() for name in ("Version", "Depends", "Section", "Maintainer")}
    needed = set(re.findall(r"([\w.+-]+) \(", field["Depends"]))
    assert needed == NEEDED, field["Depends"]
    with gzip.open(root / "usr/share/doc/perfc/changelog.Debian.gz", "rt") as log:
        assert log.readline().startswith(f"perfc ({field['Version']}) "), "the changelog is of another version"
    assert run(root / "usr/bin/perfc", "--version").split()[1] + "-1" == field["Version"]
    print(f"{deb.name}: {deb.stat().st_size / 1e6:.1f} MB, {len(packed)} files, needs {', '.join(sorted(needed))}")


def check_program(program: pathlib.Path):
    call = [ROOT / "examples" / "resnet50.onnx", "--batch", "32", "--json"]
    assert run(program, *call, cwd=WORK) == run(PERFC, *call, cwd=WORK), "the package's program predicts otherwise"
    found = run("ldd", program)
    for line in found.splitlines():
        if pathlib.Path(line.split()[0]).name.partition(".so")[0] in PRIVATE:
            assert "/perfc/private/" in line, f"not the package's: {line}"


def check_pages(folder: pathlib.Path, names: list[str]):
    lint = shutil.which("mandoc")
    if not lint:
        skip_part("no mandoc: the manual pages are not linted")
    count = 0
    for name in ["", *names]:
        page = gzip.open(folder / f"perfc{name and '-' + name}.1.gz", "rt").read()
        plain = re.sub(r"\\f[A-Z]", "", page.replace("\\-", "-"))
        text = run(PERFC, name, "--help") if name else run(PERFC, "--help")
        told = options(text)
        below = commands(text) if name else []
        for group in below:
            told |= options(run(PERFC, name, group, "--help"))
        heads = {n for head in re.findall(r"^\.TP\n(.*)", plain, re.M) for n in re.findall(r"-[\w-]+", head)}
        assert told and not told - heads, f"perfc{name}.1 lacks {told - heads}"
        assert all(f"perfc {name} {group}" in plain for group in below), f"perfc-{name}.1 lacks a command of {below}"
        count += len(told)
        if lint:
            said = subprocess.run([lint, "-Tlint"], input=page, capture_output=True, text=True).stdout
            assert not said, f"perfc {name}: {said}"
    print(f"{len(names) + 1} manual pages with {count} options")


ZSH = r"""
zmodload zsh/zpty; zpty shell zsh -f -i
zpty -w shell "PS1=; fpath=($1 \$fpath); autoload -U compinit; compinit -u -D; setopt auto_list; echo 're''ady'"
zpty -r shell out '*ready*'
zpty -n -w shell "$2"$'\t'
zpty -w shell '#'
sleep 1
while zpty -r -t shell out; do print -r -- "$out"; done
zpty -d shell
"""


def completed(shell: str, share: pathlib.Path, line: str) -> str:
    """What a shell that knows the installed completions makes of a line and Tab."""
    if shell == "bash":
        words = line.split()
        return run("bash", "--norc", "-c",
                   f"source {share}/bash-completion/completions/perfc; COMP_WORDS=({line}); "
                   f"COMP_CWORD={len(words) - 1}; _perfc; printf '%s\\n' \"${{COMPREPLY[@]}}\"", cwd=WORK)
    if shell == "fish":
        script = f"source {share}/fish/vendor_completions.d/perfc.fish; complete -C '{line}'"
        return run("fish", "--no-config", "-c", script, cwd=WORK, env={**os.environ, "HOME": str(WORK)})
    out = run("zsh", "-f", "-c", ZSH, "zsh", share / "zsh/vendor-completions", line, cwd=WORK)
    return re.sub(r"\x1b\[[?0-9;]*[A-Za-z]|[\x07\x08\r]", "", out)  # of a terminal


def main():
    if not shutil.which("dpkg-deb") or not shutil.which("dpkg-shlibdeps"):
        skip("no dpkg-dev: no package can be made here")
    shutil.rmtree(WORK, ignore_errors=True)
    run("cpack", "-G", "DEB", "-B", WORK / "cpack", "--config", RELEASE / "CPackConfig.cmake", cwd=RELEASE)
    deb, = (WORK / "cpack").glob("perfc_*.deb")
    root, prefix = WORK / "root", WORK / "prefix"
    run("dpkg-deb", "-x", deb, root)
    run("cmake", "--install", RELEASE, "--prefix", prefix, "--component", "program")
    names = commands(run(PERFC, "--help"))
    check_package(deb, root, prefix, names)
    check_program(root / "usr/bin/perfc")
    check_pages(root / "usr/share/man/man1", names)
    for shell in ("bash", "zsh", "fish"):
        if not shutil.which(shell):
            skip_part(f"no {shell}: its completions are not tried")
            continue
        for line, word in OFFERED:
            said = completed(shell, root / "usr/share", line)
            assert word in said, f"{shell} completes '{line}' to {said!r}"
        print(f"{shell} completes {len(OFFERED)} lines")


if __name__ == "__main__":
    main()
