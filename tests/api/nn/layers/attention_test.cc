// Options of attention that cannot be, and one that sees all positions.
#include "api/nn/layers/attention.h"

#include <gtest/gtest.h>

#include "api/generated/ops/full.h"
#include "api/generated/ops/gaussian.h"
#include "api/nn/key_value_cache.h"
#include "phi/tensor_api.h"
#include "tests/support/error_matchers.h"

namespace phi::nn {
namespace {

class Model final : public Layer {
 public:
  explicit Model(const AttentionOptions& options) : attention(*this, "attention", options) {}
  Tensor forward(const Tensor& x) const override { return attention(x); }
  Attention attention;
};

TEST(Attention, WhatCannotBeIsAnError) {
  const std::pair<AttentionOptions, const char*> rows[] = {
      {{.d_model = 10, .heads = 3}, "attention 'attention': 3 heads do not divide d_model 10"},
      {{.d_model = 0, .heads = 1}, "1 heads do not divide d_model 0"},
      {{.d_model = 12, .heads = 6, .kv_heads = 4}, "4 kv_heads do not divide heads 6"},
      {{.d_model = 12, .heads = 6, .kv_heads = 3, .fused = true}, "kv_heads is 3 of 6 heads"},
      {{.d_model = 9, .heads = 3, .rope_base = 10.0}, "the head size 3 is odd"},
  };
  for (const auto& [options, message] : rows) {
    EXPECT_THAT(([&, &o = options] { Model{o}; }),
                ThrowsError(ErrorCode::kInvalidArgument, message));
  }
}

TEST(Attention, WithoutCausalEveryPositionSeesAll) {
  const Model causal({.d_model = 8, .heads = 2});
  const Model open({.d_model = 8, .heads = 2, .causal = false});
  const Tensor x = gaussian({1, 4, 8}, 0.0f, 1.0f, 3);
  const auto masked = causal(x).to_vector<float>();
  const auto whole = open(x).to_vector<float>();
  // The last position sees all in both; the first does not.
  EXPECT_EQ(std::vector<float>(whole.end() - 8, whole.end()),
            std::vector<float>(masked.end() - 8, masked.end()));
  EXPECT_NE(std::vector<float>(whole.begin(), whole.begin() + 8),
            std::vector<float>(masked.begin(), masked.begin() + 8));
}

TEST(Attention, WithoutCausalThereIsNoReadingOn) {
  const Model open({.d_model = 8, .heads = 2, .causal = false});
  KeyValueCache cache(open, 1, 4);
  cache.begin_forward(full({1}, 0, DataType::INT64));
  const ForwardContextScope pass(open, {.cache = &cache});
  EXPECT_THAT(
      [&] {
        open(gaussian({1, 2, 8}, 0.0f, 1.0f, 3));
      },
      ThrowsError(ErrorCode::kInvalidArgument, "cannot continue from a cache"));
}

}  // namespace
}  // namespace phi::nn
