"""Numbers as people read them."""

import math
from collections.abc import Iterable

_BYTES = ((1 << 40, "TiB"), (1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB"), (1, "B"))
_SECONDS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"))


def scale_of_bytes(values: Iterable[float]) -> tuple[float, str]:
    """Return the divisor and the name of the unit in which the largest of `values` is read."""
    return _scale(values, _BYTES)


def scale_of_seconds(values: Iterable[float]) -> tuple[float, str]:
    return _scale(values, _SECONDS)


def _scale(values: Iterable[float], units: tuple[tuple[float, str], ...]) -> tuple[float, str]:
    most = max((abs(value) for value in values), default=0)
    return next((unit for unit in units if most >= unit[0]), units[-1] if most else units[0])


def bytes_text(value: float | None) -> str:
    if value is None:
        return ""
    divisor, unit = scale_of_bytes([value])
    return f"{value:.0f} B" if divisor == 1 else f"{significant(value / divisor)} {unit}"


def seconds_text(value: float | None) -> str:
    if value is None:
        return ""
    divisor, unit = scale_of_seconds([value])
    return f"{significant(value / divisor)} {unit}"


def rate_text(value: float | None, unit: str = "tok/s") -> str:
    return "" if value is None else f"{significant(value)} {unit}"


def percent_text(fraction: float | None, digits: int = 1) -> str:
    return "" if fraction is None else f"{100 * fraction:.{digits}f} %"


def significant(value: float, digits: int = 3) -> str:
    """Format with at least this many digits, all of the integer part, and thousands separated."""
    if value == 0 or not math.isfinite(value):
        return f"{value:.0f}" if value == 0 else str(value)
    decimals = max(0, digits - 1 - math.floor(math.log10(abs(value))))
    return f"{value:,.{decimals}f}"


def count_text(number: int, what: str, plural: str = "") -> str:
    return f"{number:,} {what if number == 1 else plural or what + 's'}"
