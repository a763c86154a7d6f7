"""Generated code, whole functions and classes, one per kind. Small enough to be reviewed."""

from pathlib import Path

from conftest import definitions, generated, generated_for_python

import pytest

FOLDER = Path(__file__).parent / "golden"
SOURCES = ("ops.yaml", "backward.yaml")
OPS, BACKWARD = ((FOLDER / name).read_text(encoding="utf-8") for name in SOURCES)
WHOLE = ("api.h", "calls.cc", "ops/matmul.h", "ops/norm.h", "ops.cc", "defs/ops.cc", "kernels/ops.h",
         "op_reference.md")


def expected_texts() -> dict[str, str]:
    """By file name: what is generated now."""
    texts = generated(OPS, BACKWARD)
    bodies = definitions(texts)
    result = {f"{name.replace('::', '.')}.cc": body for name, body in bodies.items()}
    for_python = {f"python.{name.replace('/', '.')}": text for name, text in generated_for_python(OPS, BACKWARD).items()}
    return result | {name.replace("/", "."): texts[name] for name in WHOLE} | for_python


def regenerate() -> None:
    for old in FOLDER.glob("*"):
        if old.name not in SOURCES:
            old.unlink()
    for name, text in expected_texts().items():
        (FOLDER / name).write_text(text, encoding="utf-8")


@pytest.mark.parametrize("name", sorted(expected_texts()))
def test_generated_code_is_the_golden_one(name):
    file = FOLDER / name
    golden = file.read_text(encoding="utf-8") if file.is_file() else ""
    assert expected_texts()[name] == golden, (
        f"{file} differs; if that is wanted: cd {FOLDER.parent} && "
        "/usr/bin/python3 -c 'import test_golden; test_golden.regenerate()'")


def test_no_golden_file_is_left_over():
    assert {file.name for file in FOLDER.iterdir()} == {*SOURCES, *expected_texts()}
