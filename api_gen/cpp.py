"""C++ spellings of the model's types, one table per place where an argument appears."""

from api_gen.model import Attr, AttrType, Literal, Output, Param, TensorArg

_BY_VALUE = {
    AttrType.INT: "int",
    AttrType.INT64: "int64_t",
    AttrType.SIZE: "size_t",
    AttrType.BOOL: "bool",
    AttrType.FLOAT: "float",
    AttrType.DOUBLE: "double",
    AttrType.DATA_TYPE: "DataType",
    AttrType.DATA_LAYOUT: "DataLayout",
}
_BY_REFERENCE = {
    AttrType.STR: "std::string",
    AttrType.INTS: "std::vector<int>",
    AttrType.INT64S: "std::vector<int64_t>",
    AttrType.FLOATS: "std::vector<float>",
    AttrType.DOUBLES: "std::vector<double>",
    AttrType.BOOLS: "std::vector<bool>",
    AttrType.STRS: "std::vector<std::string>",
    AttrType.INT_ARRAY: "IntArray",
    AttrType.SCALAR: "Scalar",
    AttrType.SCALARS: "std::vector<Scalar>",
    AttrType.PLACE: "Place",
}


# What an attribute is taken for where its type is not known (phi/core/attribute.h).
_KINDS = {
    AttrType.INT: "kInt",
    AttrType.INT64: "kInt",
    AttrType.SIZE: "kInt",
    AttrType.BOOL: "kBool",
    AttrType.FLOAT: "kFloat",
    AttrType.DOUBLE: "kFloat",
    AttrType.DATA_TYPE: "kDataType",
    AttrType.DATA_LAYOUT: "kString",
    AttrType.STR: "kString",
    AttrType.INTS: "kInts",
    AttrType.INT64S: "kInts",
    AttrType.FLOATS: "kFloats",
    AttrType.DOUBLES: "kFloats",
    AttrType.BOOLS: "kInts",
    AttrType.STRS: "kStrings",
    AttrType.INT_ARRAY: "kInts",
    AttrType.SCALAR: "kNumber",
    AttrType.SCALARS: "kFloats",
    AttrType.PLACE: "kPlace",
}


def literal(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def attribute_kind(attr: Attr) -> str:
    return f"AttributeKind::{_KINDS[attr.type]}"


def attr_type(attr: Attr | Literal) -> str:
    """The parameter type of an attribute, the same in the API, shape functions, rules and kernels."""
    if isinstance(attr, Attr) and attr.optional:
        return f"const {value_type(attr)}&"
    if attr.type in _BY_VALUE:
        return _BY_VALUE[attr.type]
    return f"const {_BY_REFERENCE[attr.type]}&"


def value_type(attr: Attr) -> str:
    """The type that stores an attribute."""
    kind = _BY_VALUE.get(attr.type) or _BY_REFERENCE[attr.type]
    return f"std::optional<{kind}>" if attr.optional else kind


def default(attr: Attr) -> str | None:
    """The default value of an attribute, as a C++ expression."""
    if attr.default is None or not attr.optional:
        return attr.default
    kind = _BY_VALUE.get(attr.type) or _BY_REFERENCE[attr.type]
    return f"{kind}{attr.default}" if attr.default.startswith("{") else attr.default


def api_type(arg: TensorArg | Attr, written: bool = False) -> str:
    """`written`: the argument of an inplace call that receives the result."""
    if isinstance(arg, Attr):
        return attr_type(arg)
    if written and arg.is_list:
        return "std::vector<Tensor>&"
    if written:
        return "std::optional<Tensor>&" if arg.optional else "Tensor&"
    if arg.is_list:
        return "const std::vector<Tensor>&"
    return "const std::optional<Tensor>&" if arg.optional else "const Tensor&"


def kernel_type(param: Param) -> str:
    if isinstance(param, Attr):
        return attr_type(param.given)
    if isinstance(param, Literal):
        return attr_type(param)
    if param.is_list:
        return "std::span<const DenseTensor* const>"
    return "const DenseTensor*" if param.optional else "const DenseTensor&"


def stored_type(attr: Attr) -> str:
    """The type of a kernel's attribute, by value."""
    return kernel_type(attr).removeprefix("const ").removesuffix("&")


def kernel_output_type(output: Output) -> str:
    return "std::span<DenseTensor* const>" if output.is_list else "DenseTensor*"


def returned_type(output: Output) -> str:
    return "std::vector<Tensor>" if output.is_list else "Tensor"


# ---- a tensor argument in the two branches of a generated function ----


def dense_meta(param: Param) -> str:
    return _tensor_form(param, "{0}.meta()", "optional_meta({0})", "list_metas({0})")


def dense_value(param: Param) -> str:
    return _tensor_form(param, "{0}.dense()", "optional_dense({0})", "list_dense({0})")


def spec(param: Param) -> str:
    return _tensor_form(param, "args.spec({1})", "args.optional_spec({1})", "args.list_spec({1})")


def meta(param: Param) -> str:
    return _tensor_form(param, "args.meta({1})", "args.optional_meta({1})", "args.list_meta({1})")


def local_value(param: Param) -> str:
    return _tensor_form(param, "local[{1}]", "local.optional({1})", "local.list({1})")


def _tensor_form(param: Param, single: str, optional: str, many: str) -> str:
    if isinstance(param, Literal):
        return param.text
    if isinstance(param, Attr):
        return param.name
    form = many if param.is_list else optional if param.optional else single
    return form.format(param.name, param.index)
