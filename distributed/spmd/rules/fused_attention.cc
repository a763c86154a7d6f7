// Attention over sequences of unequal length, decoding and masked softmax as factors: h heads.
#include "distributed/spmd/rules/fused_attention.h"

namespace phi::distributed {
namespace {

// Heads of q and k are one factor. If k has fewer heads, a split must not cut a group of heads.
Factors unpadded_inputs(const TensorSpec& q, const TensorSpec& k, const TensorSpec& v) {
  PHI_CHECK(q.ndim() == 3 && k.ndim() == 3 && v.ndim() == 3,
            errors::InvalidArgument("q {}, k {} and v {} must be [positions, heads, head_dim].",
                                    q.shape.to_string(), k.shape.to_string(), v.shape.to_string()));
  Factors rule;
  if (k.shape[1] != q.shape[1]) rule.divides('h', k.shape[1]);
  return rule.input(q, "_h_").input(k, "_h_").input(v, "_h_").last_input_follows();
}

}  // namespace

SpmdRule FlashAttnUnpaddedInferSpmd(const TensorSpec& q, const TensorSpec& k, const TensorSpec& v) {
  return unpadded_inputs(q, k, v).output("_h_").output("h__").output("h_").output("_").combined(
      "h");
}

SpmdRule FlashAttnUnpaddedGradInferSpmd(const TensorSpec& q, const TensorSpec& k,
                                        const TensorSpec& v, const TensorSpec& out,
                                        const TensorSpec& softmax_lse, const TensorSpec& out_grad) {
  Factors rule = unpadded_inputs(q, k, v);
  rule.input(out, "_h_").input(softmax_lse, "h_").input(out_grad, "_h_");
  return rule.output_like(0).output_like(1).output_like(2);
}

SpmdRule MaskedMultiheadAttentionInferSpmd(const TensorSpec& x, const TensorSpec& cache_kv,
                                           const TensorSpec* bias, const TensorSpec* src_mask,
                                           const TensorSpec* sequence_lengths) {
  Factors rule;
  const auto add = [&rule](const TensorSpec* tensor, std::string_view names) {
    if (tensor) {
      rule.input(*tensor, names.substr(0, static_cast<size_t>(tensor->ndim())));
    } else {
      rule.absent_input();
    }
  };
  rule.input(x, "b_").input(cache_kv, "_b___");
  add(bias, "_________");
  add(src_mask, "b___");
  add(sequence_lengths, "b_");
  return rule.output("b_").output("_b___").absent_output();
}

SpmdRule SoftmaxUpperTriangleInferSpmd(const TensorSpec& x) {
  return Factors().input(x, "abc_").output("abc_");
}

SpmdRule SoftmaxUpperTriangleGradInferSpmd(const TensorSpec& out, const TensorSpec& out_grad) {
  return Factors().input(out, "abc_").input(out_grad, "abc_").output("abc_");
}

}  // namespace phi::distributed
