"""Command line: operator YAML to generated files.

    python3 -m api_gen --ops yaml/ops/*.yaml --out=build

The exit status is 1 for errors in the YAML and, with --check, for files that are not up to date.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from api_gen import effects, missing
from api_gen.backward import check_forward_references, parse_backward
from api_gen.compat import CompatName, parse_compat
from api_gen.emit import Target, render, render_python
from api_gen.errors import SpecError, SpecErrors, gather, read_text
from api_gen.faults import check_entries
from api_gen.functions import Functions
from api_gen.model import BackwardOp, Op
from api_gen.parse import parse_ops


def _arguments(argv: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="api_gen", description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--ops", nargs="+", action="extend", required=True, metavar="FILE",
                        help="forward operators")
    parser.add_argument("--backward", nargs="+", action="extend", default=[], metavar="FILE",
                        help="gradients of the forward operators")
    parser.add_argument("--out", required=True, type=Path, metavar="DIR",
                        help="write files to DIR/api/generated, kernels' signatures to "
                        "DIR/phi/generated; with --library=NAME to DIR/NAME")
    parser.add_argument("--library", default="", metavar="NAME",
                        help="generate an operator library of this name, separate from the main one")
    parser.add_argument("--beside", nargs="+", action="extend", default=[], type=Path, metavar="DIR",
                        help="folders with the headers of existing operators: their names are reserved, "
                        "and 'invoke' may call them")
    parser.add_argument("--include", nargs="+", action="extend", default=[], type=Path, metavar="DIR",
                        help="folders from which headers are included")
    parser.add_argument("--functions", nargs="+", action="extend", default=[], type=Path, metavar="DIR",
                        help="headers, or folders of them, that declare the shape functions and rules: others "
                        "are errors, and sources include what they need; without it any name is "
                        "taken")
    parser.add_argument("--composites", nargs="+", action="extend", default=[], type=Path, metavar="FILE",
                        help="headers of the functions, other than ops, that 'composite' and 'invoke' call: "
                        "others are errors")
    parser.add_argument("--kernels", nargs="+", action="extend", default=[], type=Path, metavar="DIR",
                        help="sources, or folders of them, that register the kernels: others are errors")
    parser.add_argument("--compat", nargs="+", action="extend", default=[], metavar="FILE",
                        help="other names of operators, tensors and attributes (op_compat.yaml) that "
                        "are also accepted at run time")
    parser.add_argument("--declare-missing", action="store_true",
                        help="what an entry names and is not here is no error: a call of the op is")
    parser.add_argument("--declare-only", action="store_true", help="write only headers")
    parser.add_argument("--python", action="store_true",
                        help="what Python sees of the operators instead: sources of the binding go to "
                        "DIR/python/generated, stubs to DIR/python/autophi")
    mode = parser.add_mutually_exclusive_group()
    mode.add_argument("--check", action="store_true",
                      help="write nothing; list files that are not up to date")
    mode.add_argument("--report", action="store_true",
                      help="write nothing; say of each entry whether it is generated, declared only, or "
                      "not understood, and why")
    mode.add_argument("--check-names", action="store_true",
                      help="write nothing; see that the functions and kernels that entries name are there")
    mode.add_argument("--list-ignored", action="store_true",
                      help="write nothing; list the keys that are given and have no effect")
    parser.add_argument("--list-outputs", action="store_true",
                        help="when the files are written, list all of them, relative to DIR")
    return parser.parse_args(argv)


def _read(names: list[str], faults: list[SpecError]) -> list[tuple[str, str]]:
    """Returns (displayed name, text) of each file. Files that are not text are added to `faults`."""
    files: list[tuple[str, str]] = []
    for name in names:
        path = Path(name)
        shown = path.resolve()
        here = Path.cwd()
        shown = shown.relative_to(here) if shown.is_relative_to(here) else path
        name = shown.as_posix()
        gather(lambda: files.append((name, read_text(path, name))), faults)
    return files


def _compat_names(names: list[str], faults: list[SpecError]) -> list[CompatName]:
    found: list[CompatName] = []
    gather(lambda: found.extend(parse_compat(_read(names, faults))), faults)
    return found


def _report(options: argparse.Namespace, functions: Functions) -> int:
    faults: list[SpecError] = []
    gradient_faults: list[SpecError] = []
    parts = missing.complete(parse_ops(_read(options.ops, faults), faults),
                             parse_backward(_read(options.backward, gradient_faults), gradient_faults), functions)
    print(missing.report(parts, faults, gradient_faults), end="")
    return 1 if faults or gradient_faults else 0


def main(argv: list[str] | None = None) -> int:
    options = _arguments(argv)
    try:
        functions = Functions(options.functions, options.composites, options.kernels, options.beside,
                              options.include)
        if options.report:
            return _report(options, functions)
        faults: list[SpecError] = []
        compat_names = _compat_names(options.compat, faults)
        ops: Sequence[Op] = parse_ops(_read(options.ops, faults), faults)
        gradients: Sequence[BackwardOp] = parse_backward(_read(options.backward, faults), faults)
        if options.declare_missing:
            if faults:
                raise SpecErrors(faults)
            parts = missing.complete(ops, gradients, functions)
            ops, gradients, functions = parts.ops, parts.gradients, functions.without_kernels()
        elif faults or options.python:
            check_entries(ops, gradients, functions, earlier=faults)
        elif options.backward and not gradients:
            check_forward_references(ops, gradients)
        if options.check_names:
            functions.check(ops, gradients)
            return 0
        outputs = (render_python(ops, gradients, functions) if options.python else
                   render(ops, gradients, options.declare_only, functions, Target(options.library),
                          compat_names, attributes_are_taken=not options.declare_missing))
    except OSError as error:
        print(f"api_gen: {error.filename}: {error.strerror}", file=sys.stderr)
        return 1
    except (SpecError, SpecErrors) as error:
        print(error, file=sys.stderr)
        return 1
    if options.list_ignored:
        print(effects.report((*ops, *gradients)), end="")
        return 0
    if options.check:
        stale = outputs.stale(options.out) + outputs.left_over(options.out)
        for path in stale:
            print(f"not up to date: {path}", file=sys.stderr)
        return 1 if stale else 0
    for path in outputs.left_over(options.out):
        path.unlink()
    outputs.write(options.out)
    if options.list_outputs:
        print("\n".join(outputs.texts))
    return 0


if __name__ == "__main__":
    sys.exit(main())
