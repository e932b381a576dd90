"""The notebook of examples/ runs from its first cell to its last."""
import pathlib

import nbformat
from nbclient import NotebookClient

EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "examples"


def test_notebook():
    notebook = nbformat.read(EXAMPLES / "perfc.ipynb", as_version=4)
    nbformat.validate(notebook)
    assert not any(cell.get("outputs") for cell in notebook.cells), "it is committed without outputs"
    NotebookClient(notebook, timeout=300, resources={"metadata": {"path": EXAMPLES}}).execute()
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    shown = [output for cell in code for output in cell.outputs if "text/html" in output.get("data", {})]
    assert len(shown) >= 3 and not any(o.output_type == "error" for cell in code for o in cell.outputs)
