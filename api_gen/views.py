"""The views of operators that templates read: C++ text ready to insert. lower.py builds them."""

from dataclasses import dataclass, field

from api_gen import cpp
from api_gen.model import TensorArg


@dataclass(frozen=True)
class KernelView:
    name: str
    types: tuple[str, ...]
    parameters: tuple[str, ...] = field(compare=False)  # their names


@dataclass(frozen=True)
class OpDefView:
    name: str
    cpp_name: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    attributes: tuple[tuple[str, str, str], ...]  # name, AttributeKind, whether it decides
    kernel: str
    taken: tuple[int, ...]  # the inputs that are tensor arguments of the kernel
    meta_only: int
    flops: str  # an expression of `shapes`, or nothing

    @property
    def constant(self) -> str:
        """matmul -> kMatmul, sgd_ -> kSgd_"""
        words = "".join(word.capitalize() for word in self.name.split("_"))
        return f"k{words}_" if self.name.endswith("_") else f"k{words}"


@dataclass(frozen=True)
class OutputView:
    name: str
    meta: str
    number: int  # among the outputs
    is_list: bool
    type: str
    made: str  # the expression that makes a new one, on plain tensors
    target: str | None  # the argument that an inplace call writes
    target_arg: TensorArg | None
    after_list: bool  # an output before it is a list
    viewed: TensorArg | None = None  # it is a view of this one
    viewed_slot: str = ""  # of that one among the inputs of a distributed call

    @property
    def decided(self) -> str:
        """The slot of a single output in a decision, which has a slot for each list element."""
        return f"decision.first_slot({self.number})" if self.after_list else str(self.number)

    @property
    def new_distributed(self) -> str:
        if self.is_list:
            return f"new_distributed_list(decision, {self.number})"
        return f"new_distributed(decision, {self.decided})"

    @property
    def check_inplace(self) -> str:
        """The check that the decided result fits into the argument."""
        if self.is_list:
            return f"check_inplace({self.target}, decision, {self.number})"
        return f"check_inplace({self.target}, decision.output({self.decided}).global)"

    @property
    def shown(self) -> str:
        """The variable that holds the output after the call."""
        return self.target or self.name

    @property
    def viewed_local(self) -> str:
        assert self.viewed
        return cpp.local_value(self.viewed)

    @property
    def dense_view(self) -> str:
        assert self.viewed
        return f"shared_view({self.viewed.name}, {self.meta})"

    @property
    def target_local(self) -> str:
        assert self.target_arg
        return cpp.local_value(self.target_arg)

    @property
    def dense_arg(self) -> str:
        written = self.name if self.viewed else self.shown
        return f"dense_out{'s' if self.is_list else ''}({written})"

    @property
    def local_arg(self) -> str:
        return f"local_out{'s' if self.is_list else ''}(decision, {self.name})"


@dataclass(frozen=True)
class Tracked:
    """How a call becomes a node of the tracked program."""

    node: str  # the expression that makes the node
    inputs: tuple[str, ...]  # the tensors that may need a gradient
    outputs: tuple[str, ...]
    overwritten: tuple[tuple[str, str], ...] = ()  # of an inplace call: (argument, value needed)
    before: tuple[tuple[str, str], ...] = ()  # (variable, argument) that an inplace view reshapes


@dataclass(frozen=True)
class AliasArgs:
    """The arguments of `alias_outputs` after op and outputs, which request outputs as aliases of a tensor."""

    dense: tuple[str, ...]
    local: tuple[str, ...]


@dataclass(frozen=True)
class FunctionView:
    """One generated function: it does the op's work, or only evaluates `call`."""

    op: str
    op_def: str
    kernel: str
    name: str
    source: str
    returns: str
    declared: tuple[str, ...]  # parameters with defaults
    defined: tuple[str, ...]
    result: str
    doc: tuple[str, ...]
    namespace: str = ""
    call: str = ""
    bindings: tuple[str, ...] = ()  # of the call's result, where several are returned
    outputs: tuple[OutputView, ...] = ()
    tensors: tuple[str, ...] = ()
    dense_infer: str = ""
    attrs: tuple[str, ...] = ()
    called: str = ""
    place: str = ""
    place_name: str = ""  # of a variable for the place, where it is needed more than once
    dtype: str = ""
    dense_args: tuple[str, ...] = ()
    local_args: tuple[str, ...] = ()
    needs_local: bool = True  # the kernel reads some tensor, or the buffer of one is used again
    view_of: TensorArg | None = None  # the only output shares its bytes, nothing is launched
    launches: bool = True
    noted: tuple[str, ...] = ()  # arguments that the kernel writes to through a view
    alias_args: AliasArgs | None = None  # the outputs may be parts of the kernel's tensor that are not copied
    data_dependent: bool = False
    selective: bool = False  # the parameter `wanted` says which outputs to make
    tracked: Tracked | None = None
    draws: tuple[str, ...] = ()  # statements that draw what the caller left to the rank's generator

    @property
    def made(self) -> tuple[OutputView, ...]:
        """Outputs that are new tensors."""
        return tuple(o for o in self.outputs if o.target is None)

    @property
    def written(self) -> tuple[OutputView, ...]:
        """Outputs that an inplace call writes to arguments."""
        return tuple(o for o in self.outputs if o.target is not None)

    @property
    def views(self) -> tuple[OutputView, ...]:
        """Outputs that share an argument's bytes, next to others that a kernel computes."""
        return () if self.view_of else tuple(o for o in self.outputs if o.viewed)


@dataclass(frozen=True)
class NamedCallView:
    """The call of a function whose arguments are known only at run time."""

    name: str
    call: str
