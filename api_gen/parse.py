"""YAML text to operators.

    ops = parse_ops([("yaml/ops/unary.yaml", text)])

Every error names file, line, op and key, what is wrong and what is accepted. Faults are collected and
raised together; likely consequences of another fault of the entry are left out.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import TypeVar

from api_gen import effects, grammar
from api_gen.document import Entry, Value, read_entries
from api_gen.errors import Consequence, SpecError, SpecErrors, closest, gather, listing, nearest
from api_gen.model import (Alias, Attr, AttrType, Factor, InferMeta, Invoke, Kernel, KernelAlternative, Propagation,
                           Literal, Notation, Op, Output, Param, Partial, Rule, Source, TensorArg)

# Keys of Paddle's format that other generators read.
IGNORED = ("interfaces", "traits", "support_dygraph_mode")
OP_KEYS = ("op", "args", "output", "infer_meta", "kernel", "invoke", "inplace", "view", "optional",
           "intermediate", "no_need_buffer", "data_transform", "backward", "spmd", "partial",
           "data_dependent", *IGNORED)
INFER_META_KEYS = ("func", "param", "spmd_rule", "spmd_param", "local_shape", "global_shape")
KERNEL_KEYS = ("func", "param", "data_type", "backend", "layout", "flops", "alias_offset")
# Of attributes that may be added.
_NUMBERS = (AttrType.INT, AttrType.INT64, AttrType.FLOAT, AttrType.DOUBLE, AttrType.SCALAR)
# Of attributes that name dims.
_AXES = (AttrType.INT, AttrType.INT64, AttrType.INTS, AttrType.INT64S, AttrType.INT_ARRAY, AttrType.SCALAR)
TRANSFORM_KEYS = ("skip_transform", "support_trans_dtype")

T = TypeVar("T")
S = TypeVar("S")


class Reader:
    """Reads the values of one entry, and converts errors of the grammars to located errors.

    `faults`: of the parts that could not be read. `lacks`: what the entry would need for code to be
    generated; its function can be declared without it. `unsure`: arguments and outputs could not be read, so
    other values cannot be compared with them."""

    def __init__(self, entry: Entry, keys: Sequence[str], is_gradient: bool = False):
        self.entry = entry
        self.read_keys: set[str] = set()
        self.is_gradient = is_gradient
        self.faults: list[SpecError] = list(entry.faults)
        self.lacks: list[SpecError] = []
        self.unsure = False
        self.refused: set[str] = set()  # keys that are not read: the entry may not have them
        self.misspelt: set[str] = set()  # keys of the format that unknown ones are like
        for key in entry.values:
            gather(lambda: self._check_key(key, keys, key), self.faults)

    def attempt(self, reads: Callable[[], T], default: S) -> T | S:
        """Returns the result of `reads`, or `default` if it fails; the fault is then noted."""
        try:
            return reads()
        except SpecError as error:
            found = [error]
        except SpecErrors as several:
            found = several.errors
        self.faults += [fault for fault in found if not isinstance(fault, Consequence)]
        return default

    def each(self, items: Iterable[T], reads: Callable[[T], S]) -> tuple[S, ...]:
        """Errors: SpecErrors of all items together."""
        results: list[S] = []
        faults: list[SpecError] = []
        for item in items:
            gather(lambda: results.append(reads(item)), faults)
        if faults:
            raise SpecErrors(faults)
        return tuple(results)

    def finish(self) -> None:
        """Errors: SpecErrors, if a part of the entry could not be read."""
        if self.faults:
            raise SpecErrors(sorted(self.faults, key=lambda fault: fault.line))

    def _check_key(self, key: str, keys: Sequence[str], full: str) -> None:
        if key not in keys:
            self.misspelt.add(full.removesuffix(key) + closest(key, keys))
            raise self.entry.error(full, f"unknown key{nearest(key, keys)}",
                                   f"accepted are {listing(keys)}")

    def error(self, key: str, wrong: str, accepted: str) -> SpecError:
        """A fault of a value that contradicts other values of the entry."""
        error = self.entry.error(key, wrong, accepted)
        return Consequence(error.at, key, wrong, accepted) if self.unsure else error

    def lack(self, key: str, wrong: str, accepted: str) -> None:
        if not self.unsure:
            self.lacks.append(self.entry.error(key, wrong, accepted))

    def has(self, key: str) -> bool:
        """Whether the entry has the key; it does not count as read."""
        return self._given(key) is not None

    def value(self, key: str) -> Value | None:
        self.read_keys.add(key)
        return self._given(key)

    def _given(self, key: str) -> Value | None:
        name, _, sub = key.partition(".")
        value = self.entry.values.get(name)
        if value is None or not sub:
            return value
        return dict(value.map or ()).get(sub)

    def submap(self, key: str, keys: Sequence[str]) -> bool:
        """Whether `key` is present; checks that it is a map of the given keys."""
        value = self.value(key)
        if value is None:
            return False
        if value.map is None:
            raise self.entry.error(key, "the value is not a map", f"a map of {listing(keys)} is accepted")
        for sub, _ in value.map:
            gather(lambda: self._check_key(sub, keys, f"{key}.{sub}"), self.faults)
        return True

    def check_all_read(self) -> tuple[tuple[str, str], ...]:
        """The present keys without effect, and why. Error: a present key that was not read and is not
        known to have no effect."""
        body = next((body for body in ("kernel", "invoke", "composite") if self.has(body)), None)
        if body is None:
            return ()
        wrong = self.refused | {fault.key.partition(".")[0] for fault in self.faults}
        ineffective = effects.of_entry(self.is_gradient, body)
        given = [full for key, value in self.entry.values.items()
                 for full in ([f"{key}.{sub}" for sub, _ in value.map] if value.map else [key])]
        for key in given:
            if key not in self.read_keys and key not in ineffective and key.partition(".")[0] not in wrong:
                self.faults.append(self.entry.error(key, f"it is not read in an entry with '{body}'",
                                                    "leaving it out is accepted"))
        return tuple((key, ineffective[key]) for key in given if key in ineffective)

    def text(self, key: str) -> str | None:
        value = self.value(key)
        if value is None:
            return None
        if value.text is None:
            raise self.entry.error(key, "the value is a list or a map", "one line of text is accepted")
        if not value.text and not value.quoted:
            raise self.entry.error(key, "the value is empty",
                                   "a value, or leaving the key out, is accepted")
        return value.text

    def read(self, key: str, grammar_of: Callable[[str], T], default: T) -> T:
        text = self.text(key)
        return default if text is None else self.guard(key, lambda: grammar_of(text))

    def guard(self, key: str, reads: Callable[[], T]) -> T:
        try:
            return reads()
        except grammar.Bad as bad:
            raise SpecErrors([self.entry.error(key, *fault) for fault in bad.faults]) from None

    def require(self, key: str, form: str) -> str:
        text = self.text(key)
        if text is None:
            kind = Consequence if key in self.misspelt else SpecError
            raise kind(self.entry.at, key.split(".")[0], f"'{key}' is missing", f"{form} must be present")
        return text

    def flag(self, key: str) -> bool:
        text = self.text(key)
        if text not in (None, "true", "false"):
            raise self.entry.error(key, f"'{text}' is neither true nor false",
                                   "true or false is accepted")
        return text == "true"

    def known(self, key: str, name: str, names: Iterable[str], what: str) -> str:
        names = list(names)
        if name not in names:
            raise self.error(key, f"unknown {what} '{name}'{nearest(name, names)}",
                             f"accepted are {listing(names)}")
        return name

    def known_names(self, key: str, names: Iterable[str], what: str) -> tuple[str, ...]:
        names = list(names)
        return self.each(self.read(key, grammar.names, ()), lambda n: self.known(key, n, names, what))


Arg = TensorArg | Attr


def read_args(reader: Reader) -> grammar.Arguments:
    reader.require("args", "'(type name, ...)'")
    return reader.read("args", grammar.arguments, grammar.Arguments((), ()))


def read_outputs(reader: Reader) -> tuple[Output, ...]:
    form = "'Tensor' or 'Tensor(name), ...'"
    value = reader.value("output")
    if value and value.text == "" and not value.quoted:
        reader.lack("output", "there is no output", f"{form} must be present")
        return ()
    reader.require("output", form)
    return reader.read("output", grammar.outputs, ())


def read_signature(reader: Reader, sized: bool) -> tuple[grammar.Arguments, tuple[Output, ...]]:
    """Arguments and outputs. `sized`: a list must have a size."""
    args = reader.attempt(lambda: read_args(reader), None)
    outputs = reader.attempt(lambda: read_outputs(reader), None)
    reader.unsure = args is None or outputs is None
    args, outputs = args or grammar.Arguments((), ()), outputs or ()
    for output in outputs:
        if sized and output.is_list and not output.size:
            reader.lack("output", f"the list '{output.name}' has no size",
                        "'Tensor[](name){size}', size over the arguments, is accepted")
    reader.attempt(lambda: check_sizes(reader, args, outputs), None)
    return reader.attempt(lambda: read_optional(reader, args, outputs), (args, outputs))


def read_params(reader: Reader, key: str, args: Sequence[Arg]) -> tuple[Param, ...]:
    """A `param` list; all tensors, then all attributes, where it is left out."""
    value = reader.value(key)
    if value is None:
        return tuple(args)
    if value.items is None:
        raise reader.entry.error(key, "the value is not a list", "a list of arguments is accepted")
    return reader.each(value.items, lambda item: _param(reader, key, item, args))


def _param(reader: Reader, key: str, item: Value, args: Sequence[Arg]) -> Param:
    text = item.text
    if text is None:
        raise reader.entry.error(key, "an item is a list or a map", "names and plain values are accepted")
    if item.quoted:
        return Literal(f'"{text}"', AttrType.STR)
    for arg in args:
        if arg.name == text:
            return arg
    if text in ("true", "false"):
        return Literal(text, AttrType.BOOL)
    if re.match(r"[-+]?\d+\Z", text):
        return Literal(text, AttrType.INT)
    if re.match(r"[-+]?(\d+\.\d*|\.\d+|\d+)([eE][-+]?\d+)?f?\Z", text):
        return Literal(text, AttrType.FLOAT)
    if text.startswith("DataType::"):
        return Literal(text, AttrType.DATA_TYPE)
    reader.known(key, text, [arg.name for arg in args], "argument")
    raise AssertionError


def read_infer_meta(reader: Reader, args: Sequence[Arg],
                    outputs: Sequence[Output]) -> InferMeta | None:
    if not reader.submap("infer_meta", INFER_META_KEYS):
        return None
    func = reader.attempt(lambda: _shape_function(reader), "")
    params = reader.attempt(lambda: read_params(reader, "infer_meta.param", args), tuple(args))
    for key in ("infer_meta.local_shape", "infer_meta.global_shape"):
        reader.attempt(lambda: _check_output(reader, key, outputs), None)
    return InferMeta(func, params, reader.attempt(lambda: _read_spmd(reader, args, params, outputs), None),
                     reader.attempt(lambda: _read_partial(reader, args, outputs), None))


def _shape_function(reader: Reader) -> str:
    func = reader.require("infer_meta.func", "the shape function's name")
    if not re.match(r"[A-Za-z_]\w*(::\w+)*\Z", func):
        raise reader.entry.error("infer_meta.func", f"'{func}' is not a function",
                                 "a name such as MatmulInferMeta is accepted")
    return func


def _check_output(reader: Reader, key: str, outputs: Sequence[Output]) -> None:
    name = reader.text(key)
    if name is not None:
        reader.known(key, name, [output.name for output in outputs], "output")


def _read_partial(reader: Reader, args: Sequence[Arg], outputs: Sequence[Output]) -> Partial | None:
    partial = reader.read("partial", grammar.partial, None)
    if partial is None:
        return None
    propagations = reader.each(partial.propagations, lambda propagation: _propagation(reader, propagation, args, outputs))
    return replace(partial, propagations=propagations)


def _propagation(reader: Reader, propagation: Propagation, args: Sequence[Arg], outputs: Sequence[Output]) -> Propagation:
    """The propagation with resolved names; a term that is an attribute is a constant."""
    if propagation.output:
        reader.known("partial", propagation.output, [output.name for output in outputs], "output")
    by_name = {arg.name: arg for arg in args}
    for name in propagation.tensors:
        arg = by_name[reader.known("partial", name, by_name, "argument")]
        if isinstance(arg, Attr):
            if propagation.kind != "term" or len(propagation.tensors) > 1 or arg.type not in _NUMBERS:
                raise reader.error("partial", f"'{name}' is an attribute",
                                   "a number that is a separate summand is accepted")
            return Propagation("constant", propagation.output, attribute=name)
        if arg.is_list and propagation.kind == "term" and propagation.product_of != name and len(propagation.tensors) > 1:
            raise reader.error("partial", f"'{name}' is a list and a factor",
                               "'prod' in front of it, or a separate summand, is accepted")
        if not arg.is_list and (propagation.product_of == name or propagation.kind == "each"):
            raise reader.error("partial", f"'{name}' is not a list", "a list is accepted")
    return propagation


def _read_spmd(reader: Reader, args: Sequence[Arg], params: tuple[Param, ...],
               outputs: Sequence[Output]) -> Rule | Notation | None:
    rule, notation = reader.text("infer_meta.spmd_rule"), reader.text("spmd")
    if rule and notation:
        raise reader.error("spmd", "infer_meta.spmd_rule is present too",
                           "one of the two is accepted")
    if not rule:
        if reader.has("infer_meta.spmd_param"):
            raise reader.error("infer_meta.spmd_param", "there is no infer_meta.spmd_rule",
                               "it lists the arguments of a rule")
        return _notation(reader, notation, args, outputs) if notation else None
    key = "infer_meta.spmd_param" if reader.has("infer_meta.spmd_param") else "infer_meta.param"
    rule_params = read_params(reader, key, args) if reader.has(key) else params
    return Rule(rule, rule_params)


def _notation(reader: Reader, text: str, args: Sequence[Arg],
              outputs: Sequence[Output]) -> Notation:
    notation = reader.guard("spmd", lambda: grammar.notation(text))
    tensors = [arg for arg in args if isinstance(arg, TensorArg)]
    said, there = (len(notation.inputs), len(notation.outputs)), (len(tensors), len(outputs))
    if said != there:
        raise reader.error("spmd", f"it names {said[0]} inputs and {said[1]} outputs, the op "
                           f"has {there[0]} and {there[1]}",
                           "one group of factors per tensor is accepted")
    for tensor in (*tensors, *outputs):
        if tensor.is_list or tensor.optional:
            raise reader.error("spmd", f"'{tensor.name}' is a list or optional",
                               "an op like this needs spmd_rule")
    attrs = {arg.name: arg for arg in args if isinstance(arg, Attr)}
    for term in notation.inputs:
        if term.whole and attrs[reader.known("spmd", term.whole, attrs, "attribute")].type not in _AXES:
            raise reader.error("spmd", f"attribute '{term.whole}' is not an axis",
                               f"a type of {listing(kind.value for kind in _AXES)} is accepted")
        if term.whole and attrs[term.whole].optional:
            raise reader.error("spmd", f"attribute '{term.whole}' is optional",
                               "an op like this needs spmd_rule")
    return notation


def read_kernel(reader: Reader, args: Sequence[Arg], outputs: Sequence[Output]) -> Kernel | None:
    if not reader.submap("kernel", KERNEL_KEYS):
        return None
    reader.attempt(lambda: reader.require("kernel.func", "the kernel's name"), None)
    alternatives = reader.attempt(lambda: reader.read("kernel.func", grammar.kernels, ()), ())
    params = reader.attempt(lambda: read_params(reader, "kernel.param", args), None)
    if params is None:
        params, alternatives = tuple(args), ()  # whose types are not known to be as many
    reader.attempt(lambda: _check_alternatives(reader, alternatives, params, outputs), None)
    sources = [reader.attempt(lambda: _source(reader, key, kind, args), None)
               for key, kind in (("layout", AttrType.DATA_LAYOUT), ("data_type", AttrType.DATA_TYPE),
                                 ("backend", AttrType.PLACE))]
    return Kernel(alternatives, params, *sources[1:],
                  reader.attempt(lambda: _flops(reader, params, outputs), ()),
                  reader.attempt(lambda: _alias_offset(reader, params, outputs), None))


def _check_alternatives(reader: Reader, alternatives: Sequence[KernelAlternative], params: Sequence[Param],
                        outputs: Sequence[Output]) -> None:
    inputs = sum(isinstance(param, TensorArg) for param in params)
    for kernel in alternatives:
        if kernel.inputs is not None and len(kernel.inputs) != inputs:
            raise reader.error("kernel.func", f"'{kernel.name}' has {len(kernel.inputs)} input "
                               f"types, its parameters hold {inputs} tensors",
                               "one type per tensor is accepted")
        if kernel.outputs is not None and len(kernel.outputs) != len(outputs):
            raise reader.error("kernel.func", f"'{kernel.name}' has {len(kernel.outputs)} output "
                               f"types, the op has {len(outputs)} outputs",
                               "one type per output is accepted")


def _alias_offset(reader: Reader, params: Sequence[Param], outputs: Sequence[Output]) -> str | None:
    """The only output, or the elements of the only list, are parts of the kernel's first tensor."""
    function = reader.read("kernel.alias_offset", lambda text: grammar.check_name(text, "a function"), None)
    if function is None:
        return None
    aliased, *others = params or [None]
    is_single = isinstance(aliased, TensorArg) and not aliased.optional and not aliased.is_list
    if not is_single or any(isinstance(other, TensorArg) for other in others):
        raise reader.error("kernel.alias_offset", "the kernel does not take one tensor, first",
                           "one that is always present shares its bytes")
    if len(outputs) != 1:
        raise reader.error("kernel.alias_offset", f"there are {len(outputs)} outputs",
                           "one output, or one list, is accepted")
    for key in ("inplace", "view", "data_dependent"):
        if reader.has(key) and not reader.is_gradient:
            raise reader.error("kernel.alias_offset", f"the op has '{key}' too",
                               "a new output of a known shape is accepted")
    return function


