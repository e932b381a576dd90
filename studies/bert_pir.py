"""Models as .pir text without weights: BERT-like encoders as Hugging Face's eager implementation launches them
(studies/fit_mig.py, studies/fit_power.py), and parts of others."""


class Text:
    def __init__(self):
        self.lines, self.next = [], 1  # %0 is the input

    def add(self, expression):
        self.lines.append(f"  %{self.next} = {expression};")
        self.next += 1
        return f"%{self.next - 1}"

    def weight(self, *shape):
        dims = ", ".join(map(str, shape)) + ("," if len(shape) == 1 else "")
        return self.add(f"weight : Tensor[({dims}), float32]")

    def ints(self, *values):
        return self.add(f"const[{', '.join(map(str, values))}] : Tensor[({len(values)},), int64]")


def convolution(t, x, n_in, n_out, window, stride=(1, 1), groups=1, activation="nn.relu"):
    """With its batch-norm, and in the middle of its padding."""
    kh, kw = window
    weight = t.weight(n_out, n_in // groups, kh, kw)
    y = t.add(f"nn.conv2d({x}, {weight}, dilation=[1, 1], groups={groups}, kernel_size=[{kh}, {kw}], "
              f"padding=[{kh // 2}, {kw // 2}, {kh // 2}, {kw // 2}], strides=[{stride[0]}, {stride[1]}])")
    norm = ", ".join(t.weight(n_out) for _ in range(4))
    y = t.add(f"nn.batch_norm({y}, {norm}, epsilon=1e-05)")
    return t.add(f"{activation}({y})") if activation else y


def encoder(batch, tokens, hidden, layers, heads, ffn, vocabulary, scaled="scores"):
    """Tensor[(batch, tokens), int64] ids → hidden states. BERT scales its scores, DistilBERT its queries."""
    scaled = f', scaled="{scaled}"' if scaled == "scores" else ""
    t = Text()

    def dense(x, n_in, n_out):
        y = t.add(f"nn.dense({x}, {t.weight(n_in, n_out)})")
        return t.add(f"nn.bias_add({y}, {t.weight(n_out)}, axis=2)")

    def norm(x):
        gamma, beta = t.weight(hidden), t.weight(hidden)
        return t.add(f"nn.layer_norm({x}, {gamma}, {beta}, axis=-1, epsilon=1e-12)")

    def to_heads(x):
        shape = t.ints(batch, tokens, heads, hidden // heads)
        return t.add(f"transpose({t.add(f'reshape({x}, {shape})')}, perm=[0, 2, 1, 3])")

    words = t.weight(vocabulary, hidden)
    x = t.add(f"take({words}, %ids, axis=0)")
    x = t.add(f"add({x}, {t.weight(1, tokens, hidden)})")  # position and type embeddings, gathered
    x = norm(x)
    for _ in range(layers):
        q, k, v = (to_heads(dense(x, hidden, hidden)) for _ in range(3))
        mask = t.weight(batch, 1, 1, tokens)
        a = t.add(f"nn.sdpa({q}, {k}, {v}, {mask}, scale={(hidden // heads) ** -0.5!r}, explicit=1{scaled})")
        a = t.add(f"transpose({a}, perm=[0, 2, 1, 3])")
        a = t.add(f"reshape({a}, {t.ints(batch, tokens, hidden)})")
        x = norm(t.add(f"add({dense(a, hidden, hidden)}, {x})"))
        h = t.add(f"nn.gelu({dense(x, hidden, ffn)})")
        x = norm(t.add(f"add({dense(h, ffn, hidden)}, {x})"))
    return (f'#[version = "perfc-ir/1"]\ndef @encoder(%ids: Tensor[({batch}, {tokens}), int64]) {{\n'
            + "\n".join(t.lines) + f"\n  ({x})\n}}\n")
