"""The tables that `benchmarks/compare` prints."""

from peers.configurations import AUTOPHI, Configuration
from peers.ratios import Figures, Row, utilisation

_MIB = 1024**2
_NONE = "-"


def _number(value: float | None, form: str = "{:,.0f}") -> str:
    return _NONE if value is None else form.format(value)


def _mib(value: float | None) -> str:
    return _number(None if value is None else value / _MIB)


def _goal(value: float | None, sign: str) -> str:
    return _NONE if value is None else f"{sign} {value:.2f}"


def aligned(header: list[str], rows: list[list[str]], left: set[int]) -> str:
    """Columns as wide as their widest cell, numbers to the right."""
    cells = [header, *rows]
    widths = [max(len(row[i]) for row in cells) for i in range(len(header))]
    lines = ["  ".join(cell.ljust(width) if i in left else cell.rjust(width)
                       for i, (cell, width) in enumerate(zip(row, widths))).rstrip()
             for row in cells]
    lines.insert(1, "-" * max(map(len, lines)))
    return "\n".join(lines)


def other_name(other: Configuration | None) -> str:
    if other is None:
        return _NONE
    return f"our {other.name}" if other.framework == AUTOPHI else other.name


def ratio_table(rows: list[Row]) -> str:
    header = ["comparison", "ours tok/s", "beside", "tok/s", "ratio", "goal", "ours MiB", "MiB",
              "ratio", "goal"]
    lines = [[row.comparison.name, _number(row.ours_tokens_per_s), other_name(row.other),
              _number(row.other_tokens_per_s), _number(row.speed_ratio, "{:.2f}"),
              _goal(row.comparison.speed_goal, ">="), _mib(row.ours_peak_bytes),
              _mib(row.other_peak_bytes), _number(row.memory_ratio, "{:.2f}"),
              _goal(row.comparison.memory_goal, "<=")] for row in rows]
    return aligned(header, lines, left={0, 2})


def run_table(figures: dict[Configuration, Figures], gemm_flops_per_s: dict[str, float]) -> str:
    header = ["run", "cores", "tok/s", "spread", "best step", "MFU", "peak MiB", "imports MiB",
              "last loss"]
    lines = []
    for run, measured in figures.items():
        speed = measured.tokens_per_s
        lines.append([f"{run.framework} {run.name}", str(run.cores), _number(speed),
                      _number(measured.spread, "{:.0%}"),
                      _number(measured.median("best_tokens_per_s")),
                      _number(utilisation(run, speed, gemm_flops_per_s), "{:.0%}"),
                      _mib(measured.peak_bytes), _mib(measured.median("import_bytes") or None),
                      _number(measured.median("last_loss"), "{:.4f}")])
    return aligned(header, lines, left={0})
