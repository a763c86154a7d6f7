"""One case per message: what is wrong, where, and what is accepted instead."""

from conftest import fails, generated, ops_of

import pytest

from api_gen.backward import BACKWARD_KEYS
from api_gen.errors import SpecErrors, listing
from api_gen.grammar import LAW_KINDS, TENSOR_KINDS
from api_gen.parse import INFER_META_KEYS, KERNEL_KEYS, OP_KEYS, TRANSFORM_KEYS

GOOD = {"args": "(Tensor x, Tensor y, int a = 0)", "output": "Tensor", "infer_meta": "{func: F}",
        "kernel": "{func: f}"}


def entry(**keys: str) -> str:
    """An op `f`: args in line 2, output 3, infer_meta 4, kernel 5, what is added from 6 on."""
    lines = [f"  {key}: {value}" for key, value in {**GOOD, **keys}.items() if value is not None]
    return "\n".join(["- op: f", *lines, ""])


def test_the_base_of_these_cases_is_good():
    generated(entry())


NAME = "letters, digits and '_' are accepted, not a digit first"
OUTPUT = "'Tensor', 'Tensor(name)' and 'Tensor[](name){size}' are accepted"
SIZE = "arithmetic over arguments, .size(), .dims(), [] and ?: are accepted"
PAIR = "'(input -> output), ...' is accepted"
KERNEL = "'name' or 'name {dense -> dense}', the latter several times, is accepted"
FACTORS = ("one letter a-z per dim, 1 for a dim never split, '...' for leading dims, as in "
           "'... m k, ... k n -> ... m n', and after an input [attribute] for the dims that the "
           "attribute names, is accepted")
ONE_TENSOR_FIRST = "the kernel does not take one tensor, first; one that is always present shares its bytes"
PARTIAL_FORMS = ("sums of products of inputs, as in 'bias + x * y', 'prod x' for the elements of a list, 1 or an "
        f"attribute for a constant, and {listing(LAW_KINDS)} with inputs after it are accepted")
TYPES = listing(["Tensor", "Tensor[]", "int", "int64_t", "size_t", "bool", "float", "double", "str",
                 "int[]", "int64_t[]", "float[]", "double[]", "bool[]", "str[]", "IntArray", "Scalar",
                 "Scalar[]", "DataType", "DataLayout", "Place", "int32_t", "long", "Scalar(int)"])

