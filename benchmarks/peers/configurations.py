"""Runs of both frameworks, the pairs that are compared, and goals."""

from dataclasses import dataclass

AUTOPHI = "autophi"
PYTORCH = "pytorch"
MICRO_BATCHES = 4  # of a pipeline


@dataclass(frozen=True)
class Configuration:
    """One way to train the reference GPT. Two processes have one thread each."""

    framework: str
    name: str
    dtype: str = "float32"  # PyTorch's bfloat16 is autocast; both keep float32 master weights
    layout: str = "single"  # single | dp | tp | pp
    threads: int = 1
    compiled: bool = False

    @property
    def processes(self) -> int:
        return 1 if self.layout == "single" else 2

    @property
    def cores(self) -> int:
        return self.processes * self.threads

    @property
    def micro_batches(self) -> int:
        return MICRO_BATCHES if self.layout == "pp" else 1


@dataclass(frozen=True)
class Comparison:
    """Ours compared with the fastest of `others`. A goal of None: the ratio is shown for information."""

    name: str
    ours: Configuration
    others: tuple[Configuration, ...]
    speed_goal: float | None = None  # at least this many times the other's tokens/s
    memory_goal: float | None = None  # at most this many times the other's peak memory


def _ours(dtype: str, layout: str) -> Configuration:
    suffix = "" if layout == "single" else f" {layout}2"
    return Configuration(AUTOPHI, f"{dtype}{suffix}", dtype, layout)


def _torch(name: str, **fields) -> Configuration:
    return Configuration(PYTORCH, name, **fields)


EAGER = _torch("eager")
EAGER_TWO_THREADS = _torch("eager, 2 threads", threads=2)
COMPILED = _torch("torch.compile", compiled=True)
DDP = _torch("DDP", layout="dp")
TENSOR_PARALLEL = _torch("DTensor tp", layout="tp")
PIPELINE = _torch("1F1B pp", layout="pp")
AUTOCAST = _torch("autocast", dtype="bfloat16")
COMPILED_AUTOCAST = _torch("torch.compile autocast", dtype="bfloat16", compiled=True)
DDP_AUTOCAST = _torch("DDP autocast", dtype="bfloat16", layout="dp")
TENSOR_PARALLEL_AUTOCAST = _torch("DTensor tp autocast", dtype="bfloat16", layout="tp")
PIPELINE_AUTOCAST = _torch("1F1B pp autocast", dtype="bfloat16", layout="pp")

FLOAT32, FLOAT32_DP, FLOAT32_TP, FLOAT32_PP = (
    _ours("float32", layout) for layout in ("single", "dp", "tp", "pp"))
BFLOAT16, BFLOAT16_DP, BFLOAT16_TP, BFLOAT16_PP = (
    _ours("bfloat16", layout) for layout in ("single", "dp", "tp", "pp"))

MEMORY_GOAL = 0.6

COMPARISONS = (
    Comparison("float32", FLOAT32, (EAGER,), 1.15, MEMORY_GOAL),
    Comparison("float32/compile", FLOAT32, (COMPILED,)),
    Comparison("float32-dp2/best", FLOAT32_DP, (EAGER_TWO_THREADS, DDP, TENSOR_PARALLEL, PIPELINE),
               1.15),
    Comparison("float32-dp2", FLOAT32_DP, (DDP,), None, MEMORY_GOAL),
    Comparison("float32-tp2", FLOAT32_TP, (TENSOR_PARALLEL,), 1.3, MEMORY_GOAL),
    Comparison("float32-pp2", FLOAT32_PP, (PIPELINE,), 1.3, MEMORY_GOAL),
    Comparison("bfloat16", BFLOAT16, (AUTOCAST,), 1.3, MEMORY_GOAL),
    Comparison("bfloat16/compile", BFLOAT16, (COMPILED_AUTOCAST,)),
    Comparison("bfloat16/float32", BFLOAT16, (FLOAT32,), 3.0),
    Comparison("bfloat16-dp2", BFLOAT16_DP, (DDP_AUTOCAST,), 1.3, MEMORY_GOAL),
    Comparison("bfloat16-tp2", BFLOAT16_TP, (TENSOR_PARALLEL_AUTOCAST,), 1.3, MEMORY_GOAL),
    Comparison("bfloat16-pp2", BFLOAT16_PP, (PIPELINE_AUTOCAST,), 1.3, MEMORY_GOAL),
)


def select(pattern: str) -> tuple[Comparison, ...]:
    """The comparisons named in a comma-separated list; `NAME*` selects all with this prefix. All if empty.

    Raises ValueError with the word that matches none.
    """
    if not pattern:
        return COMPARISONS
    words = [word.strip() for word in pattern.split(",")]
    chosen = set()
    for word in words:
        begins = word.endswith("*")
        found = {c.name for c in COMPARISONS
                 if c.name == word or (begins and c.name.startswith(word[:-1]))}
        if not found:
            known = ", ".join(c.name for c in COMPARISONS)
            raise ValueError(f"--only: no comparison '{word}'; known are {known} (NAME* for all "
                             "with this prefix)")
        chosen |= found
    return tuple(c for c in COMPARISONS if c.name in chosen)


def runs_of(comparisons) -> list[Configuration]:
    """Each configuration once, ours next to its peer."""
    return list(dict.fromkeys(run for c in comparisons for run in (c.ours, *c.others)))
