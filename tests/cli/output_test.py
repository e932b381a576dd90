"""What perfc writes and where: files, devices, pipes that nobody reads; and what it reads of devices and endless pipes.

    python3 tests/cli/output_test.py build/release/perfc

Device nodes are made in a folder of the test's own; where that is forbidden the tests of devices are
skipped, which makes the run a skipped one (77). The machine's /dev is only ever read or redirected to.
"""
import os
import pathlib
import resource
import socket
import stat
import subprocess
import sys
import tempfile
import threading
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PERFC = sys.argv.pop(1) if len(sys.argv) > 1 else str(ROOT / "build/release/perfc")
PERFC = str(pathlib.Path(PERFC).resolve())
MODEL = str(ROOT / "examples/resnet50.onnx")
NODES = {"null": (1, 3), "zero": (1, 5), "full": (1, 7), "urandom": (1, 9)}
sys.path.insert(0, str(ROOT / "python"))
from perfc import files  # noqa: E402


def perfc(*args, **how):
    how = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **how}
    done = subprocess.run([PERFC, *map(str, args)], timeout=120, **how)
    return done.returncode, (done.stdout or b"").decode(), (done.stderr or b"").decode()


def shell(line, *args):
    """`line` under bash, where $P is perfc and $1… are `args`; the exit codes of its last pipeline, and what it
    said."""
    said = f'; echo "codes ${{PIPESTATUS[@]}}" >&{CODES.fileno()}'
    done = subprocess.run(["bash", "-c", line + said, "bash", *map(str, args)],
                          env={**os.environ, "P": PERFC, "M": MODEL}, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          pass_fds=(CODES.fileno(),), timeout=120)
    CODES.seek(0)
    codes = CODES.read().decode().split()[1:]
    CODES.truncate(0)
    CODES.seek(0)
    return [int(c) for c in codes], done.stdout.decode(), done.stderr.decode()


CODES = tempfile.TemporaryFile()


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.dir = pathlib.Path(folder.name)
        self.wanted = perfc(MODEL, "--json")[1]

    def device(self, name):
        path = self.dir / name
        try:
            os.mknod(path, 0o666 | stat.S_IFCHR, os.makedev(*NODES[name]))
            with open(path, "rb+"):
                pass
        except OSError as error:
            path.unlink(missing_ok=True)
            self.skipTest(f"no device nodes here: {error.strerror}")
        return path

    def left_alone(self, *names):
        """Nothing but `names` is in the folder: no temporary was left."""
        self.assertEqual(sorted(os.listdir(self.dir)), sorted(names))


