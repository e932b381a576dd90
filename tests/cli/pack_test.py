"""`perfc pack` and `perfc fit`: what they write, judged by the rules of the tools that read it.

    python3 tests/cli/pack_test.py build/release/perfc
"""
import itertools
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

import yaml

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PERFC = str(pathlib.Path(sys.argv.pop(1) if len(sys.argv) > 1 else ROOT / "build/release/perfc").resolve())
RESNET = str(ROOT / "examples/resnet50.onnx")
WORKLOAD = str(ROOT / "examples/workload.yaml")
DEVICES = ["a100-40gb", "a100-80gb", "a30", "h100-sxm", "h100-nvl", "h200", "b200", "rtx-pro-6000"]

# What `nvidia-smi mig -lgipp` prints, {starts}:size by profile ID. The seven-slice GPUs: MIG User Guide, "Creating GPU
# Instances"; B200: github.com/NVIDIA/mig-parted/pull/166 has its IDs; A30 and RTX PRO 6000: transcripts of machines.
SEVEN = {"1g": {1: ([0, 1, 2, 3, 4, 5, 6], 1), 2: ([0, 2, 4, 6], 2)}, "2g": {2: ([0, 2, 4], 2)},
         "3g": {4: ([0, 4], 4)}, "4g": {4: ([0], 4)}, "7g": {8: ([0], 8)}}
FOUR = {"1g": ([0, 1, 2, 3], 1), "2g": ([0, 2], 2), "4g": ([0], 4)}
TWELVE = {"1g": ([0, 3, 6, 9], 3), "2g": ([0, 6], 6), "4g": ([0], 12)}
# GB of a memory slice, by the device; profiles of two slices have the same "1g" with twice the memory.
SLICE_GB = {"a100-40gb": 5, "a100-80gb": 10, "h100-sxm": 10, "h100-nvl": 12, "h200": 18, "b200": 23}


def places(device: str, profile: str) -> tuple[list[int], int]:
    g, gb = re.fullmatch(r"(\dg)\.(\d+)gb(?:\+\w+)?", profile).groups()
    if device == "a30":
        return FOUR[g]
    if device == "rtx-pro-6000":
        return TWELVE[g]
    of = SEVEN[g]
    if g == "1g":
        return of[1 if int(gb) <= SLICE_GB[device] else 2]
    return next(iter(of.values()))


def perfc(*args):
    done = subprocess.run([PERFC, *map(str, args)], capture_output=True, text=True, timeout=120)
    return done.returncode, done.stdout, done.stderr


def ok(*args):
    code, out, err = perfc(*args)
    assert code == 0, (args, err)
    return out


class StrictLoader(yaml.SafeLoader):
    """Keys that occur twice are errors, as in sigs.k8s.io/yaml, with which mig-parted reads."""


def mapping(loader, node):
    keys = [loader.construct_object(k) for k, _ in node.value]
    assert len(keys) == len(set(keys)), f"a key twice: {keys}"
    return {loader.construct_object(k, deep=True): loader.construct_object(v, deep=True) for k, v in node.value}


StrictLoader.add_constructor(yaml.resolver.BaseResolver.DEFAULT_MAPPING_TAG, mapping)


def is_whole(v):
    return isinstance(v, int) and not isinstance(v, bool)


def check_profile(name):
    """ParseMigProfile of github.com/NVIDIA/mig-parted, pkg/types/mig_profile.go."""
    assert isinstance(name, str), name
    base, plus, attributes = name.partition("+")
    fields = re.fullmatch(r"(?:([123467])c\.)?([123467])g\.(\d+)gb", base)
    assert fields, f"{name}: is no profile"
    if plus:
        names = attributes.split(",")
        assert len(names) == len(set(names)), f"{name}: an attribute twice"
        assert all(re.fullmatch(r"[A-Za-z][A-Za-z0-9.]*", a) for a in names), f"{name}: a wrong attribute"


