"""What predicts runs without a simulator: a regression, and a closed formula of 12 constants.

Both take rows as a structured table of measured_runs.read() and predict seconds.
"""

import itertools

import numpy as np
from scipy.optimize import least_squares

_FACTORS = ("global_batch", "micro_batch", "hidden", "heads", "layers", "sequence", "tp", "dp", "pp")


def _quadratic_terms(rows):
    logs = [np.log(rows[name]) for name in _FACTORS]
    pairs = itertools.combinations_with_replacement(logs, 2)
    return np.stack([np.ones(len(rows)), *logs, *(a * b for a, b in pairs)], axis=1)


class Regression:
    """log(time) as a quadratic polynomial in the logs of all sizes, by least squares."""

    def __init__(self, rows, seconds):
        self._weights = np.linalg.lstsq(_quadratic_terms(rows), np.log(seconds), rcond=None)[0]

    def predict(self, rows):
        return np.exp(_quadratic_terms(rows) @ self._weights)


def _formula_terms(rows):
    """Terms of a micro-batch on a stage, and of a step; each has a constant of its own."""
    tokens = rows["micro_batch"] * rows["sequence"]
    hidden, tp = rows["hidden"], rows["tp"]
    weights = 12 * hidden**2 / tp
    depth = rows["layers"] / rows["pp"]
    activations = tokens * hidden
    scores = rows["micro_batch"] * rows["heads"] * rows["sequence"] ** 2 / tp
    ring = (tp - 1) / tp
    parameters = depth * weights
    micro_batch = [
        np.ones(len(rows)),
        depth,
        depth * tokens * weights,
        depth * activations,
        depth * scores,
        depth * ring,
        depth * ring * activations,
        activations / tp,
    ]
    step = [np.ones(len(rows)), parameters, parameters * (rows["dp"] - 1) / rows["dp"]]
    return np.stack(micro_batch, 1), np.stack(step, 1)


class Formula:
    """(m + c0 (p - 1)) * (8 terms of a micro-batch) + 3 terms of a step: 12 constants, none negative."""

    def __init__(self, rows, seconds):
        micro_batch, step = _formula_terms(rows)
        # Each constant is what its term takes of a mean step, so that all are of one size.
        self._scales = np.concatenate(
            [[1], 1 / np.maximum(micro_batch.mean(0), 1e-30), 1 / np.maximum(step.mean(0), 1e-30)]
        )
        start = np.concatenate([[1], np.full(8, seconds.mean() / 80), np.full(3, seconds.mean() / 30)])

        def residuals(constants):
            return np.log(self._seconds(constants, rows)) - np.log(seconds)

        fitted = least_squares(
            residuals, start, bounds=(0, np.inf), x_scale=start, loss="soft_l1", f_scale=0.05
        )
        self._constants = fitted.x

    def _seconds(self, constants, rows):
        scaled = constants * self._scales
        micro_batch, step = _formula_terms(rows)
        count = rows["global_batch"] / rows["micro_batch"] / rows["dp"]
        passes = count + scaled[0] * (rows["pp"] - 1)
        return 1e-9 + passes * (micro_batch @ scaled[1:9]) + step @ scaled[9:]

    def predict(self, rows):
        return self._seconds(self._constants, rows)