CASES = [
    # keys and values
    (dict(kernal="{func: f}"), 6, "kernal",
     f"unknown key (did you mean 'kernel'?); accepted are {listing(OP_KEYS)}"),
    (dict(infer_meta="{func: F, params: [x]}"), 4, "infer_meta.params",
     f"unknown key (did you mean 'param'?); accepted are {listing(INFER_META_KEYS)}"),
    (dict(kernel="{fun: f}"), 5, "kernel.fun",
     f"unknown key (did you mean 'func'?); accepted are {listing(KERNEL_KEYS)}"),
    (dict(data_transform="{skip: x}"), 6, "data_transform.skip",
     f"unknown key; accepted are {listing(TRANSFORM_KEYS)}"),
    (dict(kernel="f"), 5, "kernel",
     f"the value is not a map; a map of {listing(KERNEL_KEYS)} is accepted"),
    (dict(output="[Tensor]"), 3, "output",
     "the value is a list or a map; one line of text is accepted"),
    (dict(optional=""), 6, "optional",
     "the value is empty; a value, or leaving the key out, is accepted"),
    (dict(args=None), 1, "args", "'args' is missing; '(type name, ...)' must be present"),
    (dict(output=None), 1, "output",
     "'output' is missing; 'Tensor' or 'Tensor(name), ...' must be present"),
    (dict(infer_meta=None), 1, "op",
     "'infer_meta' is missing; a shape function, or 'invoke', must be present"),
    (dict(kernel=None), 1, "op", "'kernel' is missing; a kernel, or 'invoke', must be present"),
    (dict(infer_meta="{param: [x]}"), 4, "infer_meta",
     "'infer_meta.func' is missing; the shape function's name must be present"),
    (dict(kernel="{param: [x]}"), 5, "kernel",
     "'kernel.func' is missing; the kernel's name must be present"),
    (dict(data_dependent="maybe"), 6, "data_dependent",
     "'maybe' is neither true nor false; true or false is accepted"),
    (dict(backward="f grad"), 6, "backward", f"'f grad' is not a name for a backward op; {NAME}"),
    # args
    (dict(args="Tensor x"), 2, "args",
     "the arguments are not in brackets; '(type name [= default], ...)' is accepted"),
    (dict(args="(Tensor x, Tensor x)"), 2, "args",
     "argument 'x' occurs twice; a name may be used once"),
    (dict(args="(Tensor x, int a = 0, int b)"), 2, "args",
     "attribute 'b' has no default but comes after 'a', which has one; attributes with defaults "
     "come last"),
    (dict(args="(Tensor x, int a, Tensor y)"), 2, "args",
     "tensor 'y' comes after attribute 'a'; tensors come first, then attributes"),
    (dict(args="(Tensor)"), 2, "args",
     "'Tensor' is not an argument; 'type name' or 'type name = default' is accepted"),
    (dict(args="(Tensor x = {})"), 2, "args",
     "tensor 'x' has a default; only attributes have defaults; a tensor may be listed in "
     "'optional'"),
    (dict(args="(Tensor x, flaot a)"), 2, "args",
     f"unknown type 'flaot' of 'a' (did you mean 'float'?); accepted are {TYPES}"),
    (dict(args="(Tensor 2x)"), 2, "args", f"'2x' is not a name for an argument; {NAME}"),
    (dict(args="(Tensor x, int default)"), 2, "args",
     "'default' is a C++ keyword; any other name for an argument is accepted"),
    (dict(args="(Tensor x, int a = 1.5)"), 2, "args",
     "'1.5' is not a default for int 'a'; accepted is an integer such as -1, 0L or (2 << 12) - 1"),
    (dict(args="(Tensor x, bool a = yes)"), 2, "args",
     "'yes' is not a default for bool 'a'; accepted is true or false"),
    (dict(args="(Tensor x, float a = abc)"), 2, "args",
     "'abc' is not a default for float 'a'; accepted is a number such as 1.0f, .5f, 1e-5 or 1.0f/8"),
    (dict(args="(Tensor x, str a = mean)"), 2, "args",
     "'mean' is not a default for str 'a'; accepted is text in double quotes such as \"NCHW\""),
    (dict(args="(Tensor x, int[] a = 1)"), 2, "args",
     "'1' is not a default for int[] 'a'; accepted is a list of integers such as {} or {1, 1}"),
    (dict(args="(Tensor x, DataType a = FLOAT32)"), 2, "args",
     "'FLOAT32' is not a default for DataType 'a'; accepted is DataType::FLOAT32 or another data "
     "type"),
    (dict(args="(Tensor x, Place a = CPU)"), 2, "args",
     "'CPU' is not a default for Place 'a'; accepted is {}, CPUPlace() or GPUPlace(0)"),
    (dict(args="(int a)"), 2, "args",
     "there is no tensor and not both a DataType and a Place; an op without tensors must take "
     "both"),
    # output
    (dict(output="DenseTensor"), 3, "output", f"'DenseTensor' is not an output; {OUTPUT}"),
    (dict(output="Tensor, Tensor"), 3, "output",
     "one of several outputs has no name; 'Tensor(name), ...' is accepted"),
    (dict(output="Tensor(a), Tensor(a)"), 3, "output",
     "output 'a' occurs twice; a name may be used once"),
    (dict(output="Tensor(a){2}"), 3, "output",
     "output 'a' is one tensor but has a size; only Tensor[] has a size"),
    (dict(output="Tensor[](a)"), 3, "output",
     "the list 'a' has no size; 'Tensor[](name){size}', size over the arguments, is accepted"),
    (dict(output="Tensor[](a){n}"), 3, "output",
     "unknown argument in a size, 'n'; accepted are 'x', 'y', 'a'"),
    (dict(output="Tensor[](a){x.numel()}"), 3, "output",
     f"'.numel' in the size 'x.numel()'; {SIZE}"),
    (dict(output="Tensor[](a){#a}"), 3, "output", f"the size '#a' cannot be read; {SIZE}"),
    # infer_meta
    (dict(infer_meta="{func: 3F}"), 4, "infer_meta.func",
     "'3F' is not a function; a name such as MatmulInferMeta is accepted"),
    (dict(infer_meta="{func: F, param: x}"), 4, "infer_meta.param",
     "the value is not a list; a list of arguments is accepted"),
    (dict(infer_meta="{func: F, param: [[x]]}"), 4, "infer_meta.param",
     "an item is a list or a map; names and plain values are accepted"),
    (dict(infer_meta="{func: F, param: [x, axis]}"), 4, "infer_meta.param",
     "unknown argument 'axis'; accepted are 'x', 'y', 'a'"),
    (dict(infer_meta="{func: F, local_shape: o}"), 4, "infer_meta.local_shape",
     "unknown output 'o'; accepted are 'out'"),
    # placement
    (dict(infer_meta="{func: F, spmd_rule: R}", spmd="m, m -> m"), 6, "spmd",
     "infer_meta.spmd_rule is present too; one of the two is accepted"),
    (dict(infer_meta="{func: F, spmd_param: [x]}"), 4, "infer_meta.spmd_param",
     "there is no infer_meta.spmd_rule; it lists the arguments of a rule"),
    (dict(infer_meta="{func: F, spmd_rule: R, spmd_param: [y, a, y]}"), 4, "infer_meta.spmd_rule",
     "the rule is passed 'y' twice; once is accepted: its result determines the tensor's placements"),
    (dict(spmd="m, m"), 6, "spmd", f"'m, m' has no single '->'; {FACTORS}"),
    (dict(spmd="batch, m -> m"), 6, "spmd", f"'batch' is not a factor; {FACTORS}"),
    (dict(spmd="m, m -> ... m"), 6, "spmd", f"'...' is in an output but in no input; {FACTORS}"),
    (dict(spmd='"... m, ... m, ... m, ... m -> m"'), 6, "spmd",
     "more than three inputs have '...'; an op like this needs spmd_rule"),
    (dict(spmd="m, m -> q"), 6, "spmd", "factor 'q' is in an output but in no input; a factor of an "
     "input, or 1 for a dim that is never split, is accepted"),
    (dict(spmd='"m[b], m -> m"'), 6, "spmd", "unknown attribute 'b'; accepted are 'a'"),
    (dict(spmd='"m[a], m -> m"', args="(Tensor x, Tensor y, float a)"), 6, "spmd",
     "attribute 'a' is not an axis; a type of 'int', 'int64_t', 'int[]', 'int64_t[]', 'IntArray', "
     "'Scalar' is accepted"),
    (dict(spmd='"m, m -> m[a]"'), 6, "spmd", "an output has [...]; only inputs name the dims that are not split"),
    (dict(spmd="m -> m"), 6, "spmd", "it names 1 inputs and 1 outputs, the op has 2 and 1; one "
     "group of factors per tensor is accepted"),
    (dict(spmd="m, m -> m", optional="y"), 6, "spmd",
     "'y' is a list or optional; an op like this needs spmd_rule"),
    (dict(args="(DataType dtype, Place place)",
          kernel="{func: f, data_type: dtype, backend: place}",
          infer_meta="{func: F, spmd_rule: R}"), 4, "infer_meta",
     "an op without tensors has no placement rule; leaving it out is accepted: the result is a "
     "plain tensor"),
    # partial
    (dict(partial="x +"), 6, "partial", f"'' is not an input; {PARTIAL_FORMS}"),
    (dict(partial="x, , y"), 6, "partial", f"'' is not an input; {PARTIAL_FORMS}"),
    (dict(partial="x - y"), 6, "partial", f"'x - y' is not an input; {PARTIAL_FORMS}"),
    (dict(partial="2 * x"), 6, "partial", f"'2' is not an input; {PARTIAL_FORMS}"),
    (dict(partial="grow x"), 6, "partial", f"'grow x' is not an input; {PARTIAL_FORMS}"),
    (dict(partial="up x y"), 6, "partial", "'up x y' names 2 inputs; 'up' of one is accepted"),
    (dict(partial="pick 1"), 6, "partial", f"'1' is not a name for an input; {NAME}"),
    (dict(partial="z * y"), 6, "partial", "unknown argument 'z'; accepted are 'x', 'y', 'a'"),
    (dict(partial="o = x"), 6, "partial", "unknown output 'o'; accepted are 'out'"),
    (dict(partial="a * x"), 6, "partial",
     "'a' is an attribute; a number that is a separate summand is accepted"),
    (dict(partial="x + s", args="(Tensor x, str s)"), 6, "partial",
     "'s' is an attribute; a number that is a separate summand is accepted"),
    (dict(partial="x * y", args="(Tensor[] x, Tensor y)"), 6, "partial",
     "'x' is a list and a factor; 'prod' in front of it, or a separate summand, is accepted"),
    (dict(partial="prod x"), 6, "partial", "'x' is not a list; a list is accepted"),
    (dict(partial="each x"), 6, "partial", "'x' is not a list; a list is accepted"),
    # kernel
    (dict(kernel='{func: f, flops: "2 + x"}'), 5, "kernel.flops",
     "'2 + x' is not a factor; numbers, tensors (their elements), their extents, and functions of tensors and "
     "attributes, as in '2 * out * x[-1] / out[0]' and '4 * q * Share(q, k, causal)', are accepted"),
    (dict(args="(Tensor x, int a)", kernel='{func: f, param: [x], flops: "2 * Share(x, a)"}'), 5, "kernel.flops",
     "unknown argument of the kernel 'a'; accepted are 'x', 'out'"),
    (dict(args="(Tensor x, Tensor[] y)", kernel='{func: f, flops: "x * y"}'), 5, "kernel.flops",
     "unknown tensor of the kernel 'y'; accepted are 'x', 'out'"),
    (dict(kernel='{func: f, param: [y], flops: "x"}'), 5, "kernel.flops",
     "unknown tensor of the kernel 'x'; accepted are 'y', 'out'"),
    (dict(kernel="{func: f, alias_offset: 2}"), 5, "kernel.alias_offset",
     "'2' is not a name for a function; letters, digits and '_' are accepted, not a digit first"),
    (dict(kernel="{func: f, alias_offset: FAliasOffset}"), 5, "kernel.alias_offset", ONE_TENSOR_FIRST),
    (dict(args="(Tensor x, int a)", kernel="{func: f, param: [a, x], alias_offset: FAliasOffset}"), 5,
     "kernel.alias_offset", ONE_TENSOR_FIRST),
    (dict(args="(Tensor[] x, int a)", kernel="{func: f, alias_offset: FAliasOffset}"), 5, "kernel.alias_offset", ONE_TENSOR_FIRST),
    (dict(args="(Tensor x, int a)", optional="x", kernel="{func: f, alias_offset: FAliasOffset}"), 5,
     "kernel.alias_offset", ONE_TENSOR_FIRST),
    (dict(args="(Tensor x, int a)", output="Tensor(out), Tensor(more)",
          kernel="{func: f, alias_offset: FAliasOffset}"), 5, "kernel.alias_offset",
     "there are 2 outputs; one output, or one list, is accepted"),
    *((dict(args="(Tensor x, int a)", kernel="{func: f, alias_offset: FAliasOffset}", **{key: value}), 5,
       "kernel.alias_offset", f"the op has '{key}' too; a new output of a known shape is accepted")
      for key, value in (("inplace", "(x -> out)"), ("view", "(x -> out)"),
                                      ("data_dependent", "true"))),
    (dict(kernel='{func: "{dense -> dense}"}'), 5, "kernel.func",
     f"'{{dense -> dense}}' is not a kernel; {KERNEL}"),
    (dict(kernel='{func: "f {dense, dense}"}'), 5, "kernel.func",
     f"the types of 'f' have no single '->'; {KERNEL}"),
    (dict(kernel='{func: "f {dense, danse -> dense}"}'), 5, "kernel.func",
     f"unknown tensor type 'danse' of kernel 'f' (did you mean 'dense'?); accepted are "
     f"{listing(TENSOR_KINDS)}"),
    (dict(kernel='{func: "f, g {dense, dense -> dense}"}'), 5, "kernel.func",
     f"one of several kernels has no types; {KERNEL}"),
    (dict(kernel='{func: "f {dense -> dense}"}'), 5, "kernel.func",
     "'f' has 1 input types, its parameters hold 2 tensors; one type per tensor is accepted"),
    (dict(kernel='{func: "f {dense, dense -> dense, dense}"}'), 5, "kernel.func",
     "'f' has 2 output types, the op has 1 outputs; one type per output is accepted"),
    (dict(args="(Tensor x, DataType dtype)"), 5, "kernel",
     "attribute 'dtype' is a DataType but 'kernel.data_type' is missing; 'data_type: dtype' or "
     "'data_type: <tensor>' must be present"),
    (dict(kernel="{func: f, data_type: DataType::FLOAT}"), 5, "kernel.data_type",
     "unknown data type 'DataType::FLOAT'; DataType::FLOAT32 etc. are accepted"),
    (dict(kernel="{func: f, data_type: a > x}"), 5, "kernel.data_type",
     "'a' before '>' is not a DataType attribute; 'attribute > tensor' is accepted"),
    (dict(kernel="{func: f, data_type: a}"), 5, "kernel.data_type",
     "'a' is an attribute of type int; a tensor or a DataType attribute is accepted"),
    (dict(kernel="{func: f, data_type: complex(a)}"), 5, "kernel.data_type",
     "'a' is not a tensor; a tensor is accepted here"),
    (dict(kernel="{func: f, backend: z}"), 5, "kernel.backend",
     "unknown argument 'z'; accepted are 'x', 'y', 'a'"),
    # aliases and marks
    (dict(inplace="x -> out"), 6, "inplace", f"'x -> out' is not in brackets; {PAIR}"),
    (dict(inplace="(x = out)"), 6, "inplace", f"'x = out' is not a pair; {PAIR}"),
    (dict(inplace="(x -> out), (y -> out)"), 6, "inplace",
     "output 'out' has two sources; an output has one source"),
    (dict(output="Tensor(p), Tensor(q)", inplace="(x -> p), (x -> q)"), 6, "inplace",
     "input 'x' has two outputs; an input has one output"),
    (dict(inplace="(a -> out)"), 6, "inplace", "unknown tensor 'a'; accepted are 'x', 'y'"),
    (dict(view="(x -> oot)"), 6, "view",
     "unknown output 'oot' (did you mean 'out'?); accepted are 'out'"),
    (dict(output="Tensor[](out){2}", inplace="(x -> out)"), 6, "inplace",
     "one of 'x' and 'out' is a list; both or none are accepted"),
    (dict(optional="z"), 6, "optional",
     "unknown argument or output 'z'; accepted are 'x', 'y', 'a', 'out'"),
    (dict(intermediate="z"), 6, "intermediate", "unknown output 'z'; accepted are 'out'"),
    (dict(intermediate="out"), 6, "intermediate",
     "all outputs are intermediate; one must be visible"),
    (dict(no_need_buffer="out"), 6, "no_need_buffer",
     "unknown tensor 'out'; accepted are 'x', 'y'"),
    (dict(data_transform="{skip_transform: z}"), 6, "data_transform.skip_transform",
     "unknown tensor 'z'; accepted are 'x', 'y'"),
    # invoke
    (dict(invoke="g(x)"), 4, "infer_meta",
     "the op has 'invoke' too; an op is either an invocation or has infer_meta and kernel"),
    (dict(invoke="g", infer_meta=None, kernel=None), 4, "invoke",
     "'g' is not a call; 'name(arguments)' is accepted"),
    (dict(invoke="g(x, z.dtype())", infer_meta=None, kernel=None), 4, "invoke",
     "unknown argument 'z'; accepted are 'x', 'y', 'a'"),
    (dict(invoke="g(x, axis = a)", infer_meta=None, kernel=None), 4, "invoke",
     "'axis = a' names its argument; values in order are accepted"),
    (dict(invoke="f(x, y)", infer_meta=None, kernel=None), 4, "invoke", "'f' calls 'f': the calls never end; a "
     "call that ends in a kernel is accepted"),
    (dict(invoke="g(phi::f(x, y), a)", infer_meta=None, kernel=None), 4, "invoke", "'f' calls 'f': the calls "
     "never end; a call that ends in a kernel is accepted"),
    # what can be read but not generated
    (dict(output=""), 3, "output", "there is no output; 'Tensor' or 'Tensor(name), ...' must be present"),
    (dict(kernel="{func: f, data_type: FKernelKey}"), 5, "kernel.data_type",
     "unknown argument 'FKernelKey'; accepted are 'x', 'y', 'a'"),
    (dict(kernel='{func: "f {selected_rows, dense -> dense}"}'), 5, "kernel",
     "'f': no alternative for dense tensors; an alternative of only 'dense' types must be present"),
    (dict(args="(Tensor[] x)", output="Tensor[](p){2}, Tensor(q)", view="(x -> p)"), 6, "view",
     "'x' is a list; one tensor is accepted"),
    (dict(view="(x -> out)", optional="x"), 6, "view",
     "'x' is optional, but it is the kernel's only output; a required tensor is accepted"),
    (dict(output="Tensor(p), Tensor(q)", view="(x -> p)", inplace="(x -> p)",
          kernel='{func: f, flops: "2 * p"}'), 5, "kernel.flops", "'p' is a view, which is not passed "
     "to the kernel; tensors that the kernel accepts or writes are accepted"),
    (dict(output="Tensor(p), Tensor(q)", view="(x -> p)", inplace="(x -> p)", optional="x"), 6, "view",
     "'x' is optional and written in place; a required tensor is accepted"),
    (dict(data_dependent="true", inplace="(x -> out)"), 6, "data_dependent", "the op is inplace, a "
     "view, or has a list output; outputs of run-time shape are new single tensors"),
    (dict(args="(Tensor x, int decision)"), 2, "args",
     "'decision' is a name that generated functions use; any other name is accepted"),
]


