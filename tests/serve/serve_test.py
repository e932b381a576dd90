"""`perfc serve`: its answers beside those of the command line, what it refuses, its limits, its ends, mixed load.

    python3 tests/serve/serve_test.py build/release/perfc
"""
import gzip
import http.client
import json
import pathlib
import re
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from server import RESNET, ROOT, Bodies, Load, Server  # noqa: E402
import hostile_ir  # noqa: E402
import support  # noqa: E402
from wire import FLOAT, graph, message, model, node, value, varint  # noqa: E402

PERFC = str(pathlib.Path(sys.argv.pop(1) if len(sys.argv) > 1 else ROOT / "build/release/perfc").resolve())
NET = RESNET.read_bytes()
LOAD_S = 4


def perfc(*args, **how):
    done = subprocess.run([PERFC, *map(str, args)], capture_output=True, timeout=120, **how)
    return done.returncode, done.stdout, done.stderr.decode()


def error(body: bytes) -> str:
    return json.loads(body)["error"]


class Answers(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        cls.server = Server(PERFC, "--threads", 2)

    @classmethod
    def tearDownClass(cls):
        code, said = cls.server.stop()
        assert (code, said) == (0, ""), (code, said)

    def test_reports_are_those_of_the_command_line(self):
        for settings in ({}, {"batch": 32}, {"batch": "1,8", "device": "l4,t4"}, {"device": ["l4", "t4"]},
                         {"device": "a100-40gb:1g.5gb", "dtype": "fp16", "top": 9},
                         {"mode": "compiled", "layout": "nhwc"},
                         {"shape": "input=2,3,320,320"}, {"predictor": "whitebox", "host": "desktop"},
                         {"cudnn-benchmark": "true", "task": "train"}, {"max-latency": "3.5", "headroom": "0.1"}):
            words = [f"--{k}={v}" for k, vs in settings.items() for v in (vs if isinstance(vs, list) else [vs])]
            told = perfc(RESNET, *words, "--emit=json")[1]
            status, headers, body = self.server.predict(NET, model=RESNET, **settings)
            self.assertEqual((status, body), (200, told), settings)
            self.assertEqual(headers["Content-Type"], "application/json")

    def test_every_kind_of_answer(self):
        for emit, kind in (("report", "text/plain; charset=utf-8"), ("json", "application/json"),
                           ("html", "text/html; charset=utf-8"), ("summary", "text/plain; charset=utf-8"),
                           ("trace", "application/json"), ("folded", "text/plain; charset=utf-8")):
            told = perfc(RESNET, "--batch=8", f"--emit={emit}")[1]
            status, headers, body = self.server.predict(NET, model=RESNET, batch=8, emit=emit)
            self.assertEqual((status, headers["Content-Type"], body), (200, kind, told), emit)
        for accept, kind in ((None, "application/json"), ("*/*", "application/json"), ("text/html", "text/html"),
                             ("text/html;q=0.5, text/plain", "text/plain"), ("text/*", "text/html"),
                             ("image/png, application/*;q=0.1", "application/json")):
            self.assertIn(kind, self.server.predict(NET, accept)[1]["Content-Type"], accept)
        status, _, body = self.server.predict(NET, "image/png")
        self.assertEqual((status, error(body)[:7]), (406, "Accept:"))
        self.assertEqual(self.server.predict(NET, "image/png", emit="json")[0], 200)

    def test_every_option_is_a_setting_or_refused(self):
        described = json.loads(self.server.ask("GET", "/openapi.json")[2])
        offered = {p["name"] for p in described["paths"]["/v1/predict"]["post"]["parameters"]}
        refused = {"device-file", "from-nvidia-smi", "output", "fail-on-oom"}
        self.assertEqual(offered | refused | {"help"}, completed_options())
        for name in sorted(refused):
            status, _, body = self.server.predict(NET, **{name: "/etc/hostname"})
            self.assertEqual(status, 400, name)
            self.assertIn("the command line alone" if name == "fail-on-oom" else "a file of the server", error(body))

    def test_wrong_settings(self):
        for query, message in (("bacth=1", "unknown setting 'bacth' (did you mean 'batch'?)"),
                               ("batch=x", "--batch: 'x' is not a whole number from 1 to 2147483648"),
                               ("batch=1&batch=2", "--batch: "), ("batch=", "batch: it has no value"),
                               ("batch=%zz", "the query has a %"), ("dtype=fp17", "(did you mean 'fp16'?)"),
                               ("emit=jsn", "(did you mean 'json'?)"), ("emit=ir", "is the command line's"),
                               ("top=-1", "--top: '-1' is not a whole number"), ("device=l5", "unknown device 'l5'"),
                               ("host=/etc/hostname", "unknown host '/etc/hostname'"),
                               ("stack=/etc/hostname", "unknown stack '/etc/hostname'"),
                               ("predictor=/etc/hostname", "--predictor: '/etc/hostname' is none of"),
                               ("batch=" + ",".join(map(str, range(1, 258))), "more than 256 predictions")):
            status, headers, body = self.server.ask("POST", "/v1/predict?" + query, NET)
            self.assertEqual((status, headers["Content-Type"]), (400, "application/json"), query)
            self.assertIn(message, error(body))
            self.assertEqual(json.loads(body)["schema"], "perfc.error/1")

    def test_a_model_that_cannot_be_read(self):
        status, _, body = self.server.predict(NET[:20000], model="net.onnx")
        told = json.loads(body)
        self.assertEqual((status, told["status"]), (422, 422))
        self.assertEqual(told["error"], told["diagnostics"][0]["text"])
        self.assertEqual((told["diagnostics"][0]["severity"], told["diagnostics"][0]["file"]), ("error", "net.onnx"))
        self.assertEqual(self.server.predict(b"")[0], 422)
        status, _, body = self.server.ask("POST", "/v1/predict", b"--x\r\n\r\n",
                                          {"Content-Type": "multipart/form-data; boundary=x"})
        self.assertEqual(status, 415)
        self.assertIn("--data-binary", error(body))

    def test_paths_and_methods(self):
        self.assertEqual(self.server.ask("GET", "/healthz")[::2], (200, b"ok\n"))
        self.assertEqual(self.server.ask("GET", "/v1/devices")[2], perfc("devices", "--json")[1])
        status, headers, body = self.server.ask("HEAD", "/v1/devices")
        self.assertEqual((status, body), (200, b""))
        for method, path, status, allow in (("GET", "/", 404, None), ("POST", "/etc/passwd", 404, None),
                                            ("GET", "/../../etc/passwd", 404, None),
                                            ("GET", "/v1/predict", 405, "POST"),
                                            ("DELETE", "/metrics", 405, "GET, HEAD")):
            got, headers, body = self.server.ask(method, path, b"x" if method == "POST" else None)
            self.assertEqual((got, headers["Allow"]), (status, allow), path)
            self.assertEqual(json.loads(body)["status"], status)

    def test_compressed_and_chunked_bodies(self):
        told = self.server.predict(NET)[2]
        packed = {"Content-Encoding": "gzip"}
        self.assertEqual(self.server.ask("POST", "/v1/predict", gzip.compress(NET), packed)[2], told)
        chunks = (NET[i:i + 5000] for i in range(0, len(NET), 5000))
        c = http.client.HTTPConnection("127.0.0.1", self.server.port, timeout=60)
        c.request("POST", "/v1/predict", body=chunks, encode_chunked=True, headers={"Transfer-Encoding": "chunked"})
        self.assertEqual(c.getresponse().read(), told)
        c.close()
        self.assertEqual(self.server.ask("POST", "/v1/predict", NET, packed)[0], 415)

    def test_what_is_no_http(self):
        for text in (b"hello\r\n\r\n", b"GET / HTTP/9\r\n\r\n",
                     b"POST /v1/predict HTTP/1.1\r\nContent-Length: x\r\n\r\n",
                     b"GET /" + b"a" * 9000 + b" HTTP/1.1\r\n\r\n", b"GET / HTTP/1.1\r\n" + b"A: b\r\n" * 20000,
                     b"POST /v1/predict HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n\r\n"):
            with socket.create_connection(("127.0.0.1", self.server.port), timeout=60) as s:
                s.sendall(text)
                s.shutdown(socket.SHUT_WR)
                answer = b"".join(iter(lambda: s.recv(65536), b""))
            self.assertRegex(answer.split(b"\r\n")[0], rb"^(HTTP/1.1 4\d\d .*)?$", text[:40])
        self.assertEqual(self.server.ask("GET", "/healthz")[0], 200)

    def test_texts_for_other_programs(self):
        python = support.installed_python("venv-serve", "requirements-serve.txt", "openapi-spec-validator")
        with tempfile.TemporaryDirectory() as folder:
            for name in ("openapi.json", "metrics"):
                pathlib.Path(folder, name).write_bytes(self.server.ask("GET", f"/{name}")[2])
            done = subprocess.run([python, ROOT / "tests/serve/check_texts.py", "openapi.json", "metrics"], cwd=folder,
                                  capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        for line in ("perfc_http_requests counter", "perfc_prediction_duration_seconds histogram 15",
                     "perfc_predictions_in_flight gauge 1", "perfc_rejected counter 7"):
            self.assertIn(line, done.stdout)


def completed_options() -> set[str]:
    """Long options of `perfc predict`, as completions have them."""
    script = perfc("completion", "bash")[1].decode()
    return set(re.findall(r"--([a-z-]+)", re.search(r"\n    predict\) words='(.*)' ;;", script)[1]))


class Files(unittest.TestCase):
    """Models that refer to files, with these files where the server could find them."""

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="perfc-serve-"))
        self.addCleanup(shutil.rmtree, self.folder)

    def told(self, name, *words):
        """What the command line says in the folder, where the file may refer to others."""
        return perfc(name, *words, "--emit=json", cwd=self.folder)

    def served(self, name, **settings):
        with Server(PERFC, "--threads", 1, cwd=self.folder) as server:
            answer = server.predict((self.folder / name).read_bytes(), model=name, **settings)
            full = server.predict((self.folder / name).read_bytes(), model=self.folder / name, **settings)
        self.assertEqual(server.stop()[0], 0)
        self.assertEqual(answer[0], full[0])
        return answer

    def masked(self, location: str) -> bytes:
        """An attention whose mask lies in another file: of zeros there is no addition."""
        def entry(key, text):
            return message(13, message(1, key) + message(2, text))
        mask = b"".join(varint(1 << 3) + varint(d) for d in (1, 1, 64, 64)) + varint(2 << 3) + varint(FLOAT)
        mask += message(8, "mask") + entry("location", location) + varint(14 << 3) + varint(1)
        nodes = [node("MatMul", ["q", "k"], ["s"]), node("Add", ["s", "mask"], ["t"]),
                 node("Softmax", ["t"], ["p"]), node("MatMul", ["p", "v"], ["y"])]
        shapes = {"q": [1, 8, 64, 32], "k": [1, 8, 32, 64], "v": [1, 8, 64, 32]}
        return model(graph(nodes, [value(n, s) for n, s in shapes.items()], [message(1, "y")], [mask]))

    def test_external_data(self):
        (self.folder / "net.onnx").write_bytes(self.masked("mask.bin"))
        without = self.told("net.onnx")
        (self.folder / "mask.bin").write_bytes(bytes(64 * 64 * 4))
        self.assertNotEqual(self.told("net.onnx")[1], without[1])  # the command line reads it
        self.assertEqual(self.served("net.onnx")[::2], (200, without[1]))
        for place in ("/etc/passwd", "../../../../etc/passwd", "/proc/self/environ"):
            (self.folder / "net.onnx").write_bytes(self.masked(place))
            self.assertEqual(self.served("net.onnx")[::2], (200, self.told("net.onnx")[1]))

    def test_weights_of_openvino(self):
        (self.folder / "small.xml").write_text(hostile_ir.small_xml())
        without = self.told("small.xml")
        self.assertIn(b"of 'small.bin' are not there", without[1])
        (self.folder / "small.bin").write_bytes(struct.pack("<2q", 2, 32) + bytes(5000))
        self.assertNotIn(b"are not there", self.told("small.xml")[1])  # the command line reads it
        self.assertEqual(self.served("small.xml")[::2], (200, without[1]))

    def test_names_of_models_are_no_paths(self):
        secret = self.folder / "secret.onnx"
        secret.write_bytes(NET)
        with Server(PERFC, "--threads", 1, cwd=self.folder) as server:
            for name in ("secret.onnx", secret, "git:HEAD:examples/resnet50.onnx", "-", "/etc/passwd", "/dev/stdin"):
                status, _, body = server.predict(b"hello", model=name)
                self.assertEqual(status, 422, name)
                self.assertTrue(error(body).startswith(f"{name}: "), body)
        self.assertEqual(server.stop()[0], 0)

    def test_nothing_is_opened(self):
        """While it serves, whatever is sent; by the kernel's word."""
        if shutil.which("strace") is None:
            support.skip_part("test_nothing_is_opened: strace is not installed")
            self.skipTest("no strace")
        (self.folder / "net.onnx").write_bytes(self.masked("mask.bin"))
        with Server(PERFC, "--threads", 1, cwd=self.folder) as server:
            self.assertIn("NoNewPrivs:\t1", pathlib.Path(f"/proc/{server.process.pid}/status").read_text())
            log = self.folder / "strace.log"
            tracer = subprocess.Popen(["strace", "-f", "-qq", "-e", "trace=%file,recvfrom", "-o", log, "-p",
                                       str(server.process.pid)], stderr=subprocess.PIPE)
            time.sleep(1)
            self.assertIsNone(tracer.poll())
            for name in ("net.onnx", "small.xml", "/etc/passwd"):
                server.predict((self.folder / "net.onnx").read_bytes(), model=name)
                server.predict(hostile_ir.small_xml().encode(), model=name)
            server.predict(NET, host="/etc/hostname")
            server.predict(NET, predictor="/etc/hostname")
            server.predict(NET, emit="html")
            server.ask("GET", "/metrics")
            tracer.send_signal(signal.SIGINT)
            tracer.wait(30)
            calls = [c for c in re.findall(r"^\d+ +(?:<\.\.\. )?(\w+)", log.read_text(), re.M)]
        self.assertIn("recvfrom", calls)
        self.assertEqual(set(calls) - {"recvfrom"}, set())


