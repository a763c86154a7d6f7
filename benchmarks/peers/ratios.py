"""From measurements to ratios, and from ratios to goals met, missed or not measured."""

import statistics
from dataclasses import dataclass, field

from peers.configurations import Comparison, Configuration
from peers.measure import Measurement
from peers.reference import GPT


@dataclass
class Figures:
    """Results of the repeats of one configuration; None for a failed repeat."""

    repeats: list[Measurement | None] = field(default_factory=list)

    def median(self, name: str) -> float | None:
        values = [getattr(m, name) for m in self.repeats if m is not None]
        return statistics.median(values) if values else None

    @property
    def tokens_per_s(self) -> float | None:
        return self.median("tokens_per_s")

    @property
    def peak_bytes(self) -> float | None:
        return self.median("peak_bytes")

    @property
    def spread(self) -> float | None:
        """Difference of the slowest and fastest repeat, as a fraction of the median: 0.1 is 10 %. None below
        2 repeats."""
        values = [m.tokens_per_s for m in self.repeats if m is not None]
        return (max(values) - min(values)) / statistics.median(values) if len(values) > 1 else None


@dataclass(frozen=True)
class Row:
    """One comparison, measured. None where a side is missing."""

    comparison: Comparison
    other: Configuration | None  # the fastest of comparison.others that ran
    ours_tokens_per_s: float | None
    other_tokens_per_s: float | None
    speed_ratio: float | None
    ours_peak_bytes: float | None
    other_peak_bytes: float | None
    memory_ratio: float | None


def row_of(comparison: Comparison, figures: dict[Configuration, Figures]) -> Row:
    """The speed ratio is the median over repeats of ours by theirs in the same repeat, as a temporary
    load then affects both; the memory ratio is that of the medians."""
    ours = figures.get(comparison.ours, Figures())
    ran = [other for other in comparison.others
           if figures.get(other, Figures()).tokens_per_s is not None]
    other = max(ran, key=lambda run: figures[run].tokens_per_s) if ran else None
    theirs = figures[other] if other else Figures()
    pairs = [a.tokens_per_s / b.tokens_per_s for a, b in zip(ours.repeats, theirs.repeats)
             if a is not None and b is not None]
    both = ours.peak_bytes is not None and theirs.peak_bytes is not None
    return Row(comparison, other, ours.tokens_per_s, theirs.tokens_per_s,
               statistics.median(pairs) if pairs else None, ours.peak_bytes, theirs.peak_bytes,
               ours.peak_bytes / theirs.peak_bytes if both else None)


def goal_lines(rows: list[Row]) -> list[str]:
    """A line for each goal that is missed or could not be measured."""
    lines = []
    for row in rows:
        name, against = row.comparison.name, row.other.name if row.other else "anything"
        for what, ratio, goal, is_met, sign in (
                ("tokens/s", row.speed_ratio, row.comparison.speed_goal, lambda r, g: r >= g, ">="),
                ("peak memory", row.memory_ratio, row.comparison.memory_goal, lambda r, g: r <= g,
                 "<=")):
            if goal is None:
                continue
            if ratio is None:
                lines.append(f"not measured: {name}: {what} (goal {sign} {goal:.2f})")
            elif not is_met(ratio, goal):
                lines.append(f"missed: {name}: {what} {ratio:.2f} x {against}, goal {sign} "
                             f"{goal:.2f}")
    return lines


def utilisation(configuration: Configuration, tokens_per_s: float | None,
                gemm_flops_per_s: dict[str, float]) -> float | None:
    """Model FLOPs utilisation: the operations that the model needs, divided by the rate of matmul
    on the same number of cores (GptShape.flops_per_token says which operations count)."""
    peak = gemm_flops_per_s.get(configuration.dtype)
    if tokens_per_s is None or not peak:
        return None
    return tokens_per_s * GPT.flops_per_token / (peak * configuration.cores)