@pytest.mark.parametrize("keys, line, key, message", CASES)
def test_fault_of_an_entry(keys, line, key, message):
    fails(entry(**keys), f"ops.yaml:{line}: op 'f', key '{key}': {message}")


@pytest.mark.parametrize("text, message", [
    ("- op: [", "ops.yaml:1: key 'file': not YAML: expected the node content, but found '<stream "
     "end>'; a list of maps is accepted"),
    ("op: f",
     "ops.yaml:1: key 'file': the file is not a list; a list of maps, `- op: name ...`, is "
     "accepted"),
    ("- f",
     "ops.yaml:1: key 'op': the entry is not a map; `- op: name` and further keys are accepted"),
    ("- args: (Tensor x)",
     "ops.yaml:1: key 'op': the entry has no name; `- op: name` must be present"),
    (entry() + "  args: (Tensor x)",
     "ops.yaml:6: op 'f', key 'args': given twice, first in line 2; a "
     "key may be given once"),
    (entry(kernel="{func: f, func: g}"),
     "ops.yaml:5: op 'f', key 'kernel.func': given twice, first "
     "in line 5; a key may be given once"),
    (entry() + entry(),
     "ops.yaml:6: op 'f', key 'op': the op occurs twice, first at ops.yaml:1; a "
     "name may be used once"),
    (entry().replace("f\n", "2f\n", 1),
     f"ops.yaml:1: op '2f', key 'op': '2f' is not a name for an op; "
     f"{NAME}"),
    (entry().replace("f\n", "f_\n", 1),
     "ops.yaml:1: op 'f_', key 'op': the name ends in '_' but there "
     "is no 'inplace'; a name without '_', or 'inplace: (input -> output)', is accepted"),
    (entry().replace("f\n", "launch\n", 1),
     "ops.yaml:1: op 'launch', key 'op': 'launch' is a name of "
     "the runtime; any other name is accepted"),
    (entry(inplace="(x -> out)") + entry(inplace="(x -> out)").replace("op: f", "op: f_"),
     "ops.yaml:7: op 'f_', key 'op': function 'f_' already exists, for 'f' at ops.yaml:1; a name "
     "may be used once"),
    (entry() + entry(args="(Tensor x)").replace("op: f", "op: g"),
     "ops.yaml:10: op 'g', key 'kernel': kernel 'f' takes (const DenseTensor&, DenseTensor*) here "
     "but (const DenseTensor&, const DenseTensor&, int, DenseTensor*) in op 'f' at ops.yaml:1; ops "
     "that share a kernel must call it alike; use 'param' or another kernel name"),
])
def test_fault_of_a_file(text, message):
    fails(text, message)


