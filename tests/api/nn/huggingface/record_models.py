"""Writes the folders of data/ beside this file, and the logits that transformers makes of them.

Each is a tiny model with random weights, in bfloat16, of one architecture; logits are computed in float32. Needs
torch and transformers (data/ was recorded with torch 2.15.0 and transformers 5.23.0).

Usage: record_models.py [OUT]
"""

import shutil
import sys
from pathlib import Path

import torch
import transformers
from safetensors.torch import save_file

HERE = Path(__file__).resolve().parent
SIZES = {"hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2, "num_attention_heads": 4,
         "num_key_value_heads": 2, "vocab_size": 64, "max_position_embeddings": 24}
NO_TOKENS = {"bos_token_id": None, "eos_token_id": None}
# Name, seed, architecture, config, largest file. What differs from the defaults is what a test is to see.
MODELS = (
    ("gpt2", 11, transformers.GPT2LMHeadModel,
     transformers.GPT2Config(vocab_size=64, n_positions=24, n_embd=32, n_layer=2, n_head=4, n_inner=48,
                             layer_norm_epsilon=1e-4, **NO_TOKENS), "5GB"),
    ("llama", 12, transformers.LlamaForCausalLM,
     transformers.LlamaConfig(rope_parameters={"rope_type": "default", "rope_theta": 500.0}, rms_norm_eps=1e-4,
                              **SIZES, **NO_TOKENS), "5GB"),
    ("mistral", 13, transformers.MistralForCausalLM,
     transformers.MistralConfig(rope_parameters={"rope_type": "default", "rope_theta": 100.0}, sliding_window=None,
                                **SIZES, **NO_TOKENS), "5GB"),
    ("qwen2", 14, transformers.Qwen2ForCausalLM,
     transformers.Qwen2Config(rope_parameters={"rope_type": "default", "rope_theta": 1000.0},
                              tie_word_embeddings=True, **SIZES, **NO_TOKENS), "20KB"),
)


def randomize(model):
    """Values with which every parameter matters: biases and the norms' weights are no longer 0 and 1."""
    with torch.no_grad():
        for parameter in model.parameters():
            around = 1.0 if parameter.ndim == 1 and parameter.mean() == 1 else 0.0
            parameter.copy_((around + 0.2 * torch.randn(parameter.shape)).bfloat16())


def main():
    out = Path(sys.argv[1]) if len(sys.argv) > 1 else HERE / "data"
    for name, seed, architecture, config, largest in MODELS:
        torch.manual_seed(seed)
        model = architecture(config).eval()
        randomize(model)
        ids = torch.randint(0, config.vocab_size, (2, 12))
        folder = out / name
        shutil.rmtree(folder, ignore_errors=True)
        model.bfloat16().save_pretrained(folder, max_shard_size=largest)
        (folder / "generation_config.json").unlink(missing_ok=True)
        model = architecture.from_pretrained(folder, dtype=torch.float32, attn_implementation="eager").eval()
        with torch.no_grad():
            logits = model(ids).logits
        save_file({"ids": ids, "logits": logits.contiguous()}, out / f"{name}_logits.safetensors")
        print(f"{folder}: seed {seed}, largest logit {logits.abs().max():.4}")


if __name__ == "__main__":
    main()
