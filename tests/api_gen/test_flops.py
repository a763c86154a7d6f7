"""Which kernels are estimated by their bytes."""

import re

import yaml

from conftest import ROOT, generated

# Families whose kernels compute more than they move.
FAMILIES = ("matmul", "linalg", "conv", "attention", "fused_attention", "decode_attention", "fft", "bilinear", "quantized")
# Their kernels that move as much as they compute: they read or write each number once, and do little with it.
BOUND_BY_MEMORY = {
    "dot", "dot_grad", "cross", "cross_grad", "lu_unpack", "lu_unpack_grad", "fused_rotary_position_embedding",
    "fused_rotary_position_embedding_grad", "fused_softmax_mask_upper_triangle", "fused_softmax_mask_upper_triangle_grad",
    "frame", "frame_grad", "overlap_add", "overlap_add_grad", "weight_quantize", "weight_dequantize",
}


def entries(*folders, families=None):
    for folder in folders:
        for path in sorted((ROOT / "yaml" / folder).glob("*.yaml")):
            if families is None or path.stem in families:
                yield from yaml.safe_load(path.read_text(encoding="utf-8")) or []


def name_of(entry):
    return entry.get("op") or entry["backward_op"]


def test_kernels_of_families_that_compute_have_an_estimate():
    by_bytes = {name_of(entry) for entry in entries("ops", "backward", families=FAMILIES)
                if entry.get("kernel") and "flops" not in entry["kernel"]}
    assert by_bytes == BOUND_BY_MEMORY


def test_what_sums_over_a_dim_of_several_inputs_has_an_estimate():
    """A letter of a declared sharding that two inputs and no output have."""
    for entry in entries("ops"):
        inputs, _, outputs = entry.get("spmd", "").partition("->")
        terms = [set(re.findall(r"\b[a-z]\b", term)) for term in inputs.split(",")]
        contracted = {letter for i, term in enumerate(terms) for other in terms[:i] for letter in term & other}
        if contracted - set(re.findall(r"\b[a-z]\b", outputs)) and name_of(entry) not in BOUND_BY_MEMORY:
            assert "flops" in entry.get("kernel", {}), name_of(entry)


def test_the_reference_lists_estimates():
    text = (ROOT / "yaml/ops/attention.yaml").read_text(encoding="utf-8").replace("  backward: flash_attention_grad\n", "")
    page = generated(text.replace("  backward: fused_rotary_position_embedding_grad\n", ""))["op_reference.md"]
    assert "| flops | `4 * q * VisibleKeys(q, k, causal)` |" in page
