"""Puts the page together: one file that needs no other (docs/web.md).

    python3 web/bundle.py build/web/perfc.wasm build/web/perfc.html
"""
import base64
import gzip
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
POLICY = ("default-src 'none'; script-src 'unsafe-inline' 'wasm-unsafe-eval' blob:; worker-src blob:; frame-src blob:; "
          "style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'")


def text(name: str) -> str:
    return (HERE / name).read_text()


def bundle(program: bytes) -> str:
    packed = base64.b64encode(gzip.compress(program, 9, mtime=0)).decode()
    style = (HERE.parent / "html/assets/style.css").read_text() + text("page.css")
    worker = text("wasi.js") + text("worker.js")
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="icon" href="data:,">
<title>perfc: what will this model cost?</title>
<style>
{style}</style>
</head>
<body>
<noscript><p>This page computes in the browser: it needs JavaScript and WebAssembly.</p></noscript>
{text("page.html")}<script type="text/plain" id="program">{packed}</script>
<script type="text/plain" id="worker">
{worker}</script>
<script>
{text("page.js")}</script>
</body>
</html>
"""


def main() -> None:
    program, page = map(pathlib.Path, sys.argv[1:])
    page.write_text(bundle(program.read_bytes()))
    size, packed = page.stat().st_size, len(gzip.compress(page.read_bytes(), 9))
    print(f"{page}: {size / 1e6:.2f} MB, {packed / 1e6:.2f} MB compressed, of which perfc.wasm "
          f"{len(gzip.compress(program.read_bytes(), 9)) / 1e6:.2f} MB")


if __name__ == "__main__":
    main()
