// The GPT against a forward pass written with loops, in double precision.
#include "tools/job/model/decoder.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "phi/common/errors.h"

namespace phi::job {
namespace {

using Rows = std::vector<std::vector<double>>;

constexpr int64_t kSeq = 5;

ModelConfig small_model() {
  ModelConfig model;
  model.seq_len = kSeq;
  model.d_model = 8;
  model.layers = 2;
  model.heads = 2;
  return model;
}

class NaiveGpt {
 public:
  NaiveGpt(const Decoder& gpt, const ModelConfig& model) : gpt_(gpt), model_(model) {}

  double loss(std::span<const int64_t> ids, std::span<const int64_t> labels) const {
    double sum = 0;
    for (size_t row = 0; row < ids.size() / kSeq; ++row) {
      Rows x = embed(ids.subspan(row * kSeq, kSeq));
      for (int64_t i = 0; i < model_.layers; ++i) x = layer("layer" + std::to_string(i) + ".", x);
      const Rows logits = product(norm("final_norm", x), "head");
      for (int64_t t = 0; t < kSeq; ++t) {
        double total = 0;
        for (double logit : logits[t]) total += std::exp(logit);
        sum += std::log(total) - logits[t][labels[row * kSeq + t]];
      }
    }
    return sum / static_cast<double>(ids.size());
  }

 private:
  std::span<const float> values(const std::string& name) const {
    return gpt_.parameter(name).values<float>();
  }

  Rows embed(std::span<const int64_t> ids) const {
    Rows x(kSeq);
    for (int64_t t = 0; t < kSeq; ++t) {
      for (int64_t c = 0; c < model_.d_model; ++c) {
        x[t].push_back(values("token_embedding")[ids[t] * model_.d_model + c] +
                       values("position_embedding")[t * model_.d_model + c]);
      }
    }
    return x;
  }

  Rows product(const Rows& x, const std::string& name) const {
    const auto weight = values(name);
    const int64_t in = gpt_.parameter(name).shape()[0];
    const int64_t out = gpt_.parameter(name).shape()[1];
    Rows y(x.size(), std::vector<double>(out));
    for (size_t t = 0; t < x.size(); ++t) {
      for (int64_t i = 0; i < in; ++i) {
        for (int64_t o = 0; o < out; ++o) y[t][o] += x[t][i] * weight[i * out + o];
      }
    }
    return y;
  }

  Rows linear(const Rows& x, const std::string& name) const {
    Rows y = product(x, name + ".weight");
    for (auto& row : y) {
      for (size_t o = 0; o < row.size(); ++o) row[o] += values(name + ".bias")[o];
    }
    return y;
  }

