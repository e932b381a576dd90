"""web/: the page in Debian's Chromium, opened from disk.

    python3 tests/web/page_test.py build/release/perfc [--screenshot docs/web.png]

Builds the page where it is not there (web/build; five minutes of a processor the first time) and holds its answers
against the program's: the same bytes of JSON, the same diagnostics.
"""
import base64
import gzip
import json
import os
import pathlib
import shutil
import subprocess
import sys
import threading
import time
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE.parent / "robustness")]
import browser  # noqa: E402
import hostile  # noqa: E402
import support  # noqa: E402
import wire  # noqa: E402

PERFC = pathlib.Path(sys.argv.pop(1) if len(sys.argv) > 1 and sys.argv[1][0] != "-" else support.PERFC).resolve()
ROOT = support.ROOT
PAGE = ROOT / "build/web/perfc.html"
RESNET = ROOT / "examples/resnet50.onnx"
MOST_COMPRESSED, ANSWERS_WITHIN_MS, GIANT_WITHIN_MS, GIANT_MEMORY_MB = 6_000_000, 500, 3000, 200
GIANT_BYTES = 2 << 30
DAMAGED = 20
HOSTILE = '</script><img src=x onerror=alert(1)> & "names"'

# Both resolve when the figures are there, in ms since the drop or the choice of a file.
ANSWERED = """new Promise((done) => new MutationObserver(() => done(performance.now()))
        .observe(document.getElementById("took"), { childList: true }))"""
DROP = """async ([name, base64]) => {
    const bytes = Uint8Array.from(atob(base64), (c) => c.charCodeAt(0));
    const dropped = new DataTransfer();
    dropped.items.add(new File([bytes], name));
    const answered = %s;
    const begin = performance.now();
    dispatchEvent(new DragEvent("drop", { dataTransfer: dropped, bubbles: true, cancelable: true }));
    return await answered - begin;
}""" % ANSWERED
WATCH = """() => {
    const file = document.getElementById("file");
    const begin = new Promise((done) => file.addEventListener("change", () => done(performance.now()), true));
    window.watched = %s.then(async (end) => end - await begin);
}""" % ANSWERED


def perfc(folder: pathlib.Path, *words) -> tuple[int, str, str]:
    done = subprocess.run([PERFC, *map(str, words)], cwd=folder, capture_output=True, encoding="utf-8",
                          errors="replace", timeout=120)
    return done.returncode, done.stdout, done.stderr


def write_giant(path: pathlib.Path) -> None:
    """ResNet-50 and, behind it, a dense layer whose weights take 2 GiB: a file with a hole."""
    data = RESNET.read_bytes()
    end = wire.graph_end(data)
    key = b"\x3a"  # field 7 of a model, with the length that reaches to its end
    head = next(key + length for width in range(1, 6) for length in [wire.varint(end - data.find(key) - 1 - width)]
                if data[data.find(key):].startswith(key + length))
    at = data.find(key)
    inner = data[at + len(head):end]
    columns = GIANT_BYTES // 4000
    size = 4000 * columns
    tensor = wire.tensor("giant", wire.FLOAT, [1000, columns]) + wire.varint(9 << 3 | 2) + wire.varint(size)
    first = (inner + wire.message(1, wire.node("MatMul", ["logits", "giant"], ["giant_out"], name="giant")) +
             wire.varint(5 << 3 | 2) + wire.varint(len(tensor) + size) + tensor)
    last = wire.message(12, wire.value("giant_out", [1, columns]))
    with open(path, "wb") as file:
        file.write(data[:at] + wire.varint(7 << 3 | 2) + wire.varint(len(first) + size + len(last)) + first)
        file.seek(size, os.SEEK_CUR)
        file.write(last + data[end:])


