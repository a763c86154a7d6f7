"""Keys without effect: read and checked where they are present, and then ignored.

All other keys are either read or refused, see Reader.check_all_read in parse.py.
"""

from collections.abc import Iterable, Mapping

_OTHERS = "for other generators of the format"
_TRANSFORM = "kernels receive tensors unchanged: dtypes and layouts are not converted implicitly"
_SHAPE = "local and global shapes follow from the placements"

# "key" or "key.sub" and why it has no effect.
OF_ALL: Mapping[str, str] = {
    "interfaces": _OTHERS,
    "traits": _OTHERS,
    "support_dygraph_mode": _OTHERS,
    "data_transform.skip_transform": _TRANSFORM,
    "data_transform.support_trans_dtype": _TRANSFORM,
}
OF_GRADIENTS: Mapping[str, str] = {"inplace": "a hint that a kernel might write to it"}
OF_KERNELS: Mapping[str, str] = {
    "infer_meta.local_shape": _SHAPE,
    "infer_meta.global_shape": _SHAPE,
    "kernel.layout": "tensors have one layout, dense by rows",
}
OF_CALLS: Mapping[str, str] = {
    "backward": "a call of ops is tracked by these, each with its own gradient",
}
# Of gradients, beside what computes them.
_KNOWN_TO_CALLS: Mapping[str, str] = {
    f"infer_meta.{key}": "the ops that are called know their shapes and placements"
    for key in ("func", "param", "spmd_rule", "spmd_param", "local_shape", "global_shape")}
BESIDE: Mapping[str, Mapping[str, str]] = {
    "kernel": {"composite": "the kernel computes the gradient"},
    "invoke": {"composite": "the call computes the gradient", **_KNOWN_TO_CALLS},
    "composite": _KNOWN_TO_CALLS,
}


def of_entry(is_gradient: bool, body: str) -> Mapping[str, str]:
    """Keys without effect, and why, in an entry whose work `body` does: kernel, invoke, composite."""
    return {**OF_ALL, **(OF_GRADIENTS if is_gradient else {}),
            **(OF_KERNELS if body == "kernel" else OF_CALLS),
            **(BESIDE[body] if is_gradient else {})}


def report(entries: Iterable) -> str:
    """Returns a line for each key without effect in ops or gradients."""
    return "".join(
        f"{entry.at.file}:{entry.at.line_of(key)}: '{entry.name}', key '{key}': no effect: {why}\n"
        for entry in entries for key, why in entry.without_effect)
