// The Llama against a forward pass written with loops, in double precision.
#include <gtest/gtest.h>

#include <cmath>

#include "api/nn/models/naive_decoder.h"

namespace phi::nn::models {
namespace {

LlamaConfig small_model(int64_t kv_heads) {
  LlamaConfig model;
  model.seq_len = 5;
  model.d_model = 16;
  model.layers = 2;
  model.heads = 4;
  model.kv_heads = kv_heads;
  model.ffn = 12;
  model.rope_base = 100.0;
  model.norm_eps = 1e-3;
  return model;
}

class NaiveLlama final : public NaiveDecoder<LlamaConfig> {
 public:
  using NaiveDecoder::NaiveDecoder;

 private:
  Rows embed(std::span<const int64_t> ids) const override { return embed_tokens(ids); }

  Rows norm(const std::string& name, Rows x) const override {
    for (auto& row : x) {
      double square = 0;
      for (double v : row) square += v * v / static_cast<double>(row.size());
      for (size_t c = 0; c < row.size(); ++c) {
        row[c] *= values(name + ".scale")[c] / std::sqrt(square + model_.norm_eps);
      }
    }
    return x;
  }

  // Neighbouring columns of a head are turned by position * base^(-2 i / size).
  Rows turned(Rows x) const {
    const int64_t size = model_.head_size();
    for (size_t t = 0; t < x.size(); ++t) {
      for (int64_t c = 0; c < std::ssize(x[t]); c += 2) {
        const double rate =
            std::pow(model_.rope_base, -static_cast<double>(c % size) / static_cast<double>(size));
        const double angle = static_cast<double>(t) * rate;
        const double a = x[t][c];
        const double b = x[t][c + 1];
        x[t][c] = a * std::cos(angle) - b * std::sin(angle);
        x[t][c + 1] = b * std::cos(angle) + a * std::sin(angle);
      }
    }
    return x;
  }

  Rows layer(const std::string& name, Rows x) const override {
    const auto linear = [&](const Rows& in, const char* own) {
      return product(in, name + own + ".weight");
    };
    const Rows h = norm(name + "norm_attention", x);
    const Rows mixed =
        attention(turned(linear(h, "query")), turned(linear(h, "key")), linear(h, "value"));
    x = sum(x, linear(mixed, "projection"));
    const Rows h_mlp = norm(name + "norm_mlp", x);
    Rows hidden = linear(h_mlp, "gate");
    const Rows up = linear(h_mlp, "up");
    for (size_t t = 0; t < hidden.size(); ++t) {
      for (size_t c = 0; c < up[t].size(); ++c) {
        hidden[t][c] *= up[t][c] / (1 + std::exp(-hidden[t][c]));
      }
    }
    return sum(x, linear(hidden, "down"));
  }
};

void scale_up(const Decoder& llama, const LlamaConfig& model) {
  for (int64_t i = 0; i < model.layers; ++i) {
    const std::string name = "layer" + std::to_string(i) + ".";
    for (const char* product : {"query", "key", "value", "projection", "gate", "up", "down"}) {
      disturb(llama, name + product + ".weight", 20.0f, 0.0f);
    }
    disturb(llama, name + "norm_attention.scale", 1.0f, 0.1f);
    disturb(llama, name + "norm_mlp.scale", 1.0f, 0.1f);
  }
  disturb(llama, "final_norm.scale", 1.0f, 0.1f);
  disturb(llama, "head", 20.0f, 0.0f);
}

TEST(Llama, AgreesWithLoops) {
  for (const int64_t kv_heads : {1, 2, 4}) {
    const LlamaConfig model = small_model(kv_heads);
    const auto llama = laid_out(model, one());
    scale_up(*llama, model);
    const auto [given, expected] = losses_of(*llama, NaiveLlama(*llama, model), model.seq_len);
    EXPECT_GT(std::abs(expected - std::log(256.0)), 0.01);  // the weights do matter
    EXPECT_NEAR(given, expected, 1e-5 * expected) << kv_heads << " kv_heads";
  }
}

TEST(Llama, NamesItsParameters) {
  const auto llama = laid_out(small_model(2), one());
  std::vector<std::string> names;
  for (const auto& [name, parameter] : llama->named_parameters()) {
    if (name.find("layer1") == std::string::npos) {
      names.push_back(name + " " + parameter.shape().to_string());
    }
  }
  EXPECT_EQ(names, (std::vector<std::string>{
                       "token_embedding [256,16]", "layer0.norm_attention.scale [16]",
                       "layer0.query.weight [16,16]", "layer0.key.weight [16,8]",
                       "layer0.value.weight [16,8]", "layer0.projection.weight [16,16]",
                       "layer0.norm_mlp.scale [16]", "layer0.gate.weight [16,12]",
                       "layer0.up.weight [16,12]", "layer0.down.weight [12,16]",
                       "final_norm.scale [16]", "head [16,256]"}));
}

}  // namespace
}  // namespace phi::nn::models
