#!/usr/bin/env python3
"""The documentation as a site (mkdocs.yml): builds without a warning, each of its pages and files is there, none loads
anything from the network, and each command has a page with every option of --help.

usage: site_test.py

Puts mkdocs-material into build/venv-docs, once; skipped where the network is not there.
"""
import os
import pathlib
import re
import subprocess
import sys
import urllib.parse

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from support import BUILD, PERFC, ROOT, installed_python  # noqa: E402

LOADED = re.compile(r"<(?:script|img|iframe|source)[^>]*\ssrc=[\"']?([^\"' >]+)|<link[^>]*rel=[\"']?(?:stylesheet|icon|"
                    r"preconnect|preload)[\"']?[^>]*?href=[\"']?([^\"' >]+)|<link[^>]*href=[\"']?([^\"' >]+)[\"']?"
                    r"[^>]*rel=[\"']?(?:stylesheet|icon|preconnect|preload)")
LINKED = re.compile(r"<a [^>]*href=[\"']?([^\"' >]+)")
STYLE_LOADS = re.compile(r"(?:@import|url\()\s*[\"']?(https?:)?//")


def main():
    python = installed_python("venv-docs", "requirements-docs.txt", "mkdocs-material")
    site = BUILD / "site"
    done = subprocess.run([python, "-m", "mkdocs", "build", "--strict", "--clean", "--site-dir", site], cwd=ROOT,
                          capture_output=True, text=True, env={**os.environ, "PERFC": str(PERFC)})
    problems = [] if not done.returncode else [f"mkdocs: {done.stderr[-2000:]}"]
    pages = sorted(site.rglob("*.html"))
    for page in pages:
        name, text = page.relative_to(site), page.read_text()
        loaded = [next(filter(None, m)) for m in LOADED.findall(text)]
        problems += [f"{name}: loads {u}" for u in loaded if re.match(r"(https?:)?//", u)]
        for url in {*loaded, *LINKED.findall(text)}:
            parts = urllib.parse.urlsplit(url)
            if parts.scheme or parts.netloc or not parts.path or name.name == "404.html":
                continue
            target = page.parent / urllib.parse.unquote(parts.path)
            if not (target / "index.html" if target.is_dir() else target).exists():
                problems.append(f"{name}: {url} is not there")
    problems += [f"{p.relative_to(site)}: loads from the network" for p in site.rglob("*.css")
                 if STYLE_LOADS.search(p.read_text())]
    names = re.findall(r"^  ([a-z]\w*) {2}", subprocess.check_output([PERFC, "--help"], text=True), re.M)
    for name in names:
        page = site / "commands" / f"perfc-{name}" / "index.html"
        text = page.read_text() if page.exists() else ""
        told = re.findall(r"(--[\w-]+)", " ".join(
            re.findall(r"^  (-\S+)", subprocess.check_output([PERFC, name, "--help"], text=True), re.M)))
        problems += [f"the page of {name} lacks {o}" for o in told if f"<code>{o}</code>" not in text]
    print("\n".join(problems))
    print(f"{len(pages)} pages, {len(names)} of commands, {len(problems)} problems")
    return 1 if problems or not names else 0


if __name__ == "__main__":
    sys.exit(main())