class Files(Case):
    def test_a_new_file_has_the_mode_of_the_umask(self):
        for mask, mode in ((0o022, 0o644), (0o077, 0o600), (0o002, 0o664)):
            old = os.umask(mask)
            try:
                code, _, err = perfc(MODEL, "--json", "-o", self.dir / f"{mode:o}")
            finally:
                os.umask(old)
            self.assertEqual((code, err), (0, ""))
            self.assertEqual(stat.S_IMODE(os.stat(self.dir / f"{mode:o}").st_mode), mode)

    def test_a_file_is_replaced_and_keeps_its_mode(self):
        path = self.dir / "x.json"
        path.write_text("old")
        path.chmod(0o640)
        before = os.stat(path).st_ino
        with open(path) as reader:
            self.assertEqual(perfc(MODEL, "--json", "-o", path)[0], 0)
            self.assertEqual(reader.read(), "old")
        self.assertEqual(path.read_text(), self.wanted)
        self.assertNotEqual(os.stat(path).st_ino, before)
        self.assertEqual(stat.S_IMODE(os.stat(path).st_mode), 0o640)
        self.left_alone("x.json")

    def test_symbolic_links_stay(self):
        (self.dir / "deep").mkdir()
        (self.dir / "deep/target").write_text("old")
        (self.dir / "deep/target").chmod(0o604)
        (self.dir / "inner").symlink_to("deep/target")
        (self.dir / "outer").symlink_to(self.dir / "inner")
        (self.dir / "dangling").symlink_to("deep/new")
        for link in ("outer", "dangling"):
            self.assertEqual(perfc(MODEL, "--json", "-o", self.dir / link)[0], 0)
            self.assertTrue((self.dir / link).is_symlink())
            self.assertEqual((self.dir / link).read_text(), self.wanted)
        self.assertTrue((self.dir / "inner").is_symlink())
        self.assertEqual(stat.S_IMODE(os.stat(self.dir / "deep/target").st_mode), 0o604)
        self.assertEqual(sorted(os.listdir(self.dir / "deep")), ["new", "target"])

    def test_a_failed_write_leaves_the_old_file(self):
        path = self.dir / "x.json"
        path.write_text("old")
        limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))
        for target in (path, self.dir / "new.json"):
            code, out, err = perfc(MODEL, "--json", "-o", target, preexec_fn=limit)
            self.assertEqual((code, out, err), (1, "", f"perfc: error: {target}: cannot write: File too large\n"))
        self.assertEqual(path.read_text(), "old")
        self.left_alone("x.json")

    def test_a_failed_run_leaves_no_file(self):
        self.assertEqual(perfc(self.dir / "nope.onnx", "-o", self.dir / "x")[0], 1)
        self.left_alone()

    def test_what_cannot_be_written_is_said(self):
        (self.dir / "folder").mkdir()
        (self.dir / "loop").symlink_to("loop")
        with socket.socket(socket.AF_UNIX) as s:
            s.bind(str(self.dir / "socket"))
            for name, words in (("folder", "Is a directory"), ("nowhere/x", "No such file or directory"),
                                ("loop", "Too many levels of symbolic links"), ("new/", "directory"),
                                ("socket", "it is a socket")):
                code, _, err = perfc(MODEL, "-o", f"{self.dir}/{name}")
                self.assertEqual(code, 1, name)
                self.assertIn(f"perfc: error: {self.dir}/{name}: cannot write: ", err)
                self.assertIn(words, err)
        self.left_alone("folder", "loop", "socket")

    def test_fifo(self):
        fifo = self.dir / "fifo"
        os.mkfifo(fifo)
        got = []
        reader = threading.Thread(target=lambda: got.append(fifo.read_text()))
        reader.start()
        self.assertEqual(perfc(MODEL, "--json", "-o", fifo)[0], 0)
        reader.join()
        self.assertEqual(got, [self.wanted])
        self.assertTrue(stat.S_ISFIFO(os.lstat(fifo).st_mode))

    def test_descriptors(self):
        codes, out, err = shell('$P $M --json -o >(cat >&2); wait $!')
        self.assertEqual(err, self.wanted)
        log = self.dir / "log"
        log.write_text("before\n")
        codes, _, err = shell('$P $M --json -o /dev/stdout >>"$1"', log)
        self.assertEqual((codes, err, log.read_text()), ([0], "", "before\n" + self.wanted))
        codes, _, err = shell('$P $M --json -o /dev/fd/9 2>&1')
        self.assertEqual(codes, [1])

    def test_every_writer(self):
        """The other options that name a file: they go the same way, so one failure each."""
        (self.dir / "budgets.yaml").write_text(f"models:\n  - model: {MODEL}\n    max_latency_ms: 1e9\n")
        limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (50, 50))
        junit = self.dir / "junit.xml"
        self.assertEqual(perfc("check", "--budget", self.dir / "budgets.yaml", "--junit", junit)[0], 0)
        junit.write_text("old")
        code, _, err = perfc("check", "--budget", self.dir / "budgets.yaml", "--junit", junit, preexec_fn=limit)
        self.assertEqual((code, err, junit.read_text()),
                         (1, f"perfc: error: {junit}: cannot write: File too large\n", "old"))
        for args in (["train", "--data", "nope.csv", "-o"], [
                "train", "--data", "nope.csv", "--model", "corrected", "-o", self.dir / "x", "--held-out"
        ], ["train", "--data", "nope.csv", "--find-lr", "--curve"], ["counters", "train", "--data", "nope.csv", "-o"], [
                "eval", "--data", "nope.csv", "--predictions"
        ], ["eval", "--data", "nope.csv", "--plot"], ["eval", "--data", "nope.csv", "-o"], [
                "counters", "eval", "--data", "nope.csv", "--predictions"
        ], ["devices", "calibrate", "nope.csv", "-o"], ["import", MODEL, "-o"], ["opt", MODEL, "-o"]):
            code, _, err = perfc(*args, "/nowhere/out")
            self.assertEqual((code, err), (1, "perfc: error: /nowhere/out: cannot write: No such file or directory\n"),
                             args)

    def test_log_of_a_training_run(self):
        self.labels()
        log = self.dir / "log"
        args = [
            "train", "--data", self.dir / "labels.csv", "--split", self.dir / "split.csv", "--epochs", 2, "-q", "-o",
            self.dir / "c", "--log", log
        ]
        log.write_text("an older and much longer run\n" * 100)
        before = os.stat(log).st_ino
        self.assertEqual(perfc(*args)[0], 0)
        self.assertEqual(log.read_text().count("\n"), 2)
        self.assertEqual(os.stat(log).st_ino, before)
        code, _, err = perfc(*args[:-1], self.device("full"))
        self.assertEqual(code, 1)
        self.assertIn("full: cannot write: No space left on device", err)

    def labels(self):
        (self.dir / "m.pir").write_text(
            '#[version = "perfc-ir/1"]\ndef @main(%x: Tensor[(1, 3), float32]) -> (y: Tensor[(1, 3), float32]) {\n'
            '  %1 = nn.relu(%x) : Tensor[(1, 3), float32];\n  (%1)\n}\n')
        (self.dir /
         "labels.csv").write_text("model,device,dtype,mode,layout,latency_ms,architecture\n" +
                                  "".join(f"m.pir,a100-40gb,fp32,eager,nchw,{i}.5,m{i}\n" for i in range(1, 4)))
        (self.dir / "split.csv").write_text("architecture,split\nm1,training\nm2,training\nm3,validation\n")


