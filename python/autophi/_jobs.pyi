# Jobs, for type checkers.
from collections.abc import Mapping

def report_of(text: str, name: str, flags: Mapping[str, str]) -> str: ...
