"""Pictures of tensors on a mesh: the box that each rank stores."""

from collections.abc import Sequence

from autophi import _html

# begin:end by tensor dim; (rank, ranges, partial).
_Ranges = tuple[tuple[int, int], ...]
_Box = tuple[int, list[tuple[int, int]], bool]

# Pixels; parts of a tensor; letters of a label.
_WIDTH, _HEIGHT, _LEFT, _TOP = 260, 180, 44, 24
_MOST_PICTURES, _MOST_BOXES, _MOST_LETTERS = 4, 256, 14


def layout_svg(shape: Sequence[int], boxes: Sequence[_Box]) -> str:
    """Return a picture of `boxes`: (rank, ranges by tensor dim, partial) of each rank.

    It shows the last two sharded tensor dims, once for each shard of the earlier ones. Empty for tensors without
    elements, and for more boxes than can be distinguished.
    """
    groups = _by_box(boxes)
    if not shape or 0 in shape or len(groups) > _MOST_BOXES:
        return ""
    down, across = _drawn_dims(shape, groups)
    pictures: dict[_Ranges, list[tuple[_Ranges, list[int]]]] = {}
    for ranges, ranks in groups.items():
        others = tuple(r for d, r in enumerate(ranges) if d not in (down, across))
        pictures.setdefault(others, []).append((ranges, ranks))
    drawn = list(pictures.items())[:_MOST_PICTURES]
    parts = []
    for i, (others, cells) in enumerate(drawn):
        parts += _one(shape, down, across, cells, _LEFT + i * (_WIDTH + _LEFT), boxes[0][2])
        if len(pictures) > 1:
            parts.append(_html.words(_LEFT + i * (_WIDTH + _LEFT) + _WIDTH / 2, _TOP + _HEIGHT + 32,
                                     "of " + ", ".join(f"{a}:{b}" for a, b in others)))
    if len(pictures) > len(drawn):
        parts.append(_html.words(_LEFT, _TOP + _HEIGHT + 48, f"{len(pictures) - len(drawn)} more", "start"))
    return _html.svg(_LEFT + len(drawn) * (_WIDTH + _LEFT), _TOP + _HEIGHT + 52, parts)


def _by_box(boxes: Sequence[_Box]) -> dict[_Ranges, list[int]]:
    groups: dict[_Ranges, list[int]] = {}
    for rank, ranges, _ in boxes:
        groups.setdefault(tuple(ranges), []).append(rank)
    return groups


def _drawn_dims(shape: Sequence[int], groups: dict[_Ranges, list[int]]) -> tuple[int | None, int]:
    """Return (down, across); down is None for a tensor of one dim."""
    split = [d for d in range(len(shape)) if len({ranges[d] for ranges in groups}) > 1]
    dims = split[-2:]
    for d in reversed(range(len(shape))):
        if len(dims) < 2 and d not in dims:
            dims.append(d)
    dims.sort()
    return (None, dims[0]) if len(dims) == 1 else (dims[0], dims[1])


def _one(shape: Sequence[int], down: int | None, across: int, cells: Sequence[tuple[_Ranges, list[int]]], left: int,
         partial: bool) -> list[str]:
    parts = []
    for number, (ranges, ranks) in enumerate(cells):
        x, width = _pixels(ranges[across], shape[across], left, _WIDTH)
        lines, extent = ((0, 1), 1) if down is None else (ranges[down], shape[down])
        y, height = _pixels(lines, extent, _TOP, _HEIGHT)
        label = ("+" if partial else ",").join(map(str, ranks))
        extents = ",".join(f"{a}:{b}" for a, b in ranges)
        parts.append(_html.rectangle(x, y, width, height, _html.colour(number),
                                     f"[{extents}] on rank{'s' * (len(ranks) > 1)} {label}"))
        short = label if len(label) <= _MOST_LETTERS else f"{ranks[0]}..{ranks[-1]}"
        if width > 7 * len(short) and height > 12:
            parts.append(_html.words(x + width / 2, y + height / 2 + 4, short))
    for position in sorted({end for ranges, _ in cells for end in ranges[across]}):
        parts.append(_html.words(left + position / shape[across] * _WIDTH, _TOP - 6, position))
    if down is not None:
        for position in sorted({end for ranges, _ in cells for end in ranges[down]}):
            parts.append(_html.words(left - 6, _TOP + position / shape[down] * _HEIGHT + 4, position, "end"))
    return parts


def _pixels(of: tuple[int, int], extent: int, start: float, length: float) -> tuple[float, float]:
    return start + of[0] / extent * length, (of[1] - of[0]) / extent * length