GOOD_GRADIENT = {"forward": "f (Tensor x, Tensor y, int a) -> Tensor(out)",
                 "args": "(Tensor x, Tensor out_grad, int a)", "output": "Tensor(x_grad)",
                 "infer_meta": "{func: F, param: [x]}", "kernel": "{func: f_grad}"}
ACCEPTED = "an entry of the backward files is accepted"
NO_KERNEL = {"infer_meta": None, "kernel": None}


def gradient(name: str = "f_grad", **keys: str) -> str:
    """A gradient of `f`: forward in line 2, args 3, output 4, infer_meta 5, kernel 6, what is added
    from 7 on."""
    lines = [f"  {key}: {value}" for key, value in {**GOOD_GRADIENT, **keys}.items()
             if value is not None]
    return "\n".join([f"- backward_op: {name}", *lines, ""])


def test_the_base_of_the_gradients_is_good():
    generated(entry(backward="f_grad"), gradient(inplace="(out_grad -> x_grad)"))


@pytest.mark.parametrize("keys, line, key, message", [
    # keys and bodies
    (dict(foward="f"), 7, "foward",
     f"unknown key (did you mean 'forward'?); accepted are {listing(BACKWARD_KEYS)}"),
    (dict(data_dependent="true"), 7, "data_dependent",
     f"unknown key; accepted are {listing(BACKWARD_KEYS)}"),
    (dict(forward="f"), 2, "forward",
     "'f' is not a signature; 'name (args) -> outputs' is accepted"),
    (dict(kernel=None), 1, "backward_op",
     "there is no 'kernel', 'invoke' or 'composite'; one of them must be present"),
    (dict(infer_meta=None), 5, "kernel",
     "there is no 'infer_meta'; a kernel and a shape function go together"),
    (dict(invoke="g(x)"), 6, "kernel", "the gradient has 'invoke' too; it is either an invocation "
     "or has a kernel"),
    (dict(invoke="g(b)", **NO_KERNEL), 5, "invoke",
     "unknown argument 'b'; accepted are 'x', 'out_grad', 'a', 'x_grad'"),
    (dict(composite="g(x, axis, x_grad)", **NO_KERNEL), 5, "composite",
     "unknown argument 'axis'; accepted are 'x', 'out_grad', 'a', 'x_grad'"),
    # the forward op
    (dict(forward="ff (Tensor x, Tensor y, int a) -> Tensor(out)"), 2, "forward",
     "there is no op 'ff' (did you mean 'f'?); an op of the files given is accepted"),
    (dict(forward="f (Tensor x, int a) -> Tensor(out)"), 2, "forward",
     "tensors 'x' are not those of 'f' at ops.yaml:1; accepted are 'x', 'y'"),
    (dict(forward="f (Tensor x, Tensor[] y, int a) -> Tensor(out)"), 2, "forward",
     "tensors 'x', 'Tensor[] y' are not those of 'f' at ops.yaml:1; accepted are 'x', 'y'"),
    (dict(forward="f (Tensor x, Tensor y) -> Tensor(out)"), 2, "forward",
     "attributes none are not those of 'f' at ops.yaml:1; accepted are 'int a'"),
    (dict(forward="f (Tensor x, Tensor y, float a) -> Tensor(out)"), 2, "forward",
     "attributes 'float a' are not those of 'f' at ops.yaml:1; accepted are 'int a'"),
    (dict(forward="f (Tensor x, Tensor y, int a) -> Tensor(out), Tensor(more)"), 2, "forward",
     "outputs 'out', 'more' are not those of 'f' at ops.yaml:1; accepted are 'out'"),
    # arguments
    (dict(args="(Tensor x, Tensor oot_grad)"), 3, "args",
     "tensor 'oot_grad' is neither an input, an output nor an output's gradient of 'f' (did you "
     "mean 'out_grad'?); accepted are 'x', 'y', 'out', 'out_grad'"),
    (dict(args="(Tensor x, Tensor[] out_grad)"), 3, "args",
     "'out_grad' is a list, but 'out' of the forward op is one tensor; a tensor is what it is in "
     "the forward op"),
    (dict(args="(Tensor x, Tensor out_grad, int b)"), 3, "args",
     "attribute 'b' is not one of 'f' and has no default; accepted are 'a', others with a default"),
    (dict(args="(Tensor x, Tensor out_grad, bool a)"), 3, "args",
     "attribute 'a' is bool, but int in 'f' at ops.yaml:1; 'int a' is accepted"),
    (dict(args="(Tensor x, Tensor out_grad, int wanted = 0)"), 3, "args",
     "'wanted' is a name that generated functions use; any other name is accepted"),
    # outputs
    (dict(output="Tensor(xx_grad)"), 4, "output", "'xx_grad' is not an input's gradient (did you mean "
     "'x_grad'?); accepted are 'x_grad', 'y_grad'"),
    (dict(output="Tensor"), 4, "output",
     "'out' is not an input's gradient; accepted are 'x_grad', 'y_grad'"),
    (dict(output="Tensor[](x_grad)"), 4, "output", "'x_grad' is a list, but 'x' of the forward op "
     "is one tensor; a gradient is what its input is"),
    (dict(backward="f_double_grad"), 7, "backward",
     f"there is no gradient 'f_double_grad' (did you mean 'f_grad'?); {ACCEPTED}"),
])
def test_fault_of_a_gradient(keys, line, key, message):
    fails(gradient(**keys), f"backward.yaml:{line}: op 'f_grad', key '{key}': {message}",
          entry(backward="f_grad"))