def _flops(reader: Reader, params: Sequence[Param], outputs: Sequence[Output]) -> tuple[Factor, ...]:
    """It names tensors that the kernel reads or writes, and its attributes; factors are single tensors."""
    arguments = [x for x in (*params, *outputs) if not isinstance(x, Literal)]
    names = [x.name for x in arguments]
    single = [x.name for x in arguments if isinstance(x, (TensorArg, Output)) and not x.is_list]
    factors = reader.read("kernel.flops", grammar.flops, ())
    for factor in factors:
        if factor.tensor:
            reader.known("kernel.flops", factor.tensor, single, "tensor of the kernel")
        for arg in factor.args:
            reader.known("kernel.flops", arg, names, "argument of the kernel")
    return factors


def _source(reader: Reader, sub: str, kind: AttrType, args: Sequence[Arg]) -> Source | None:
    """`x`, `dtype`, `dtype > x`, `x, y`, `complex(x)` or `DataType::FLOAT32`."""
    key = f"kernel.{sub}"
    text = reader.text(key)
    if text is None:
        attrs = [a.name for a in args if isinstance(a, Attr) and a.type is kind]
        if attrs:
            raise reader.error("kernel", f"attribute '{attrs[0]}' is a {kind.value} but '{key}' is "
                               "missing", f"'{sub}: {attrs[0]}' or '{sub}: <tensor>' must be present")
        return None
    if sub == "data_type" and text.startswith("DataType::"):
        if text[10:] not in grammar.DATA_TYPES:
            raise reader.error(key, f"unknown data type '{text}'",
                               "DataType::FLOAT32 etc. are accepted")
        return Source(literal=text)
    by_name = {arg.name: arg for arg in args}
    wrapped = re.match(r"complex\(\s*(\w+)\s*\)\Z", text) if sub == "data_type" else None
    if wrapped:
        return Source(tensors=(_tensor(reader, key, wrapped[1], by_name),), complex_of=True)
    first, has_more, rest = (part.strip() for part in text.partition(">"))
    if has_more:
        attr = by_name.get(reader.known(key, first, by_name, "argument"))
        if not isinstance(attr, Attr) or attr.type is not kind:
            raise reader.error(key, f"'{first}' before '>' is not a {kind.value} attribute",
                               "'attribute > tensor' is accepted")
        return Source(attr=attr, tensors=_tensors(reader, key, rest, by_name) if rest else ())
    only = by_name.get(text)
    if isinstance(only, Attr):
        if only.type is not kind:
            raise reader.error(key, f"'{text}' is an attribute of type {only.type.value}",
                               f"a tensor or a {kind.value} attribute is accepted")
        return Source(attr=only)
    if only is None and grammar.IDENTIFIER.match(text):
        # A call of a function that another project has.
        reader.lack(key, f"unknown argument '{text}'{nearest(text, by_name)}", f"accepted are {listing(by_name)}")
        return None
    return Source(tensors=_tensors(reader, key, text, by_name))


