"""The models of studies/cpu: timm's and other frameworks' graphs of ../shared, and eight of designs that those lack,
which `python models.py FOLDER` exports (needs torch and onnx); models.tar.xz has these without their weights
(perfc opt --strip-weights)."""
import csv
import pathlib
import sys

TIMM = """resnet18_224 resnet50_224 mobilenetv2_100_224 mobilenetv3_small_100_224 mobilenetv3_large_100_224
efficientnet_b0_224 mnasnet_100_224 regnetx_008_224 regnety_004_224 densenet121_224 inception_v3_299 convnext_atto_224
hrnet_w18_small_224 dla34_224 cs3darknet_focus_s_256 repvit_m0_9_224 resnetv2_18_224 rexnet_100_224
legacy_seresnet18_224 starnet_s1_224 fasternet_t0_224 vgg11_224 ese_vovnet19b_dw_224 mixnet_s_224 hgnetv2_b0_224
dpn48b_224 selecsls42_224 shvit_s1_224 deit_tiny_patch16_224_224 vit_tiny_patch16_224_224
swin_tiny_patch4_window7_224_224 mixer_s32_224_224 resmlp_12_224_224 pvt_v2_b0_224 poolformer_s12_224 levit_128_224
xcit_nano_12_p16_224_224 coat_lite_tiny_224 pit_ti_224_224 efficientformer_l1_224 mobilevit_xs_256 mambaout_femto_224
twins_svt_small_224""".split()
FRAMEWORKS = {"alexnet": "alexnet", "googlenet": "googlenet", "segformer_b0": "segformer", "t5_small": "t5",
              "ap3_bilstm": "bilstm", "gpt2": "gpt2"}
OWN = {"lstm_lm": "lstm", "gru_speech": "gru", "tiny_yolo": "yolo", "ssdlite": "ssd", "bert_mini": "bert",
       "bert_small": "bert", "dlrm": "dlrm", "unet": "unet"}


def listed(shared: pathlib.Path) -> list[tuple[str, str, str]]:
    """Name, family and file of each."""
    with open(shared / "graphs" / "families.tsv") as f:
        family = {r["arch"]: r["family"] for r in csv.DictReader(f, delimiter="\t")}
    out = []
    for name in TIMM:
        arch = name.rsplit("_", 1)[0]
        out.append((name, family.get(arch, arch), f"{name}.onnx"))
    out += [(name, fam, f"{name}.legacy.onnx") for name, fam in FRAMEWORKS.items()]
    return out + [(name, fam, f"{name}.onnx") for name, fam in OWN.items()]