@pytest.mark.parametrize("name, message", [
    ("f_grad_", "the name ends in '_'; a name without it is accepted: no gradient is inplace"),
    ("f", "function 'f' already exists, for 'f' at ops.yaml:1; a name may be used once"),
    ("track", "'track' is a name of the runtime; any other name is accepted"),
])
def test_names_of_gradients(name, message):
    fails(gradient(name), f"backward.yaml:1: op '{name}', key 'backward_op': {message}",
          entry(backward=name))


@pytest.mark.parametrize("forward, keys, line, key, message", [
    (dict(optional="y"), dict(args="(Tensor x, Tensor y, Tensor out_grad)"), 3, "args",
     "'y' is required, but 'y' of 'f' at ops.yaml:1 may be absent; 'optional: y' must be present"),
    (dict(optional="out"), {}, 3, "args", "'out_grad' is required, but 'out' of 'f' at ops.yaml:1 "
     "may be absent; 'optional: out_grad' must be present"),
    (dict(output="Tensor(y)"),
     dict(forward="f (Tensor x, Tensor y, int a) -> Tensor(out)"), 2, "forward",
     "'y' is an argument and an output of 'f' at ops.yaml:1; an op with a gradient needs a name "
     "for each"),
    (dict(optional="a"), dict(), 3, "args", "attribute 'a' is required, but 'a' of 'f' at ops.yaml:1 "
     "may be absent; 'optional: a' must be present"),
])
def test_gradients_that_do_not_fit_their_op(forward, keys, line, key, message):
    fails(gradient(**keys), f"backward.yaml:{line}: op 'f_grad', key '{key}': {message}",
          entry(**forward, backward="f_grad"))