def _tensor(reader: Reader, key: str, name: str, by_name: dict[str, Arg]) -> TensorArg:
    arg = by_name[reader.known(key, name, by_name, "argument")]
    if not isinstance(arg, TensorArg):
        raise reader.error(key, f"'{name}' is not a tensor", "a tensor is accepted here")
    return arg


def _tensors(reader: Reader, key: str, text: str, by_name: dict[str, Arg]) -> tuple[TensorArg, ...]:
    return tuple(_tensor(reader, key, name, by_name) for name in grammar.split_top(text))


def read_aliases(reader: Reader, key: str, tensors: Sequence[TensorArg],
                 outputs: Sequence[Output]) -> tuple[Alias, ...]:
    aliases = reader.read(key, grammar.aliases, ())

    def check(alias: Alias) -> None:
        reader.known(key, alias.input, [t.name for t in tensors], "tensor")
        reader.known(key, alias.output, [o.name for o in outputs], "output")
        source = next(t for t in tensors if t.name == alias.input)
        target = next(o for o in outputs if o.name == alias.output)
        if source.is_list != target.is_list:
            raise reader.error(key, f"one of '{alias.input}' and '{alias.output}' is a list",
                               "both or none are accepted")

    reader.each(aliases, check)
    return aliases


def read_call(reader: Reader, key: str, names: Iterable[str]) -> Invoke | None:
    """`invoke` or `composite`. The arguments are C++; a name at the start of one must be known."""
    call = reader.read(key, grammar.call, None)
    if call is None:
        return None
    words = [re.match(r"(?!true\b|false\b)[A-Za-z_]\w*(?=\.|\Z)", arg) for arg in call[1]]
    reader.each(filter(None, words), lambda word: reader.known(key, word[0], names, "argument"))
    return Invoke(*call)


