// Small models of all architectures, with random bits for weights under our names.
#pragma once

#include <vector>

#include "api/nn/huggingface/tensor_names.h"
#include "distributed/checkpoint/temporary_folder.h"
#include "distributed/checkpoint/tensor_files.h"

namespace phi::nn::huggingface {

/// Grouped heads, tied and untied heads; no two sizes are the same.
inline std::vector<Config> small_models() {
  const models::GptConfig gpt{.vocab = 50,
                              .seq_len = 20,
                              .d_model = 24,
                              .layers = 2,
                              .heads = 4,
                              .hidden = 80,
                              .norm_eps = 1e-6};
  const models::LlamaConfig llama{.vocab = 50,
                                  .seq_len = 20,
                                  .d_model = 24,
                                  .layers = 2,
                                  .heads = 4,
                                  .kv_heads = 2,
                                  .ffn = 40,
                                  .rope_base = 500.0,
                                  .norm_eps = 1e-6};
  models::GptConfig tied_gpt = gpt;
  models::LlamaConfig qwen2 = llama;
  models::LlamaConfig tied_llama = llama;
  tied_gpt.tied_head = tied_llama.tied_head = true;
  qwen2.qkv_bias = qwen2.tied_head = true;
  models::LlamaConfig untied_qwen2 = qwen2;
  untied_qwen2.tied_head = false;
  return {{Architecture::kGpt2, gpt},          {Architecture::kGpt2, tied_gpt},
          {Architecture::kLlama, llama},       {Architecture::kLlama, tied_llama},
          {Architecture::kMistral, llama},     {Architecture::kQwen2, qwen2},
          {Architecture::kQwen2, untied_qwen2}};
}

inline distributed::checkpoint::Checkpoint random_weights(
    const distributed::checkpoint::TemporaryFolder& folder, const Config& config, DataType dtype,
    uint32_t seed = 1) {
  std::vector<distributed::checkpoint::NamedTensor> tensors;
  for (const NamePair& pair : name_pairs(config)) {
    tensors.push_back(distributed::checkpoint::random_bits(pair.ours, {pair.shape, dtype}, seed++));
  }
  distributed::checkpoint::save(folder.path(), tensors);
  return distributed::checkpoint::open(folder.path());
}

}  // namespace phi::nn::huggingface
