"""Pages of `--emit=html` and of `perfc diff --format html`, in Debian's Chromium without a display.

    python3 tests/html/page_test.py build/release/perfc [--screenshot docs/report.png]

What is asked of every page: no message on the console, no request, valid HTML (the W3C's Nu checker), names as text.
`--screenshot` draws the picture of docs/report.md anew instead of testing.
"""
import json
import os
import pathlib
import resource
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import browser  # noqa: E402
import support  # noqa: E402

PERFC = pathlib.Path(sys.argv.pop(1) if len(sys.argv) > 1 else support.PERFC).resolve()
ROOT = support.ROOT
RESNET = ROOT / "examples/resnet50.onnx"
LARGE = 5000  # operators
# Of a processor, whatever else the machine does.
OPENS_WITHIN_S, FRAME_WITHIN_S, WRITTEN_WITHIN_S, LARGEST_BYTES = 2.0, 0.25, 0.5, 5_000_000
HOSTILE = '</script><script>alert("1")</script><!-- <img src=x onerror=alert(2)> & \'quoted\' "names"'

NAMED = """#[version = "perfc-ir/1"]
def @main(%x: Tensor[(N, 64), float32]) {
  %1 = weight : Tensor[(64, 64), float32];
  %2 = nn.dense(%x, %1) : Tensor[(N, 64), float32] @NAME;
  %3 = nn.relu(%2) : Tensor[(N, 64), float32];
  (%3)
}
"""


