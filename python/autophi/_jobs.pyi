# Jobs, for type checkers.
from collections.abc import Callable, Mapping

def report_of(text: str, name: str, flags: Mapping[str, str], write: Callable[[str], object] | None,
              as_bar: bool) -> str: ...