class Limits(unittest.TestCase):

    def test_size_of_bodies(self):
        with Server(PERFC, "--threads", 1, "--max-body", 1) as server:
            large = bytes(1 << 20) + b"x"
            for body, headers in ((large, {}), (gzip.compress(large), {"Content-Encoding": "gzip"})):
                status, _, answer = server.ask("POST", "/v1/predict", body, headers)
                self.assertEqual(status, 413)
                self.assertIn("larger than 1 MiB", error(answer))
            c = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
            c.request("POST", "/v1/predict", body=iter([large[:500_000]] * 3), encode_chunked=True,
                      headers={"Transfer-Encoding": "chunked"})
            self.assertEqual(c.getresponse().status, 413)
            c.close()
            self.assertEqual(server.predict(NET)[0], 200)
            self.assertIn(b'perfc_rejected_total{reason="body"} 3', server.ask("GET", "/metrics")[2])

    def test_nodes(self):
        with Server(PERFC, "--threads", 1, "--max-nodes", 50) as server:
            status, _, body = server.predict(NET)
            self.assertEqual(status, 413)
            self.assertRegex(error(body), r"node \d+ .*more than 50 nodes; the server's --max-nodes is 50")
            self.assertIn(b'perfc_rejected_total{reason="nodes"} 1', server.ask("GET", "/metrics")[2])

    def test_time(self):
        with Server(PERFC, "--threads", 1, "--timeout", 0.1) as server:
            batches = ",".join(map(str, range(1, 200)))
            status, _, body = server.predict(NET, batch=batches)
            self.assertEqual((status, error(body)),
                             (422, "the model was not predicted within 0.1 s, the server's --timeout"))
            with socket.create_connection(("127.0.0.1", server.port), timeout=60) as s:
                s.sendall(b"POST /v1/predict HTTP/1.1\r\nContent-Length: 5000\r\n\r\nabc")
                self.assertIn(b"HTTP/1.1 408 ", s.recv(65536))

    def test_a_full_server(self):
        with Server(PERFC, "--threads", 1, "--queue", 1, "--timeout", 60) as server:
            held = [socket.create_connection(("127.0.0.1", server.port), timeout=60) for _ in range(2)]
            for s in held:
                s.sendall(b"POST /v1/predict HTTP/1.1\r\nContent-Length: 5000\r\n\r\nabc")
            wait_for(lambda: b"perfc_predictions_waiting 2" in server.ask("GET", "/metrics")[2])
            status, headers, body = server.predict(NET)
            self.assertEqual((status, headers["Retry-After"]), (503, "1"))
            self.assertEqual(error(body), "1 models are predicted at once and 1 wait; try again")
            self.assertEqual(server.ask("GET", "/healthz")[0], 200)
            for s in held:
                s.close()
            wait_for(lambda: server.predict(NET)[0] == 200)
            self.assertIn(b'perfc_rejected_total{reason="full"} ', server.ask("GET", "/metrics")[2])

    def test_connections_that_say_nothing(self):
        with Server(PERFC, "--threads", 1, "--queue", 0) as server:
            silent = [socket.create_connection(("127.0.0.1", server.port), timeout=60) for _ in range(100)]
            wait_for(lambda: server.ask("GET", "/healthz")[0] == 200)
            for s in silent:
                s.close()
            wait_for(lambda: server.predict(NET)[0] == 200)