def check_mig_parted(text):
    """The schema of github.com/NVIDIA/mig-parted, api/spec/v1/spec.go: `Spec` and `MigConfigSpec` with what their
    UnmarshalJSON demands, and MigConfig.AssertValid of pkg/types/mig_config.go. Returns the configurations."""
    spec = yaml.load(text, StrictLoader)
    assert isinstance(spec, dict) and set(spec) <= {"version", "mig-configs"}, spec
    assert spec.get("version") == "v1"
    configs = spec["mig-configs"]
    assert isinstance(configs, dict) and configs, "at least one entry in 'mig-configs' is required"
    for name, entries in configs.items():
        assert isinstance(name, str) and isinstance(entries, list) and entries, name
        for entry in entries:
            assert set(entry) <= {"device-filter", "devices", "mig-enabled", "mig-devices"}, entry
            assert {"devices", "mig-enabled"} <= set(entry), entry
            if "device-filter" in entry:
                filters = entry["device-filter"]
                assert isinstance(filters, str) or all(isinstance(f, str) for f in filters)
            devices = entry["devices"]
            assert devices == "all" or (isinstance(devices, list) and all(map(is_whole, devices))), devices
            assert isinstance(entry["mig-enabled"], bool)
            counts = entry.get("mig-devices")
            assert not entry["mig-enabled"] or counts is not None
            assert entry["mig-enabled"] or not counts
            assert counts is None or isinstance(counts, dict)
            for profile, n in (counts or {}).items():
                check_profile(profile)
                assert is_whole(n) and n >= 0, (profile, n)
            assert not counts or any(n > 0 for n in counts.values())
    return configs


def can_lie(device, counts):
    """Whether instances can lie on one GPU, by trying all of NVIDIA's placements."""
    wanted = [places(device, p) for p, n in counts.items() for _ in range(n)]
    for starts in itertools.product(*(s for s, _ in wanted)):
        slots = [slot for start, (_, size) in zip(starts, wanted) for slot in range(start, start + size)]
        if len(slots) == len(set(slots)):
            return True
    return False


