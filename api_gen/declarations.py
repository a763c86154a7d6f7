"""Declarations of C++ headers and registrations in sources, found by text search."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from api_gen.errors import read_text

_OPEN, _CLOSE = "(<[{", ")>]}"


@dataclass(frozen=True)
class Declaration:
    """A function: the header that declares it first, and the accepted numbers of arguments."""

    header: str
    takes: tuple[range, ...]  # one per overload

    def fits(self, count: int) -> bool:
        return any(count in takes for takes in self.takes)

    @property
    def taken(self) -> str:
        """"2", "2 to 3", "2 or 4"."""
        return " or ".join(dict.fromkeys(
            str(r[0]) if len(r) == 1 else f"{r[0]} to {r[-1]}" for r in self.takes))


def declared(headers: Iterable[Path], roots: Sequence[Path] = ()) -> dict[str, Declaration]:
    """Functions by name. Headers are named as they are included: relative to the first of `roots` that
    they are below."""
    found: dict[str, Declaration] = {}
    for path in headers:
        text = re.sub(r"//.*", "", read_text(path))
        for match in re.finditer(r"(?<!return\s)(?<=[\w>&*]\s)(\w+)\(", text):
            parameters = _parameters(text, match.end())
            if parameters is None:
                continue
            name = match[1]
            first = found.get(name)
            earlier = first.takes if first else ()
            takes = range(sum("=" not in parameter for parameter in parameters), len(parameters) + 1)
            found[name] = Declaration(first.header if first else _included(path, roots), (*earlier, takes))
    return found


def comments(headers: Iterable[Path]) -> dict[str, str]:
    """The comments above functions, by name."""
    return {match[2]: " ".join(match[1].replace("///", " ").split())
            for path in headers
            for match in re.finditer(r"^((?:///.*\n)+)[^\n/]*?\b(\w+)\(", read_text(path),
                                     re.MULTILINE)}


def _included(path: Path, roots: Sequence[Path]) -> str:
    below = (path.relative_to(root) for root in roots if path.is_relative_to(root))
    return next(below, path).as_posix()


def _parameters(text: str, start: int) -> list[str] | None:
    """Returns the items of the list that begins at `start`; None if it does not end."""
    depth, piece, pieces = 1, "", []
    for i in range(start, len(text)):
        char = text[i]
        if char in _OPEN:
            depth += 1
        elif char in _CLOSE and text[i - 1:i + 1] != "->":
            depth -= 1
        if depth == 0:
            return [*pieces, piece] if piece.strip() else pieces
        if char == "," and depth == 1:
            pieces.append(piece)
            piece = ""
        else:
            piece += char
    return None


def files(paths: Iterable[Path], *suffixes: str, below: bool = False) -> list[Path]:
    """Returns the given files, and those in the given folders and below."""
    return [file for path in paths
            for file in (sorted(path.rglob("*") if below else path.glob("*")) if path.is_dir() else [path])
            if file.suffix in suffixes]


def kernel_signatures(paths: Iterable[Path]) -> dict[str, str]:
    """Parameter types of kernels by name, from the generated headers among these files."""
    return {name: " ".join(types.split()) for path in files(paths, ".h", below=True)
            for name, types in re.findall(r"struct (\w+) \{\s*using Signature =\s*KernelSignature<(.*?)>;\s*using "
                                          r"Parameters", read_text(path), re.DOTALL)}


def registered_kernels(paths: Iterable[Path]) -> set[str]:
    """Names in lines of PHI_REGISTER_KERNEL of these files, and of those below these folders; of rows of
    tables too (PHI_UNARY_KERNEL and the like)."""
    return {name for path in files(paths, ".cc", ".cu", ".h", below=True)
            for name in re.findall(r"^\s*PHI_(?!REGISTER_DRY_)\w+_KERNEL\(\s*(\w+)",
                                   read_text(path), re.MULTILINE)}
