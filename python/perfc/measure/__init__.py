"""Measures models on this machine: rows of labels.csv that perfc trains on, calibrates by and is judged with.

On the command line: python -m perfc.measure --help; docs/own-device.md walks through it.
"""