def read_optional(reader: Reader, args: grammar.Arguments, outputs: tuple[Output, ...]
                  ) -> tuple[grammar.Arguments, tuple[Output, ...]]:
    """Arguments and outputs with their `optional` mark."""
    all_names = [x.name for x in (*args.tensors, *args.attrs, *outputs)]
    marked = reader.known_names("optional", all_names, "argument or output")
    attrs = reader.guard("args", lambda: grammar.check_defaults(args.attrs, marked))
    return (grammar.Arguments(tuple(replace(t, optional=t.name in marked) for t in args.tensors), attrs),
            tuple(replace(o, optional=o.name in marked) for o in outputs))


def check_sizes(reader: Reader, args: grammar.Arguments, outputs: Sequence[Output]) -> None:
    names = [x.name for x in (*args.tensors, *args.attrs)]
    reader.each(outputs, lambda output: reader.each(
        reader.guard("output", lambda: grammar.size_names(output.size or "")),
        lambda name: reader.known("output", name, names, "argument in a size,")))


def check_transform(reader: Reader, tensors: Sequence[TensorArg]) -> None:
    """`data_transform` names tensors; it has no effect."""
    reader.submap("data_transform", TRANSFORM_KEYS)
    reader.each(TRANSFORM_KEYS, lambda key: reader.known_names(
        f"data_transform.{key}", [t.name for t in tensors], "tensor"))