class Plans(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)

    def write(self, name, text):
        path = self.folder / name
        path.write_text(text)
        return path

    def workloads(self):
        """Demands of several kinds."""
        yield [WORKLOAD]
        for batch, rate, limit in ((1, 100, 20), (8, 3000, 80), (64, 9000, 400), (16, 40, 200)):
            entry = f"  - {{model: {RESNET}, batch: {batch}, rate: {rate}, max_latency_ms: {limit}}}\n"
            media = f"  - {{model: {RESNET}, name: video, batch: 1, rate: 10, needs: media}}\n"
            yield [self.write(f"w{batch}.yaml", "models:\n" + entry + media)]

    def test_the_checker_refuses_what_mig_parted_refuses(self):
        good = "version: v1\nmig-configs:\n  a:\n    - devices: [0]\n      mig-enabled: true\n"
        good += "      mig-devices:\n        \"1g.5gb\": 2\n"
        check_mig_parted(good)
        for old, new in (("v1", "v2"), ("devices: [0]", "devices: some"), ("devices: [0]", "devices: [a]"),
                         ("true", "\"yes\""), ("true", "false"), ("1g.5gb", "1g5gb"), ("1g.5gb", "9g.5gb"),
                         (": 2", ": 0"), (": 2", ": -1"), ("mig-enabled", "mig-on"), ("version", "versions")):
            with self.assertRaises((AssertionError, KeyError), msg=(old, new)):
                check_mig_parted(good.replace(old, new))

    def test_partitions_are_nvidias_and_every_form_has_the_same(self):
        seen = set()
        for device, (path, ), objective in itertools.product(DEVICES, self.workloads(), ("gpus", "energy")):
            how = ("pack", "-w", path, "-d", device, "--objective", objective)
            with self.subTest(device=device, path=path, objective=objective):
                plan = json.loads(ok(*how, "--json"))
                self.assertTrue(plan["proven"])
                configs = check_mig_parted(ok(*how, "--emit", "mig-parted"))["perfc"]
                by_gpu = {gpu: c["mig-devices"] for c in configs for gpu in c["devices"]}
                self.assertEqual(sorted(by_gpu), [g["gpu"] for g in plan["gpus"]])
                commands = ok(*how, "--emit", "commands")
                for gpu in plan["gpus"]:
                    counts = gpu["instances"]
                    seen.update((device, p) for p in counts)
                    self.assertEqual(by_gpu[gpu["gpu"]], counts)
                    self.assertTrue(can_lie(device, counts), counts)
                    self.assertLessEqual(sum(n for p, n in counts.items() if "+me" in p), 1)
                    slots = []
                    for s in gpu["slices"]:
                        starts, size = places(device, s["profile"])
                        self.assertEqual(size, s["size"])
                        self.assertIn(s["start"], starts)
                        slots += range(s["start"], s["start"] + size)
                    self.assertEqual(len(slots), len(set(slots)))
                    created = re.search(rf"^nvidia-smi mig -i {gpu['gpu']} -cgi (\S+) -C$", commands, re.M)[1]
                    planned = [f"{s['profile']}:{s['start']}" for s in gpu["slices"]]
                    self.assertEqual(sorted(created.split(",")), sorted(planned))
                pods = {}
                for pod in filter(None, yaml.load_all(ok(*how, "--emit", "kubernetes"), StrictLoader)):
                    (resource, one), = pod["resources"]["limits"].items()
                    self.assertEqual(one, 1)
                    pods[resource] = pods.get(resource, 0) + pod["replicas"]
                wanted = {}
                for s in (s for gpu in plan["gpus"] for s in gpu["slices"]):
                    name = "nvidia.com/mig-" + s["profile"].replace("+", ".")
                    wanted[name] = wanted.get(name, 0) + 1
                self.assertEqual(pods, wanted)
        self.assertGreater(len(seen), 2 * len(DEVICES))

    def test_limits_are_kept_and_rates_served(self):
        for options in ([], ["--mps"], ["--certain"], ["--objective", "throughput", "-n", "3"]):
            for path, in self.workloads():
                code, out, err = perfc("pack", "-w", path, "--json", *options)
                if code == 3:
                    self.assertRegex(err, "no slice of|cannot hold the models")
                    continue
                plan = json.loads(out)
                models = {m["name"]: m for m in plan["models"]}
                rate, slices = dict.fromkeys(models, 0), dict.fromkeys(models, 0)
                for s in (s for gpu in plan["gpus"] for s in gpu["slices"]):
                    self.assertLessEqual(s["utilisation"], 0.7 + 1e-6)
                    self.assertLess(s["memory_mib"], s["usable_mib"])
                    for m in s["models"]:
                        rate[m["name"]] += m["rate_per_s"]
                        slices[m["name"]] += 1
                        limit = models[m["name"]]["max_latency_ms"]
                        self.assertTrue(limit is None or m["latency_ms"] <= limit * (1 + 1e-6))
                for name, m in models.items():
                    self.assertAlmostEqual(rate[name] / (m["rate_per_s"] * plan["rate_factor"]), 1, places=6)
                    self.assertGreaterEqual(slices[name], m["replicas"])

    def test_a_batch_takes_what_mig_says(self):
        plan = json.loads(ok("pack", RESNET, "-b", 8, "--rate", 50, "--json"))
        (slice_, ), = (g["slices"] for g in plan["gpus"])
        name = f"a100-40gb:{slice_['profile']}"
        report, = json.loads(ok(RESNET, "-b", 8, "-d", name, "--json"))["predictions"]
        self.assertAlmostEqual(slice_["models"][0]["batch_ms"], report["latency_ms"], places=3)
        certain = json.loads(ok("pack", RESNET, "-b", 8, "--rate", 50, "--json", "--certain"))
        self.assertGreater(certain["gpus"][0]["slices"][0]["models"][0]["batch_ms"], report["latency_ms"])

    def test_engines(self):
        how = ("pack", RESNET, "--rate", 10, "--json", "--needs")
        for device, needs, profile in (("rtx-pro-6000", "graphics", "1g.24gb+gfx"), ("b200", "media", "1g.23gb+me"),
                                       ("rtx-pro-6000", "media", "1g.24gb+me"), ("a30", "media", "1g.6gb+me")):
            gpu, = json.loads(ok(*how, needs, "-d", device))["gpus"]
            self.assertEqual(gpu["instances"], {profile: 1})
        code, _, err = perfc(*how, "graphics", "-d", "h200")
        self.assertEqual(code, 1)
        self.assertIn("h200 has no profile with graphics", err)

    def test_throughput_is_as_much_as_fits(self):
        plan = json.loads(ok("pack", "-w", WORKLOAD, "-n", 2, "--objective", "throughput", "--json"))
        self.assertTrue(plan["proven"])
        text = pathlib.Path(WORKLOAD).read_text().replace("resnet50.onnx", RESNET)

        def scaled(factor):
            more = re.sub(r"rate: (\d+)", lambda m: f"rate: {int(m[1]) * factor}", text)
            return perfc("pack", "-w", self.write("scaled.yaml", more), "-n", 2)[0]
        self.assertEqual(scaled(plan["rate_factor"] * 0.999), 0)
        self.assertEqual(scaled(plan["rate_factor"] * 1.001), 3)

    def host(self, *gpus):
        """nvidia-smi's XML of A100s: of each its instances, as (id, SMs, MiB)."""
        def gpu(instances):
            devices = "".join(
                f"<mig_device><gpu_instance_id>{i}</gpu_instance_id><compute_instance_id>0</compute_instance_id>"
                f"<device_attributes><shared><multiprocessor_count>{sms}</multiprocessor_count><ofa_count>0</ofa_count>"
                f"</shared></device_attributes><fb_memory_usage><total>{mib} MiB</total></fb_memory_usage></mig_device>"
                for i, sms, mib in instances or [])
            mode = "Disabled" if instances is None else "Enabled"
            return ("<gpu><product_name>NVIDIA A100-SXM4-40GB</product_name>"
                    f"<mig_mode><current_mig>{mode}</current_mig></mig_mode><mig_devices>{devices}</mig_devices>"
                    "<fb_memory_usage><total>40960 MiB</total>"
                    "</fb_memory_usage><processes><process_info><gpu_instance_id>7</gpu_instance_id><pid>42</pid>"
                    "<process_name>serve</process_name></process_info></processes></gpu>")
        return self.write("host.xml", f"<nvidia_smi_log>{''.join(map(gpu, gpus))}</nvidia_smi_log>")

    def test_moves_from_a_host(self):
        how = ("pack", RESNET, "-b", 1, "--rate", 50, "--replicas", 2, "--from-nvidia-smi")
        # Two 1g.5gb are there: nothing moves, and there is nothing to run.
        host = self.host(None, [(3, 14, 4864), (4, 14, 4864), (7, 42, 19968)])
        plan = json.loads(ok(*how, host, "--json"))
        self.assertEqual((plan["moves"]["count"], plan["moves"]["bound"]), (0, 0))
        self.assertEqual([g["gpu"] for g in plan["gpus"]], [1])
        self.assertEqual(plan["gpus"][0]["instances"], {"1g.5gb": 2, "3g.20gb": 1})
        self.assertEqual(ok(*how, host, "--emit", "commands").count("\n"), 1)
        # On an empty GPU two are created, at places.
        commands = ok(*how, self.host(None, [(7, 98, 40192)]), "--emit", "commands").splitlines()[1:]
        self.assertEqual(commands, ["nvidia-smi -i 0 -mig 1", "nvidia-smi mig -i 0 -cgi 1g.5gb:0,1g.5gb:1 -C"])
        # Where the only GPU is full, what is in the way goes, and what runs in it is named.
        commands = ok(*how, self.host([(7, 98, 40192)]), "--emit", "commands").splitlines()[1:]
        self.assertEqual(commands, ["# stop first, in instance 7: 42 serve", "nvidia-smi mig -i 0 -dci -gi 7",
                                    "nvidia-smi mig -i 0 -dgi -gi 7",
                                    "nvidia-smi mig -i 0 -cgi 1g.5gb:0,1g.5gb:1 -C"])
        check_mig_parted(ok(*how, host, "--emit", "mig-parted"))
        # 1g.5gb would do, but 2g.10gb are there.
        plan = json.loads(ok(*how, self.host([(3, 28, 9856), (4, 28, 9856)]), "--json"))
        self.assertEqual((plan["moves"]["count"], plan["gpus"][0]["instances"]), (0, {"2g.10gb": 2}))

    def test_a_host_that_nvidia_smi_described(self):
        path = ROOT.parent / "shared/formats/nvidia_smi/a100-sxm4-v12.xml"
        if not path.exists():
            self.skipTest("no ../shared")
        # Four 1g.20gb, which are all that the plan wants.
        plan = json.loads(ok("pack", RESNET, "-b", 32, "--rate", 900, "--from-nvidia-smi", path, "--json"))
        self.assertEqual(plan["device"], "a100-80gb")
        self.assertEqual(sum(plan["gpus"][0]["instances"].values()) > 0, True)
        kept = sum(sum(g["keep"].values()) for g in plan["moves"]["gpus"])
        destroyed = sum(sum(g["destroy"].values()) for g in plan["moves"]["gpus"])
        self.assertEqual(kept + destroyed, 4)

    def test_what_cannot_be_met(self):
        code, out, err = perfc("pack", RESNET, "-b", 8, "--max-latency", 2, "--rate", 10)
        self.assertEqual((code, out), (3, ""))
        self.assertRegex(err, r"resnet50: no slice of a100-40gb serves it; on the best, 7g\.40gb, it takes [\d.]+ ms "
                              r"\(a batch of 8 [\d.]+, its wait [\d.]+\), more than 2")
        code, _, err = perfc("pack", RESNET, "-b", 4096, "--rate", 10, "-d", "a30", "--dtype", "fp32")
        self.assertEqual(code, 3)
        self.assertRegex(err, r"on the best, 4g\.24gb, it needs \d+ of 24192 MiB \(5 % kept free\)")
        code, _, err = perfc("pack", RESNET, "-b", 8, "--rate", 30000, "-n", 2)
        self.assertEqual(code, 3)
        self.assertRegex(err, r"2 GPUs of a100-40gb cannot hold the models: at least \d+ are needed \(proven\)")

    def test_bad_input(self):
        for text, message in (
                ("models: []\n", "needs a list 'models'"),
                ("models:\n  - {model: a.onnx, rat: 3}\n", r":2:\d+: error: unknown key 'rat' \(did you mean 'rate'"),
                ("models:\n  - {model: a.onnx, rate: -3}\n", "'rate' must be a positive number"),
                ("models:\n  - {model: a.onnx, replicas: 0}\n", "'replicas' must be a whole number from 1 to 1024"),
                ("models:\n  - {rate: 3}\n", "'model' is missing"),
                ("models:\n  - {model: a.onnx, needs: speed}\n", "'needs' is media or graphics, not 'speed'"),
                ("defaults: {model: a}\nmodels:\n  - {model: a.onnx}\n", "'defaults' has no 'model'"),
                ("default: {}\nmodels:\n  - {model: a.onnx}\n", r"unknown key 'default' \(did you mean 'defaults'\?\)"),
                ("models: [\n", "error"), ("models:\n  - 3\n", "a mapping with 'model' was expected"),
                ("models:\n  - {model: none.onnx}\n", r"none\.onnx")):
            code, out, err = perfc("pack", "-w", self.write("w.yaml", text))
            self.assertEqual((code, out), (1, ""), text)
            self.assertRegex(err, message)
        one = self.write("one.json", json.dumps({"schema": "perfc.devices/1", "devices": [
            {"name": "mine", "vector_tflops": {"float32": 1}, "bandwidth_gb_s": 1, "memory_mib": 1, "tdp_w": 1}]}))
        for args, message in (([], "no models"), ([RESNET, "-d", "a30,l4"], "of one kind"),
                              ([RESNET, "-d", "l4"], "no MIG"),
                              ([RESNET, "--objective", "throughput"], "needs --gpus"),
                              ([RESNET, "--objective", "throughput", "-n", "2"], "resnet50 has none"),
                              ([RESNET, "--json", "--emit", "commands"], "one of them"),
                              ([RESNET, "--mps", "--emit", "kubernetes"], "no MPS on MIG"),
                              ([RESNET, "--utilisation", "1"], "0.01 to 0.99"),
                              ([RESNET, "-d", "mine", "--device-file", one], "no MIG profiles with places")):
            code, out, err = perfc("pack", *args)
            self.assertEqual((code, out), (2, ""), args)
            self.assertIn(message, err)

    def test_equal_runs_write_equal_bytes(self):
        for options in (["--json"], ["--objective", "energy"], ["--mps", "--json"]):
            self.assertEqual(ok("pack", "-w", WORKLOAD, *options), ok("pack", "-w", WORKLOAD, *options))


