// The GPT against a forward pass written with loops, in double precision.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "api/nn/models/naive_decoder.h"
#include "phi/common/errors.h"
#include "tests/support/error_matchers.h"

namespace phi::nn::models {
namespace {

GptConfig small_model() {
  GptConfig model;
  model.seq_len = 5;
  model.d_model = 8;
  model.layers = 2;
  model.heads = 2;
  model.hidden = 32;
  return model;
}

class NaiveGpt final : public NaiveDecoder<GptConfig> {
 public:
  using NaiveDecoder::NaiveDecoder;

 private:
  Rows embed(std::span<const int64_t> ids) const override {
    Rows positions(ids.size());
    for (size_t t = 0; t < ids.size(); ++t) {
      const auto row = values("position_embedding").subspan(t * model_.d_model, model_.d_model);
      positions[t].assign(row.begin(), row.end());
    }
    return sum(embed_tokens(ids), positions);
  }

  Rows linear(const Rows& x, const std::string& name) const {
    Rows y = product(x, name + ".weight");
    for (auto& row : y) {
      for (size_t o = 0; o < row.size(); ++o) row[o] += values(name + ".bias")[o];
    }
    return y;
  }

  Rows norm(const std::string& name, Rows x) const override {
    for (auto& row : x) {
      double mean = 0;
      double variance = 0;
      for (double v : row) mean += v / static_cast<double>(row.size());
      for (double v : row) variance += (v - mean) * (v - mean) / static_cast<double>(row.size());
      for (size_t c = 0; c < row.size(); ++c) {
        row[c] = (row[c] - mean) / std::sqrt(variance + 1e-5) * values(name + ".scale")[c] +
                 values(name + ".shift")[c];
      }
    }
    return x;
  }

  // Columns are head by head, and in a head q, k and v one after the other.
  Rows part_of(const Rows& qkv, int64_t which) const {
    const int64_t size = model_.head_size();
    Rows out(qkv.size());
    for (size_t t = 0; t < qkv.size(); ++t) {
      for (int64_t head = 0; head < model_.heads; ++head) {
        const auto begin = qkv[t].begin() + (head * 3 + which) * size;
        out[t].insert(out[t].end(), begin, begin + size);
      }
    }
    return out;
  }

  static Rows gelu(Rows x) {
    for (auto& row : x) {
      for (double& v : row) {
        v *= 0.5 * (1 + std::tanh(std::sqrt(2 / M_PI) * (v + 0.044715 * v * v * v)));
      }
    }
    return x;
  }

  Rows layer(const std::string& name, Rows x) const override {
    const Rows qkv = linear(norm(name + "norm_attention", x), name + "qkv");
    const Rows mixed = attention(part_of(qkv, 0), part_of(qkv, 1), part_of(qkv, 2));
    x = sum(x, linear(mixed, name + "projection"));
    const Rows hidden = gelu(linear(norm(name + "norm_mlp", x), name + "up"));
    return sum(x, linear(hidden, name + "down"));
  }
};

void scale_up(const Decoder& gpt, const GptConfig& model) {
  for (int64_t i = 0; i < model.layers; ++i) {
    const std::string name = "layer" + std::to_string(i) + ".";
    for (const char* linear : {"qkv", "projection", "up", "down"}) {
      disturb(gpt, name + linear + ".weight", 20.0f, 0.0f);
      disturb(gpt, name + linear + ".bias", 1.0f, 0.1f);
    }
    for (const char* norm : {"norm_attention", "norm_mlp"}) {
      disturb(gpt, name + norm + ".scale", 1.0f, 0.1f);
      disturb(gpt, name + norm + ".shift", 1.0f, 0.1f);
    }
  }
  disturb(gpt, "head", 20.0f, 0.0f);
}

TEST(Gpt, AgreesWithLoops) {
  const GptConfig model = small_model();
  const auto gpt = laid_out(model, one());
  scale_up(*gpt, model);
  const auto [given, expected] = losses_of(*gpt, NaiveGpt(*gpt, model), model.seq_len);
  EXPECT_GT(std::abs(expected - std::log(256.0)), 0.01);  // the weights do matter
  EXPECT_NEAR(given, expected, 1e-5 * expected);
}

TEST(Gpt, CountsItsParameters) {
  const GptConfig model = small_model();
  const auto gpt = laid_out(model, one());
  const int64_t d = model.d_model;
  const int64_t layer = 12 * d * d + 13 * d;  // 3 + 1 + 4 + 4 squares; biases and norms
  const int64_t expected = 2 * 256 * d + model.seq_len * d + 2 * layer + 2 * d;
  EXPECT_EQ(gpt->num_parameters(), expected);
  EXPECT_EQ(gpt->parameter_bytes_here(), expected * 4);
  EXPECT_THAT([&] { gpt->parameter_at("layer9.qkv.weight"); },
              ThrowsError(ErrorCode::kNotFound, "the model has no parameter 'layer9.qkv.weight'"));
}

TEST(Gpt, ParametersFollowSeedAndName) {
  const GptConfig model = small_model();
  const auto first = [&](const char* name, uint64_t seed) {
    return laid_out(model, one(), {}, seed)->parameter_at(name).values<float>()[0];
  };
  const float value = first("layer0.qkv.weight", 1);
  EXPECT_EQ(value, first("layer0.qkv.weight", 1));
  EXPECT_NE(value, first("layer1.qkv.weight", 1));
  EXPECT_NE(value, first("layer0.qkv.weight", 2));
}

}  // namespace
}  // namespace phi::nn::models