def large_model(operators: int) -> str:
    """ONNX as text: gated residual blocks, eight to a layer, named as exporters name modules."""
    nodes, weights, x = [], [], "x"

    def add(op: str, where: str, inputs: list[str], output: str) -> None:
        read = " ".join(f'input: "{i}"' for i in inputs)
        nodes.append(f'node {{ op_type: "{op}" name: "{where}/{op}" {read} output: "{output}" }}')

    for block in range(operators // 5):
        layer, name = block // 8, f"layers.{block // 8}.block.{block % 8}"
        where, weight = f"/layers.{layer}/{name}", f"{name}.fc.weight"
        weights.append(f'initializer {{ name: "{weight}" data_type: 1 dims: 256 dims: 256 }}')
        add("MatMul", f"{where}/fc", [x, weight], f"a{block}")
        add("Relu", f"{where}/act", [f"a{block}"], f"r{block}")
        add("Sigmoid", f"{where}/gate", [f"a{block}"], f"g{block}")
        add("Mul", where, [f"r{block}", f"g{block}"], f"m{block}")
        add("Add", where, [f"m{block}", x], f"x{block}")
        x = f"x{block}"
    shape = "type { tensor_type { elem_type: 1 shape { dim { dim_value: 8 } dim { dim_value: 256 } } } }"
    body = "\n".join(nodes + weights)
    return (f'ir_version: 9\nopset_import {{ version: 20 }}\ngraph {{\n{body}\ninput {{ name: "x" {shape} }}\n'
            f'output {{ name: "{x}" {shape} }}\n}}\n')


def written(folder: pathlib.Path, name: str, *arguments) -> pathlib.Path:
    page = folder / name
    subprocess.run([PERFC, *map(str, arguments), "-o", page], check=True, capture_output=True, timeout=120)
    return page


class Pages(browser.BrowserTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.report = written(cls.folder, "report.html", RESNET, "-b", "8", "--emit=html")

    def opened(self, page: pathlib.Path, **options):
        """A tab with the page; when the test ends, nothing was said on the console and nothing asked for."""
        tab, said, asked = self.watched(page.as_uri(), **options)
        self.addCleanup(lambda: self.assertEqual((said, asked), ([], [page.as_uri()])))
        return tab

    def validated(self, page: pathlib.Path, tab) -> None:
        """Both what is in the file and what its scripts made of it."""
        made = page.with_suffix(".made.html")
        made.write_text("<!DOCTYPE html>\n" + tab.evaluate("document.documentElement.outerHTML"))
        # The checker's copy of CSS is older than color-scheme, paint-order and scrollbar-width: HTML is judged.
        self.assert_valid(page, made)


class Report(Pages):
    def test_every_section_is_there(self):
        tab = self.opened(self.report)
        said = json.loads(subprocess.check_output([PERFC, RESNET, "-b", "8", "--json"]))["predictions"][0]
        self.assertEqual(tab.title(), f"{RESNET} · perfc")
        self.assertTrue(tab.locator("#fits").inner_text().startswith("Fits:"))
        cards = tab.locator("#cards").inner_text()
        for words in (browser.digits(said["latency_ms"]) + "\u00a0ms", browser.digits(said["memory_mib"]) + "\u00a0MiB",
                      said["mig"]["profile"], said["bound"], browser.digits(said["latency_ms_interval"][0]) + " … "):
            self.assertIn(words, cards)
        kernels = tab.evaluate("page.runs[0].kernels.us.filter((us) => us > 0).length")
        self.assertGreater(kernels, 150)
        self.assertEqual(tab.locator("#roofline circle.kernel").count(), kernels)
        self.assertGreater(tab.locator("#treemap rect.tile").count(), 100)
        self.assertRegex(tab.locator("#memory-chart").inner_text() or tab.locator("#memory-chart").text_content(),
                         r"peak \d+")
        self.assertEqual(tab.locator("#batches-charts svg").count(), 3)
        self.assertEqual(tab.locator("#mig-table tbody tr").count(), len(said["mig"]["profiles"]))
        self.assertEqual(tab.locator("#devices-table tr.mine code").inner_text(), "a100-40gb")
        self.assertEqual(tab.locator("#kernels-table tbody tr").count(), 100)
        self.assertEqual(tab.locator("#notes-list li").filter(has_text=said["novelty"][0]).count(), 1)
        self.assertIn("Redistribution and use", tab.locator("#licence").text_content())

    def test_is_valid(self):
        if not shutil.which("java"):
            support.skip_part("no java for the Nu HTML checker (apt-get install default-jre-headless; ./check does it)")
            return
        tab = self.opened(self.report)
        self.validated(self.report, tab)

    def column(self, tab, at: int) -> list[str]:
        return tab.locator(f"#kernels-table tbody td:nth-child({at})").all_inner_texts()

    def test_a_click_sorts(self):
        tab = self.opened(self.report)
        head = tab.locator("#kernels-table th").nth(6)
        flops = tab.evaluate("[...page.runs[0].kernels.flops].sort((a, b) => a - b)")
        head.get_by_role("button").click()
        self.assertEqual(head.get_attribute("aria-sort"), "descending")
        self.assertEqual(self.column(tab, 7)[0], tab.evaluate(f"ui.format.count({flops[-1]})"))
        head.get_by_role("button").click()
        self.assertEqual(head.get_attribute("aria-sort"), "ascending")
        self.assertEqual(self.column(tab, 7)[0], tab.evaluate(f"ui.format.count({flops[0]})"))
        self.assertEqual(tab.locator("#kernels-table th[aria-sort]").count(), 1)

    def test_the_search_filters(self):
        tab = self.opened(self.report)
        layer4 = """page.runs[0].kernels.node.filter((n) => {
            const { nodes, ops } = page.graphs[0].graph;
            return nodes.name[n].includes("layer4") && ops[nodes.op[n]] === "nn.conv2d";
        }).length"""
        tab.locator("#kernels-table input").fill("layer4 CONV2D")
        names = self.column(tab, 3)
        self.assertEqual(len(names), tab.evaluate(layer4))
        self.assertTrue(all("layer4" in n for n in names))
        self.assertEqual(set(self.column(tab, 2)), {"nn.conv2d"})
        self.assertIn(f"{len(names)} of", tab.locator("#kernels-table [role=status]").inner_text())

    def test_the_keyboard_is_enough(self):
        tab = self.opened(self.report)
        tab.keyboard.press("Tab")
        self.assertEqual(tab.evaluate("document.activeElement.className"), "skip")
        tab.locator("#kernels-table th button").nth(1).focus()
        tab.keyboard.press("Enter")
        self.assertEqual(tab.locator("#kernels-table th").nth(1).get_attribute("aria-sort"), "ascending")
        # Of a choice one stands in the order of tabs; arrows move.
        self.assertEqual(tab.locator("#treemap-measure [tabindex='0']").count(), 1)
        tab.locator("#treemap-measure [tabindex='0']").focus()
        before = tab.locator("#treemap-path").inner_text()
        tab.keyboard.press("ArrowRight")
        self.assertEqual(tab.evaluate("document.activeElement.dataset.key"), "held")
        self.assertNotEqual(tab.locator("#treemap-path").inner_text(), before)
        tab.locator("#treemap rect.module-head").first.focus()
        tab.keyboard.press("Enter")
        self.assertEqual(tab.locator("#treemap-path button").count(), 1)
        canvas = tab.locator("#graph-canvas")
        canvas.focus()
        start = tab.evaluate("report.graph()")
        tab.keyboard.press("ArrowDown")
        tab.keyboard.press("+")
        moved = tab.evaluate("report.graph()")
        self.assertNotEqual(moved["translate"], start["translate"])
        self.assertGreater(moved["scale"], start["scale"])
        tab.keyboard.press("h")
        hottest = tab.evaluate("""(({ node, us }) => {
            const sums = new Map();
            node.forEach((n, i) => sums.set(n, (sums.get(n) ?? 0) + us[i]));
            return [...sums].sort((a, b) => b[1] - a[1])[0][0];
        })(page.runs[0].kernels)""")
        self.assertEqual(tab.evaluate("report.graph().picked"), hottest)
        self.assertIn("device time", tab.locator("#graph-detail").inner_text())
        self.assertGreaterEqual(tab.locator("#roofline circle.picked").count(), 1)
        # Everything that takes the focus has a name.
        unnamed = tab.evaluate("""[...document.querySelectorAll("button, select, input, canvas, a, [tabindex='0']")]
            .filter((e) => !(e.textContent.trim() || e.ariaLabel || e.labels?.length)).map((e) => e.outerHTML)""")
        self.assertEqual(unnamed, [])

    def test_themes_and_paper(self):
        background = "getComputedStyle(document.body).backgroundColor"
        tab = self.opened(self.report, color_scheme="dark")
        dark = tab.evaluate(background)
        tab.locator("#theme").click()
        light = tab.evaluate(background)
        self.assertNotEqual(dark, light)
        tab.locator("#theme").click()
        self.assertEqual(tab.evaluate(background), dark)
        tab.emulate_media(media="print")
        self.assertEqual(tab.evaluate(background), "rgb(255, 255, 255)")
        self.assertFalse(tab.locator("nav.sections").is_visible())

    def test_a_narrow_screen_scrolls_in_one_direction(self):
        tab = self.opened(self.report)
        tab.set_viewport_size({"width": 390, "height": 844})
        tab.wait_for_timeout(300)  # charts are drawn again when the width has settled
        self.assertLessEqual(tab.evaluate("document.documentElement.scrollWidth"), 390)

    def test_several_predictions(self):
        page = written(self.folder, "several.html", RESNET, "-b", "8,200000", "-d", "t4,l4", "--emit=html")
        tab = self.opened(page)
        self.assertEqual(tab.locator("#run option").count(), 4)
        self.assertFalse(tab.locator("#mig").is_visible())
        tab.locator("#run").select_option(index=1)
        self.assertIn("Out of memory: needs", tab.locator("#fits").inner_text())
        self.assertIn("largest batch that fits", tab.locator("#fits").inner_text())
        self.assertIn("batch 200000", tab.locator("#setting").inner_text())
        page = written(self.folder, "training.html", RESNET, "-b", "8", "--task", "train", "--emit=html")
        self.assertIn("backward", self.opened(page).locator("#memory-chart").text_content())

    def test_where_nothing_runs(self):
        model = self.folder / "nothing.pir"
        model.write_text('#[version = "perfc-ir/1"]\ndef @main(%x: Tensor[(8, 4), float32]) {\n  (%x)\n}\n')
        tab = self.opened(written(self.folder, "nothing.html", model, "-d", "t4", "--emit=html"))
        self.assertFalse(tab.locator("#roofline").is_visible())
        self.assertFalse(tab.locator("nav a[href='#roofline']").is_visible())
        self.assertIn("0 kernels", tab.locator("#kernels-table [role=status]").inner_text())
        self.assertNotRegex(tab.locator("body").inner_text(), "NaN|undefined|Infinity")

    def test_names_are_text(self):
        model = self.folder / "hostile.pir"
        model.write_text(NAMED.replace("NAME", json.dumps(HOSTILE)))
        page = written(self.folder, "hostile.html", model, "-b", "4", "--emit=html")
        tab = self.opened(page)
        self.assertIn(HOSTILE, tab.evaluate("page.graphs[0].graph.nodes.name"))
        self.assertIn(HOSTILE, self.column(tab, 3))
        self.assertEqual(tab.locator("img").count(), 0)
        tab.locator("#kernels-table .link").filter(has_text="onerror").click()
        self.assertIn(HOSTILE, tab.locator("#graph-detail").inner_text())
        if shutil.which("java"):
            self.validated(page, tab)

    def test_thousands_of_operators(self):
        model = self.folder / "large.onnxtxt"
        model.write_text(large_model(LARGE))
        page = written(self.folder, "large.html", model, "--emit=html")
        self.assertLess(page.stat().st_size, LARGEST_BYTES)
        before = self.renderer_s()
        tab = self.opened(page)
        tab.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
        took = self.renderer_s() - before
        print(f"{LARGE} operators: {page.stat().st_size / 1e6:.2f} MB, {took:.2f} s of a processor to open")
        self.assertLess(took, OPENS_WITHIN_S)
        self.assertEqual(tab.evaluate("report.graph().nodes"), LARGE + 1)
        before = self.renderer_s()
        for _ in range(10):
            tab.evaluate("""new Promise((done) => {
                document.getElementById("graph-all").click();
                requestAnimationFrame(() => requestAnimationFrame(done));
            })""")
        self.assertLess((self.renderer_s() - before) / 10, FRAME_WITHIN_S)  # all of it in view
        tab.locator("#graph-find").fill("layers.99.block.3/gate")
        self.assertEqual(tab.locator("#graph-found").inner_text(), "1 found")
        tab.locator("#kernels-table input").fill("sigmoid")
        self.assertIn(f"{LARGE // 5} of ", tab.locator("#kernels-table [role=status]").inner_text())

    def renderer_s(self) -> float:
        """Processor time of the processes that run pages: how busy the machine is does not count."""
        session = self.browser.new_browser_cdp_session()
        processes = session.send("SystemInfo.getProcessInfo")["processInfo"]
        session.detach()
        return sum(p["cpuTime"] for p in processes if p["type"] == "renderer")

    def test_is_written_soon(self):
        def used() -> float:
            usage = resource.getrusage(resource.RUSAGE_CHILDREN)
            return usage.ru_utime + usage.ru_stime

        before = used()
        written(self.folder, "timed.html", RESNET, "-b", "32", "--emit=html")
        self.assertLess(used() - before, WRITTEN_WITHIN_S)

    def test_same_call_same_bytes(self):
        pages = {written(self.folder, f"{i}.html", RESNET, "-b", "8", "--emit=html").read_bytes() for i in range(2)}
        self.assertEqual(len(pages), 1)


class Diff(Pages):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        golden = ROOT / "tests/golden/diff"
        cls.diff = written(cls.folder, "diff.html", "diff", golden / "base", golden / "head", "-b", "256", "-d",
                           "a100-40gb,rtx4090", "--format", "html")

    def test_the_graph_of_what_changed(self):
        tab = self.opened(self.diff)
        self.assertIn("3 reshaped", tab.locator("#graph-legend").inner_text())
        tab.locator("#graph-hot").click()
        detail = tab.locator("#graph-detail").inner_text()
        for words in ("body", "reshaped", "Δ", "→"):
            self.assertIn(words, detail)
        tab.locator("#graph-canvas").press("h")
        self.assertRegex(tab.locator("#graph-detail").inner_text(), r"was\s+float32 \(256, 64, 56, 56\)")
        tab.get_by_role("radio", name="Base").click()
        self.assertIn("3 reshaped", tab.locator("#graph-legend").inner_text())
        tab.get_by_role("radio", name="Δ device time").click()
        self.assertIn("slower", tab.locator("#graph-legend").inner_text())
        tab.get_by_label("Device").select_option("rtx4090")
        self.assertEqual(tab.evaluate("diff.graph().nodes"), 5)

    def test_figures_are_those_of_json(self):
        golden = ROOT / "tests/golden/diff"
        said = json.loads(subprocess.check_output([PERFC, "diff", golden / "base", golden / "head", "-b", "256", "-d",
                                                   "a100-40gb,rtx4090", "--format", "json"]))
        tab = self.opened(self.diff)
        self.assertEqual(tab.locator("section[id^=model-]").count(), len(said["models"]))
        for at, model in enumerate(said["models"]):
            verdicts = [f["verdict"] for d in model["devices"] for f in d["figures"]]
            rows = tab.locator(f"#model-{at} tr:has(td.verdict)")
            self.assertEqual([r.get_attribute("class") for r in rows.all()], verdicts)

    def test_is_valid(self):
        if not shutil.which("java"):
            support.skip_part("no java for the Nu HTML checker (apt-get install default-jre-headless; ./check does it)")
            return
        tab = self.opened(self.diff)
        self.assertIn('<script>alert("1")</script>', tab.locator("main").inner_text())
        self.validated(self.diff, tab)


def screenshot(to: str) -> None:
    """The head of ResNet-50's report, light, small enough for a repository."""
    with tempfile.TemporaryDirectory() as folder, browser.browser() as chromium:
        os.chdir(ROOT)
        page = written(pathlib.Path(folder), "report.html", "examples/resnet50.onnx", "-b", "32", "--emit=html")
        tab = chromium.new_page(viewport={"width": 1180, "height": 1560})
        tab.goto(page.as_uri())
        tab.wait_for_timeout(300)
        tab.screenshot(path=to)


if __name__ == "__main__":
    if "--screenshot" in sys.argv:
        screenshot(sys.argv[sys.argv.index("--screenshot") + 1])
    else:
        unittest.main()
