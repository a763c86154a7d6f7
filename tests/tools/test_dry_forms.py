"""Kernels of the CPU that talk to other ranks have a dry form: dry runs count its messages, and captured programs
know by it what must not be repeated and what belongs together on all ranks.
"""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# What sends messages from within a kernel, and the helpers that do it for several.
TALKS = re.compile(r"combine_over\(|\.combine\(|\bcombine_sums\(|\bRowNumbers\b|\binteger_mean\b")
KERNELS = ROOT / "phi/kernels/cpu"


def test_kernels_that_talk_have_dry_forms():
    talking = [path for path in sorted(KERNELS.rglob("*.cc")) if TALKS.search(path.read_text(encoding="utf-8"))]
    assert len(talking) > 8  # the words are still those of the sources
    silent = [str(path.relative_to(ROOT)) for path in talking
              if "PHI_REGISTER_DRY_KERNEL(" not in path.read_text(encoding="utf-8")]
    assert not silent, f"no PHI_REGISTER_DRY_KERNEL in {silent}"
