#!/usr/bin/env python3
"""Detectors with the ends that exporters give them predict, whatever the format and the runtime (make_models.py).

    python3 tests/detectors/detectors_test.py build/release/perfc
"""
import json
import pathlib
import subprocess
import sys
import tarfile
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import support  # noqa: E402

PERFC = sys.argv.pop(1) if len(sys.argv) > 1 else str(support.PERFC)
RUNTIMES = ("pytorch", "torch-compile", "onnxruntime", "tensorrt", "tensorrt-8")
ONE_IMAGE = ("nms.onnx", "nms_dynamo.onnx", "nms.json", "nms.pt2")
SCRIPTED = "by_class.json"
BATCHED = ("class_nms.onnx", "efficient.onnx", "end_to_end.onnx")
POSITIONS, CLASSES, KEPT, PER_CLASS, COMPARED = 2100, 20, 300, 100, 4096
SETTINGS = ("--device", "a100-40gb", "--predictor", "whitebox", "--fold-batch-norm", "on")


class Detectors(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        with tarfile.open(HERE / "models.tar.xz") as archive:
            archive.extractall(cls.folder.name, filter="data")
        cls.predictions = {}

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def run_perfc(self, name, *options):
        return subprocess.run([PERFC, "predict", pathlib.Path(self.folder.name, name), *SETTINGS, *map(str, options)],
                              capture_output=True, text=True, timeout=120)

    def predict(self, name, *options):
        if (name, options) not in self.predictions:
            done = self.run_perfc(name, *options, "--json")
            self.assertEqual(done.returncode, 0, f"{name} {options}: {done.stderr}")
            (self.predictions[name, options],) = json.loads(done.stdout)["predictions"]
        return self.predictions[name, options]

    def kernels(self, name, *options):
        """(operators, repeat, multiply-accumulates) of each kernel."""
        done = self.run_perfc(name, *options, "--emit=kernels")
        self.assertEqual(done.returncode, 0, done.stderr)
        rows = [line.split(",") for line in done.stdout.splitlines()[1:]]
        return [(row[3], float(row[6]), int(row[7])) for row in rows]

    def test_every_end_predicts_in_every_runtime(self):
        for runtime in RUNTIMES:
            for name in (*ONE_IMAGE, SCRIPTED):
                self.predict(name, "--runtime", runtime)
            for name in BATCHED:
                one, eight = (self.predict(name, "--batch", n, "--runtime", runtime) for n in (1, 8))
                self.assertLess(one["device_ms"], eight["device_ms"], (name, runtime))
                self.assertLess(eight["device_ms"], 8.2 * one["device_ms"], (name, runtime))

    def test_the_ends_of_one_network_cost_what_they_add(self):
        """What is not the end is the same network, so that all have the same products."""
        macs = {name: sum(k[2] for k in self.kernels(name)) for name in (*ONE_IMAGE, *BATCHED, SCRIPTED)}
        self.assertEqual(len(set(macs.values())), 1, macs)
        least = self.predict("end_to_end.onnx", "--runtime", "tensorrt")["device_ms"]
        for name in ("nms.onnx", "efficient.onnx"):
            self.assertGreater(self.predict(name, "--runtime", "tensorrt")["device_ms"], least)

    def test_forms_of_one_program_cost_the_same(self):
        for runtime in RUNTIMES:
            times = [self.predict(name, "--runtime", runtime)["device_ms"] for name in ONE_IMAGE]
            self.assertLess(max(times), 1.15 * min(times), (runtime, times))

    def test_the_first_kept_boxes_are_typical_and_all_are_possible(self):
        for name in ONE_IMAGE:
            for policy, kept in (("typical", KEPT), ("upper", POSITIONS), ("least", 1)):
                nodes = self.predict(name, "--dynamic", policy)["dynamic"]["nodes"]
                (extents,) = [n["extents"] for n in nodes if n["op"] == "vision.non_max_suppression"]
                self.assertEqual(extents, [kept], (name, policy))
        for policy, kept in (("typical", 8 * PER_CLASS), ("upper", 8 * PER_CLASS * CLASSES)):
            (node,) = self.predict("class_nms.onnx", "--batch", 8, "--dynamic", policy)["dynamic"]["nodes"]
            self.assertEqual(node["extents"], [kept])

    def test_classes_share_the_boxes_that_pass_a_threshold(self):
        """A loop over torch.unique(labels): labels are of as many classes as the arange has that they are from."""
        def extents(policy):
            nodes = self.predict(SCRIPTED, "--dynamic", policy)["dynamic"]["nodes"]
            return [(n["op"], n["extents"][0]) for n in nodes]

        part, every = -(-COMPARED // CLASSES), POSITIONS * CLASSES
        self.assertEqual(extents("typical"), [("nonzero", COMPARED), ("unique", CLASSES), ("nonzero", COMPARED),
                                              ("nonzero", part), ("vision.non_max_suppression", part)])
        self.assertEqual(extents("upper"), [("nonzero", every), ("unique", CLASSES), ("nonzero", every),
                                            ("nonzero", every), ("vision.non_max_suppression", every)])
        at_once = self.predict("class_nms.onnx")["device_ms"]
        self.assertLess(self.predict(SCRIPTED)["device_ms"], 10 * at_once)

    def test_what_pads_to_its_limit_has_no_such_dims(self):
        for name in ("efficient.onnx", "end_to_end.onnx"):
            self.assertNotIn("dynamic", self.predict(name, "--batch", 8))

    def test_kernels_are_the_runtimes(self):
        """ONNX Runtime suppresses class by class and image by image, TensorRT all at once."""
        suppression = "vision.non_max_suppression"
        def repeats(runtime):
            return {k[0]: k[1] for k in self.kernels("class_nms.onnx", "--batch", 8, "--runtime", runtime)}

        per_class = repeats("onnxruntime")
        self.assertEqual((per_class[suppression], per_class["topk"]), (8 * CLASSES, 8 * CLASSES))
        at_once = repeats("tensorrt")
        self.assertEqual(at_once[suppression], 1)
        self.assertLess(at_once["topk"], 8)  # passes

    def test_a_runtime_without_the_plugin_says_so(self):
        for runtime in RUNTIMES:
            warnings = self.predict("efficient.onnx", "--runtime", runtime)["warnings"]
            said = [w for w in warnings if "EfficientNMS_TRT is TensorRT's alone" in w]
            self.assertEqual(len(said), 0 if runtime.startswith("tensorrt") else 1, (runtime, warnings))


if __name__ == "__main__":
    unittest.main()
