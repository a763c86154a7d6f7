// Calls that several tables of op cases make: ops with several results, or with arguments between
// the tensors.
#pragma once

#include <cstdint>
#include <optional>
#include <tuple>
#include <vector>

#include "api/generated/ops/assign.h"
#include "api/generated/ops/cross_entropy_with_softmax.h"
#include "api/generated/ops/flash_attention.h"
#include "api/generated/ops/flash_attention_with_kvcache_.h"
#include "api/generated/ops/fused_rotary_position_embedding.h"
#include "api/generated/ops/gaussian.h"
#include "phi/tensor_api.h"

namespace phi::testing {

inline Tensor normal(const Dims& shape, int seed = 1) { return gaussian(shape, 0.0f, 1.0f, seed); }

/// Logits and labels to the softmax and the loss.
inline TensorList class_loss(const TensorList& in) {
  const auto [softmax, loss] = cross_entropy_with_softmax(in[0], in[1]);
  return {softmax, loss};
}
inline TensorList soft_class_loss(const TensorList& in) {
  const auto [softmax, loss] = cross_entropy_with_softmax(in[0], in[1], /*soft_label=*/true);
  return {softmax, loss};
}

inline TensorList causal_attention(const TensorList& in) {
  return {
      std::get<0>(flash_attention(in[0], in[1], in[2], std::nullopt, std::nullopt, 0.0f, true))};
}
/// The fourth tensor is the mask.
inline TensorList masked_attention(const TensorList& in) {
  return {std::get<0>(flash_attention(in[0], in[1], in[2], std::nullopt, in[3]))};
}
/// The last two tensors are caches, of which rows hold `held` positions.
inline TensorList cached_attention(const TensorList& in, const std::vector<int64_t>& held) {
  Tensor keys = assign(in[3]);
  Tensor values = assign(in[4]);
  const Tensor lengths = Tensor::from<int64_t>(held, {static_cast<int64_t>(held.size())});
  const Tensor out =
      std::get<0>(flash_attention_with_kvcache_(in[0], in[1], in[2], keys, values, lengths));
  return {out, keys, values};
}

inline TensorList rotated(const TensorList& in) {
  const auto [q, k, v] = fused_rotary_position_embedding(in[0], in[1], std::nullopt, std::nullopt,
                                                         std::nullopt, std::nullopt);
  return {q, k};
}

}  // namespace phi::testing
