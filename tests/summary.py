#!/usr/bin/env python3
"""Prints what was skipped and the closing line of ./check from ctest's JUnit file.

usage: summary.py check.xml CTEST_EXIT_CODE
"""
import sys
import xml.etree.ElementTree as ET


def main() -> int:
    path, ctest_code = sys.argv[1], int(sys.argv[2])
    try:
        cases = ET.parse(path).getroot().findall("testcase")
    except (OSError, ET.ParseError) as e:
        print(f"no test results: {e}\n0 passed, 1 failed, 0 skipped")
        return 1
    skipped = [c for c in cases if c.find("skipped") is not None]
    failed = [c for c in cases if c not in skipped and c.get("status") == "fail"]
    passed = len(cases) - len(skipped) - len(failed)
    for case in skipped:
        output = (case.findtext("system-out") or "").strip().splitlines()
        why = next((line for line in output if "SKIP" in line), "no reason given")
        print(f"SKIPPED {case.get('name')}: {why}")
    for case in failed:
        print(f"FAILED {case.get('name')}")
    bad = bool(failed) or passed == 0 or ctest_code != 0
    if bad and not failed:
        print(f"ctest ended with code {ctest_code}")
    print(f"{passed} passed, {len(failed) or int(bad)} failed, {len(skipped)} skipped")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