def _mark_hidden(reader: Reader, outputs: tuple[Output, ...]) -> tuple[Output, ...]:
    hidden = reader.known_names("intermediate", [o.name for o in outputs], "output")
    if hidden and len(hidden) == len(outputs):
        raise reader.error("intermediate", "all outputs are intermediate", "one must be visible")
    return tuple(replace(o, intermediate=o.name in hidden) for o in outputs)


def read_op(entry: Entry) -> Op:
    reader = Reader(entry, OP_KEYS)
    attempt = reader.attempt
    attempt(lambda: reader.guard("op", lambda: grammar.check_name(reader.require("op", "a name"), "an op")), None)
    args, outputs = read_signature(reader, sized=True)
    both = (*args.tensors, *args.attrs)
    invoke = attempt(lambda: read_call(reader, "invoke", [arg.name for arg in both]), None)
    _check_body(reader)
    attempt(lambda: check_transform(reader, args.tensors), None)
    calls_kernel = not reader.has("invoke")
    if calls_kernel:
        outputs = attempt(lambda: _mark_hidden(reader, outputs), outputs)

    def aliases(key: str, accepted: bool) -> tuple[Alias, ...]:
        return attempt(lambda: read_aliases(reader, key, args.tensors, outputs), ()) if accepted else ()

    inplace = aliases("inplace", calls_kernel or entry.at.op.endswith("_"))
    view = aliases("view", calls_kernel)
    infer_meta = attempt(lambda: read_infer_meta(reader, both, outputs), None) if calls_kernel else None
    kernel = attempt(lambda: read_kernel(reader, both, outputs), None) if calls_kernel else None
    no_need_buffer = attempt(lambda: reader.known_names(
        "no_need_buffer", [t.name for t in args.tensors], "tensor"), ()) if calls_kernel else ()
    data_dependent = attempt(lambda: reader.flag("data_dependent"), False)
    backward = attempt(lambda: _backward_name(reader), None)
    if calls_kernel:
        _check_name(reader)
        attempt(lambda: _check_tensors(reader, args, infer_meta), None)
    without_effect = reader.check_all_read()
    reader.finish()
    return Op(name=entry.at.op, at=entry.at, tensors=args.tensors, attrs=args.attrs, outputs=outputs,
              infer_meta=infer_meta, kernel=kernel, invoke=invoke, inplace=inplace, view=view,
              no_need_buffer=no_need_buffer, data_dependent=data_dependent, backward=backward,
              without_effect=without_effect, lacks=tuple(reader.lacks))


