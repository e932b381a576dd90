"""Decoders of the Llama kind as .pir text without weights (studies/language_models.py, studies/report_llm.py)."""
from bert_pir import Text


def forward(batch, tokens, cached, layers, hidden, heads, kv_heads, width, ffn, vocabulary):
    """`tokens` new tokens of each sequence behind `cached` ones; logits of the last, and what enters the cache."""
    t = Text()

    def dense(x, n_in, n_out):
        return t.add(f"nn.dense({x}, {t.weight(n_in, n_out)})")

    def norm(x):
        return t.add(f"nn.rms_norm({x}, {t.weight(hidden)}, axis=-1, epsilon=1e-5)")

    def rotated(x, n):  # x · cos + rotated x · sin, with what turns the halves left to the compiler
        cos, sin = t.weight(1, 1, n), t.weight(1, 1, n)
        return t.add(f"add({t.add(f'multiply({x}, {cos})')}, {t.add(f'multiply({x}, {sin})')})")

    def by_head(x, n):  # (batch, key heads, heads that share one, tokens, width)
        x = t.add(f"reshape({x}, {t.ints(batch, tokens, kv_heads, n // kv_heads, width)})")
        return t.add(f"transpose({x}, perm=[0, 2, 3, 1, 4])")

    results = []
    x = t.add(f"take({t.weight(vocabulary, hidden)}, %ids, axis=0)")
    for _ in range(layers):
        y = norm(x)
        q = rotated(dense(y, hidden, heads * width), heads * width)
        k = rotated(dense(y, hidden, kv_heads * width), kv_heads * width)
        v = dense(y, hidden, kv_heads * width)
        results += [k, v]
        if cached:  # the queries of the heads that share a key head are rows of one product
            q = t.add(f"reshape({q}, {t.ints(batch, kv_heads, heads // kv_heads, width)})")
            k, v = (t.weight(batch, kv_heads, cached, width) for _ in range(2))
            a = t.add(f"nn.sdpa({q}, {k}, {v}, scale={width ** -0.5!r})")
        else:
            q, k, v = by_head(q, heads), by_head(k, kv_heads), by_head(v, kv_heads)
            a = t.add(f"nn.sdpa({q}, {k}, {v}, is_causal=1, scale={width ** -0.5!r})")
            a = t.add(f"transpose({a}, perm=[0, 3, 1, 2, 4])")
        a = t.add(f"reshape({a}, {t.ints(batch, tokens, heads * width)})")
        x = t.add(f"add({x}, {dense(a, heads * width, hidden)})")
        y = norm(x)
        y = t.add(f"multiply({t.add(f'nn.silu({dense(y, hidden, ffn)})')}, {dense(y, hidden, ffn)})")
        x = t.add(f"add({x}, {dense(y, ffn, hidden)})")
    if tokens > 1:
        begin, end, axis = (t.ints(n) for n in (tokens - 1, tokens, 1))
        x = t.add(f"strided_slice({x}, {begin}, {end}, {axis})")
    results.insert(0, dense(norm(x), hidden, vocabulary))
    return (f'#[version = "perfc-ir/1"]\ndef @main(%ids: Tensor[({batch}, {tokens}), int64]) {{\n' +
            "\n".join(t.lines) + f"\n  ({', '.join(results)})\n}}\n")