def test_more_gradients_than_a_mask_has_bits():
    def many(count: int) -> tuple[str, str]:
        args = ", ".join(f"Tensor x{i}" for i in range(count))
        return (gradient(forward=f"f ({args}) -> Tensor(out)", args="(Tensor out_grad)",
                         output=", ".join(f"Tensor(x{i}_grad)" for i in range(count)),
                         infer_meta="{func: F}"), entry(args=f"({args})", backward="f_grad"))

    backward, forward = many(32)
    generated(forward, backward)
    fails(many(33)[0], "backward.yaml:4: op 'f_grad', key 'output': there are 33 gradients; up to "
          "32 are accepted, the bits of a GradMask", many(33)[1])


def test_a_gradient_of_a_gradient_speaks_of_outputs_that_may_be_unwanted():
    double = gradient("f_double_grad", args="(Tensor grad_x_grad)", output="Tensor(g_grad)",
                      infer_meta="{func: F}",
                      forward="f_grad (Tensor x, Tensor g) -> Tensor(grad_x), Tensor(grad_y)")
    first = gradient(args="(Tensor x, Tensor out_grad)", output="Tensor(x_grad), Tensor(y_grad)",
                     backward="f_double_grad")
    fails(first + double, "backward.yaml:10: op 'f_double_grad', key 'args': 'grad_x_grad' is "
          "required, but 'x_grad' of 'f_grad' at backward.yaml:1 may be absent; 'optional: "
          "grad_x_grad' must be present", entry(backward="f_grad"))


