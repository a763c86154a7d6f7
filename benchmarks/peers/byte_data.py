"""The windows of bytes that a job of `autophi run` samples (api/data, docs/data.md), reproduced exactly.

Both frameworks then see the same tokens in every step, and their losses can be compared.
"""

from pathlib import Path

_SNIFFED_BYTES = 4096
_MASK = (1 << 64) - 1


def _mix(x: int) -> int:
    """Finalizer of SplitMix64 (Steele, Lea, Flood 2014)."""
    x = (x + 0x9E3779B97F4A7C15) & _MASK
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & _MASK
    return x ^ (x >> 31)


def _text_files(folder: Path):
    for entry in folder.iterdir():
        if entry.name.startswith(".") or entry.name in ("build", "__pycache__"):
            continue
        if entry.is_dir():
            if not entry.is_symlink():
                yield from _text_files(entry)
        elif entry.is_file():
            with entry.open("rb") as file:
                if b"\0" not in file.read(_SNIFFED_BYTES):
                    yield entry


def read_text(paths: list[str]) -> bytes:
    """All text at `paths`, in order; a folder stands for its files in order of their paths."""
    text = bytearray()
    for path in map(Path, paths):
        files = _text_files(path) if path.is_dir() else [path]
        files = sorted(files, key=lambda file: str(file).encode())
        for file in files:
            text += file.read_bytes()
    return bytes(text)


def window_offsets(num_bytes: int, seq_len: int, seed: int, first_sample: int,
                   count: int) -> list[int]:
    """Where samples first_sample, first_sample + 1, ... begin: each has seq_len + 1 bytes."""
    places = num_bytes - seq_len
    return [_mix((_mix(seed) + first_sample + i) & _MASK) % places for i in range(count)]
