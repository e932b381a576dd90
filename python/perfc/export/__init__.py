"""Writes PyTorch programs as TorchScript JSON, the form that perfc reads without torch.

Needs torch only. On the command line: python -m perfc.export --help
"""
from .torchscript import export_module, export_script, program

__all__ = ["export_module", "export_script", "program"]
