"""As many entries as Paddle's files have, in their forms, to see how long it takes to generate and
compile them.

    /usr/bin/python3 tests/api_gen/many_entries.py DIR      # ops.yaml and backward.yaml

They are this project's entries under other names, all in one file as Paddle has them: two of three with
their kernels, the others without. What is left to the number of Paddle's entries names functions that are
not here, as about a sixth of Paddle's do.
"""

import re
import sys
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[2]
OPS, GRADIENTS = 505, 346  # of Paddle's files, docs/op_yaml.md
_PREFIX = "theirs_"
_BODIES = ("Tensor(out)", "Tensor(out), Tensor(mask)", "Tensor[](out){xs.size()}, Tensor(order)")


def _entries(folder: str) -> list[dict]:
    return [entry for file in sorted((ROOT / "yaml" / folder).glob("*.yaml"))
            for entry in yaml.safe_load(file.read_text(encoding="utf-8"))]


def _renamed(entry: dict, names: set[str]) -> dict:
    """Its own name, and those of ops that it speaks of."""
    def rename(text: str) -> str:
        return re.sub(r"(?<!\w)(?<!composite::)[a-z]\w*(?=\s*\()",
                      lambda m: _PREFIX + m[0] if m[0] in names else m[0], text)

    result = dict(entry)
    for key in ("op", "backward_op", "backward"):
        if key in result:
            result[key] = _PREFIX + result[key]
    for key in ("forward", "invoke"):
        if key in result:
            result[key] = rename(result[key])
    return result


def _without_kernel(entry: dict) -> dict:
    func = entry.get("kernel", {}).get("func")
    return {**entry, "kernel": {**entry["kernel"], "func": f"{_PREFIX}{func}"}} if func else entry


def _of_others(number: int) -> dict:
    """Of an op whose shape function is not here."""
    return {"op": f"{_PREFIX}other_{number}", "args": "(Tensor x, Tensor[] xs, int axis = -1, float epsilon = 1e-5f, "
            'str mode = "mean", bool exact = false)',
            "output": _BODIES[number % len(_BODIES)], "infer_meta": {"func": f"Other{number}InferMeta"},
            "kernel": {"func": f"{_PREFIX}other_{number}", "data_type": "x"}, "optional": "xs",
            "backward": f"{_PREFIX}other_{number}_grad"}


def _gradient_of_others(op: dict) -> dict:
    outputs = re.sub(r"\{.*?\}", "", op["output"])
    args = re.sub(r" = [^,)]*", "", op["args"])
    first = "Tensor[] out_grad" if outputs.startswith("Tensor[]") else "Tensor out_grad"
    return {"backward_op": op["backward"], "forward": f"{op['op']} {args} -> {outputs}",
            "args": f"(Tensor x, {first}, int axis)", "output": "Tensor(x_grad)",
            "infer_meta": {"func": f"{op['infer_meta']['func']}Grad", "param": ["x", "axis"]},
            "kernel": {"func": op["backward"]}}


def texts() -> tuple[str, str]:
    """Of ops.yaml and of backward.yaml."""
    ops, gradients = _entries("ops"), _entries("backward")
    names = {entry[key] for entry in (*ops, *gradients) for key in ("op", "backward_op") if key in entry}
    made = [[_renamed(entry, names) for entry in entries] for entries in (ops, gradients)]
    made = [[_without_kernel(entry) if i % 3 == 2 else entry for i, entry in enumerate(entries)]
            for entries in made]
    others = [_of_others(i) for i in range(OPS - len(ops))]
    made[0] += others
    made[1] += [_gradient_of_others(op) for op in others[:max(0, GRADIENTS - len(gradients))]]
    tracked = {entry["backward_op"] for entry in made[1]}
    made[0] = [{key: value for key, value in entry.items() if key != "backward" or value in tracked}
               for entry in made[0]]
    return tuple(yaml.safe_dump(entries, sort_keys=False, width=10**6) for entries in made)


def main(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in zip(("ops.yaml", "backward.yaml"), texts()):
        (folder / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
