"""Modules that export_test.py exports. Each factory gives a module, or (module, example inputs)."""
import torch


class Network(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.conv, self.norm, self.linear = torch.nn.Conv2d(3, 8, 3,
                                                            padding=1), torch.nn.BatchNorm2d(8), torch.nn.Linear(8, 10)

    def forward(self, x):
        return self.linear(torch.relu(self.norm(self.conv(x))).mean((2, 3)))


class Recurrence(torch.nn.Module):
    """Control flow that depends on inputs and on contents."""

    def __init__(self):
        super().__init__()
        self.step, self.other = torch.nn.Linear(4, 4), torch.nn.Linear(4, 4)

    def forward(self, x, rounds: int):
        for _ in range(rounds):
            x = self.step(x)
            if bool(x.sum() > 0):
                x = self.other(x)
        return x


class Tied(torch.nn.Module):
    """One weight under two names; layers in a list; tuples out of a submodule."""

    class Pair(torch.nn.Module):
        def forward(self, x):
            return x, x * 2

    def __init__(self):
        super().__init__()
        self.layers = torch.nn.ModuleList(torch.nn.Linear(16, 16, bias=False) for _ in range(3))
        self.layers[2].weight = self.layers[0].weight
        self.pair = self.Pair()
        self.scale = 3

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        a, b = self.pair(x)
        return {"sum": a + b, "scaled": a * self.scale}


@torch.jit.script
class Images:
    def __init__(self, tensors: torch.Tensor, scale: int):
        self.tensors, self.scale = tensors, scale


class WithObject(torch.nn.Module):
    """An object of a script class, made, handed on in a tuple, read and changed."""
    def make(self, x: torch.Tensor):
        return Images(x, 3), x

    def forward(self, x: torch.Tensor):
        images, x = self.make(x)
        images.scale = images.scale + 1
        return images.tensors * images.scale + x


class Methods(torch.nn.Module):
    @torch.jit.export
    def encode(self, x):
        return torch.tanh(x)

    @torch.jit.export
    def decode(self, x):
        return torch.sigmoid(x) + 1


class Quantised(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.quant, self.dequant = torch.ao.quantization.QuantStub(), torch.ao.quantization.DeQuantStub()
        self.conv = torch.nn.Conv2d(3, 8, 3, stride=2)
        self.linear = torch.nn.Linear(8, 5)

    def forward(self, x):
        return self.dequant(self.linear(torch.relu(self.conv(self.quant(x))).mean((2, 3))))


def network():
    return Network()


def network_with_input():
    return Network(), torch.zeros(2, 3, 32, 32)


def tied():
    return Tied(), (torch.zeros(2, 16),)


def with_object():
    return WithObject()


def two_layers():
    return torch.nn.Sequential(torch.nn.Linear(16, 16), torch.nn.Linear(16, 16)), torch.zeros(2, 16)


def large():
    return torch.nn.Linear(2048, 2048), torch.zeros(1, 2048)


class WrongTypes(torch.nn.Module):
    """Whole numbers into a layer of fractions, which the meta device lets pass, and lists of what comes out."""

    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(8, 8, dtype=torch.bfloat16)

    def forward(self, x):
        a, b = self.layer(x).reshape(2, 4, 2).unbind(-1)
        return torch.cat([-b, a.chunk(2, -1)[0].neg()], dim=-1)


def wrong_types():
    return WrongTypes(), torch.ones(2, 8, dtype=torch.int64)


def of_terabytes():
    """Fits no memory: for the meta device."""
    return torch.nn.Linear(1 << 20, 1 << 20), torch.zeros(1, 1 << 20)


def quantised():
    module = Quantised().eval()
    module.qconfig = torch.ao.quantization.get_default_qconfig("x86")
    prepared = torch.ao.quantization.prepare(module)
    prepared(torch.rand(1, 3, 16, 16))
    return torch.ao.quantization.convert(prepared), torch.zeros(1, 3, 16, 16)


def fails():
    raise ValueError("no such size")


def number():
    return 5
