// Maps parameters of this library's models to Hugging Face's tensors, with one table per
// architecture.
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
  Dims shape;               // under our name
  bool transposed = false;  // theirs is [out, in], ours [in, out]
  /// The order of the elements along our last tensor dim in their tensor.
  distributed::checkpoint::Interleave order{};

  Dims their_shape() const;
};

/// Prefix of the names of all GPT-2 tensors except lm_head, unless a base model was saved.
inline constexpr std::string_view kGpt2Prefix = "transformer.";

/// In the order of use. `prefix` is the prefix of their names, kGpt2Prefix or empty; other
/// architectures ignore it.
std::vector<NamePair> name_pairs(const Config& config, std::string_view prefix = kGpt2Prefix);

/// Our parameters as views of their tensors, and their tensors as views of our parameters.
std::vector<distributed::checkpoint::ViewTensor> our_view(const std::vector<NamePair>& pairs);
std::vector<distributed::checkpoint::ViewTensor> their_view(const std::vector<NamePair>& pairs);

/// Whether the tensor is a mask or frequency table that older versions of transformers saved; these
/// follow from the config.
bool is_buffer(Architecture architecture, std::string_view name);

inline constexpr const char* kTheirHead = "lm_head.weight";
/// Their name of token_embedding.
std::string their_embedding(Architecture architecture, std::string_view prefix);

}  // namespace phi::nn::huggingface
