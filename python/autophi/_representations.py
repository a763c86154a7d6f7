"""Representations of tensors, meshes and shardings in a notebook and at the prompt."""

from typing import Any, cast

from autophi import _html
from autophi._autophi import Placement, ProcessMesh, Tensor
from autophi._autophi import distributed as _distributed
from autophi._layout_picture import layout_svg

_Layout = tuple[list[int], ProcessMesh, list[Placement]]  # of a distributed tensor

_DRAWN_RANKS, _SHADED = 4096, 10  # ranks of a picture; rows and columns that are shown as cells


class Sharding(str):
    """Sharding of a tensor.

    As text it is one line; at the prompt and in a notebook, a picture of the box that each rank stores.
    """

    __slots__ = ("_layout",)
    _layout: _Layout | None

    def __new__(cls, line: str, layout: _Layout | None = None) -> "Sharding":
        self = super().__new__(cls, line)
        self._layout = layout
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return str, (str(self),)

    def __repr__(self) -> str:
        return _distributed.picture_of(*self._layout) if self._layout else str(self)

    def _repr_html_(self) -> str:
        picture = _picture(self._layout) if self._layout else ""
        return f'<div><div style="font-weight:bold">{_html.text(self)}</div>{picture}</div>'


def sharding_of(x: Tensor, line: str) -> Sharding:
    """Return the sharding of x; `line` is its layout in one line."""
    mesh, placements = x.process_mesh, x.placements
    return Sharding(line, None if mesh is None or placements is None else (list(x.shape), mesh, placements))


def _picture(layout: _Layout) -> str:
    shape, mesh, placements = layout
    return layout_svg(shape, _distributed.boxes(shape, mesh, placements)) if mesh.size <= _DRAWN_RANKS else ""


def _tensor_html(x: Tensor) -> str:
    head = f"Tensor {x.sharding}" + (", requires grad" if x.requires_grad else "")
    layout = cast(Sharding, x.sharding)._layout
    picture = _picture(layout) if layout else ""
    return (f'<div><div style="font-weight:bold">{_html.text(head)}</div>'
            f'<div style="display:flex;gap:16px;align-items:flex-start">{_values_html(x)}{picture}</div></div>')


def _values_html(x: Tensor) -> str:
    """Return small matrices as shaded cells, others as they print."""
    small = x.ndim in (1, 2) and max(x.shape) <= _SHADED and x.size and x.dtype.is_floating
    if not small or (x.process_mesh is not None and _distributed.rank() not in x.process_mesh):
        return f"<pre>{_html.text(repr(x).partition(chr(10))[2])}</pre>"
    here = x.local() if x.is_dist else x
    values = here.detach().to("float64").tolist()
    rows = values if here.ndim == 2 else [values]
    most = max((abs(v) for row in rows for v in row if abs(v) < float("inf")), default=0) or 1
    cells = "".join("<tr>" + "".join(_shaded(v, most) for v in row) + "</tr>" for row in rows)
    return f'<table style="border-collapse:collapse">{cells}</table>'


def _shaded(value: float, most: float) -> str:
    """Return a cell: blue for positive values, red for negative ones, darker for larger ones."""
    strength = min(abs(value) / most, 1) * 0.5 if value == value else 0
    rgb = "66,133,204" if value >= 0 else "214,96,77"
    return (f'<td style="padding:2px 6px;text-align:right;border:1px solid #eee;'
            f'background:rgba({rgb},{strength:.2f})">{value:.4g}</td>')


def _mesh_html(mesh: ProcessMesh) -> str:
    """Return the ranks as tables of the last two mesh dims."""
    ranks, shape, names = mesh.process_ids, mesh.shape, mesh.dim_names
    if mesh.size > _DRAWN_RANKS:
        return f"<div>{_html.text(repr(mesh))}</div>"
    columns = shape[-1]
    rows = shape[-2] if mesh.ndim > 1 else 1
    tables = []
    for begin in range(0, len(ranks), rows * columns):
        body = [[_row_name(mesh, begin // columns + r), *ranks[begin + r * columns:begin + (r + 1) * columns]]
                for r in range(rows)]
        tables.append(_html.table("", ["", *(f"{names[-1]}={c}" for c in range(columns))], body))
    head = "mesh " + ", ".join(f"{name}={size}" for name, size in zip(names, shape))
    return f'<div><div style="font-weight:bold">{_html.text(head)}</div>{"".join(tables)}</div>'


def _row_name(mesh: ProcessMesh, row: int) -> str:
    """Return the coordinates of a row in all mesh dims but the last."""
    words = []
    for name, size in zip(mesh.dim_names[-2::-1], mesh.shape[-2::-1]):
        words.append(f"{name}={row % size}")
        row //= size
    return ", ".join(reversed(words))


def install() -> None:
    """Install the representations in the classes of the extension module."""
    line: Any = Tensor.sharding
    looks = [(Tensor, "sharding", property(lambda x: sharding_of(x, line.__get__(x)), doc=line.__doc__)),
             (Tensor, "_repr_html_", _tensor_html), (ProcessMesh, "_repr_html_", _mesh_html)]
    for kind, name, look in looks:
        setattr(kind, name, look)
