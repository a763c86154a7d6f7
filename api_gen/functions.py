"""What generated code calls: shape functions, rules, gradients made of operators, and kernels. Where
it stands is known from the headers that are given, and so is what is not there."""

import re
from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from pathlib import Path

from api_gen.declarations import (Declaration, comments, declared, files, kernel_signatures,
                                  registered_kernels)
from api_gen.errors import SpecError, SpecErrors, Unread, listing, nearest
from api_gen.lower import gradient_op, kernel_view
from api_gen.model import (Attr, BackwardOp, InferMeta, Invoke, Kernel, Literal, Notation, Op, Param,
                           Rule)

SHAPES, RULES = "phi/infermeta/infermeta.h", "distributed/spmd/rules.h"
FACTORS = "distributed/spmd/factors.h"
COMPOSITES = "api/autograd/composite.h"


class Functions:
    """`folders` have the headers of shape functions and rules, `composites` are headers of functions
    that `composite` and `invoke` call, `kernels` have the sources that register kernels, and may have
    generated headers that say what these take; files may stand for folders. What is not given is not checked, and headers that include all others are
    included. `beside`: the folder of headers of operators that are there already, whose names are
    reserved and which `invoke` may call. Headers are included relative to `roots`."""

    def __init__(self, folders: Sequence[Path] = (), composites: Sequence[Path] = (),
                 kernels: Sequence[Path] = (), beside: Sequence[Path] = (), roots: Sequence[Path] = ()):
        self.folders, self.composites, self.kernels, self.beside = folders, composites, kernels, beside
        self.declared = declared(files(folders, ".h"), roots)
        self.there = declared(files(beside, ".h"), roots)
        self.made_of_ops = declared(files(composites, ".h"), roots) | self.there
        self.registered = registered_kernels(kernels)
        self.signatures = kernel_signatures(kernels)

    def comments(self) -> dict[str, str]:
        """The comments of shape functions and rules in their headers."""
        return comments(files(self.folders, ".h"))

    def without_kernels(self) -> "Functions":
        """The same, without looking for kernels."""
        kept = copy(self)
        kept.kernels, kept.signatures = (), {}
        return kept

    def takes_otherwise(self, op: Op) -> bool:
        """Whether the kernel that the op names exists with other parameters."""
        if not op.kernel or not op.kernel.dense or op.missing:
            return False
        signature = self.signatures.get(op.kernel.dense.name)
        return signature is not None and signature != ", ".join(kernel_view(op).types)

    def check(self, ops: Sequence[Op], gradients: Sequence[BackwardOp], unread: Unread = Unread()) -> None:
        """Errors: SpecErrors for functions and kernels that are not there, or take another number of
        arguments. Calls of ops that are `unread` are not checked."""
        made = [gradient_op(gradient) for gradient in gradients]
        callable_ops = {op.name: op for op in (*ops, *made)}
        callable_ops |= {f"{op.name}_": op for op in ops if op.inplace and not op.name.endswith("_")}
        errors = [error for op in (*ops, *made) for error in (
            *self._of_name(op), *self._of_kernel(op), *(self._of_call(op, op.invoke, callable_ops, unread)
                                        if op.invoke and not op.missing else ()))]
        if errors:
            raise SpecErrors(errors)

    def of_shapes(self, ops: Iterable[Op]) -> list[str]:
        return self._headers([op.infer_meta.func for op in ops if op.infer_meta], SHAPES)

    def of_alias_offsets(self, ops: Iterable[Op]) -> list[str]:
        return self._headers([op.kernel.alias_offset for op in ops if op.kernel and op.kernel.alias_offset], SHAPES)

    def of_flops(self, ops: Iterable[Op]) -> list[str]:
        """The headers of functions in `kernel.flops`, in addition to flop_count.h."""
        named = [factor.function for op in ops if op.kernel for factor in op.kernel.flops if factor.function]
        return self._headers(named, SHAPES)

    def of_rules(self, ops: Iterable[Op]) -> list[str]:
        rules = [op.infer_meta.spmd for op in ops if op.infer_meta and op.infer_meta.spmd]
        headers = {FACTORS} if any(isinstance(rule, Notation) for rule in rules) else set()
        named = [rule.func for rule in rules if not isinstance(rule, Notation)]
        return sorted(headers.union(self._headers(named, RULES)))

    def of_calls(self, calls: Sequence[Invoke]) -> list[str]:
        targets = [call.target for call in calls]
        if not (self.composites or self.beside):
            return [COMPOSITES] if any(target.startswith("composite::") for target in targets) else []
        names = [target.rpartition("::")[2] for target in targets]
        # Arguments may be calls of operators too.
        names += [name for call in calls for arg in call.args for name in re.findall(r"(\w+)\s*\(", arg)
                  if name in self.there]
        return sorted({self.made_of_ops[name].header for name in names if name in self.made_of_ops})

    def _headers(self, names: Sequence[str], all_of_them: str) -> list[str]:
        if not self.folders:
            return [all_of_them] if names else []
        return sorted({self.declared[name].header for name in names})

    def _of_name(self, op: Op) -> Iterable[SpecError]:
        for name in (op.name, *([f"{op.name}_"] if op.inplace else [])):
            if name in self.there:
                yield SpecError(op.at, "op", f"the operator '{name}' already exists "
                                f"({self.there[name].header})", "another name is accepted")

    def _of_kernel(self, op: Op) -> Iterable[SpecError]:
        if not op.infer_meta or not op.kernel or op.missing:
            return
        named = (*_named(op.infer_meta), *_alias_offset(op.kernel), *_flops(op.kernel))
        for key, name, params in named if self.folders else ():
            found = self.declared.get(name)
            if not found:
                yield SpecError(op.at, key, f"no header of {_paths(self.folders)} declares '{name}'"
                                f"{nearest(name, self.declared)}", "a function of these headers is accepted")
            elif not found.fits(len(params)):
                yield _count(op, key, name, found, params)
        kernel = op.kernel.dense
        if self.kernels and kernel and kernel.name not in self.registered:
            yield SpecError(op.at, "kernel.func", f"no source below {_paths(self.kernels)} registers the "
                            f"kernel '{kernel.name}'{nearest(kernel.name, self.registered)}",
                            f"'PHI_REGISTER_KERNEL({kernel.name}, CPU, <function>, <types>);' must be "
                            "present")
        elif self.takes_otherwise(op):
            yield SpecError(op.at, "kernel.func", f"the kernel '{kernel.name}' takes "
                            f"({self.signatures[kernel.name]}) and is passed ({', '.join(kernel_view(op).types)})",
                            "its own parameters, or a kernel of another name, are accepted")

    def _of_call(self, op: Op, call: Invoke, ops: Mapping[str, Op], unread: Unread) -> Iterable[SpecError]:
        space, _, name = call.target.rpartition("::")
        key = "composite" if space == "composite" else "invoke"
        callable_here: dict[str, Declaration] = dict(self.made_of_ops)
        if key == "invoke":
            callable_here |= {each: _of_op(other) for each, other in ops.items()}
        found = callable_here.get(name)
        if found and not found.fits(len(call.args)):
            yield _count(op, key, name, found, call.args)
        may_be_there = key == "invoke" and (name in unread or name.removesuffix("_") in unread)
        if not found and not may_be_there and (self.composites or self.beside):
            headers = [*self.composites, *self.beside]
            yield SpecError(op.at, key, f"{_paths(headers)} does not declare '{name}'"
                            f"{', and no op has this name' if key == 'invoke' else ''}"
                            f"{nearest(name, callable_here)}", "an existing name is accepted")


