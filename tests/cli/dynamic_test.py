"""What a report says of dims that data decides, held against runs of the program itself.

    python3 tests/cli/dynamic_test.py build/release/perfc
"""
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PERFC = sys.argv.pop(1) if len(sys.argv) > 1 else str(ROOT / "build/release/perfc")
KEPT = """#[version = "perfc-ir/1"]
def @main(%boxes: Tensor[(1, 4000, 4), float32], %scores: Tensor[(1, 5, 4000), float32],
          %x: Tensor[(4000, 4096), float32]) {
  %3 = const[1000] : Tensor[(1,), int64];
  %4 = vision.non_max_suppression(%boxes, %scores, %3) : Tensor[(found, 3), int64] @kept;
  %5 = const[2] : Tensor[(), int64];
  %6 = take(%4, %5, axis=1) : Tensor[(found,), int64];
  %7 = take(%x, %6, axis=0) : Tensor[(found, 4096), float32];
  %8 = weight : Tensor[(4096, 4096), float32];
  %9 = nn.dense(%7, %8) : Tensor[(found, 4096), float32];
  (%9)
}
"""
LEVELS = """#[version = "perfc-ir/1"]
def @main(%levels: Tensor[(1000,), int64], %x: Tensor[(1000, 64), float32]) {
  %2 = const[0] : Tensor[(), int64];
  %3 = equal(%levels, %2);
  %4 = nonzero(%3) @first;
  %5 = const[1] : Tensor[(), int64];
  %6 = equal(%levels, %5);
  %7 = nonzero(%6) @second;
  %8 = nonzero(%6) @again;
  %9 = nonzero(%levels) @any;
  (%4, %7, %8, %9)
}
"""
TAKEN = """#[version = "perfc-ir/1"]
def @main(%boxes: Tensor[(1, 4000, 4), float32], %scores: Tensor[(1, 1, 4000), float32]) {
  %2 = const[4000] : Tensor[(1,), int64];
  %3 = vision.non_max_suppression(%boxes, %scores, %2) @kept;
  %4 = const[2] : Tensor[(), int64];
  %5 = take(%3, %4, axis=1);
  %6 = const[0] : Tensor[(1,), int64];
  %7 = const[300] : Tensor[(1,), int64];
  %8 = strided_slice(%5, %6, %7);
  %9 = const[200] : Tensor[(1,), int64];
  %10 = strided_slice(%5, %6, %9);
  (%8, %10)
}
"""
BRANCHES = """#[version = "perfc-ir/1"]
def @main(%boxes: Tensor[(1, 9000, 4), float32], %scores: Tensor[(1, 1, 9000), float32], %many: Tensor[(), bool],
          %labels: Tensor[(9000,), int64]) {
  %4 = if(%many, %boxes, %scores, captures=2) : Tensor[(?, 3), int64] @if {
    fn @"then"(%0: Tensor[(1, 9000, 4), float32], %1: Tensor[(1, 1, 9000), float32]) {
      %2 = const[9000] : Tensor[(1,), int64];
      %3 = vision.non_max_suppression(%0, %1, %2) @then_kept;
      (%3)
    }
    fn @"else"(%0: Tensor[(1, 9000, 4), float32], %1: Tensor[(1, 1, 9000), float32]) {
      %2 = const[70] : Tensor[(1,), int64];
      %3 = vision.non_max_suppression(%0, %1, %2) @else_kept;
      (%3)
    }
  };
  %5 = const[0] : Tensor[(1,), int64];
  %6 = const[80] : Tensor[(1,), int64];
  %7 = strided_slice(%4, %5, %6);
  (%7)
}
"""
VALUES = """#[version = "perfc-ir/1"]
def @main(%at: Tensor[(5000,), int64], %x: Tensor[(5000,), int64], %scores: Tensor[(1, 1, 5000), float32]) {
  %3 = const[0] : Tensor[(), int64];
  %4 = const[90] : Tensor[(), int64];
  %5 = const[1] : Tensor[(), int64];
  %6 = arange(%3, %4, %5) : Tensor[(90,), int64];
  %7 = take(%6, %at, axis=0);
  %8 = add(%7, %5);
  %9:4 = unique(%8) @of_arange;
  %10:4 = unique(%x) @of_data;
  %11 = concatenate(%8, %7, axis=0);
  %12:4 = unique(%11) @of_both;
  %13 = add(%7, %x);
  %14:4 = unique(%13) @of_a_sum;
  %15 = greater(%x, %3);
  %16 = nonzero(%15) @passing;
  %17 = take(%16, %3, axis=0);
  %18 = take(%scores, %17, axis=2);
  %19 = weight : Tensor[(5000, 4), float32];
  %20 = take(%19, %17, axis=0);
  %21 = const[0] : Tensor[(1,), int64];
  %22 = expand_dims(%20, %21);
  %23 = const[20] : Tensor[(1,), int64];
  %24 = vision.non_max_suppression(%22, %18, %23) @kept;
  %25 = nonzero(%x) @other;
  (%9.0, %10.0, %12.0, %14.0, %24, %25)
}
"""
#: masks brought to the size of their boxes and put between zeros into an image of 90 by 60, one after the other
PASTED = """#[version = "perfc-ir/1"]
def @main(%masks: Tensor[(50, 28, 28), float32], %sure: Tensor[(50,), bool], %boxes: Tensor[(50, 4), int64]) {
  %3 = nonzero(%sure) : Tensor[(1, found), int64] @found;
  %4 = const[0] : Tensor[(), int64];
  %5 = take(%3, %4, axis=0) : Tensor[(found,), int64];
  %6 = size_of(%5);
  %7 = const[1] : Tensor[(), bool];
  %8 = const[0, 90, 60] : Tensor[(3,), int64];
  %9 = full(%8, value=const[0.0]: Tensor[(1,), float32]) : Tensor[(0, 90, 60), float32];
  %10 = loop(%6, %7, %9, %masks, %boxes, %5, captures=3) : Tensor[(?, 90, 60), float32] @paste {
    fn @"body"(%0: Tensor[(), int64], %1: Tensor[(), bool], %2: Tensor[(?, 90, 60), float32],
               %3: Tensor[(50, 28, 28), float32], %4: Tensor[(50, 4), int64], %5: Tensor[(found,), int64]) {
      %6 = take(%5, %0, axis=0) : Tensor[(), int64];
      %7 = take(%3, %6, axis=0) : Tensor[(28, 28), float32];
      %8 = take(%4, %6, axis=0) : Tensor[(4,), int64];
      %9 = const[0] : Tensor[(1,), int64];
      %10 = const[1] : Tensor[(1,), int64];
      %11 = const[2] : Tensor[(1,), int64];
      %12 = const[3] : Tensor[(1,), int64];
      %13 = take(%8, %9, axis=0) : Tensor[(1,), int64];
      %14 = take(%8, %10, axis=0) : Tensor[(1,), int64];
      %15 = take(%8, %11, axis=0) : Tensor[(1,), int64];
      %16 = const[0, 1] : Tensor[(2,), int64];
      %17 = expand_dims(%7, %16) : Tensor[(1, 1, 28, 28), float32];
      %18 = const[1, 1] : Tensor[(2,), int64];
      %19 = const[60] : Tensor[(1,), int64];
      %20 = concatenate(%18, %14, %19, axis=0) : Tensor[(4,), int64];
      %21 = image.resize2d(%17, _, _, %20, mode="linear") : Tensor[(1, 1, ?, 60), float32] @sized;
      %22 = const[0] : Tensor[(), int64];
      %23 = take(%21, %22, axis=0) : Tensor[(1, ?, 60), float32];
      %24 = take(%23, %22, axis=0) : Tensor[(?, 60), float32];
      %25 = strided_slice(%24, %13, %14, %9) : Tensor[(?, 60), float32] @cut;
      %26 = concatenate(%13, %19, axis=0) : Tensor[(2,), int64];
      %27 = full(%26, value=const[0.0]: Tensor[(1,), float32]) : Tensor[(?, 60), float32] @above;
      %28 = concatenate(%15, %19, axis=0) : Tensor[(2,), int64];
      %29 = full(%28, value=const[0.0]: Tensor[(1,), float32]) : Tensor[(?, 60), float32] @below;
      %30 = concatenate(%27, %25, %29, axis=0) : Tensor[(?, 60), float32];
      %31 = const[90] : Tensor[(1,), int64];
      %32 = strided_slice(%30, %9, %31, %9) : Tensor[(?, 60), float32];
      %33 = expand_dims(%32, %9) : Tensor[(1, ?, 60), float32];
      %34 = concatenate(%2, %33, axis=0) : Tensor[(?, 90, 60), float32];
      (%1, %34)
    }
  };
  (%10)
}
"""
UNBOUNDED = """#[version = "perfc-ir/1"]
def @main(%n: Tensor[(), int64]) {
  %1 = const[0] : Tensor[(), int64];
  %2 = const[1] : Tensor[(), int64];
  %3 = arange(%1, %n, %2) @count;
  %4 = cast(%3, to="float32");
  (%4)
}
"""
STATIC = """#[version = "perfc-ir/1"]
def @main(%x: Tensor[(8, 64), float32]) {
  %1 = nn.relu(%x);
  (%1)
}
"""


