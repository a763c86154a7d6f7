"""Metrics of steps as event files, which TensorBoard shows.

    python3 -m autophi.tensorboard DIR < metrics.jsonl       # what `autophi run --metrics` wrote

    with StepWriter("runs/a") as events:
        trainer.on_step(events)
        trainer.run(100, batches)

The package tensorboard writes them: pip install 'autophi[tensorboard]'.
"""

import argparse
import importlib
import json
import os
import signal
import sys
from collections.abc import Iterable, Mapping
from types import TracebackType
from typing import Any

from autophi import distributed
from autophi.training import StepResult

# Names in TensorBoard of the keys of a line of metrics.
TAGS = {"loss": "loss", "lr": "learning_rate", "grad_norm": "gradient_norm", "loss_scale": "loss_scale",
        "seconds": "step_seconds", "tokens_per_s": "tokens_per_s", "tensor_bytes": "tensor_bytes",
        "peak_tensor_bytes": "peak_tensor_bytes"}


class StepWriter:
    """Writes numbers of steps to event files in a folder, which is made if it is missing. Only rank 0 writes.

    It is a hook of `Trainer.on_step`; `write` adds numbers of your own.

    ModuleNotFoundError, with the command that installs it, if the package tensorboard is missing; OSError if the folder
    cannot be written.
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self._writer: Any = None if distributed.rank() else _writer_class(folder)(os.fspath(folder))

    def __call__(self, step: int, result: StepResult) -> None:
        """Write the result of a step."""
        self.write(step, {"loss": result.loss, "learning_rate": result.learning_rate,
                          "gradient_norm": result.grad_norm, "loss_scale": result.loss_scale})

    def write(self, step: int, values: Mapping[str, float]) -> None:
        """Write each value under its name."""
        if self._writer is None:
            return
        for name, value in values.items():
            self._writer.add_scalar(name, value, step=step)

    def close(self) -> None:
        """Wait until all is written."""
        if self._writer is not None:
            self._writer.close()

    def __enter__(self) -> "StepWriter":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        self.close()


def _writer_class(folder: str | os.PathLike[str]) -> Any:
    """Make the folder, and return the class that writes to it. Errors: those of StepWriter."""
    try:
        summary = importlib.import_module("tensorboard.summary")
    except ImportError as error:
        raise ModuleNotFoundError(
            "event files are written by the package tensorboard, which is not installed here. Install it: pip install "
            "'autophi[tensorboard]', or pip install tensorboard.") from error
    os.makedirs(folder, exist_ok=True)
    if not os.access(folder, os.W_OK):
        raise PermissionError(f"'{os.fspath(folder)}' cannot be written")
    return summary.Writer


def values_of(line: Mapping[str, Any]) -> dict[str, float]:
    """Return the numbers of a line of metrics by their names in TensorBoard."""
    return {tag: line[key] for key, tag in TAGS.items() if isinstance(line.get(key), int | float)}


def convert(lines: Iterable[str], events: StepWriter) -> None:
    """Write lines of metrics as they come. ValueError, with the number of the line, for one that is none."""
    for number, text in enumerate(lines, 1):
        try:
            line = json.loads(text)
            events.write(line["step"], values_of(line))
        except (ValueError, KeyError, TypeError):
            raise ValueError(f"line {number} is no line of metrics: {text.strip()[:80]}") from None


def main(words: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="autophi.tensorboard", allow_abbrev=False,
                                     description="Write metrics from standard input to event files of TensorBoard.")
    parser.add_argument("folder", metavar="DIR", help="the folder of the run")
    parser.add_argument("--check", action="store_true", help="only find out whether event files can be written there")
    given = parser.parse_args(words)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the job that sends the lines decides when they end
    try:
        if given.check:
            _writer_class(given.folder)
            return 0
        with StepWriter(given.folder) as events:
            convert(sys.stdin, events)
    except (OSError, ValueError, ImportError) as error:
        print(f"autophi.tensorboard: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
