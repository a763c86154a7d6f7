"""The model of an operator, independent of YAML and C++: frozen, and checked on construction.

Names, kinds and sources only; the C++ spellings are lower.py's. Defaults are the exception: the
format defines them as C++ expressions, copied to the declaration.
"""

from dataclasses import dataclass, replace
from enum import Enum

from api_gen.errors import Location, SpecError


class AttrType(Enum):
    """Types of attributes, by their spelling in the YAML."""

    INT = "int"
    INT64 = "int64_t"
    SIZE = "size_t"
    BOOL = "bool"
    FLOAT = "float"
    DOUBLE = "double"
    STR = "str"
    INTS = "int[]"
    INT64S = "int64_t[]"
    FLOATS = "float[]"
    DOUBLES = "double[]"
    BOOLS = "bool[]"
    STRS = "str[]"
    INT_ARRAY = "IntArray"
    SCALAR = "Scalar"
    SCALARS = "Scalar[]"
    DATA_TYPE = "DataType"
    DATA_LAYOUT = "DataLayout"
    PLACE = "Place"


@dataclass(frozen=True)
class TensorArg:
    name: str
    index: int  # among the op's tensor arguments
    is_list: bool = False
    optional: bool = False


@dataclass(frozen=True)
class Attr:
    name: str
    type: AttrType
    default: str | None = None
    static_type: str | None = None  # the T of Scalar(T)
    optional: bool = False
    is_drawn: bool = False  # a seed: where it is left out the rank's generator gives one

    @property
    def given(self) -> "Attr":
        """The attribute as kernels and gradients accept it, with a known seed."""
        return replace(self, optional=False) if self.is_drawn else self


@dataclass(frozen=True)
class Literal:
    """A value written into a `param` list."""

    text: str
    type: AttrType


Param = TensorArg | Attr | Literal


@dataclass(frozen=True)
class Output:
    name: str
    is_list: bool = False
    size: str | None = None  # how many tensors a list has, over the arguments
    optional: bool = False
    intermediate: bool = False


@dataclass(frozen=True)
class Rule:
    """A named placement rule and its arguments."""

    func: str
    params: tuple[Param, ...]


@dataclass(frozen=True)
class Term:
    """The factors of one tensor's dims, a letter each; `batch`: any leading dims before them; `whole`:
    an attribute that names dims, or one dim, which are never split."""

    letters: str
    batch: bool = False
    whole: str = ""


@dataclass(frozen=True)
class Notation:
    """A placement rule declared in the entry: "... m k, ... k n -> ... m n"."""

    text: str
    inputs: tuple[Term, ...]
    outputs: tuple[Term, ...]


@dataclass(frozen=True)
class Propagation:
    """How an output depends on inputs that may be partial (api/rules/partial_propagation.h)."""

    kind: str  # a LAW_KINDS of grammar.py, "term" or "constant"
    output: str  # empty: every output
    tensors: tuple[str, ...] = ()
    product_of: str = ""  # of a term: a list whose elements are multiplied
    attribute: str = ""  # of a constant: it is none where this is 0; empty: always one


@dataclass(frozen=True)
class Partial:
    text: str
    propagations: tuple[Propagation, ...]


@dataclass(frozen=True)
class InferMeta:
    func: str
    params: tuple[Param, ...]
    spmd: Rule | Notation | None = None
    partial: Partial | None = None


@dataclass(frozen=True)
class KernelAlternative:
    """One kernel of an op; without types (the usual case) it accepts dense tensors."""

    name: str
    inputs: tuple[str, ...] | None = None
    outputs: tuple[str, ...] | None = None

    @property
    def is_dense(self) -> bool:
        return all(kind == "dense" for kind in (self.inputs or ()) + (self.outputs or ()))


@dataclass(frozen=True)
class Source:
    """The source of a kernel's dtype or place: the first of these that is set."""

    attr: Attr | None = None
    tensors: tuple[TensorArg, ...] = ()
    literal: str | None = None
    complex_of: bool = False

    def __post_init__(self) -> None:
        assert self.attr or self.tensors or self.literal


@dataclass(frozen=True)
class Factor:
    """A factor of a work estimate: a number, a tensor's elements, one of its extents, or a call of a
    function with tensors and attributes of the kernel."""

    divides: bool
    number: str = ""
    tensor: str = ""
    dim: int | None = None
    function: str = ""
    args: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """The tensors and attributes on which it depends."""
        return (self.tensor,) if self.tensor else self.args