def _backward_name(reader: Reader) -> str | None:
    return reader.read("backward", lambda text: grammar.check_name(text, "a backward op"), None)


def _check_body(reader: Reader) -> None:
    if reader.has("invoke"):
        keys = [key for key in ("infer_meta", "kernel", "spmd", "partial", "data_dependent") if reader.has(key)]
        for key in keys[:1]:
            reader.faults.append(reader.entry.error(
                key, "the op has 'invoke' too", "an op is either an invocation or has infer_meta and kernel"))
        reader.refused.update(keys)
        return
    for key, what in (("infer_meta", "a shape function"), ("kernel", "a kernel")):
        if not reader.has(key):
            reader.lack("op", f"'{key}' is missing", f"{what}, or 'invoke', must be present")


def _check_name(reader: Reader) -> None:
    if reader.entry.at.op.endswith("_") and not reader.has("inplace"):
        reader.faults.append(reader.entry.error(
            "op", "the name ends in '_' but there is no 'inplace'",
            "a name without '_', or 'inplace: (input -> output)', is accepted"))


def _check_tensors(reader: Reader, args: grammar.Arguments, infer_meta: InferMeta | None) -> None:
    if args.tensors:
        return
    kinds = {attr.type for attr in args.attrs}
    if AttrType.DATA_TYPE not in kinds or AttrType.PLACE not in kinds:
        reader.lack("args", "there is no tensor and not both a DataType and a Place",
                    "an op without tensors must take both")
    if infer_meta and infer_meta.spmd:
        raise reader.error("infer_meta" if reader.has("infer_meta.spmd_rule") else "spmd",
                           "an op without tensors has no placement rule",
                           "leaving it out is accepted: the result is a plain tensor")