def test_an_op_whose_gradient_is_not_there():
    fails(gradient("g_grad"), "ops.yaml:6: op 'f', key 'backward': there is no gradient 'f_grad' "
          f"(did you mean 'g_grad'?); {ACCEPTED}", entry(backward="f_grad"))


def test_an_op_with_the_gradient_of_another():
    other = entry(backward="f_grad").replace("op: f", "op: g")
    fails(gradient(), "ops.yaml:11: op 'g', key 'backward': 'f_grad' at backward.yaml:1 is the "
          "gradient of 'f'; an entry whose 'forward' is this op is accepted; several ops may share "
          "a kernel, but not a gradient", entry() + other)


def test_a_gradient_that_no_op_names():
    fails(gradient(), "backward.yaml:1: op 'f_grad', key 'backward_op': 'f' at ops.yaml:1 names no "
          "gradient: nothing would call this one; 'backward: f_grad' must be present", entry())
    fails(gradient() + gradient("f_grad2"), "backward.yaml:7: op 'f_grad2', key 'backward_op': the "
          "gradient of 'f' at ops.yaml:1 is 'f_grad': nothing would call this one; one of the two "
          "is accepted", entry(backward="f_grad"))


def test_a_gradient_given_twice():
    fails(gradient() + gradient(),
          "backward.yaml:7: op 'f_grad', key 'backward_op': the op occurs "
          "twice, first at backward.yaml:1; a name may be used once", entry())


