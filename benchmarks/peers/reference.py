"""The reference GPT and its training settings, which both frameworks read.

Model: byte vocabulary, learned positions, pre-LayerNorm blocks with biases, GELU (tanh), untied
head without bias. Training: AdamW on windows of seq_len bytes.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class GptShape:
    vocab: int = 256
    seq_len: int = 256
    d_model: int = 384
    layers: int = 6
    heads: int = 6
    mlp_ratio: int = 4

    @property
    def matmul_parameters(self) -> int:
        """Weights that multiply every token: 4 d^2 of attention and 2 mlp_ratio d^2 of the MLP per
        layer, and the head."""
        d = self.d_model
        return self.layers * (4 + 2 * self.mlp_ratio) * d * d + d * self.vocab

    @property
    def num_parameters(self) -> int:
        """All parameters: the weights above, the two embedding tables, biases and LayerNorms."""
        d = self.d_model
        per_layer = (4 + self.mlp_ratio + 1) * d + 4 * d  # biases of four Linears; two LayerNorms
        tables = (self.vocab + self.seq_len) * d
        return self.matmul_parameters + tables + self.layers * per_layer + 2 * d

    @property
    def flops_per_token(self) -> int:
        """Operations that a training step needs per token: 6 P + 6 L s d.

        P: matmul_parameters; each costs a multiply and an add in the forward pass and twice that in
        the backward pass. Attention: QK^T and PV are 4 s d per token, layer and forward pass, three
        times that with the backward pass, and a causal mask needs half of it. Embeddings, norms,
        softmax and the optimizer are left out, as in PaLM (Chowdhery et al. 2022, appendix B).
        """
        return 6 * self.matmul_parameters + 6 * self.layers * self.seq_len * self.d_model


@dataclass(frozen=True)
class Training:
    global_batch: int = 8
    learning_rate: float = 3e-4
    betas: tuple[float, float] = (0.9, 0.95)
    eps: float = 1e-8
    weight_decay: float = 0.1
    grad_clip: float = 1.0
    data_seed: int = 1


GPT = GptShape()
TRAINING = Training()
TOKENS_PER_STEP = TRAINING.global_batch * GPT.seq_len
