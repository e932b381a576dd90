"""The pytest plugin, in a pytest of its own."""
import pathlib

RESNET = pathlib.Path(__file__).resolve().parents[2] / "examples" / "resnet50.onnx"


def test_budgets(pytester):
    pytester.makepyfile(f'''
        import pytest
        import perfc as package

        MODEL = {str(RESNET)!r}

        def test_kept(perfc):
            p = perfc.assert_budget(MODEL, device="l4", batch=8, latency_ms=20, memory_mib=4096)
            assert p.batch == 8

        def test_exceeded(perfc):
            perfc.assert_budget(MODEL, device="l4", batch=8, latency_ms=1, energy_j=100)

        def test_does_not_fit(perfc):
            perfc.assert_budget(MODEL, device="t4", batch=60000)

        def test_misspelt(perfc):
            with pytest.raises(package.UsageError, match="latency"):
                perfc.assert_budget(MODEL, device="l4", latency=1)

        def test_unreadable(perfc):
            perfc.assert_budget("nowhere.onnx", latency_ms=1)
    ''')
    result = pytester.runpytest_subprocess("-p", "no:cacheprovider")
    result.assert_outcomes(passed=2, failed=3)
    result.stdout.fnmatch_lines([
        "*resnet50.onnx, batch 8, on l4 exceeds its budget:", "*latency_ms * limit 1 EXCEEDED", "*energy_j * limit 100",
        "*does not fit: * MiB, the device has *; the largest batch that fits is *",
        "*ModelError: nowhere.onnx: error:*",
        "*perfc budgets*", "*::test_kept: l4, batch 8: latency_ms * of 20, memory_mib * of 4096"
    ])
