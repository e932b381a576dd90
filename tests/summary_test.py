#!/usr/bin/env python3
"""tests/summary.py on JUnit files as ctest writes them."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
PASSED = '<testcase name="unit" status="run"><system-out>fine</system-out></testcase>'
FAILED = '<testcase name="corpus" status="fail"><failure message=""/><system-out>PROBLEM x</system-out></testcase>'
SKIPPED = ('<testcase name="timm" status="notrun"><skipped message="SKIP_RETURN_CODE=77"/>'
           '<system-out>SKIP: ../shared is not here</system-out></testcase>')
WITHOUT_PROGRAM = ('<testcase name="cli" status="notrun"><skipped message="Unable to find executable"/>'
                   '<system-out/></testcase>')
WITHOUT_FIXTURE = ('<testcase name="measure" status="notrun"><skipped message="Fixture dependency failed"/>'
                   '<system-out>SKIP is not for it to say</system-out></testcase>')
PARTLY = ('<testcase name="train" status="run"><system-out>..\nSKIP: no MPI\ns.\nSKIP: no GPU\n'
          'does not SKIP: this</system-out></testcase>')


def summary(*cases, code=0):
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "check.xml"
        path.write_text(f'<?xml version="1.0"?><testsuite name="t">{"".join(cases)}</testsuite>')
        done = subprocess.run([sys.executable, HERE / "summary.py", path, str(code)], capture_output=True, text=True)
    return done.returncode, done.stdout.splitlines()


class Summary(unittest.TestCase):
    def test_passed(self):
        self.assertEqual(summary(PASSED, PASSED), (0, ["2 passed, 0 failed, 0 skipped"]))

    def test_failed(self):
        self.assertEqual(summary(PASSED, FAILED, code=8), (1, ["FAILED corpus", "1 passed, 1 failed, 0 skipped"]))

    def test_skipped(self):
        self.assertEqual(summary(PASSED, SKIPPED),
                         (0, ["SKIPPED timm: SKIP: ../shared is not here", "1 passed, 0 failed, 1 skipped"]))

    def test_what_could_not_run_failed(self):
        self.assertEqual(summary(PASSED, WITHOUT_PROGRAM, WITHOUT_FIXTURE, code=8),
                         (1, ["FAILED cli: not run: Unable to find executable",
                              "FAILED measure: not run: Fixture dependency failed",
                              "1 passed, 2 failed, 0 skipped"]))

    def test_parts_are_counted(self):
        self.assertEqual(summary(PASSED, PARTLY),
                         (0, ["SKIPPED PART train: SKIP: no MPI", "SKIPPED PART train: SKIP: no GPU",
                              "2 passed, 0 failed, 2 skipped"]))

    def test_nothing_passed(self):
        self.assertEqual(summary(SKIPPED), (1, ["SKIPPED timm: SKIP: ../shared is not here", "no test passed",
                                                "0 passed, 1 failed, 1 skipped"]))
        self.assertEqual(summary(PASSED, code=4), (1, ["ctest ended with code 4", "1 passed, 1 failed, 0 skipped"]))

    def test_no_results(self):
        done = subprocess.run([sys.executable, HERE / "summary.py", "/nowhere/check.xml", "0"],
                              capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stdout.splitlines()[-1]), (1, "0 passed, 1 failed, 0 skipped"))


if __name__ == "__main__":
    unittest.main()
