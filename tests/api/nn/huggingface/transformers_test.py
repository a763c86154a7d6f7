"""Folders of ours in transformers: what `autophi weights convert` writes has the logits of what it read.

Exit status 77 (ctest: skipped) where torch and transformers cannot be imported; logits_test.cc compares with
recorded logits everywhere.

Usage: transformers_test.py --autophi=PROGRAM
"""

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

try:
    import torch
    import transformers
    from safetensors.torch import load_file
except ImportError as error:
    print(f"SKIPPED: {error}; cmake -DAUTOPHI_TRANSFORMERS_PYTHON=INTERPRETER names one that has torch and transformers")
    sys.exit(77)

DATA = Path(__file__).resolve().parent / "data"
ARCHITECTURES = {"gpt2": "GPT2LMHeadModel", "llama": "LlamaForCausalLM", "mistral": "MistralForCausalLM",
                 "qwen2": "Qwen2ForCausalLM"}


def logits(folder, ids):
    model = transformers.AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32,
                                                              attn_implementation="eager").eval()
    with torch.no_grad():
        return type(model).__name__, model(ids).logits


def convert(autophi, source, target, *flags):
    subprocess.run([autophi, "weights", "convert", source, target, *flags], check=True, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--autophi", required=True)
    autophi = parser.parse_args().autophi
    transformers.logging.set_verbosity_error()
    for name, architecture in ARCHITECTURES.items():
        recorded = load_file(DATA / f"{name}_logits.safetensors")
        ids = recorded["ids"]
        found, expected = logits(DATA / name, ids)
        assert found == architecture
        difference = (expected - recorded["logits"]).abs().max().item()
        assert difference <= 1e-5, f"{name}: recorded logits differ by {difference}"
        with tempfile.TemporaryDirectory() as folder:
            ours, whole, cut = (Path(folder) / part for part in ("ours", "whole", "cut"))
            convert(autophi, DATA / name, ours)
            convert(autophi, ours, whole, f"--architecture={architecture}")
            convert(autophi, ours, cut, f"--architecture={architecture}", "--max_file=10KB")
            for back in (whole, cut):
                found, values = logits(back, ids)
                assert found == architecture, f"{name}: read as {found}"
                assert torch.equal(values, expected), f"{name}: other logits from {back.name}"
        print(f"{name}: recorded logits within {difference:.1e}; the same from our folders")
    print(f"torch {torch.__version__}, transformers {transformers.__version__}")


if __name__ == "__main__":
    main()
