"""Covering arrays: few rows in which every pair of values that can meet does.

A table is a dict from a factor's name to its values, the preferred ones first. A Constraint refuses some
combinations of values. The rows are found greedily and are the same in every run.
"""

import collections
import dataclasses
import itertools
from collections.abc import Callable


@dataclasses.dataclass(frozen=True)
class Constraint:
    """`allows` accepts the values of `factors`, in this order; `reason` is for people."""

    factors: tuple[str, ...]
    allows: Callable[..., bool]
    reason: str


class Space:
    """All rows that a table and its constraints allow."""

    def __init__(self, table, constraints):
        self.table = table
        self.constraints = constraints
        self._about = {name: [c for c in constraints if name in c.factors] for name in table}

    def refuses(self, row):
        """The first constraint that a row, or the beginning of one, does not keep."""
        for constraint in self.constraints:
            values = [row[name] for name in constraint.factors if name in row]
            if len(values) == len(constraint.factors) and not constraint.allows(*values):
                return constraint
        return None

    def _accepts(self, row, name):
        """As refuses(), of the constraints about the factor that was set last."""
        for constraint in self._about[name]:
            if all(other in row for other in constraint.factors):
                if not constraint.allows(*(row[other] for other in constraint.factors)):
                    return False
        return True

    def completed(self, row):
        """Some allowed row with these values; None if there is none. Only constrained factors can fail."""
        names = [name for name in self.table if name not in row and self._about[name]]
        full = self._completed(dict(row), names)
        if full is not None:
            for name, values in self.table.items():
                full.setdefault(name, values[0])
        return full

    def _completed(self, row, names):
        if not names:
            return row
        for value in self.table[names[0]]:
            row[names[0]] = value
            if self._accepts(row, names[0]):
                full = self._completed(row, names[1:])
                if full is not None:
                    return full
            del row[names[0]]
        return None

    def allowed(self, row):
        return self.refuses(row) is None and self.completed(row) is not None

    def pairs(self):
        """All pairs ((name, value), (name, value)) that some allowed row has."""
        for (name, values), (other, others) in itertools.combinations(self.table.items(), 2):
            for pair in itertools.product(values, others):
                if self.allowed(dict(zip((name, other), pair))):
                    yield (name, pair[0]), (other, pair[1])


def pairs_of(row, table):
    """The pairs of a row, in the order of the table."""
    return set(itertools.combinations(((name, row[name]) for name in table), 2))


def covering_rows(space, cheap=()):
    """Rows in which all of space.pairs() meet: each begins with a pair that has not yet, and takes the values
    that bring most others. What makes no difference is, of the factors in `cheap`, the preferred value, and of
    others the one that was taken least so far."""
    missing = dict.fromkeys(space.pairs())
    uses = collections.Counter()
    rows = []
    while missing:
        row = _next_row(space, missing, uses, cheap)
        uses.update((name, value) for name, value in row.items() if name not in cheap)
        for pair in pairs_of(row, space.table):
            missing.pop(pair, None)
        rows.append(row)
    return rows


def _next_row(space, missing, uses, cheap):
    order = {name: place for place, name in enumerate(space.table)}
    row = dict(next(iter(missing)))
    # Factors with many missing pairs choose first, while most is free. Before them those that are to be cheap,
    # while a dear value brings few pairs.
    weight = collections.Counter(name for pair in missing for name, _ in pair)
    free = sorted((name for name in order if name not in row), key=lambda name: (name not in cheap, -weight[name]))

    def gain(one):
        pairs = ((one, other) if order[one[0]] < order[other[0]] else (other, one) for other in row.items())
        return sum(pair in missing for pair in pairs)

    for name in free:
        values = sorted(space.table[name], key=lambda value: (-gain((name, value)), uses[name, value]))
        row[name] = next(value for value in values if space.allowed({**row, name: value}))
    return {name: row[name] for name in order}
