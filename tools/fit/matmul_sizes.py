"""Times of matmuls of single sizes, from the errors that the constants of a machine leave.

Libraries choose another kernel for each size of a matmul, so that the rates of neighbouring sizes differ without order.
Constants cannot say that, but runs with equal layers can. The time of each size is that of the constants times a factor:
the maximum a posteriori of the factors, by Gauss-Newton. Sizes that occur together in all runs share what is known of
them.
"""

import numpy as np

SPREAD = 0.1  # assumed: a factor is within exp(0.1) in two cases of three
ITERATIONS = 4
STEP = 0.05  # of the logs of all factors together, for derivatives


class MatmulSizes:
    """`launches`: for each run, [flops, bytes, seconds] of the matmuls of a layer, by the constants alone."""

    def __init__(self, launches):
        seconds = {(flops, size): time for run in launches for flops, size, time in run}
        places = {key: i for i, key in enumerate(seconds)}
        self._keys = list(seconds)
        self._seconds = np.array(list(seconds.values()))
        self._counts = np.zeros((len(launches), len(places)))
        for i, run in enumerate(launches):
            for flops, size, _ in run:
                self._counts[i, places[flops, size]] += 1

    def fit(self, predict, log_measured, scale):
        """Rows of [flops, bytes, seconds]. `predict`: seconds of the runs for such rows; `scale`: of an error's log."""
        logs = np.zeros(len(self._keys))
        for _ in range(ITERATIONS):
            errors = log_measured - np.log(predict(self._rows(logs)))
            slopes = self._slopes(logs, predict, log_measured - errors) / scale
            information = slopes.T @ slopes + np.eye(len(logs)) / SPREAD**2
            logs += np.linalg.solve(information, slopes.T @ errors / scale - logs / SPREAD**2)
        return self._rows(logs)

    def _rows(self, logs):
        return [(*key, seconds) for key, seconds in zip(self._keys, self._seconds * np.exp(logs))]

    def _slopes(self, logs, predict, log_predicted):
        """Of the log of each run's time by that of each factor: the slope of all together, by their parts of the time."""
        slope_of_all = (np.log(predict(self._rows(logs + STEP))) - log_predicted) / STEP
        parts = self._counts * self._seconds * np.exp(logs)
        return slope_of_all[:, None] * parts / parts.sum(1, keepdims=True)
