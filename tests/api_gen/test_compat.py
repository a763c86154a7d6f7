"""Other names of operators and arguments."""

import pytest

from api_gen.compat import CompatName, of_ops, parse_compat
from api_gen.errors import SpecErrors

FILE = """
- op : all (reduce_all)
  backward : all_grad(reduce_all_grad), all_double_grad
  inputs:
    x : X
  attrs:
    { axis : dim,  keepdim : keep_dim}
  outputs :
    {out : Out}
  extra :
    attrs : [bool use_mkldnn = false]
- op: same
  inputs: {x: x}
- op : split
  attrs : {axis : [axis_a, axis_b]}
- op : score (F1-Score)
  backward : score_grad (F1-Score@GRAD)
  outputs : {out : F1-Score, more : Out.0}
  extra : {attrs : [a]}
  extra : {attrs : [b]}
"""


def test_names_of_operators_tensors_and_attributes_are_read():
    assert parse_compat([("c.yaml", FILE)]) == [
        CompatName("all", "", "reduce_all"), CompatName("all", "axis", "dim"), CompatName("all", "keepdim", "keep_dim"),
        CompatName("all", "out", "Out"), CompatName("all", "x", "X"), CompatName("all_grad", "", "reduce_all_grad"),
        CompatName("score", "", "F1-Score"), CompatName("score", "more", "Out.0"), CompatName("score", "out", "F1-Score"),
        CompatName("score_grad", "", "F1-Score@GRAD"),
        CompatName("split", "axis", "axis_a"), CompatName("split", "axis", "axis_b")]


def test_of_operators_that_are_there_and_no_name_of_theirs():
    names = [CompatName("add_n", "", "sum"), CompatName("all", "", "reduce_all"), CompatName("all", "x", "X")]
    assert of_ops(names, ["all", "add_n", "sum"]) == names[1:]
    assert of_ops(names, ["add_n"]) == names[:1]


@pytest.mark.parametrize("text, words", [
    ("- op : a b\n", "c.yaml:1: op 'a b', key 'op': 'a b' is not a name"),
    ("- op : a (b\n", "'a (b' is not a name"),
    ("- op : a (b c)\n", "'a (b c)' is not a name"),
    ("- op : F1-Score\n", "'F1-Score' is not a name"),
    ("- op : a\n  outputs : {x : 'y\"z'}\n", "the other name of 'x' is not a name"),
    ("- op : a b\n  attrs : x\n- op : c d\n", "c.yaml:2: op 'a b', key 'attrs': the value is not a map"),
    ("- op : a b\n  attrs : x\n- op : c d\n", "c.yaml:3: op 'c d', key 'op': 'c d' is not a name"),
    ("- op : a\n  backward : [b]\n", "c.yaml:2: op 'a', key 'backward': the value is not text"),
    ("- op : a\n  inputs : x\n", "c.yaml:2: op 'a', key 'inputs': the value is not a map"),
    ("- op : a\n  attrs : {x : {y : z}}\n", "the other name of 'x' is not a name"),
    ("- op : a\n  inputs :\n    x : X\n    x : Y\n", "given twice"),
    ("a: b\n", "the file is not a list"),
    ("- [\n", "not YAML")])
def test_what_is_no_such_file_is_told(text, words):
    with pytest.raises(SpecErrors) as caught:
        parse_compat([("c.yaml", text)])
    assert words in str(caught.value)