class Devices(Case):
    def test_null_stays_a_device(self):
        null = self.device("null")
        (self.dir / "link").symlink_to("null")
        for name in ("null", "link"):
            self.assertEqual(perfc(MODEL, "-o", self.dir / name), (0, "", ""))
        self.assertTrue(stat.S_ISCHR(os.lstat(null).st_mode))
        self.left_alone("null", "link")

    def test_a_full_device(self):
        full = self.device("full")
        code, _, err = perfc(MODEL, "-o", full)
        self.assertEqual((code, err), (1, f"perfc: error: {full}: cannot write: No space left on device\n"))
        self.assertTrue(stat.S_ISCHR(os.lstat(full).st_mode))
        for args in ("--help", "--version", "devices", "ops", "ops --help", f"{MODEL} --emit=ir", "completion bash",
                     f"import {MODEL}"):
            codes, _, err = shell(f'$P {args} >"$1"', full)
            self.assertEqual((codes, err),
                             ([1], "perfc: error: standard output: cannot write: No space left on device\n"), args)
        codes, out, _ = shell('$P $M --json 2>"$1"', full)
        self.assertEqual((codes, out), ([0], self.wanted))
        for args, code in (("nope.onnx", 1), ("--no-such-option", 2), ("opt $M --time-passes", 1)):
            self.assertEqual(shell(f'$P {args} 2>"$1"', full)[0], [code], args)

    def test_devices_are_no_models(self):
        for name in ("zero", "urandom", "null"):
            path = self.device(name)
            for args, prefix in (([
                    path
            ], f"{path}: error: cannot read: "), (["import", path], f"{path}: error: cannot read: "), ([
                    "counters", "show", path
            ], f"{path}: error: cannot read: "), ([MODEL, "--device-file", path], f"{path}: error: cannot read: "), ([
                    "devices", "--from-nvidia-smi", path
            ], f"{path}: error: cannot read: "), (["check", "--budget", path], f"{path}: error: cannot read: "), ([
                    "eval", path, "--data", path
            ], f"{path}: error: cannot read: "), (["eval", "--data", path], f"{path}: error: cannot read: "), ([
                    "counters", "eval", "--data", path
            ], f"{path}: error: cannot read: "), (["counters", "predict", path], f"{path}: error: cannot read: ")):
                code, _, err = perfc(*args)
                self.assertEqual(code, 1, args)
                self.assertIn(prefix + "it is a device; name a file, or pipe one in", err)
            codes, _, err = shell('$P - <"$1"', path)
            self.assertEqual(
                (codes, err),
                ([1], "<stdin>: error: cannot read standard input: it is a device; name a file, or pipe one in\n"))


