"""Models of PyTorch in memory, with torch."""
import onnx  # noqa: F401  the exporters of torch want it
import pytest
import torch

import perfc
import perfc.callbacks


class Net(torch.nn.Module):

    def __init__(self, width: int = 16) -> None:
        super().__init__()
        self.conv = torch.nn.Conv2d(3, width, 3, padding=1)
        self.norm = torch.nn.BatchNorm2d(width)
        self.head = torch.nn.Linear(width, 10)

    def forward(self, x):
        return self.head(torch.relu(self.norm(self.conv(x))).mean((2, 3)))


IMAGES = torch.zeros(4, 3, 32, 32)


def figures(p: perfc.Prediction) -> tuple:
    return p.batch, p.latency_ms, p.memory_mib, p.energy_j, p.static.macs, p.static.params


def test_module_as_exported_by_hand(tmp_path):
    from perfc.export import export_module, torchscript
    path = tmp_path / "net.json"
    torchscript.write(export_module(Net(), (IMAGES, )), str(path))
    p = perfc.predict(Net(), IMAGES, device="l4")
    assert figures(p) == figures(perfc.predict(path, device="l4")) and p.model == "Net" and p.batch == 4
    learned = [v for v in Net().state_dict().values() if v.is_floating_point()]  # with the norm's statistics
    assert p.static.params == sum(v.numel() for v in learned)
    assert figures(perfc.predict(Net(), (IMAGES, ), device="l4", batch=32)) == \
        figures(perfc.predict(Net(), torch.zeros(32, 3, 32, 32), device="l4"))


def test_forms_agree():
    traced = figures(perfc.predict(Net(), IMAGES, device="l4"))
    program = torch.export.export(Net().eval(), (IMAGES, ))
    assert figures(perfc.predict(program, device="l4")) == traced
    assert figures(perfc.predict(Net(), IMAGES, device="l4", export="pt2")) == traced
    assert figures(perfc.predict(torch.jit.script(Net()), IMAGES, device="l4")) == traced
    dippm = perfc.predict(framework="pytorch", path=Net(), batch=4, input="3,32,32", device="l4")
    assert figures(dippm) == traced


def test_module_stays_as_it_is():
    net = Net().train()
    net.norm.eval()
    before = {name: value.clone() for name, value in net.state_dict().items()}
    perfc.predict(net, IMAGES, device="l4")
    assert net.training and net.conv.training and not net.norm.training
    assert all(torch.equal(before[name], value) for name, value in net.state_dict().items())


def test_refusals():
    from perfc.export import ExportError
    with pytest.raises(perfc.UsageError, match="example_inputs are missing"):
        perfc.predict(Net(), device="l4")
    with pytest.raises(ExportError, match="fails on the example inputs"):
        perfc.predict(Net(), torch.zeros(1, 5), device="l4")
    with pytest.raises(perfc.UsageError, match="an ExportedProgram has its own"):
        perfc.predict(torch.export.export(Net().eval(), (IMAGES, )), IMAGES)
    with pytest.raises(perfc.UsageError, match="'pt3' is none of"):
        perfc.predict(Net(), IMAGES, export="pt3")
    found = perfc.predict_many([(Net(), torch.zeros(1, 5)), (Net(), IMAGES)], device="l4", return_exceptions=True)
    assert isinstance(found[0], ExportError) and found[1].batch == 4


def test_diff_and_search():
    d = perfc.diff((Net(), IMAGES), (Net(64), IMAGES), device="l4")
    figures_of = {f["figure"]: f for f in d.models[0]["devices"][0]["figures"]}
    assert figures_of["params"]["verdict"] == "worse" and d.models[0]["model"] == "Net"
    widths = (8, 64, 512)
    candidates = perfc.callbacks.Pricer(device="l4", batch=256)((Net(w), IMAGES) for w in widths)
    assert [c.prediction.static.params for c in candidates] == sorted(c.prediction.static.params for c in candidates)
    assert candidates[0].latency_ms < candidates[2].latency_ms


def test_pytorch_geometric():
    geometric = pytest.importorskip("torch_geometric")
    graph = perfc.load((Net(), IMAGES))
    data, features = graph.to_pyg(), graph.features()
    assert data.validate() and data.num_nodes == len(features.matrix)
    assert torch.equal(data.edge_index, torch.tensor(features.edges).T)
    assert torch.equal(data.x, torch.tensor(features.matrix).float()) and data.op == list(features.op)
    from torch_geometric.nn import SAGEConv
    assert SAGEConv(data.num_features, 8)(data.x, data.edge_index).shape == (data.num_nodes, 8)
    assert len(list(geometric.loader.DataLoader([data, data], batch_size=2))) == 1