def damaged() -> list[tuple[str, bytes]]:
    """Twenty files: ResNet-50 cut short and with bytes changed, and models that nobody should write."""
    data = RESNET.read_bytes()
    out = [(f"cut-{at}.onnx", data[:at]) for at in (0, 1, 100, 20_000, len(data) - 1)]
    for at in (3, 60, 5000, 30_000, 47_000):
        out.append((f"flipped-{at}.onnx", data[:at] + bytes([data[at] ^ 0xFF]) + data[at + 1:]))
    out += [("zip.pt2", b"PK\x03\x04" + bytes(100)), ("text.mlir", b"module @m {"), ("json.json", b'{"a": '),
            ("page.html", b"<!DOCTYPE html>")]
    cases = [("deep", *c) for c in hostile.nesting()] + [("structure", *c) for c in hostile.structure()]
    for _, name, content, _ in cases:
        if name in ("cycle", "no-graph", "missing-value", "regions-1000000-deep", "types-1000000-deep",
                    "unknown-fields-deep"):
            out.append((f"{name}.onnx", content))
    return out


class Memory:
    """Largest memory of processes that is no file's, while the block runs, in MB."""
    KINDS = ("RssAnon", "RssShmem")

    def __init__(self, processes):
        self.processes, self.most, self.running = processes, 0.0, True

    def now(self) -> float:
        total = 0
        for process in self.processes:
            try:
                status = pathlib.Path(f"/proc/{process}/status").read_text()
            except OSError:
                continue
            total += sum(int(line.split()[1]) for line in status.splitlines() if line.startswith(self.KINDS))
        return total * 1024 / 1e6

    def __enter__(self):
        def watch():
            while self.running:
                self.most = max(self.most, self.now())
                time.sleep(0.01)

        self.before = self.now()
        self.thread = threading.Thread(target=watch)
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.running = False
        self.thread.join()