def test_invocations_in_a_circle():
    def call(name: str, called: str) -> str:
        return f"- op: {name}\n  args: (Tensor x)\n  output: Tensor\n  invoke: {called}\n"

    circle = call("a", "b(x)") + call("b", "c(x)") + call("c", "relu(a(x))")
    fails(circle, "ops.yaml:4: op 'a', key 'invoke': 'a' calls 'b' calls 'c' calls 'a': the calls never end; a "
          "call that ends in a kernel is accepted")
    generated(call("a", "b(x)") + call("b", "composite::b(x)") + call("c", "b(a(x))"))
    fails(gradient(invoke="f_grad(x, out_grad, a)", **NO_KERNEL), "backward.yaml:5: op 'f_grad', key 'invoke': "
          "'f_grad' calls 'f_grad': the calls never end; a call that ends in a kernel is accepted",
          entry(backward="f_grad"))


FAULTY = """- op: a
  args: (Tensr x, flot y)
  output: Tensor(out), Tenser(more)
  infer_meta: {func: 3F, param: [z, [x]]}
  kernel: {func: f, parm: [x], data_type: z}
  backward: a b
- op: b
  args: (Tensor x, int n)
  output: Tensor
  infer_meta: {func: F, param: [x, m], local_shape: p}
  kernel: {func: f, param: [x, k], backend: [x]}
  inplace: (y -> out), (x -> oot)
  optional: q, r
  optional: s
  no_need_buffer: t
  interfaces: one
  interfaces: two
"""


def test_all_faults_of_an_entry_are_told_together():
    with pytest.raises(SpecErrors) as caught:
        ops_of(FAULTY)
    told = [(error.line, error.key, error.wrong.partition(" (did")[0]) for error in caught.value.errors]
    assert told == [
        (2, "args", "unknown type 'Tensr' of 'x'"), (2, "args", "unknown type 'flot' of 'y'"),
        (3, "output", "'Tenser(more)' is not an output"),
        (4, "infer_meta.func", "'3F' is not a function"),
        (4, "infer_meta.param", "an item is a list or a map"),
        (5, "kernel.parm", "unknown key"),
        (6, "backward", "'a b' is not a name for a backward op"),
        (10, "infer_meta.param", "unknown argument 'm'"), (10, "infer_meta.local_shape", "unknown output 'p'"),
        (11, "kernel.param", "unknown argument 'k'"), (11, "kernel.backend", "the value is a list or a map"),
        (12, "inplace", "unknown tensor 'y'"), (12, "inplace", "unknown output 'oot'"),
        (13, "optional", "unknown argument or output 'q'"), (13, "optional", "unknown argument or output 'r'"),
        (14, "optional", "given twice, first in line 13"),
        (15, "no_need_buffer", "unknown tensor 't'")]


def test_lists_in_one_another_without_end():
    fails("- op: f\n  args: " + "[" * 3000 + "]" * 3000, "ops.yaml:1: key 'file': lists and maps in one another "
          "are too deep; a list of maps is accepted")
    fails("- &f\n  op: f\n  args: *f\n", "ops.yaml:1: key 'file': lists and maps in one another are too deep; a "
          "list of maps is accepted")
