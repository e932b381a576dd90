"""A `perfc serve` of a test, and bodies to send to it."""
import http.client
import json
import pathlib
import random
import re
import signal
import subprocess
import sys
import threading
import time
import urllib.parse

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "tests/robustness"), str(ROOT / "tests/corpus")]
import hostile  # noqa: E402
import robustness_test  # noqa: E402

RESNET = ROOT / "examples/resnet50.onnx"


class Server:
    """Runs while the `with` block does; `exit_code` is known afterwards."""

    def __init__(self, perfc, *options, cwd=None):
        self.process = subprocess.Popen([perfc, "serve", "--port", "0", *map(str, options)], stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, text=True, cwd=cwd)
        line = self.process.stdout.readline()
        found = re.fullmatch(r"perfc serve: listening on http://127\.0\.0\.1:(\d+)\n", line)
        if not found:
            raise AssertionError(f"{line!r} {self.process.communicate()}")
        self.port = int(found[1])

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()

    def stop(self, with_signal=signal.SIGTERM):
        """The exit code and what was said."""
        if self.process.returncode is None:
            self.process.send_signal(with_signal)
            self.said = self.process.communicate(timeout=60)[1]
        return self.process.returncode, self.said

    def ask(self, method, target, body=None, headers=None, connection=None):
        """Status, headers and body of an answer."""
        c = connection or http.client.HTTPConnection("127.0.0.1", self.port, timeout=120)
        c.request(method, target, body=body, headers=headers or {})
        answer = c.getresponse()
        data = answer.read()
        if connection is None:
            c.close()
        return answer.status, answer.headers, data

    def predict(self, body, accept=None, connection=None, **settings):
        """Underscores of names are dashes."""
        return self.ask("POST", target(**settings), body, {"Accept": accept} if accept else {}, connection)

    def rss_mib(self) -> float:
        status = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.search(r"VmRSS:\s+(\d+) kB", status)[1]) / 1024


def target(**settings) -> str:
    pairs = [(name.replace("_", "-"), v) for name, value in settings.items()
             for v in (value if isinstance(value, list) else [value])]
    return "/v1/predict" + ("?" + urllib.parse.urlencode(pairs) if pairs else "")


class Bodies:
    """Models, and damaged ones, with what the command line says of each."""

    def __init__(self, perfc, folder: pathlib.Path, count: int):
        """`count`: of damaged ones, drawn once; those of ResNet-50 beside them, which Load wants."""
        self.good, self.bad = {}, {}
        for name, data in robustness_test.seeds().items():
            code, out, _ = self._told(perfc, folder, name, data)
            if code == 0:
                self.good[name] = (data, out)
        draw = random.Random(1)
        damaged = sorted(self._damaged(draw))
        drawn = dict(draw.sample(damaged, count) + [d for d in damaged if "resnet50" in d[0]])
        for name, data in drawn.items():
            code, _, err = self._told(perfc, folder, name, data)
            if code == 1:
                self.bad[name] = (data, err)

    def _told(self, perfc, folder, name, data):
        (folder / name).write_bytes(data)
        done = subprocess.run([perfc, name, "--json"], capture_output=True, cwd=folder, timeout=120)
        (folder / name).unlink()
        return done.returncode, done.stdout, _readable(done.stderr.decode(errors="replace"))

    def _damaged(self, draw):
        for name, (data, _) in self.good.items():
            for i in range(8):
                cut = draw.randrange(1, max(len(data), 2))
                yield f"cut{i}-{name}", data[:cut]
                flipped = bytearray(data)
                for _ in range(draw.choice((1, 8, 64))):
                    flipped[draw.randrange(len(flipped))] = draw.randrange(256)
                yield f"flip{i}-{name}", bytes(flipped)
        for part in (hostile.structure, hostile.functions):
            for name, data, _ in part():
                if len(data) < 1 << 20:
                    yield f"{name}.onnx", data
        yield from (("text", b"hello"), ("page", b"<html></html>"), ("zeros", bytes(5000)),
                    ("noise", draw.randbytes(5000)), ("gzip", b"\x1f\x8b\x08" + draw.randbytes(500)))


def diagnostics(body: bytes) -> str:
    """Those of an answer as the command line writes them."""
    return _readable("".join(d["text"] + "\n" for d in json.loads(body)["diagnostics"]))


def _readable(text: str) -> str:
    """How many characters stand for bytes that are no UTF-8 is the decoder's choice."""
    return re.sub("\ufffd+", "\ufffd", text)


class Load:
    """Clients that send good and damaged models in turns that are drawn, each as fast as it is answered. Half of either
    are ResNet-50, so that most of the work is that of a model of today."""

    def __init__(self, server: Server, bodies: Bodies, clients: int, seconds: float):
        self.server, self.bodies, self.end = server, bodies, time.monotonic() + seconds
        self.times = {"good": [], "bad": []}
        self.wrong, self.statuses = [], {}
        self.threads = [threading.Thread(target=self._client, args=(i, )) for i in range(clients)]

    def run(self):
        for t in self.threads:
            t.start()
        for t in self.threads:
            t.join()

    def _client(self, seed: int):
        draw = random.Random(seed)
        connection = http.client.HTTPConnection("127.0.0.1", self.server.port, timeout=120)
        good, bad = sorted(self.bodies.good.items()), sorted(self.bodies.bad.items())
        while time.monotonic() < self.end:
            kind = draw.choice(("good", "bad"))
            of_kind = good if kind == "good" else bad
            if draw.random() < 0.5:
                of_kind = [b for b in of_kind if "resnet50" in b[0]]
            name, (data, told) = draw.choice(of_kind)
            start = time.monotonic()
            status, _, answer = self.server.predict(data, connection=connection, model=name)
            self.times[kind].append(time.monotonic() - start)
            self.statuses[status] = self.statuses.get(status, 0) + 1
            right = (status == 200 and answer == told if kind == "good" else
                     status == 422 and diagnostics(answer) == told)
            if not right:
                self.wrong.append((name, status, answer[:2000], told[:2000]))
        connection.close()

    def quantile(self, share: float, kinds=("good", "bad")) -> float:
        """Seconds."""
        times = sorted(t for kind in kinds for t in self.times[kind])
        return times[min(int(share * len(times)), len(times) - 1)]