def perfc(*args, model=None):
    done = subprocess.run([PERFC, *map(str, args)], input=model, capture_output=True, text=True, timeout=120)
    return done.returncode, done.stdout, done.stderr


def prediction(model, *args):
    code, out, err = perfc("-", "--json", *args, model=model)
    assert code == 0, err
    (only,) = json.loads(out)["predictions"]
    return only


class Dynamic(unittest.TestCase):
    def test_each_policy_takes_its_extent(self):
        wanted = (("least", 1, "boxes"), ("typical", 1000, "an image keeps"), ("upper", 5000, "boxes"))
        for policy, extent, by in wanted:
            dynamic = prediction(KEPT, "--dynamic", policy)["dynamic"]
            (node,) = dynamic["nodes"]
            self.assertEqual(dynamic["taken"], policy)
            self.assertEqual((node["op"], node["name"]), ("vision.non_max_suppression", "kept"))
            self.assertEqual(node["extents"], [extent])
            self.assertTrue(node["by"].startswith(by), node["by"])
        self.assertEqual(prediction(KEPT), prediction(KEPT, "--dynamic", "typical"))

    def test_the_range_is_that_of_runs_at_both_ends(self):
        physics = ("--predictor", "whitebox")
        least, taken, upper = (prediction(KEPT, "--dynamic", d, *physics) for d in ("least", "typical", "upper"))
        self.assertLess(least["device_ms"], taken["device_ms"])
        self.assertLess(taken["device_ms"], upper["device_ms"])
        for run in (least, taken, upper):
            for end, of in zip(run["dynamic"]["device_ms_range"], (least, upper)):
                self.assertAlmostEqual(end / of["device_ms"], 1, places=4)
            share = 1 - least["device_ms"] / run["device_ms"]
            self.assertAlmostEqual(run["dynamic"]["share_of_device"], share, places=4)
            self.assertEqual(run["dynamic"]["not_covered"], "")

    def test_intervals_reach_from_the_least_to_the_most(self):
        given = {n: prediction(KEPT, "--bound", f"kept={n}") for n in (1, 1000, 5000)}
        taken = prediction(KEPT)
        for key in ("latency_ms_interval", "memory_mib_interval", "energy_j_interval"):
            ends = [given[n][key] for n in given]
            self.assertEqual(taken[key], [min(lo for lo, _ in ends), max(hi for _, hi in ends)], key)
            self.assertLess(taken[key][0], given[1000][key][0])
            self.assertGreater(taken[key][1], given[1000][key][1])

    def test_a_given_extent_is_the_same_as_a_fixed_dim(self):
        for bound in ("kept=37", "found=37"):
            given = prediction(KEPT, "--bound", bound)
            self.assertEqual(given["dynamic"]["nodes"][0]["by"], "--bound")
            self.assertEqual(given["dynamic"]["nodes"][0]["extents"], [37])
            self.assertEqual(given["dynamic"]["share_of_device"], 0)
            fixed = prediction(KEPT.replace("found", "37"))
            self.assertNotIn("dynamic", fixed)
            for run in (given, fixed):  # where the extent is fixed in the file, no other batch can be offered
                run.pop("alternatives")
            self.assertEqual({k: v for k, v in given.items() if k != "dynamic"}, fixed)

    def test_selections_of_different_values_share_what_there_is(self):
        def extents(policy):
            return {n["name"]: n["extents"] for n in prediction(LEVELS, "--dynamic", policy)["dynamic"]["nodes"]}

        self.assertEqual(extents("typical"), {"first": [500], "second": [500], "again": [500], "any": [1000]})
        self.assertEqual(extents("upper"), {"first": [1000], "second": [1000], "again": [1000], "any": [1000]})

    def test_as_many_boxes_as_the_model_takes_are_typical(self):
        def extents(model, policy):
            (node,) = prediction(model, "--dynamic", policy)["dynamic"]["nodes"]
            return node["extents"], node["by"]

        self.assertEqual(extents(TAKEN, "typical"), ([300], "as many as the model takes of those that are kept"))
        self.assertEqual(extents(TAKEN, "upper")[0], [4000])
        for other in (TAKEN.replace("(%8, %10)", "(%8, %10, %5)"), TAKEN.replace("const[200]", "const[-200]"),
                      TAKEN.replace("strided_slice(%5, %6, %9)", "strided_slice(%5, %9, %7)")):
            self.assertEqual(extents(other, "typical")[0], [4000], other)

    def test_what_a_branch_keeps_is_taken_outside(self):
        nodes = prediction(BRANCHES)["dynamic"]["nodes"]
        self.assertEqual({n["name"]: n["extents"] for n in nodes}, {"then_kept": [80], "else_kept": [70], "if": [80]})

    def test_different_values_are_no_more_than_where_they_are_from(self):
        def extents(policy):
            return {n["name"]: n["extents"][0] for n in prediction(VALUES, "--dynamic", policy)["dynamic"]["nodes"]}

        upper = {"of_arange": 90, "of_data": 5000, "of_both": 180, "of_a_sum": 5000, "passing": 5000, "kept": 20,
                 "other": 5000}
        self.assertEqual(extents("upper"), upper)
        self.assertEqual(extents("typical"), {**upper, "passing": 4096})
        code, _, err = perfc("-", "--bound", "of_arange=91", model=VALUES)
        self.assertEqual(code, 1)
        self.assertIn("there can be 90 at most (different values that the operand can have)", err)

    def test_a_loop_whose_tensor_grows_is_its_rounds(self):
        for policy, rounds, part in (("typical", 50, 30), ("upper", 50, 90), ("least", 1, 30)):
            dynamic = prediction(PASTED, "--dynamic", policy)["dynamic"]
            self.assertEqual(dynamic["not_covered"], "", policy)
            extents = {}
            for node in dynamic["nodes"]:
                extents.setdefault(node["name"], []).append(node["extents"])
            self.assertEqual(extents.pop("found"), [[rounds]])
            self.assertEqual(extents, {n: [[part]] * rounds for n in ("sized", "above", "below")}, policy)
        code, out, err = perfc("-", "--emit=kernels", "--bound", "found=3", "--dtype", "fp32", model=PASTED)
        self.assertEqual(code, 0, err)
        grown = [line.split(",")[9] for line in out.splitlines() if ",concatenate," in line][-1]
        self.assertEqual(int(grown), 2 * 3 * 90 * 60 * 4)  # the last round reads and writes three masks
        code, _, err = perfc("-", model=PASTED.replace("%6 = size_of(%5)", "%6 = take(%3, %4, axis=0)"))
        self.assertEqual(code, 1)

    def test_refused_with_the_nodes_name(self):
        code, out, err = perfc("-", "--dynamic", "refuse", model=KEPT)
        self.assertEqual((code, out), (1, ""))
        self.assertIn("'kept': error: vision.non_max_suppression has the open type Tensor[(found, 3), int64]", err)
        self.assertIn("--dynamic typical", err)

    def test_without_a_rule_the_user_says_it(self):
        code, _, err = perfc("-", model=UNBOUNDED)
        self.assertEqual(code, 1)
        self.assertIn("'count': error: arange has the open type Tensor[(?,), int64]", err)
        self.assertIn("--bound count=N", err)
        self.assertNotIn("--dynamic", err)  # no rule says what is typical
        given = prediction(UNBOUNDED, "--bound", "count=100")
        node = {"op": "arange", "name": "count", "extents": [100], "by": "--bound"}
        self.assertEqual(given["dynamic"]["nodes"], [node])

    def test_reports_of_other_models_say_nothing(self):
        self.assertNotIn("dynamic", prediction(STATIC, "--dynamic", "upper"))
        self.assertNotIn("dynamic", perfc("-", model=STATIC)[1])
        code, _, err = perfc("-", "--bound", "x=1", model=STATIC)
        self.assertEqual(code, 1)
        self.assertIn("is named 'x': the model has none", err)

    def test_the_text_names_nodes_and_shares(self):
        _, out, _ = perfc("-", model=KEPT)
        self.assertRegex(out, r"dynamic +typical +\d+\.\d % of device time rests on dims that data decides: ")
        self.assertRegex(out, r"\n +1000  vision\.non_max_suppression kept: an image keeps ")

    def test_import_leaves_dims_open(self):
        code, out, _ = perfc("import", "-", model=LEVELS)
        self.assertEqual(code, 0)
        self.assertIn("nonzero(%3) : Tensor[(1, ?), int64] @first", out)
        code, out, _ = perfc("opt", "-", model=KEPT)
        self.assertIn("Tensor[(found, 4096), float32]", out)

    def test_counts_that_data_holds_need_a_bound(self):
        programs = (json.loads(line) for line in (ROOT / "tests/torch/operators.jsonl").read_text().splitlines())
        program = next(p for p in programs if p["model"] == "repeat_interleave_output_size")
        repeated = program["nodes"][-1]
        del repeated["outputs"][0]["shape"], program["outputs"][0]["shape"]
        for node in program["nodes"]:
            if node["outputs"][0]["name"] == repeated["inputs"][3]:
                node["attributes"]["value"] = None
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "repeated.json")
            path.write_text(json.dumps(program))
            code, _, err = perfc(path)
            self.assertEqual(code, 1)
            self.assertRegex(err, "arange has the open type .*--bound repeat_interleave=N")
            code, out, err = perfc(path, "--bound", "repeat_interleave=7", "--json")
            self.assertEqual(code, 0, err)
            self.assertEqual(json.loads(out)["predictions"][0]["dynamic"]["nodes"][0]["extents"], [7])

    def test_budgets_say_it_too(self):
        with tempfile.TemporaryDirectory() as folder:
            model = pathlib.Path(folder, "kept.pir")
            model.write_text(KEPT)
            upper = prediction(KEPT, "--dynamic", "upper")
            between = (prediction(KEPT)["latency_ms"] + upper["latency_ms"]) / 2
            for policy, code in (("typical", 0), ("upper", 3)):
                budgets = pathlib.Path(folder, "budgets.yaml")
                budgets.write_text("models:\n  - model: kept.pir\n"
                                   f"    dynamic: {policy}\n    max_latency_ms: {between}\n")
                self.assertEqual(perfc("check", "--budget", budgets)[0], code)


if __name__ == "__main__":
    unittest.main()