class Pipes(Case):
    QUIET = ("ops", "devices", "--help", "ops --help", "$M", "$M --emit=ir", "$M --json", "completion bash",
             "import $M")

    def test_a_reader_that_went(self):
        for args in self.QUIET:
            for head in ("head -n 1", "true", "head -c 1"):
                codes, _, err = shell(f'$P {args} | {head}')
                self.assertEqual((codes[0], err), (0, ""), args)
                self.assertEqual(shell(f'$P {args} 2>&1 | {head}')[0][0], 0, args)
        for args, code in (("nope.onnx", 1), ("--no-such-option", 2), ("opt $M --print-ir-after=all", 0),
                           ("devices no-such-device", 2)):
            self.assertEqual(shell(f'(sleep 0.2; $P {args}) 2>&1 >&2 | true')[0][0], code, args)

    def test_the_exit_code_is_that_of_the_answer(self):
        (self.dir / "budgets.yaml").write_text(f"models:\n  - model: {MODEL}\n    max_latency_ms: 1e-9\n")
        junit = self.dir / "junit.xml"
        codes, _, err = shell('(sleep 0.2; $P check --budget "$1" --junit "$2") | true', self.dir / "budgets.yaml",
                              junit)
        self.assertEqual((codes[0], err), (3, ""))
        self.assertIn("testsuite", junit.read_text())

    def test_closed_descriptors(self):
        for args in self.QUIET:
            codes, _, err = shell(f'$P {args} >&-')
            self.assertEqual((codes, err), ([1], "perfc: error: standard output: cannot write: Bad file descriptor\n"),
                             args)
            self.assertEqual(shell(f'$P {args} >&- 2>&-')[0], [1], args)
        for args, code in (("$M", 0), ("nope.onnx", 1), ("--no-such-option", 2), ("opt $M --print-ir-after=all", 0)):
            self.assertEqual(shell(f'$P {args} 2>&-')[0], [code], args)
        codes, _, err = shell('$P - <&-')
        self.assertEqual((codes, err), ([1], "<stdin>: error: cannot read standard input: Bad file descriptor\n"))

    def test_messages_do_not_reach_a_file(self):
        """A file opened while standard error is closed must not become standard error."""
        fifo = self.dir / "fifo"
        os.mkfifo(fifo)
        got = []
        reader = threading.Thread(target=lambda: got.append(fifo.read_text()))
        reader.start()
        codes, _, _ = shell('$P opt $M --time-passes -o "$1" 0<&- >&- 2>&-', fifo)
        reader.join()
        self.assertEqual(codes, [0])
        self.assertTrue(got[0].startswith("#[version"), got[0][:80])
        self.assertTrue(got[0].endswith("}\n"), got[0][-80:])

    def test_a_pipe_that_is_not_ready(self):
        """Non-blocking, as a terminal that another program shares: nothing is lost."""
        ours, theirs = os.pipe()
        os.set_blocking(theirs, False)
        running = subprocess.Popen([PERFC, "ops", "--json"], stdout=theirs, stderr=subprocess.PIPE)
        os.close(theirs)
        time.sleep(0.3)
        with os.fdopen(ours) as pipe:
            self.assertEqual(pipe.read(), perfc("ops", "--json")[1])
        self.assertEqual((running.wait(), running.stderr.read()), (0, b""))
        running.stderr.close()


