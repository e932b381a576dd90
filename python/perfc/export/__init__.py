"""Writes PyTorch programs as TorchScript JSON, the form that perfc reads without torch.

Needs torch only. On the command line: python -m perfc.export --help
"""
from .errors import ExportError
from .exported import export_archive
from .torchscript import export_module, export_script, program

__all__ = ["ExportError", "export_archive", "export_module", "export_script", "program"]
