// Shape and dtype inference of attention over sequences of unequal length.
#include "phi/infermeta/fused_attention.h"

#include <string_view>

#include "phi/common/errors.h"
#include "phi/infermeta/normalisation.h"

namespace phi {
namespace {

void check_attention_lengths(const TensorMeta& lengths, std::string_view name) {
  const bool fits = lengths.dims.ndim() == 1 && lengths.dims[0] >= 1 &&
                    (lengths.dtype == DataType::INT32 || lengths.dtype == DataType::INT64);
  PHI_CHECK(fits,
            errors::InvalidArgument("{} is {}, but it must be int32 or int64 [sequences + 1]: "
                                    "where each sequence begins, and the end.",
                                    name, lengths.to_string()));
}

}  // namespace

std::tuple<TensorMeta, std::optional<TensorMeta>, TensorMeta, std::optional<TensorMeta>>
FlashAttnUnpaddedInferMeta(const TensorMeta& q, const TensorMeta& k, const TensorMeta& v,
                           const TensorMeta& cu_seqlens_q, const TensorMeta& cu_seqlens_k,
                           const TensorMeta* fixed_seed_offset, const TensorMeta* attn_mask,
                           float dropout, bool return_softmax, bool is_test,
                           const std::string& rng_name) {
  const bool fits = q.dims.ndim() == 3 && k.dims.ndim() == 3 && v.dims.ndim() == 3 &&
                    k.dims[0] == v.dims[0] && k.dims[1] == v.dims[1] && q.dims[2] == k.dims[2] &&
                    k.dims[1] > 0 && q.dims[1] % k.dims[1] == 0 && is_floating(q.dtype) &&
                    q.dtype == k.dtype && q.dtype == v.dtype;
  PHI_CHECK(fits, errors::InvalidArgument(
                      "q is {}, k is {} and v is {}: they must be [all queries, heads, head_dim], "
                      "[all keys, kv_heads, head_dim] and [all keys, kv_heads, v_dim], of one "
                      "floating dtype, and kv_heads must divide heads.",
                      q.to_string(), k.to_string(), v.to_string()));
  check_attention_lengths(cu_seqlens_q, "cu_seqlens_q");
  check_attention_lengths(cu_seqlens_k, "cu_seqlens_k");
  PHI_CHECK(
      cu_seqlens_q.dims == cu_seqlens_k.dims,
      errors::InvalidArgument(
          "cu_seqlens_q is {} and cu_seqlens_k is {}: both must have the same number of sequences.",
          cu_seqlens_q.to_string(), cu_seqlens_k.to_string()));
  PHI_CHECK(!attn_mask && !return_softmax,
            errors::InvalidArgument("sequences of unequal length take no attn_mask, and their "
                                    "softmax is not returned; pad them for flash_attn."));
  PHI_CHECK(
      dropout >= 0 && dropout < 1,
      errors::InvalidArgument(
          "dropout is {}, but it must be in [0, 1): at 1 no weights would be left.", dropout));
  PHI_CHECK(rng_name.empty(),
            errors::InvalidArgument("rng_name is '{}', but there is one generator; leave it empty.",
                                    rng_name));
  const TensorMeta seed{Dims{2}, DataType::INT64, q.layout};
  PHI_CHECK(!fixed_seed_offset ||
                (fixed_seed_offset->dims == seed.dims && fixed_seed_offset->dtype == seed.dtype),
            errors::InvalidArgument("fixed_seed_offset is {}, but it must be int64 [2]: seed and "
                                    "offset.",
                                    fixed_seed_offset->to_string()));
  const bool drops = dropout > 0 && !is_test;
  return {TensorMeta{Dims{q.dims[0], q.dims[1], v.dims[2]}, q.dtype, q.layout}, std::nullopt,
          TensorMeta{Dims{q.dims[1], q.dims[0]}, statistics_dtype(q.dtype), q.layout},
          drops ? std::optional(seed) : std::nullopt};
}

std::tuple<TensorMeta, TensorMeta, std::optional<TensorMeta>> MaskedMultiheadAttentionInferMeta(
    const TensorMeta& x, const TensorMeta& cache_kv, const TensorMeta* bias,
    const TensorMeta* src_mask, const TensorMeta* cum_offsets, const TensorMeta* sequence_lengths,
    const TensorMeta* rotary_tensor, const TensorMeta* beam_cache_offset,
    const TensorMeta* qkv_out_scale, const TensorMeta* out_shift, const TensorMeta* out_smooth, int,
    int rotary_emb_dims, bool, const std::string&, float out_scale, int, float, float) {
  const bool plain = !cum_offsets && !rotary_tensor && !beam_cache_offset && !qkv_out_scale &&
                     !out_shift && !out_smooth && rotary_emb_dims == 0 && out_scale <= 0;
  PHI_CHECK(plain, errors::InvalidArgument(
                       "rotations, beams and quantised outputs are not supported: omit "
                       "cum_offsets, rotary_tensor, beam_cache_offset, qkv_out_scale, out_shift "
                       "and out_smooth, and rotate x before."));
  const Dims& d = cache_kv.dims;
  const bool fits = is_floating(x.dtype) && x.dtype == cache_kv.dtype && d.ndim() == 5 &&
                    d[0] == 2 && x.dims == Dims{d[1], 3 * d[2] * d[4]};
  PHI_CHECK(fits, errors::InvalidArgument("x is {} and cache_kv is {}: they must be [batch, 3 * "
                                          "heads * width] and [2, batch, heads, room, width], of "
                                          "one floating dtype.",
                                          x.to_string(), cache_kv.to_string()));
  PHI_CHECK(!bias || bias->dims.numel() == x.dims[1],
            errors::InvalidArgument("bias is {}, but x is {}; bias must be [3, {}, {}].",
                                    bias->to_string(), x.to_string(), d[2], d[4]));
  PHI_CHECK(!src_mask || (src_mask->dims.ndim() == 4 && src_mask->dims[0] == d[1] &&
                          src_mask->dims[1] == 1 && src_mask->dims[2] == 1),
            errors::InvalidArgument("src_mask is {}, but it must be [{}, 1, 1, positions].",
                                    src_mask->to_string(), d[1]));
  PHI_CHECK(!sequence_lengths ||
                (sequence_lengths->dims.numel() == d[1] && sequence_lengths->dims.ndim() <= 2 &&
                 sequence_lengths->dtype == DataType::INT32),
            errors::InvalidArgument("sequence_lengths is {}, but it must be int32 [{}, 1].",
                                    sequence_lengths->to_string(), d[1]));
  PHI_CHECK(src_mask || sequence_lengths,
            errors::InvalidArgument("neither src_mask nor sequence_lengths is passed: one of them "
                                    "must define the number of positions in the cache."));
  return {TensorMeta{Dims{d[1], d[2] * d[4]}, x.dtype, x.layout}, cache_kv, std::nullopt};
}

TensorMeta SoftmaxUpperTriangleInferMeta(const TensorMeta& x) {
  PHI_CHECK(is_floating(x.dtype) && x.dims.ndim() == 4 && x.dims[2] == x.dims[3],
            errors::InvalidArgument("X is {}, but it must be floating [batch, heads, queries, "
                                    "keys], with equal extents of queries and keys.",
                                    x.to_string()));
  return x;
}

}  // namespace phi