def export(folder: pathlib.Path) -> None:
    import torch
    from torch import nn

    class LstmLm(nn.Module):
        def __init__(self):
            super().__init__()
            self.embedding = nn.Embedding(10000, 400)
            self.recurrence = nn.LSTM(400, 400, 2, batch_first=True)
            self.words = nn.Linear(400, 10000)

        def forward(self, x):
            return self.words(self.recurrence(self.embedding(x))[0])

    class GruSpeech(nn.Module):
        def __init__(self):
            super().__init__()
            self.front = nn.Sequential(nn.Conv2d(1, 32, (41, 11), (2, 2), (20, 5)), nn.BatchNorm2d(32), nn.ReLU(),
                                       nn.Conv2d(32, 32, (21, 11), (2, 1), (10, 5)), nn.BatchNorm2d(32), nn.ReLU())
            self.recurrence = nn.GRU(32 * 41, 256, 2, batch_first=True, bidirectional=True)
            self.letters = nn.Linear(512, 29)

        def forward(self, x):
            x = self.front(x)
            batch, channels, bins, steps = x.shape
            x = x.permute(0, 3, 1, 2).reshape(batch, steps, channels * bins)
            return self.letters(self.recurrence(x)[0]).softmax(-1)

    def leaky(inputs, outputs, window=3):
        return nn.Sequential(nn.Conv2d(inputs, outputs, window, 1, window // 2, bias=False), nn.BatchNorm2d(outputs),
                             nn.LeakyReLU(0.1))

    class TinyYolo(nn.Module):
        def __init__(self):
            super().__init__()
            layers, inputs = [], 3
            for width in (16, 32, 64, 128, 256):
                layers += [leaky(inputs, width), nn.MaxPool2d(2, 2)]
                inputs = width
            self.fine, self.pool = nn.Sequential(*layers[:-1]), layers[-1]
            self.coarse = nn.Sequential(leaky(256, 512), leaky(512, 1024), leaky(1024, 256, 1))
            self.coarse_head = nn.Sequential(leaky(256, 512), nn.Conv2d(512, 255, 1))
            self.up = leaky(256, 128, 1)
            self.fine_head = nn.Sequential(leaky(384, 256), nn.Conv2d(256, 255, 1))

        def forward(self, x):
            fine = self.fine(x)
            coarse = self.coarse(self.pool(fine))
            up = nn.functional.interpolate(self.up(coarse), scale_factor=2.0)
            out = []
            for plane in (self.coarse_head(coarse), self.fine_head(torch.cat([up, fine], 1))):
                batch, _, height, width = plane.shape
                plane = plane.view(batch, 3, 85, height * width).permute(0, 1, 3, 2)
                boxes = torch.cat([plane[..., :4], plane[..., 4:].sigmoid()], -1)
                out.append(boxes.reshape(batch, 3 * height * width, 85))
            return torch.cat(out, 1)

    def separable(inputs, outputs, stride=1):
        return nn.Sequential(nn.Conv2d(inputs, inputs, 3, stride, 1, groups=inputs, bias=False), nn.BatchNorm2d(inputs),
                             nn.ReLU6(), nn.Conv2d(inputs, outputs, 1, bias=False), nn.BatchNorm2d(outputs), nn.ReLU6())

    class SsdLite(nn.Module):
        def __init__(self):
            super().__init__()
            self.stem = nn.Sequential(
                nn.Conv2d(3, 32, 3, 2, 1, bias=False), nn.BatchNorm2d(32), nn.ReLU6(), separable(32, 64),
                separable(64, 128, 2), separable(128, 128), separable(128, 256, 2), separable(256, 256),
                separable(256, 512, 2), *[separable(512, 512) for _ in range(5)])
            self.further = nn.ModuleList([
                nn.Sequential(separable(512, 1024, 2), separable(1024, 1024)),
                nn.Sequential(nn.Conv2d(1024, 256, 1), nn.ReLU6(), separable(256, 512, 2)),
                nn.Sequential(nn.Conv2d(512, 128, 1), nn.ReLU6(), separable(128, 256, 2))])
            self.places = nn.ModuleList([nn.Conv2d(c, 6 * 4, 3, 1, 1) for c in (512, 1024, 512, 256)])
            self.kinds = nn.ModuleList([nn.Conv2d(c, 6 * 91, 3, 1, 1) for c in (512, 1024, 512, 256)])

        def forward(self, x):
            planes = [self.stem(x)]
            for block in self.further:
                planes.append(block(planes[-1]))

            def read(heads, width):
                return torch.cat([head(p).permute(0, 2, 3, 1).reshape(p.shape[0], -1, width)
                                  for head, p in zip(heads, planes)], 1)
            return read(self.places, 4), read(self.kinds, 91).softmax(-1)

    class Bert(nn.Module):
        def __init__(self, width, heads):
            super().__init__()
            self.embedding = nn.Embedding(30522, width)
            self.places = nn.Parameter(torch.randn(1, 128, width) * 0.02)
            layer = nn.TransformerEncoderLayer(width, heads, 4 * width, activation="gelu", batch_first=True)
            self.layers = nn.TransformerEncoder(layer, 4, enable_nested_tensor=False)

        def forward(self, x):
            return self.layers(self.embedding(x) + self.places)

    class Dlrm(nn.Module):
        def __init__(self):
            super().__init__()
            self.tables = nn.ModuleList([nn.Embedding(100000, 64) for _ in range(8)])
            self.bottom = nn.Sequential(nn.Linear(13, 512), nn.ReLU(), nn.Linear(512, 256), nn.ReLU(),
                                        nn.Linear(256, 64), nn.ReLU())
            self.top = nn.Sequential(nn.Linear(576, 1024), nn.ReLU(), nn.Linear(1024, 1024), nn.ReLU(),
                                     nn.Linear(1024, 512), nn.ReLU(), nn.Linear(512, 1), nn.Sigmoid())

        def forward(self, dense, sparse):
            found = [table(sparse[:, k]) for k, table in enumerate(self.tables)]
            return self.top(torch.cat([self.bottom(dense), *found], 1))

    class UNet(nn.Module):
        WIDTHS = (16, 32, 64, 128, 256)

        def __init__(self):
            super().__init__()

            def twice(inputs, outputs):
                return nn.Sequential(nn.Conv2d(inputs, outputs, 3, 1, 1), nn.BatchNorm2d(outputs), nn.ReLU(),
                                     nn.Conv2d(outputs, outputs, 3, 1, 1), nn.BatchNorm2d(outputs), nn.ReLU())
            steps = list(zip(self.WIDTHS, self.WIDTHS[1:]))
            self.down = nn.ModuleList([twice(a, b) for a, b in [(3, self.WIDTHS[0]), *steps]])
            self.up = nn.ModuleList([nn.ConvTranspose2d(b, a, 2, 2) for a, b in steps])
            self.join = nn.ModuleList([twice(2 * a, a) for a, _ in steps])
            self.out = nn.Conv2d(self.WIDTHS[0], 2, 1)

        def forward(self, x):
            kept = []
            for block in self.down:
                x = block(nn.functional.max_pool2d(x, 2) if kept else x)
                kept.append(x)
            for k in reversed(range(len(self.join))):
                x = self.join[k](torch.cat([kept[k], self.up[k](x)], 1))
            return self.out(x)

    torch.manual_seed(0)
    tokens = torch.zeros(1, 128, dtype=torch.long)
    made = {"lstm_lm": (LstmLm(), (tokens[:, :64],)), "gru_speech": (GruSpeech(), (torch.zeros(1, 1, 161, 200),)),
            "tiny_yolo": (TinyYolo(), (torch.zeros(1, 3, 416, 416),)), "ssdlite": (SsdLite(),
                                                                                  (torch.zeros(1, 3, 300, 300),)),
            "bert_mini": (Bert(256, 4), (tokens,)), "bert_small": (Bert(512, 8), (tokens,)),
            "dlrm": (Dlrm(), (torch.zeros(1, 13), tokens[:, :8])), "unet": (UNet(), (torch.zeros(1, 3, 256, 256),))}
    for name, (module, inputs) in made.items():
        names = [f"x{i}" for i in range(len(inputs))]
        torch.onnx.export(module.eval(), inputs, str(folder / f"{name}.onnx"), dynamo=False, opset_version=17,
                          input_names=names, dynamic_axes={n: {0: "batch"} for n in names})


if __name__ == "__main__":
    export(pathlib.Path(sys.argv[1]))
