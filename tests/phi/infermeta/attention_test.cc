// Shapes and error texts of attention and rotary position embedding.
#include "phi/infermeta/attention.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "phi/common/errors.h"
#include "tests/support/error_matchers.h"

namespace phi {
namespace {

using ::testing::HasSubstr;
constexpr DataType kF32 = DataType::FLOAT32;

std::string error_of(const std::function<void()>& body) {
  try {
    body();
  } catch (const Error& error) {
    return words_of(error);
  }
  return "no error";
}

std::string attend(const Dims& q, const Dims& k, const Dims& v, const TensorMeta* mask = nullptr,
                   float dropout = 0, const TensorMeta* seed = nullptr) {
  return error_of([&] {
    FlashAttentionInferMeta({q, kF32}, {k, kF32}, {v, kF32}, seed, mask, dropout, false, false,
                            false);
  });
}

TEST(FlashAttentionInferMeta, Shapes) {
  const TensorMeta q{{2, 5, 6, 8}, DataType::BFLOAT16};
  const TensorMeta k{{2, 7, 3, 8}, DataType::BFLOAT16};
  const TensorMeta v{{2, 7, 3, 4}, DataType::BFLOAT16};
  const auto [out, softmax, lse, seed] =
      FlashAttentionInferMeta(q, k, v, nullptr, nullptr, 0.5f, true, true, false);
  EXPECT_EQ(out.to_string(), "bf16[2,5,6,4]");
  EXPECT_EQ(softmax->to_string(), "bf16[2,6,5,7]");
  EXPECT_EQ(lse.to_string(), "f32[2,6,5]");
  EXPECT_EQ(seed->to_string(), "i64[2]");
  const auto [o, s, l, d] =
      FlashAttentionInferMeta(q, k, v, nullptr, nullptr, 0.5f, true, false, true);
  EXPECT_FALSE(s.has_value());
  EXPECT_FALSE(d.has_value());
}

TEST(FlashAttentionInferMeta, LogSumExpsOfFloat64AreFloat64) {
  const TensorMeta x{{2, 5, 6, 8}, DataType::FLOAT64};
  const auto [out, softmax, lse, seed] =
      FlashAttentionInferMeta(x, x, x, nullptr, nullptr, 0.0f, true, false, false);
  EXPECT_EQ(lse.to_string(), "f64[2,6,5]");
}

TEST(FlashAttentionWithKvcacheInferMeta, GivesQueriesOutputAndTheCaches) {
  const TensorMeta q{{2, 3, 6, 8}, kF32};
  const TensorMeta k{{2, 3, 2, 8}, kF32};
  const TensorMeta v{{2, 3, 2, 4}, kF32};
  const auto [out, keys, values] = FlashAttentionWithKvcacheInferMeta(
      q, k, v, {{2, 9, 2, 8}, kF32}, {{2, 9, 2, 4}, kF32}, {{2}, DataType::INT64});
  EXPECT_EQ(out.to_string(), "f32[2,3,6,4]");
  EXPECT_EQ(keys.to_string(), "f32[2,9,2,8]");
  EXPECT_EQ(values.to_string(), "f32[2,9,2,4]");
}

TEST(FlashAttentionWithKvcacheInferMeta, Errors) {
  const TensorMeta x{{2, 3, 6, 8}, kF32};
  const TensorMeta cache{{2, 9, 6, 8}, kF32};
  const TensorMeta lengths{{2}, DataType::INT64};
  const auto cached = [&](const TensorMeta& q, const TensorMeta& keys, const TensorMeta& values,
                          const TensorMeta& seqlens) {
    return error_of([&] { FlashAttentionWithKvcacheInferMeta(q, x, x, keys, values, seqlens); });
  };
  EXPECT_THAT(
      cached({{2, 2, 6, 8}, kF32}, cache, cache, lengths),
      HasSubstr(
          "q is f32[2,2,6,8] and k is f32[2,3,6,8]: both must have the seq extent of the new"));
  EXPECT_THAT(
      cached(x, {{2, 2, 6, 8}, kF32}, cache, lengths),
      HasSubstr(
          "k_cache is f32[2,2,6,8], but k f32[2,3,6,8] requires float32 [2, 3 or more, 6, 8]"));
  EXPECT_THAT(cached(x, cache, {{2, 9, 6, 8}, DataType::BFLOAT16}, lengths),
              HasSubstr("v_cache is bf16[2,9,6,8], but v"));
  EXPECT_THAT(cached(x, cache, {{2, 8, 6, 8}, kF32}, lengths),
              HasSubstr("room for the same number of positions"));
  EXPECT_THAT(cached(x, cache, cache, {{3}, DataType::INT64}),
              HasSubstr("cache_seqlens is i64[3], but q f32[2,3,6,8] requires i64[2]"));
}

TEST(FlashAttentionInferMeta, Errors) {
  const Dims q{2, 5, 6, 8};
  EXPECT_THAT(attend({2, 5, 8}, q, q), HasSubstr("q is f32[2,5,8], k is f32[2,5,6,8]"));
  EXPECT_THAT(attend(q, {1, 5, 6, 8}, q), HasSubstr("batch extents must be equal"));
  EXPECT_THAT(attend(q, {2, 5, 4, 8}, {2, 5, 4, 8}), HasSubstr("must divide that of q's"));
  EXPECT_THAT(attend(q, {2, 5, 6, 4}, q), HasSubstr("the same head_dim"));
  EXPECT_THAT(attend(q, q, {2, 4, 6, 8}), HasSubstr("the same seq and heads"));
  const TensorMeta mask{{2, 6, 5, 4}, kF32};
  EXPECT_THAT(
      attend(q, q, q, &mask),
      HasSubstr(
          "attn_mask is f32[2,6,5,4], but q f32[2,5,6,8] and k f32[2,5,6,8] require [2,6,5,5]"));
  EXPECT_THAT(attend(q, q, q, nullptr, 1.0f), HasSubstr("dropout is 1, but it must be in [0, 1)"));
  EXPECT_THAT(attend(q, q, q, nullptr, 0.5f, &mask), HasSubstr("fixed_seed_offset is f32"));
  EXPECT_THAT(error_of([&] {
                const TensorMeta x{q, kF32};
                FlashAttentionInferMeta(x, x, x, nullptr, nullptr, 0, false, false, false, "local");
              }),
              HasSubstr("rng_name is 'local', but there is one generator, without a name"));
}

std::string rotate(const TensorMeta& q, const TensorMeta* k, const TensorMeta* sin,
                   const TensorMeta* cos, const TensorMeta* ids, bool time_major = false) {
  return error_of(
      [&] { FusedRopeInferMeta(q, k, nullptr, sin, cos, ids, true, time_major, 10000.0f); });
}

TEST(FusedRopeInferMeta, Shapes) {
  const TensorMeta q{{2, 5, 6, 8}, kF32};
  const TensorMeta k{{2, 5, 3, 8}, kF32};
  const auto [out_q, out_k, out_v] =
      FusedRopeInferMeta(q, &k, nullptr, nullptr, nullptr, nullptr, true, false, 10000.0f);
  EXPECT_EQ(out_q, q);
  EXPECT_EQ(*out_k, k);
  EXPECT_FALSE(out_v.has_value());
  const TensorMeta flat{{5, 8}, kF32}, wide{{1, 5, 1, 8}, kF32}, time{{1, 2, 1, 8}, kF32};
  const TensorMeta ids{{2, 5}, DataType::INT64};
  EXPECT_EQ(rotate(q, nullptr, &flat, &flat, nullptr), "no error");
  EXPECT_EQ(rotate(q, nullptr, &wide, &wide, &ids), "no error");
  EXPECT_EQ(rotate(q, nullptr, &time, &time, nullptr, true), "no error");
}

TEST(FusedRopeInferMeta, Errors) {
  const TensorMeta q{{2, 5, 6, 8}, kF32}, odd{{2, 5, 6, 7}, kF32}, k{{2, 4, 6, 8}, kF32};
  const TensorMeta table{{5, 8}, kF32}, wrong{{4, 8}, kF32}, ids{{5, 2}, DataType::INT64};
  EXPECT_THAT(rotate(odd, nullptr, nullptr, nullptr, nullptr), HasSubstr("must be even"));
  EXPECT_THAT(rotate(q, &k, nullptr, nullptr, nullptr),
              HasSubstr("k is f32[2,4,6,8] and q is f32[2,5,6,8]: they may differ in heads only"));
  EXPECT_THAT(rotate(q, nullptr, &table, nullptr, nullptr), HasSubstr("sin is passed without cos"));
  EXPECT_THAT(rotate(q, nullptr, &wrong, &wrong, nullptr),
              HasSubstr("sin is f32[4,8], but q f32[2,5,6,8] requires [5, 8] or [1, 5, 1, 8]"));
  EXPECT_THAT(rotate(q, nullptr, &table, &table, &ids), HasSubstr("int32 or int64 [2,5]"));
}

}  // namespace
}  // namespace phi
