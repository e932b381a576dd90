#!/usr/bin/env python3
"""Prints what failed and what was skipped, and the closing line of ./check, from ctest's JUnit file.

usage: summary.py check.xml CTEST_EXIT_CODE

Skipped is a test that ended with 77, or a part of a test that passed, for which it printed a line `SKIP: why`.
What ctest did not run for another reason (a program is missing, a fixture failed) is a failure.
"""
import sys
import xml.etree.ElementTree as ET

SKIPPED = "SKIP_RETURN_CODE=77"  # ctest's words for the exit code


def skip_lines(case) -> list[str]:
    lines = (line.strip() for line in (case.findtext("system-out") or "").splitlines())
    return [line for line in lines if line.startswith("SKIP")]


def summary(cases, ctest_code: int) -> tuple[list[str], bool]:
    """Lines to print, and whether all is well."""
    failed, skipped, passed = [], [], 0
    for case in cases:
        name, status = case.get("name"), case.get("status")
        if status == "run":
            passed += 1
            skipped += [f"SKIPPED PART {name}: {line}" for line in skip_lines(case)]
        elif case.find("skipped") is not None and case.find("skipped").get("message") == SKIPPED:
            skipped.append(f"SKIPPED {name}: {(skip_lines(case) or ['no reason given'])[0]}")
        elif status == "fail":
            failed.append(f"FAILED {name}")
        else:
            why = next((c.get("message") for c in case if c.get("message")), status)
            failed.append(f"FAILED {name}: not run: {why}")
    lines = skipped + failed
    bad = bool(failed) or passed == 0 or ctest_code != 0
    if bad and not failed:
        lines.append(f"ctest ended with code {ctest_code}" if ctest_code else "no test passed")
    return [*lines, f"{passed} passed, {len(failed) or int(bad)} failed, {len(skipped)} skipped"], not bad


def main() -> int:
    path, ctest_code = sys.argv[1], int(sys.argv[2])
    try:
        cases = ET.parse(path).getroot().findall("testcase")
    except (OSError, ET.ParseError) as e:
        print(f"no test results: {e}\n0 passed, 1 failed, 0 skipped")
        return 1
    lines, good = summary(cases, ctest_code)
    print("\n".join(lines))
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
