#!/usr/bin/env python3
"""Writes bert-base as ONNX Runtime's optimiser fuses it, in perfc's text form: with a mask of two dims, with lengths.

usage: make_bert_base.py FOLDER      needs torch, transformers, onnxruntime 1.32, sympy; make_models.py packs the files

For studies/runtimes/judge.py: `python -m onnxruntime.transformers.benchmark -m bert-base-cased -o by_script -p fp16`,
and the same with `--use_mask_index`. The files are in float32, as the optimiser leaves them: --dtype fp16 narrows them.
"""
import pathlib
import subprocess
import sys

import torch
from onnxruntime.transformers import optimizer
from onnxruntime.transformers.fusion_options import FusionOptions
from transformers import BertConfig, BertModel

PERFC = pathlib.Path(__file__).resolve().parents[2] / "build/release/perfc"
INPUTS = ("input_ids", "attention_mask", "token_type_ids")


class Encoder(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.bert = BertModel(BertConfig(vocab_size=28996, attn_implementation="eager")).eval()

    def forward(self, *inputs):
        out = self.bert(**dict(zip(INPUTS, inputs)))
        return out[0], out[1]


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    ids = torch.ones(1, 128, dtype=torch.long)
    torch.onnx.export(Encoder(), (ids, ids, ids), str(folder / "base.onnx"), dynamo=False, opset_version=14,
                      input_names=INPUTS, dynamic_axes={name: {0: "b", 1: "s"} for name in INPUTS})
    for name, raw in (("bert_base_mask", True), ("bert_base_lengths", False)):
        options = FusionOptions("bert")
        options.use_raw_attention_mask(raw)
        fused = optimizer.optimize_model(str(folder / "base.onnx"), model_type="bert", num_heads=12, hidden_size=768,
                                         opt_level=0, optimization_options=options)
        fused.save_model_to_file(str(folder / f"{name}.onnx"))
        text = subprocess.check_output([PERFC, "import", folder / f"{name}.onnx"])
        (folder / f"{name}.pir").write_bytes(text)


if __name__ == "__main__":
    main()