class Web(browser.BrowserTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        shutil.copy(RESNET, cls.folder)

    def opened(self, settings: str = "", **options):
        """A tab with the page, ready; when the test ends, nothing was said on the console and nothing asked for."""
        tab, said, asked = self.watched(PAGE.as_uri() + settings, **options)
        self.addCleanup(lambda: self.assertEqual(said, []))
        self.addCleanup(lambda: self.assertEqual([a for a in asked if not a.startswith(("blob:", PAGE.as_uri()))], []))
        tab.locator("#status").filter(has_text="Ready").wait_for(timeout=60_000)
        return tab

    def dropped(self, tab, name: str, content: bytes) -> float:
        return tab.evaluate(DROP, [name, base64.b64encode(content).decode()])

    def settled(self, tab) -> None:
        tab.locator("#status").filter(has_text="could not be predicted").or_(
            tab.locator("#status").filter(has_text="Done in")).wait_for(timeout=60_000)

    def saved(self, tab, link: str) -> str:
        with tab.expect_download() as download:
            tab.locator(link).click()
        return pathlib.Path(download.value.path()).read_text()


class Page(Web):
    def test_is_small(self):
        size, packed = PAGE.stat().st_size, len(gzip.compress(PAGE.read_bytes(), 9))
        print(f"the page: {size / 1e6:.2f} MB, {packed / 1e6:.2f} MB compressed")
        self.assertLess(packed, MOST_COMPRESSED)

    def test_answers_as_the_program_does(self):
        tab = self.opened("#batch=32")
        ms = [self.dropped(tab, RESNET.name, RESNET.read_bytes())]
        for _ in range(3):
            self.settled(tab)
            ms.append(self.dropped(tab, RESNET.name, RESNET.read_bytes()))
        self.settled(tab)
        print(f"ResNet-50's answer: {ms[0]:.0f} ms after the first drop, then {', '.join(f'{t:.0f}' for t in ms[1:])}")
        self.assertLess(min(ms), ANSWERS_WITHIN_MS)
        answer = perfc(self.folder, RESNET.name, "--batch", 32, "--json")[1]
        self.assertEqual(self.saved(tab, "#save-json"), answer)
        self.assertEqual(tab.locator("#command").inner_text(), f"perfc {RESNET.name} --batch 32")
        tab.set_viewport_size({"width": 1280, "height": 6000})  # Chromium lays out no frame that is out of sight
        report = tab.frame_locator("#report")
        report.locator("#fits").filter(has_text="Fits:").wait_for()
        shown = report.locator("#cards dd.value").first.inner_text().split()[0]
        self.assertEqual(shown, browser.digits(json.loads(answer)["predictions"][0]["latency_ms"]))
        self.assertIn("perfc report", self.saved(tab, "#save-page"))

    def test_settings_change_the_answer(self):
        words = ["--dtype", "fp16", "--runtime", "tensorrt", "--batch", "1,8", "--device", "l4,t4"]
        tab = self.opened("#batch=1,8&device=l4,t4&options=--dtype+fp16+--runtime+tensorrt")
        self.dropped(tab, RESNET.name, RESNET.read_bytes())
        self.settled(tab)
        self.assertEqual(self.saved(tab, "#save-json"), perfc(self.folder, RESNET.name, *words, "--json")[1])
        self.assertEqual(tab.locator("#rows tr").count(), 4)
        tab.locator("#further").fill("--dtype fp61")
        tab.locator("#messages").filter(has_text="--dtype: 'fp61' is none of").wait_for()
        tab.locator("#further").fill("--batchh 3")
        tab.locator("#messages").filter(has_text="did you mean '--batch'?").wait_for()
        tab.locator("#further").fill("")
        tab.locator("#rows tr").first.wait_for()

    def test_the_address_holds_the_settings(self):
        tab = self.opened()
        tab.locator("#batch").fill("16")
        tab.locator("#search").fill("rtx 4090")
        tab.locator("#devices label:visible input").first.check()
        tab.locator("#further").fill("--dtype fp16")
        tab.locator("#theme").click()
        address = tab.evaluate("location.hash")
        self.assertEqual(address, "#batch=16&device=rtx4090&options=--dtype+fp16&theme=light")
        again = self.opened(address)
        self.assertEqual([again.locator(f"#{i}").input_value() for i in ("batch", "further")], ["16", "--dtype fp16"])
        self.assertEqual(again.locator("#devices input:checked").evaluate_all("all => all.map((box) => box.value)"),
                         ["rtx4090"])
        self.assertEqual(again.locator("#theme").inner_text(), "Theme: light")

    def test_the_keyboard_is_enough(self):
        tab = self.opened()
        tab.keyboard.press("Tab")
        self.assertEqual(tab.evaluate("document.activeElement.className"), "skip")
        seen = []
        for _ in range(8):
            tab.keyboard.press("Tab")
            seen.append(tab.evaluate("document.activeElement.id || document.activeElement.value"))
        self.assertEqual(seen[:6], ["theme", "file", "batch", "further", "search", "a100-40gb"])
        tab.locator("#devices input").first.focus()
        tab.keyboard.press("Space")
        self.assertIn("a100-40gb", tab.locator("#chosen").inner_text())
        with tab.expect_file_chooser():
            tab.locator("#file").focus()
            tab.keyboard.press("Enter")
        unnamed = tab.evaluate("""[...document.querySelectorAll("button, input, a[href], iframe, progress")]
            .filter((e) => !(e.textContent.trim() || e.title || e.ariaLabel || e.labels?.length))
            .map((e) => e.outerHTML)""")
        self.assertEqual(unnamed, [])

    def test_themes(self):
        background = "getComputedStyle(document.body).backgroundColor"
        tab = self.opened(color_scheme="dark")
        dark = tab.evaluate(background)
        tab.locator("#theme").click()
        light = tab.evaluate(background)
        self.assertNotEqual(dark, light)
        for theme, colour in (("light", light), ("dark", dark)):  # the report follows the page
            tab = self.opened(f"#batch=8&theme={theme}", color_scheme="null")
            self.assertEqual(tab.evaluate(background), colour)
            self.dropped(tab, RESNET.name, RESNET.read_bytes())
            tab.frame_locator("#report").locator("#fits").filter(has_text="Fits").wait_for()
            self.assertEqual(tab.frames[-1].evaluate(background), colour)

    def test_names_are_text(self):
        tab = self.opened()
        nodes = [wire.node("Relu", ["x"], ["y"], name=HOSTILE), wire.node("Nope", ["y"], ["z"], name=HOSTILE)]
        graph = wire.graph(nodes, [wire.value("x", [1, 8])], [wire.message(1, "z")])
        name = "<img src=x onerror=alert(1)>.onnx"
        self.dropped(tab, name, wire.model(graph))
        self.settled(tab)
        self.assertIn(HOSTILE, tab.locator("#messages").inner_text())
        self.assertIn(name, tab.locator("#took").inner_text())
        self.assertEqual(tab.locator("img").count(), 0)

    def test_is_valid(self):
        if not shutil.which("java"):
            support.skip_part("no java for the Nu HTML checker (apt-get install default-jre-headless; ./check does it)")
            return
        page = self.folder / "page.html"
        text = PAGE.read_text()
        begin = text.index('id="program">') + len('id="program">')  # four megabytes of base64, which say nothing
        page.write_text(text[:begin] + text[text.index("</script>", begin):])
        # The checker's copies of CSS and of the Content-Security-Policy are older than what is said here.
        self.assert_valid(page, but="(CSS:|wasm-unsafe-eval)")


class Files(Web):
    def renderers(self) -> list[int]:
        """Processes of pages: that of ours, of the report in its frame, and a spare one."""
        session = self.browser.new_browser_cdp_session()
        processes = session.send("SystemInfo.getProcessInfo")["processInfo"]
        session.detach()
        def draws_the_browser(process: int) -> bool:
            return b"--top-chrome-webui" in pathlib.Path(f"/proc/{process}/cmdline").read_bytes()

        return [p["id"] for p in processes if p["type"] == "renderer" and not draws_the_browser(p["id"])]

    def test_two_gigabytes(self):
        giant = self.folder / "giant.onnx"
        write_giant(giant)
        self.assertGreater(giant.stat().st_size, GIANT_BYTES * 0.99)
        tab = self.opened()
        tab.evaluate(WATCH)
        with Memory(self.renderers()) as memory:
            tab.locator("#file").set_input_files(giant)
            ms = tab.evaluate("window.watched")
            self.settled(tab)
        print(f"{giant.stat().st_size / 1e9:.2f} GB: answered in {ms:.0f} ms, {memory.most:.0f} MB of memory at most, "
              f"{memory.before:.0f} before")
        self.assertLess(ms, GIANT_WITHIN_MS)
        self.assertLess(memory.most, GIANT_MEMORY_MB)
        self.assertEqual(self.saved(tab, "#save-json"), perfc(self.folder, giant.name, "--json")[1])

    def test_damaged_files(self):
        files = damaged()
        self.assertEqual(len(files), DAMAGED)
        tab = self.opened()
        for name, content in files:
            (self.folder / name).write_bytes(content)
            code, out, said = perfc(self.folder, name, "--json")
            with self.subTest(name=name):
                self.dropped(tab, name, content)
                self.settled(tab)
                self.assertEqual(tab.locator("#messages").text_content(), said)
                self.assertEqual(tab.locator("#rows tr").count(), len(json.loads(out)["predictions"]) if out else 0)
        self.dropped(tab, RESNET.name, RESNET.read_bytes())
        self.settled(tab)
        self.assertEqual(tab.locator("#rows tr").count(), 1)


def screenshot(to: str) -> None:
    with browser.browser() as chromium:
        tab = chromium.new_page(viewport={"width": 1180, "height": 1500})
        tab.goto(PAGE.as_uri() + "#batch=32&device=a100-40gb,l4")
        tab.locator("#status").filter(has_text="Ready").wait_for()
        tab.evaluate(DROP, [RESNET.name, base64.b64encode(RESNET.read_bytes()).decode()])
        tab.locator("#status").filter(has_text="Done in").wait_for()
        tab.wait_for_timeout(3000)
        tab.screenshot(path=to)


if __name__ == "__main__":
    built = subprocess.run([ROOT / "web/build"], capture_output=True, text=True)
    if built.returncode == support.SKIPPED:
        support.skip(built.stderr.strip().splitlines()[-1])
    if built.returncode:
        sys.exit(f"web/build: {built.stdout}{built.stderr}")
    if "--screenshot" in sys.argv:
        screenshot(sys.argv[sys.argv.index("--screenshot") + 1])
    else:
        unittest.main()
