// Shape and dtype inference of attention and of rotary position embedding.
#include "phi/infermeta/attention.h"

#include <string_view>

#include "phi/common/errors.h"

namespace phi {
namespace {

void check_qkv(const TensorMeta& q, const TensorMeta& k, const TensorMeta& v) {
  const auto fits = [&](bool condition, std::string_view what) {
    PHI_CHECK(condition, errors::InvalidArgument("q is {}, k is {}, v is {}: {}.", q.to_string(),
                                                 k.to_string(), v.to_string(), what));
  };
  fits(q.dims.ndim() == 4 && k.dims.ndim() == 4 && v.dims.ndim() == 4,
       "each must have the 4 tensor dims [batch, seq, heads, head_dim]");
  fits(q.dtype == k.dtype && q.dtype == v.dtype && is_floating(q.dtype),
       "they must have one floating dtype; cast them");
  fits(q.dims[0] == k.dims[0] && q.dims[0] == v.dims[0], "their batch extents must be equal");
  fits(k.dims[1] == v.dims[1] && k.dims[2] == v.dims[2],
       "k and v must have the same seq and heads extents");
  fits(q.dims[3] == k.dims[3], "q and k must have the same head_dim");
  fits(q.dims[2] == k.dims[2] || (k.dims[2] > 0 && q.dims[2] % k.dims[2] == 0),
       "the number of k's heads must divide that of q's");
}

void check_mask(const TensorMeta& q, const TensorMeta& k, const TensorMeta& mask) {
  const Dims& m = mask.dims;
  const Dims full{q.dims[0], q.dims[2], q.dims[1], k.dims[1]};
  const bool fits = m.ndim() == 4 && (m[0] == full[0] || m[0] == 1) &&
                    (m[1] == full[1] || m[1] == 1) && m[2] == full[2] && m[3] == full[3];
  PHI_CHECK(fits, errors::InvalidArgument("attn_mask is {}, but q {} and k {} require {}, where "
                                          "the first two extents may be 1; expand or reshape it.",
                                          mask.to_string(), q.to_string(), k.to_string(),
                                          full.to_string()));
  PHI_CHECK(mask.dtype == q.dtype,
            errors::InvalidArgument("attn_mask is {} and q is {}: the mask is added to the scores "
                                    "and must have q's dtype; cast it.",
                                    mask.to_string(), q.to_string()));
}

// The cache that x (k or v) is appended to may differ from x only in the number of positions.
void check_cache(const TensorMeta& x, const TensorMeta& cache, std::string_view name) {
  const Dims& c = cache.dims;
  const bool fits = c.ndim() == 4 && c[0] == x.dims[0] && c[1] >= x.dims[1] && c[2] == x.dims[2] &&
                    c[3] == x.dims[3] && cache.dtype == x.dtype;
  PHI_CHECK(fits,
            errors::InvalidArgument("{}_cache is {}, but {} {} requires {} [{}, {} or more, {}, "
                                    "{}]; allocate it with room for all positions.",
                                    name, cache.to_string(), name, x.to_string(), name_of(x.dtype),
                                    x.dims[0], x.dims[1], x.dims[2], x.dims[3]));
}

// Checks one of q, k, v of rotary embedding against q.
void check_rotated(const TensorMeta& q, const TensorMeta& x, std::string_view name) {
  PHI_CHECK(x.dims.ndim() == 4 && is_floating(x.dtype),
            errors::InvalidArgument("{} is {}, but it must be floating with the 4 tensor dims "
                                    "[batch, seq, heads, head_dim].",
                                    name, x.to_string()));
  PHI_CHECK(x.dtype == q.dtype && x.dims[0] == q.dims[0] && x.dims[1] == q.dims[1] &&
                x.dims[3] == q.dims[3],
            errors::InvalidArgument("{} is {} and q is {}: they may differ in heads only.", name,
                                    x.to_string(), q.to_string()));
}

void check_table(const TensorMeta& q, int64_t seq, const TensorMeta& table, std::string_view name,
                 bool any_length) {
  const Dims& t = table.dims;
  const int64_t head_dim = q.dims[3];
  const bool flat = t.ndim() == 2 && t[1] == head_dim;
  const bool wide = t.ndim() == 4 && t[0] == 1 && t[2] == 1 && t[3] == head_dim;
  const int64_t rows = flat ? t[0] : (wide ? t[1] : -1);
  PHI_CHECK(rows >= 0 && (any_length || rows == seq),
            errors::InvalidArgument(
                "{} is {}, but q {} requires [{}, {}] or [1, {}, 1, {}]; reshape or slice it{}.",
                name, table.to_string(), q.to_string(), seq, head_dim, seq, head_dim,
                any_length ? " (any seq with position_ids)" : ""));
  PHI_CHECK(table.dtype == q.dtype,
            errors::InvalidArgument("{} is {} and q is {}: they must have one dtype; cast {}.",
                                    name, table.to_string(), q.to_string(), name));
}

void check_position_ids(const TensorMeta& q, const Dims& expected, const TensorMeta& ids) {
  PHI_CHECK(ids.dims == expected && (ids.dtype == DataType::INT32 || ids.dtype == DataType::INT64),
            errors::InvalidArgument(
                "position_ids is {}, but q {} requires int32 or int64 {} ([batch, seq]).",
                ids.to_string(), q.to_string(), expected.to_string()));
}

std::optional<TensorMeta> copy_if_given(const TensorMeta* meta) {
  return meta ? std::optional(*meta) : std::nullopt;
}

}  // namespace

std::tuple<TensorMeta, std::optional<TensorMeta>, TensorMeta, std::optional<TensorMeta>>
FlashAttentionInferMeta(const TensorMeta& q, const TensorMeta& k, const TensorMeta& v,
                        const TensorMeta* fixed_seed_offset, const TensorMeta* attn_mask,
                        float dropout, bool /*causal*/, bool return_softmax, bool is_test,
                        const std::string& rng_name) {
  check_qkv(q, k, v);
  if (attn_mask) check_mask(q, k, *attn_mask);
  PHI_CHECK(dropout >= 0.0f && dropout < 1.0f,
            errors::InvalidArgument("dropout is {}, but it must be in [0, 1).", dropout));
  PHI_CHECK(rng_name.empty(),
            errors::InvalidArgument("rng_name is '{}', but there is one generator, without a name; "
                                    "leave it empty.",
                                    rng_name));
  if (fixed_seed_offset) {
    PHI_CHECK(
        fixed_seed_offset->dtype == DataType::INT64 && fixed_seed_offset->dims == Dims{2},
        errors::InvalidArgument("fixed_seed_offset is {}, but it must be i64[2]: seed and offset.",
                                fixed_seed_offset->to_string()));
  }
  const int64_t batch = q.dims[0];
  const int64_t heads = q.dims[2];
  const TensorMeta out{{batch, q.dims[1], heads, v.dims[3]}, q.dtype, q.layout};
  const bool wide = q.dtype == DataType::FLOAT64;
  const TensorMeta lse{
      {batch, heads, q.dims[1]}, wide ? DataType::FLOAT64 : DataType::FLOAT32, q.layout};
  std::optional<TensorMeta> softmax;
  if (return_softmax) softmax = TensorMeta{{batch, heads, q.dims[1], k.dims[1]}, q.dtype, q.layout};
  std::optional<TensorMeta> seed_offset;
  if (dropout > 0.0f && !is_test) seed_offset = TensorMeta{{2}, DataType::INT64, q.layout};
  return {out, softmax, lse, seed_offset};
}

std::tuple<TensorMeta, TensorMeta, TensorMeta> FlashAttentionWithKvcacheInferMeta(
    const TensorMeta& q, const TensorMeta& k, const TensorMeta& v, const TensorMeta& k_cache,
    const TensorMeta& v_cache, const TensorMeta& cache_seqlens) {
  check_qkv(q, k, v);
  PHI_CHECK(q.dims[1] == k.dims[1],
            errors::InvalidArgument(
                "q is {} and k is {}: both must have the seq extent of the new positions.",
                q.to_string(), k.to_string()));
  check_cache(k, k_cache, "k");
  check_cache(v, v_cache, "v");
  PHI_CHECK(k_cache.dims[1] == v_cache.dims[1],
            errors::InvalidArgument("k_cache is {} and v_cache is {}: they must have room for the "
                                    "same number of positions.",
                                    k_cache.to_string(), v_cache.to_string()));
  PHI_CHECK(cache_seqlens.dims == Dims{q.dims[0]} && cache_seqlens.dtype == DataType::INT64,
            errors::InvalidArgument(
                "cache_seqlens is {}, but q {} requires i64[{}], one length for each batch entry.",
                cache_seqlens.to_string(), q.to_string(), q.dims[0]));
  return {{{q.dims[0], q.dims[1], q.dims[2], v.dims[3]}, q.dtype, q.layout}, k_cache, v_cache};
}

std::tuple<TensorMeta, std::optional<TensorMeta>, std::optional<TensorMeta>> FusedRopeInferMeta(
    const TensorMeta& q, const TensorMeta* k, const TensorMeta* v, const TensorMeta* sin,
    const TensorMeta* cos, const TensorMeta* position_ids, bool /*use_neox_rotary_style*/,
    bool time_major, float rotary_emb_base) {
  check_rotated(q, q, "q");
  if (k) check_rotated(q, *k, "k");
  if (v) check_rotated(q, *v, "v");
  PHI_CHECK(q.dims[3] % 2 == 0,
            errors::InvalidArgument("q is {}, but head_dim must be even: it is rotated in pairs.",
                                    q.to_string()));
  PHI_CHECK((sin == nullptr) == (cos == nullptr),
            errors::InvalidArgument("{} is passed without {}; pass both or neither.",
                                    sin ? "sin" : "cos", sin ? "cos" : "sin"));
  PHI_CHECK(
      rotary_emb_base > 0.0f,
      errors::InvalidArgument("rotary_emb_base is {}, but it must be positive.", rotary_emb_base));
  const int64_t seq = q.dims[time_major ? 0 : 1];
  const int64_t batch = q.dims[time_major ? 1 : 0];
  if (sin) {
    check_table(q, seq, *sin, "sin", position_ids != nullptr);
    check_table(q, seq, *cos, "cos", position_ids != nullptr);
    PHI_CHECK(sin->dims == cos->dims,
              errors::InvalidArgument("sin is {} and cos is {}: they must have one shape.",
                                      sin->to_string(), cos->to_string()));
  }
  if (position_ids) check_position_ids(q, {batch, seq}, *position_ids);
  return {q, copy_if_given(k), copy_if_given(v)};
}

}  // namespace phi
