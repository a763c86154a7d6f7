// The parameters of our models and the tensors of Hugging Face's: one table for each architecture.
//
//   for (const NamePair& pair : name_pairs(config, prefix)) ...
//   const Checkpoint ours = view(theirs, our_view(pairs));
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "api/nn/huggingface/config.h"
#include "distributed/checkpoint/view.h"
#include "phi/common/dims.h"

namespace phi::nn::huggingface {

/// One tensor under both names.
struct NamePair {
  std::string ours;
  std::string theirs;
  Dims shape;               // ours
  bool transposed = false;  // theirs is [out, in]
  /// Of our last tensor dim: how what lies there for us lies along that tensor dim for them.
  distributed::checkpoint::Interleave order{};

  Dims their_shape() const;
};

/// What the names of all GPT-2 tensors but lm_head begin with, unless a base model was saved.
inline constexpr std::string_view kGpt2Prefix = "transformer.";

/// In the order of use. `prefix` is what their names begin with: kGpt2Prefix or nothing; it has no
/// meaning for the others.
std::vector<NamePair> name_pairs(const Config& config, std::string_view prefix = kGpt2Prefix);

/// Our parameters made of their tensors, and the other way round.
std::vector<distributed::checkpoint::ViewTensor> our_view(const std::vector<NamePair>& pairs);
std::vector<distributed::checkpoint::ViewTensor> their_view(const std::vector<NamePair>& pairs);

/// Masks and frequencies that older versions of transformers saved, which follow from the config.
bool is_buffer(Architecture architecture, std::string_view name);

inline constexpr const char* kTheirHead = "lm_head.weight";
/// Theirs of token_embedding.
std::string their_embedding(Architecture architecture, std::string_view prefix);

}  // namespace phi::nn::huggingface