@dataclass(frozen=True)
class Kernel:
    alternatives: tuple[KernelAlternative, ...]
    params: tuple[Param, ...]
    data_type: Source | None = None
    backend: Source | None = None
    flops: tuple[Factor, ...] = ()
    alias_offset: str | None = None  # the function that says where the outputs lie in the first parameter

    @property
    def dense(self) -> KernelAlternative | None:
        return next((a for a in self.alternatives if a.is_dense), None)


@dataclass(frozen=True)
class Alias:
    """`input -> output` of inplace and view."""

    input: str
    output: str


@dataclass(frozen=True)
class Invoke:
    """The op is a call of another one; the arguments are C++ expressions."""

    target: str
    args: tuple[str, ...]


@dataclass(frozen=True)
class Op:
    name: str
    at: Location
    tensors: tuple[TensorArg, ...]
    attrs: tuple[Attr, ...]
    outputs: tuple[Output, ...]
    infer_meta: InferMeta | None = None
    kernel: Kernel | None = None
    invoke: Invoke | None = None
    inplace: tuple[Alias, ...] = ()
    view: tuple[Alias, ...] = ()
    no_need_buffer: tuple[str, ...] = ()
    data_dependent: bool = False
    backward: str | None = None
    selective: bool = False  # a gradient: callers say which outputs they want
    missing: str = ""  # why it is declared only: calls are errors
    without_effect: tuple[tuple[str, str], ...] = ()  # keys that are given, and why they have none
    lacks: tuple[SpecError, ...] = ()  # what code would need: without it the function can be declared only

    def __post_init__(self) -> None:
        assert self.lacks or (self.invoke is None) == (self.infer_meta is not None)
        assert self.lacks or (self.kernel is None) == (self.infer_meta is None)
        assert [t.index for t in self.tensors] == list(range(len(self.tensors)))

    @property
    def args(self) -> tuple[TensorArg | Attr, ...]:
        return self.tensors + self.attrs

    @property
    def kept_views(self) -> tuple[Alias, ...]:
        """Views that only show what the input has: those of an op that makes nothing else, and those
        whose input an inplace call of the op changes, which this one therefore does not."""
        if len(self.view) == len(self.outputs):
            return self.view
        return tuple(alias for alias in self.view if alias in self.inplace)

    @property
    def written_views(self) -> tuple[Alias, ...]:
        """Views that the kernel writes to, and so to the input: state such as running means."""
        return tuple(alias for alias in self.view if alias not in self.kept_views)

    @property
    def made_by_kernel(self) -> tuple[Output, ...]:
        """What the kernel writes to. One that is never launched takes all outputs."""
        kept = [alias.output for alias in self.kept_views] if self.launches else []
        return tuple(output for output in self.outputs if output.name not in kept)

    @property
    def launches(self) -> bool:
        return len(self.view) < len(self.outputs)

    @property
    def visible_outputs(self) -> tuple[Output, ...]:
        return tuple(o for o in self.outputs if not o.intermediate)


@dataclass(frozen=True)
class Signature:
    """`name (args) -> outputs` of the op that a backward entry differentiates."""

    name: str
    tensors: tuple[TensorArg, ...]
    attrs: tuple[Attr, ...]
    outputs: tuple[Output, ...]


@dataclass(frozen=True)
class BackwardOp:
    name: str
    at: Location
    forward: Signature
    tensors: tuple[TensorArg, ...]
    attrs: tuple[Attr, ...]
    outputs: tuple[Output, ...]
    infer_meta: InferMeta | None = None
    kernel: Kernel | None = None
    invoke: Invoke | None = None
    composite: Invoke | None = None
    no_need_buffer: tuple[str, ...] = ()
    backward: str | None = None
    missing: str = ""  # as Op.missing
    without_effect: tuple[tuple[str, str], ...] = ()
    lacks: tuple[SpecError, ...] = ()  # as Op.lacks

    @property
    def selective(self) -> bool:
        """Callers select the outputs that they need."""
        return len(self.outputs) > 1

    @property
    def operator(self) -> Op | None:
        """The operator that computes this gradient; None if other operators do."""
        if not self.kernel or not self.infer_meta:
            return None
        return Op(name=self.name, at=self.at, tensors=self.tensors, attrs=self.attrs,
                  outputs=self.outputs, infer_meta=self.infer_meta, kernel=self.kernel,
                  no_need_buffer=self.no_need_buffer, backward=self.backward,
                  selective=self.selective, missing=self.missing, lacks=self.lacks)