class Fits(unittest.TestCase):
    def places(self, *args):
        model, = json.loads(ok("fit", RESNET, *args, "--json"))["models"]
        return model["places"]

    def test_ranked_and_within_limits(self):
        how = ("-d", "a100-40gb,a30,l4", "-b", "1,8,32", "--rate", 700, "--max-latency", 40)
        prices = ("--price", "a100-40gb=1.4", "--price", "l4=0.5")
        for by, key in (("latency", "latency_ms"), ("energy", "energy_j_per_request")):
            rows = [p for p in self.places(*how, "--by", by) if p["fits"]]
            self.assertGreater(len(rows), 10)
            self.assertEqual([r[key] for r in rows], sorted(r[key] for r in rows))
            for r in rows:
                self.assertLessEqual(r["latency_ms"], 40 * (1 + 1e-6))
                self.assertLessEqual(r["utilisation"], 0.7 + 1e-6)
                self.assertGreaterEqual(r["capacity_per_s"], 700 * (1 - 1e-6))
        rows = [p for p in self.places(*how, *prices) if p["fits"]]
        self.assertEqual([r["price_per_h"] for r in rows], sorted(r["price_per_h"] for r in rows))
        self.assertFalse([r for r in rows if r["device"].startswith("a30")])  # which has no price
        for r in rows:
            share = {"l4": 1, "a100-40gb": 1, "a100-40gb:1g.5gb": 1 / 7, "a100-40gb:1g.10gb": 2 / 8,
                     "a100-40gb:2g.10gb": 2 / 7, "a100-40gb:3g.20gb": 4 / 8, "a100-40gb:4g.20gb": 4 / 7,
                     "a100-40gb:7g.40gb": 1}[r["device"]]
            price = 0.5 if r["device"] == "l4" else 1.4
            self.assertAlmostEqual(r["price_per_h"], price * share * r["slices"], places=9)
            self.assertAlmostEqual(r["price_per_million"], r["price_per_h"] / (700 * 3600) * 1e6, places=9)
        # A slice that is asked for by name costs its share too, or what is said of itself.
        for price, costs in (("a100-40gb=1.4", 1.4 * 2 / 7), ("a100-40gb:2g.10gb=1", 1)):
            named, = self.places("-d", "a100-40gb:2g.10gb", "-b", 8, "--rate", 100, "--price", price)
            self.assertAlmostEqual(named["price_per_h"], costs)

    def test_nothing_fits(self):
        code, out, err = perfc("fit", RESNET, "-d", "a30", "-b", "8", "--max-latency", "1")
        self.assertEqual((code, err), (3, ""))
        self.assertRegex(out, r"0 of 4 places hold it[^\n]*\nnearest: a30\S* at batch 8, where it takes [\d.]+ ms")

    def test_bad_usage(self):
        for args, message in ((["--by", "price"], "needs --price"), (["--price", "l4=0", "-d", "l4"], "positive price"),
                              (["--price", "t4=1", "-d", "l4"], "none of the devices"),
                              (["-d", "l5"], "unknown device")):
            code, out, err = perfc("fit", RESNET, *args)
            self.assertEqual((code, out), (2, ""), args)
            self.assertIn(message, err)


if __name__ == "__main__":
    unittest.main()