class Endless(Case):
    def feed(self, head, block, *args, most=None):
        """perfc with `head` and then `block` for ever (or `most` times) on its input: code, messages, MiB, seconds."""
        start = time.monotonic()
        running = subprocess.Popen([PERFC, *map(str, args)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE)

        def write():
            try:
                with running.stdin:
                    running.stdin.write(head)
                    sent = 0
                    while block and (most is None or sent < most):
                        running.stdin.write(block)
                        sent += 1
            except BrokenPipeError:
                pass

        feeder = threading.Thread(target=write)
        feeder.start()
        out, err = running.stdout.read().decode(), running.stderr.read().decode()
        _, status, usage = os.wait4(running.pid, 0)
        running.returncode = os.waitstatus_to_exitcode(status)
        feeder.join()
        running.stdout.close()
        running.stderr.close()
        return running.returncode, out, err, usage.ru_maxrss / 1024, time.monotonic() - start

    def test_garbage_is_refused_at_once(self):
        base = self.feed(b"#", b"", "-")[3]
        for block in (bytes(65536), b"\x00\x01\x02\x03" * 16384, b"y\n" * 32768, b"\xff" * 65536):
            code, _, err, mib, seconds = self.feed(b"", block, "-")
            self.assertEqual(code, 1)
            self.assertIn("<stdin>: error: not a model format that perfc reads", err)
            self.assertLess(mib, base + 4)
            self.assertLess(seconds, 2)

    def test_garbage_behind_a_model_is_refused_where_it_begins(self):
        model = pathlib.Path(MODEL).read_bytes()
        code, _, err, mib, seconds = self.feed(model, bytes(65536), "-")
        self.assertEqual(code, 1)
        self.assertIn("error", err)
        self.assertLess(mib, 64)
        self.assertLess(seconds, 5)

    def test_a_model_without_end_is_refused_at_the_bound(self):
        node = b"\x12\x05" + b"\x0a\x03abc"  # fields of ModelProto that nobody asks for
        for head, block in ((b"\x08\x08", node * 8192), (b'ir_version: 8\n', b"# nothing\n" * 8192),
                            (b'#[version = "perfc-ir/1"]\n', b"// nothing\n" * 8192)):
            code, _, err, mib, _ = self.feed(head, block, "-")
            self.assertEqual((code, err), (
                1,
                "<stdin>: error: cannot read standard input: more than 256 MiB come through a pipe; "
                "write them to a file and give its name\n"
            ))
            self.assertLess(mib, 300)

    def test_tables_without_end(self):
        for args in (["counters", "show", "-"], ["eval", "--data", "-"], [MODEL, "--device-file", "-"]):
            code, _, err, mib, _ = self.feed(b"", b"a,b,c\n" * 16384, *args)
            self.assertEqual(code, 1)
            self.assertIn("more than 256 MiB come through a pipe", err)
            self.assertLess(mib, 320)

    def test_weights_are_stepped_over(self):
        """600 MiB of them through a pipe, in the memory of a graph; the same answer as from the file."""
        varint = lambda n: bytes([n & 127 | 128]) + varint(n >> 7) if n > 127 else bytes([n])
        field = lambda number, data: varint(number << 3 | 2) + varint(len(data)) + data
        number = lambda n, value: varint(n << 3) + varint(value)
        value = lambda n, name, width: field(
            n,
            field(1, name) + field(
                2, field(1,
                         number(1, 1) + field(2,
                                              field(1, number(1, 1)) + field(1, number(1, width))))))
        width = 5120                                                               # 100 MiB each
        nodes = b"".join(
            field(1,
                  field(1, b"x%d" % i) + field(1, b"w%d" % i) + field(2, b"x%d" % (i + 1)) + field(4, b"MatMul"))
            for i in range(6))
        head = [number(1, width) + number(1, width) + number(2, 1) + field(8, b"w%d" % i) for i in range(6)]
        raw = varint(9 << 3 | 2) + varint(4 * width * width)
        tensors = [varint(5 << 3 | 2) + varint(len(h) + len(raw) + 4 * width * width) + h + raw for h in head]
        ends = value(11, b"x0", width) + value(12, b"x6", width)
        size = len(nodes) + sum(map(len, tensors)) + 6 * 4 * width * width + len(ends)
        opset = field(8, number(2, 17))
        path = self.dir / "large.onnx"
        with open(path, "wb") as f:
            f.write(number(1, 8) + varint(7 << 3 | 2) + varint(size) + nodes)
            for t in tensors:
                f.write(t)
                f.seek(4 * width * width, 1)
            f.write(ends + opset)
        with open(path, "rb") as f:
            piped = subprocess.Popen(["cat"], stdin=f, stdout=subprocess.PIPE)
            running = subprocess.Popen([PERFC, "-", "--emit=ir"], stdin=piped.stdout, stdout=subprocess.PIPE,
                                       stderr=subprocess.PIPE)
            piped.stdout.close()
            out, err = running.stdout.read().decode(), running.stderr.read().decode()
            _, status, usage = os.wait4(running.pid, 0)
            running.returncode = os.waitstatus_to_exitcode(status)
            running.stdout.close()
            running.stderr.close()
            piped.wait()
        self.assertEqual((running.returncode, err), (0, ""))
        self.assertEqual(out.count("5120, 5120"), perfc(path, "--emit=ir")[1].count("5120, 5120"))
        self.assertEqual(out, perfc(path, "--emit=ir")[1])
        self.assertLess(usage.ru_maxrss / 1024, 64)

    def test_a_model_from_a_pipe_is_that_of_the_file(self):
        model = pathlib.Path(MODEL).read_bytes()
        self.assertEqual(
            self.feed(model, b"", "-", "--json")[1].replace('"-"', f'"{MODEL}"'),
            perfc(MODEL, "--json")[1])
        fifo = self.dir / "m.onnx"
        os.mkfifo(fifo)
        threading.Thread(target=lambda: fifo.write_bytes(model), daemon=True).start()
        self.assertEqual(perfc(fifo, "--emit=ir")[1], perfc(MODEL, "--emit=ir")[1])
        with open(MODEL, "rb") as f:
            self.assertEqual(perfc("-", "--emit=ir", stdin=f)[1], perfc(MODEL, "--emit=ir")[1])


class Python(Case):
    """python/perfc/files.py does the same."""

    def test_files_and_links(self):
        target = self.dir / "target"
        target.write_text("old")
        target.chmod(0o640)
        (self.dir / "link").symlink_to("target")
        files.write_text(self.dir / "link", "new")
        self.assertTrue((self.dir / "link").is_symlink())
        self.assertEqual((target.read_text(), stat.S_IMODE(os.stat(target).st_mode)), ("new", 0o640))
        with self.assertRaises(ZeroDivisionError), files.writing(target) as f:
            f.write("half")
            raise ZeroDivisionError
        self.assertEqual(target.read_text(), "new")
        with self.assertRaises(FileNotFoundError) as caught:
            files.write_text("/nowhere/x", "")
        self.assertEqual(caught.exception.filename, "/nowhere/x")
        self.left_alone("link", "target")

    def test_fifo_that_nobody_reads_on(self):
        fifo = self.dir / "fifo"
        os.mkfifo(fifo)
        threading.Thread(target=lambda: open(fifo).close(), daemon=True).start()
        files.write_text(fifo, "x" * (1 << 20))
        self.assertTrue(stat.S_ISFIFO(os.lstat(fifo).st_mode))

    def test_devices(self):
        files.write_text(self.device("null"), "x")
        self.assertTrue(stat.S_ISCHR(os.lstat(self.dir / "null").st_mode))
        with self.assertRaises(OSError) as caught:
            files.write_text(self.device("full"), "x")
        self.assertEqual(caught.exception.strerror, "No space left on device")
        self.assertTrue(stat.S_ISCHR(os.lstat(self.dir / "full").st_mode))

    def test_exit(self):
        program = (f"import sys; sys.path.insert(0, {str(ROOT / 'python')!r}); from perfc import files; "
                   "files.exit_with(lambda: print('x' * (1 << 20)))")
        codes, _, err = shell('python3 -c "$1" | head -c 1', program)
        self.assertEqual((codes, err), ([0, 0], ""))
        codes, _, err = shell('python3 -c "$1" >"$2"', program, self.device("full"))
        self.assertEqual((codes, err), ([1], "error: standard output: No space left on device\n"))


if __name__ == "__main__":
    result = unittest.main(exit=False).result
    for test, why in result.skipped:
        print(f"SKIP {test.id()}: {why}")
    sys.exit(1 if not result.wasSuccessful() else 77 if result.skipped else 0)