def _paths(paths: Iterable[Path]) -> str:
    return " and ".join(path.as_posix() for path in paths)


def _texts(params: Iterable[Param]) -> list[str]:
    return [param.text if isinstance(param, Literal) else param.name for param in params]


def _of_op(op: Op) -> Declaration:
    """The function that is generated for an op."""
    required = len(op.args)
    for arg in reversed(op.args):
        may_be_left_out = arg.default is not None if isinstance(arg, Attr) else arg.optional
        if not may_be_left_out:
            break
        required -= 1
    return Declaration(str(op.at), (range(required, len(op.args) + 1 + op.selective),))


# Functions by key, with the texts of their arguments.
NamedFunctions = Iterable[tuple[str, str, Sequence[str]]]


def _named(infer_meta: InferMeta) -> NamedFunctions:
    yield "infer_meta.func", infer_meta.func, _texts(infer_meta.params)
    if isinstance(infer_meta.spmd, Rule):
        yield "infer_meta.spmd_rule", infer_meta.spmd.func, _texts(infer_meta.spmd.params)


def _alias_offset(kernel: Kernel) -> NamedFunctions:
    if kernel.alias_offset:
        yield "kernel.alias_offset", kernel.alias_offset, _texts(kernel.params)


def _flops(kernel: Kernel) -> NamedFunctions:
    for factor in kernel.flops:
        if factor.function:
            yield "kernel.flops", factor.function, factor.args


def _count(op: Op, key: str, name: str, found: Declaration, given: Sequence[str]) -> SpecError:
    return SpecError(op.at, key, f"'{name}' of {found.header} takes {found.taken} arguments and is "
                     f"passed {len(given)} ({listing(given)})", "the same number is accepted")
