// Operators that call other operators, which track the gradients.
#include <cmath>

#include "api/autograd/composite.h"
#include "api/generated/ops/add.h"
#include "api/generated/ops/flash_attention.h"
#include "api/generated/ops/flash_attn_unpadded.h"
#include "api/generated/ops/gelu.h"
#include "api/generated/ops/matmul.h"
#include "api/generated/ops/relu.h"
#include "api/generated/ops/reshape.h"
#include "api/generated/ops/scale.h"
#include "phi/common/errors.h"

namespace phi::composite {
namespace {

bool is_given(const OptionalTensor& x) { return x && x->defined(); }

// Returns the only batch entry of [1, positions, heads, width].
Tensor only_entry(const Tensor& x) {
  const Dims& d = x.shape();
  PHI_CHECK(d.ndim() == 4 && d[0] == 1,
            errors::InvalidArgument("{} is not [1, positions, heads, head_dim], as required for "
                                    "sequences that are separated by cu_seqlens.",
                                    x.to_string()));
  return reshape(x, {d[1], d[2], d[3]});
}

}  // namespace

TensorPair fused_gemm_epilogue(const Tensor& x, const Tensor& y, const Tensor& bias, bool trans_x,
                               bool trans_y, const std::string& activation) {
  const Tensor sum = add(matmul(x, y, trans_x, trans_y), bias);
  if (activation == "none") return {sum, Tensor()};
  if (activation == "relu") return {relu(sum), Tensor()};
  PHI_CHECK(activation == "gelu",
            errors::InvalidArgument("activation is '{}'; use none, relu or gelu.", activation));
  return {gelu(sum, /*approximate=*/true), Tensor()};
}

std::tuple<Tensor, Tensor, Tensor> memory_efficient_attention(
    const Tensor& query, const Tensor& key, const Tensor& value, const OptionalTensor& bias,
    const OptionalTensor& cu_seqlens_q, const OptionalTensor& cu_seqlens_k,
    const OptionalTensor& causal_diagonal, const OptionalTensor& seqlen_k,
    const Scalar& max_seqlen_q, const Scalar& max_seqlen_k, bool causal, double dropout_p,
    float scale, bool is_test) {
  PHI_CHECK(!is_given(causal_diagonal) && !is_given(seqlen_k),
            errors::InvalidArgument("causal_diagonal and seqlen_k are not supported; mask keys "
                                    "with bias, or pass cu_seqlens_k."));
  const auto dropout = static_cast<float>(dropout_p);
  if (is_given(cu_seqlens_q) && is_given(cu_seqlens_k)) {
    const auto [out, softmax, lse, seed] = intermediate::flash_attn_unpadded(
        only_entry(query), only_entry(key), only_entry(value), *cu_seqlens_q, *cu_seqlens_k,
        std::nullopt, bias, max_seqlen_q, max_seqlen_k, scale, dropout, causal,
        /*return_softmax=*/false, is_test);
    const Dims& d = out.shape();
    return {reshape(out, {1, d[0], d[1], d[2]}), lse, seed};
  }
  PHI_CHECK(query.ndim() == 4, errors::InvalidArgument("query is {}, but it must be [batch, "
                                                       "positions, heads, head_dim].",
                                                       query.to_string()));
  const double width = static_cast<double>(query.shape()[3]);
  const Tensor scaled =
      scale > 0 ? phi::scale(query, static_cast<double>(scale) * std::sqrt(width)) : query;
  const auto [out, softmax, lse, seed] =
      intermediate::flash_attention(scaled, key, value, std::nullopt, bias, dropout, causal,
                                    /*return_softmax=*/false, is_test);
  return {out, lse, seed};
}

}  // namespace phi::composite