  Rows norm(const std::string& name, Rows x) const {
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

  Rows attention(const Rows& qkv) const {
    const int64_t size = model_.head_size();
    const auto at = [&](int64_t t, int64_t head, int64_t which, int64_t c) {
      return qkv[t][(head * 3 + which) * size + c];
    };
    Rows out(kSeq, std::vector<double>(model_.d_model));
    for (int64_t head = 0; head < model_.heads; ++head) {
      for (int64_t t = 0; t < kSeq; ++t) {
        std::vector<double> weights(t + 1);
        double total = 0;
        for (int64_t s = 0; s <= t; ++s) {
          double score = 0;
          for (int64_t c = 0; c < size; ++c) score += at(t, head, 0, c) * at(s, head, 1, c);
          total += weights[s] = std::exp(score / std::sqrt(static_cast<double>(size)));
        }
        for (int64_t s = 0; s <= t; ++s) {
          for (int64_t c = 0; c < size; ++c) {
            out[t][head * size + c] += weights[s] / total * at(s, head, 2, c);
          }
        }
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

  static Rows sum(Rows x, const Rows& y) {
    for (size_t t = 0; t < x.size(); ++t) {
      for (size_t c = 0; c < x[t].size(); ++c) x[t][c] += y[t][c];
    }
    return x;
  }

  Rows layer(const std::string& name, Rows x) const {
    const Rows mixed = attention(linear(norm(name + "norm_attention", x), name + "qkv"));
    x = sum(x, linear(mixed, name + "projection"));
    const Rows hidden = gelu(linear(norm(name + "norm_mlp", x), name + "up"));
    return sum(x, linear(hidden, name + "down"));
  }

  const Decoder& gpt_;
  const ModelConfig& model_;
};

// Ids that follow no pattern, and the ones after them.
std::vector<int64_t> numbers(int64_t first) {
  std::vector<int64_t> out;
  for (int64_t i = first; i < first + 2 * kSeq; ++i) out.push_back(i * i * 37 % 256);
  return out;
}

const distributed::ProcessMesh& one() {
  static const distributed::ProcessMesh mesh({1}, {"dp"});
  return mesh;
}

// Initial biases are 0 and weights small, which would hide errors: gives all of them weight.
void scale_up(const Decoder& gpt, const ModelConfig& model) {
  const auto disturb = [&](const std::string& name, float factor, float step) {
    DenseTensor local = gpt.parameter(name).dist().local();
    float* values = local.mutable_data<float>();
    for (int64_t i = 0; i < local.numel(); ++i) {
      values[i] = values[i] * factor + step * static_cast<float>(i % 7 - 3);
    }
  };
  for (int64_t i = 0; i < model.layers; ++i) {
    const std::string name = "layer" + std::to_string(i) + ".";
    for (const char* linear : {"qkv", "projection", "up", "down"}) {
      disturb(name + linear + ".weight", 20.0f, 0.0f);
      disturb(name + linear + ".bias", 1.0f, 0.1f);
    }
    for (const char* norm : {"norm_attention", "norm_mlp"}) {
      disturb(name + norm + ".scale", 1.0f, 0.1f);
      disturb(name + norm + ".shift", 1.0f, 0.1f);
    }
  }
  disturb("head", 20.0f, 0.0f);
}

TEST(Gpt, AgreesWithLoops) {
  const ModelConfig model = small_model();
  const Decoder gpt(model, RunConfig(), one());
  scale_up(gpt, model);
  const std::vector<int64_t> ids = numbers(1);
  const std::vector<int64_t> labels = numbers(2);
  const Tensor loss = gpt.loss({.ids = Tensor::from<int64_t>(ids, {2, kSeq}),
                                .labels = Tensor::from<int64_t>(labels, {2, kSeq, 1})});
  EXPECT_EQ(loss.ndim(), 0);
  const double expected = NaiveGpt(gpt, model).loss(ids, labels);
  EXPECT_GT(std::abs(expected - std::log(256.0)), 0.01);  // the weights do matter
  EXPECT_NEAR(distributed::reshard(loss, one(), {}).item(), expected, 1e-5 * expected);
}

TEST(Gpt, CountsItsParameters) {
  const ModelConfig model = small_model();
  const Decoder gpt(model, RunConfig(), one());
  const int64_t d = model.d_model;
  const int64_t layer = 12 * d * d + 13 * d;  // 3 + 1 + 4 + 4 squares; biases and norms
  const int64_t expected = 2 * 256 * d + kSeq * d + 2 * layer + 2 * d;
  EXPECT_EQ(gpt.num_parameters(), expected);
  EXPECT_EQ(gpt.parameter_bytes_here(), expected * 4);
  EXPECT_THROW(gpt.parameter("layer9.qkv.weight"), Error);
}

TEST(Gpt, ParametersFollowSeedAndName) {
  ModelConfig model = small_model();
  const auto first = [&](const char* name) {
    return Decoder(model, RunConfig(), one()).parameter(name).values<float>()[0];
  };
  const float value = first("layer0.qkv.weight");
  EXPECT_EQ(value, first("layer0.qkv.weight"));
  EXPECT_NE(value, first("layer1.qkv.weight"));
  model.seed = 2;
  EXPECT_NE(value, first("layer0.qkv.weight"));
}

TEST(StagesOf, AreTheSlicesAlongPp) {
  const distributed::ProcessMesh mesh({2, 2, 2}, {"dp", "pp", "tp"});
  const auto stages = stages_of(mesh);
  ASSERT_EQ(stages.size(), 2u);
  EXPECT_EQ(stages[1].mesh().ranks(), (std::vector<int64_t>{2, 3, 6, 7}));
  EXPECT_EQ(stages[1].mesh().dim_names(), (std::vector<std::string>{"dp", "tp"}));
  EXPECT_EQ(stages_of(one()).size(), 1u);
  EXPECT_EQ(stages_of(distributed::ProcessMesh({3}, {"pp"})).size(), 3u);
}

}  // namespace
}  // namespace phi::job
