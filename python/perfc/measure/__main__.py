"""python -m perfc.measure: runs models on this machine and writes what they took as labels for perfc."""
from __future__ import annotations

if __name__ == "__main__":  # processes of the harness import this file too
    from perfc import files
    from .cli import main
    files.exit_with(main)
