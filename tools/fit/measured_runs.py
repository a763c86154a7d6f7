"""CSV files of measured runs, as tables of numbers. `autophi predict_runs` checks them."""

import csv

import numpy as np

_COLUMNS = {
    "gpus": "# GPUs",
    "global_batch": "global batch",
    "micro_batch": "micro batch",
    "hidden": "hidden size",
    "heads": "attention heads",
    "layers": "# layers",
    "sequence": "sequence length",
    "tp": "tensor parallelism",
    "dp": "data parallelism",
    "pp": "pipeline parallelism",
    "ms": "iteration time (ms)",
}


def read(path):
    """A structured array with a field for each size, and `ms`."""
    with open(path, newline="", encoding="utf-8") as file:
        lines = [line for line in csv.DictReader(file) if any(line.values())]
    values = [tuple(float(line[column]) for column in _COLUMNS.values()) for line in lines]
    return np.array(values, dtype=[(name, float) for name in _COLUMNS])