class Ends(unittest.TestCase):

    def test_what_runs_is_finished(self):
        for sent in (signal.SIGTERM, signal.SIGINT):
            with Server(PERFC, "--threads", 1) as server:
                answers = []
                batches = ",".join(map(str, range(1, 60)))
                client = threading.Thread(target=lambda: answers.append(server.predict(NET, batch=batches)[0]))
                client.start()
                wait_for(lambda: b"perfc_predictions_in_flight 1" in server.ask("GET", "/metrics")[2])
                code, said = server.stop(sent)
                client.join()
            self.assertEqual((code, said, answers), (0, "", [200]))
            with self.assertRaises(OSError):
                server.ask("GET", "/healthz")

    def test_what_waits_is_told(self):
        with Server(PERFC, "--threads", 1) as server:
            batches = ",".join(map(str, range(1, 60)))
            answers = []
            clients = [threading.Thread(target=lambda: answers.append(server.predict(NET, batch=batches)[0]))
                       for _ in range(2)]
            for c in clients:
                c.start()
            wait_for(lambda: b"in_flight 1\n" in (m := server.ask("GET", "/metrics")[2]) and b"waiting 1\n" in m)
            self.assertEqual(server.stop()[0], 0)
            for c in clients:
                c.join()
        self.assertEqual(sorted(answers), [200, 503])

    def test_what_cannot_be_listened_on(self):
        with Server(PERFC, "--threads", 1) as server:
            code, _, err = perfc("serve", "--port", server.port)
            said = f"perfc: error: cannot listen on 127.0.0.1 port {server.port}: Address already in use\n"
        self.assertEqual((code, err), (1, said))
        code, _, err = perfc("serve", "--host", "no.such.host.invalid")
        self.assertEqual(code, 1)
        self.assertIn("perfc: error: --host: 'no.such.host.invalid': ", err)
        self.assertEqual(perfc("serve", "--port", "65536")[0], 2)

    def test_devices_of_ones_own(self):
        with tempfile.TemporaryDirectory() as folder:
            own = json.loads(perfc("devices", "l4", "--json")[1])
            own["devices"][0].update(name="mine", aliases=[])
            file = pathlib.Path(folder, "own.json")
            file.write_text(json.dumps(own))
            with Server(PERFC, "--threads", 1, "--device-file", file) as server:
                told = perfc(RESNET, "--device-file", file, "--device", "mine", "--json")[1]
                self.assertEqual(server.predict(NET, model=RESNET, device="mine")[2], told)
            file.write_text("{")
            self.assertEqual(perfc("serve", "--device-file", file)[0], 1)


class MixedLoad(unittest.TestCase):

    def test_answers_under_load(self):
        """Each is what the command line says of the same bytes; bench/serve.py does it for a minute."""
        with tempfile.TemporaryDirectory() as folder:
            bodies = Bodies(PERFC, pathlib.Path(folder), 80)
            with Server(PERFC, "--threads", 2) as server:
                Load(server, bodies, 4, LOAD_S / 2).run()
                before = server.rss_mib()
                load = Load(server, bodies, 4, LOAD_S)
                load.run()
                grown = server.rss_mib() - before
            self.assertEqual(server.stop(), (0, ""))
        self.assertEqual(load.wrong, [])
        self.assertEqual(set(load.statuses), {200, 422})
        self.assertGreater(min(load.statuses.values()), 20)
        self.assertLess(grown, 30)


def wait_for(holds, seconds=30):
    end = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > end:
            raise AssertionError("it never held")
        time.sleep(0.02)


if __name__ == "__main__":
    unittest.main()
