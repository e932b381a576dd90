"""A protobuf writer that also writes what no library would: wrong lengths, endless
varints, messages nested a million deep. Field numbers: onnx/onnx.proto."""
import struct

FLOAT, INT64, BOOL = 1, 7, 9


def varint(value: int) -> bytes:
    value &= (1 << 64) - 1
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def number(field: int, value: int) -> bytes:
    return varint(field << 3) + varint(value)


def message(field: int, payload) -> bytes:
    payload = payload.encode() if isinstance(payload, str) else payload
    return varint(field << 3 | 2) + varint(len(payload)) + payload


def nested(levels: int, before: bytes, field: int, after: bytes, core: bytes) -> bytes:
    """core wrapped `levels` times: before + message(field, inner) + after, in linear time."""
    parts, size = [], len(core)
    for _ in range(levels):
        head = before + varint(field << 3 | 2) + varint(size)
        parts.append(head)
        size += len(head) + len(after)
    return b"".join(reversed(parts)) + core + after * levels


def tensor(name: str, dtype: int, dims, raw: bytes = b"") -> bytes:
    return b"".join(number(1, d) for d in dims) + number(2, dtype) + message(8,
                                                                             name) + (message(9, raw) if raw else b"")


def ints(name: str, values) -> bytes:
    """A rank-1 int64 initializer."""
    return tensor(name, INT64, [len(values)], struct.pack(f"<{len(values)}q", *values))


def tensor_type(dtype: int, dims) -> bytes:
    shape = b"".join(message(1, message(2, d) if isinstance(d, str) else number(1, d)) for d in dims)
    return message(1, number(1, dtype) + message(2, shape))


def value(name: str, dims, dtype: int = FLOAT) -> bytes:
    return message(1, name) + message(2, tensor_type(dtype, dims))


def attribute(name: str, given) -> bytes:
    head = message(1, name)
    if isinstance(given, int):
        return head + number(3, given) + number(20, 2)
    if isinstance(given, float):
        return head + varint(2 << 3 | 5) + struct.pack("<f", given) + number(20, 1)
    if isinstance(given, str):
        return head + message(4, given) + number(20, 3)
    if isinstance(given, bytes):  # a graph
        return head + message(6, given) + number(20, 5)
    if given and isinstance(given[0], float):
        return head + b"".join(varint(7 << 3 | 5) + struct.pack("<f", v) for v in given) + number(20, 6)
    return head + b"".join(number(8, v) for v in given) + number(20, 7)


def node(op: str, inputs, outputs, domain: str = "", name: str = "", **attributes) -> bytes:
    return (b"".join(message(1, i) for i in inputs) + b"".join(message(2, o) for o in outputs) +
            (message(3, name) if name else b"") + message(4, op) +
            b"".join(message(5, attribute(k, v)) for k, v in attributes.items()) +
            (message(7, domain) if domain else b""))


def graph(nodes, inputs=(), outputs=(), initializers=()) -> bytes:
    return (b"".join(message(1, n) for n in nodes) + message(2, "g") +
            b"".join(message(5, i) for i in initializers) + b"".join(message(11, i) for i in inputs) +
            b"".join(message(12, o) for o in outputs))


def function(name: str, inputs, outputs, nodes, domain: str = "f") -> bytes:
    return (message(1, name) + b"".join(message(4, i) for i in inputs) + b"".join(message(5, o) for o in outputs) +
            b"".join(message(7, n) for n in nodes) + message(9, number(2, 17)) +
            message(9, message(1, domain) + number(2, 1)) + message(10, domain))


def model(graph_bytes: bytes, functions=(), opset: int = 17) -> bytes:
    return (number(1, 8) + message(7, graph_bytes) + message(8, number(2, opset)) +
            message(8, message(1, "f") + number(2, 1)) + message(8, message(1, "com.microsoft") + number(2, 1)) +
            b"".join(message(25, f) for f in functions))


def graph_end(model_bytes: bytes) -> int:
    """Offset just behind the graph field of a model."""
    def read(at):
        value = shift = 0
        while True:
            byte = model_bytes[at]
            value |= (byte & 0x7F) << shift
            at, shift = at + 1, shift + 7
            if byte < 0x80:
                return value, at

    at = 0
    while at < len(model_bytes):
        key, at = read(at)
        if key & 7 == 2:
            length, at = read(at)
            at += length
            if key >> 3 == 7:
                return at
        elif key & 7 == 0:
            _, at = read(at)
        else:
            at += 8 if key & 7 == 1 else 4
    return 0