def read_files(files: Iterable[tuple[str, str]], key: str, read: Callable[[Entry], T],
               faults: list[SpecError] | None) -> list[T]:
    """Each entry of each (name, text), named by `key`, read by `read`; in order, names used once.
    All faults are reported together: added to `faults` if that is passed, else raised as SpecErrors."""
    found: dict[str, T] = {}
    errors: list[SpecError] = []
    first: dict[str, Entry] = {}

    def take(entry: Entry) -> None:
        earlier = first.setdefault(entry.at.op, entry)
        if earlier is not entry:
            raise entry.error(key, f"the op occurs twice, first at {earlier.at}", "a name may be used once")
        found[entry.at.op] = read(entry)

    for file, text in files:
        entries: list[Entry] = []
      
        gather(lambda: entries.extend(read_entries(text, file, key, errors, IGNORED.__contains__)), errors)
        for entry in entries:
            gather(lambda: take(entry), errors)
    if errors and faults is None:
        raise SpecErrors(errors)
    if faults is not None:
        faults += errors
    return list(found.values())


def parse_ops(files: Iterable[tuple[str, str]], faults: list[SpecError] | None = None) -> list[Op]:
    """(name, text) of each file to the operators, in order. Errors: SpecErrors, or `faults`."""
    return read_files(files, "op", read_op, faults)
