// NaiveDecoder: the forward pass of a decoder written with loops, in double precision, from the
// parameters of a Decoder on one process. A kind of model adds its norm, embedding and layer.
#pragma once

#include <cmath>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "api/nn/loss.h"
#include "distributed/api.h"
#include "laid_out.h"

namespace phi::nn::models {

template <typename Config>
class NaiveDecoder {
 public:
  NaiveDecoder(const Decoder& decoder, const Config& model) : decoder_(decoder), model_(model) {}
  virtual ~NaiveDecoder() = default;

  /// Mean cross entropy over texts of seq_len positions.
  double loss(std::span<const int64_t> ids, std::span<const int64_t> labels) const {
    const int64_t seq = model_.seq_len;
    double sum = 0;
    for (int64_t row = 0; row < std::ssize(ids) / seq; ++row) {
      Rows x = embed(ids.subspan(row * seq, seq));
      for (int64_t i = 0; i < model_.layers; ++i) x = layer("layer" + std::to_string(i) + ".", x);
      const Rows logits = product(norm("final_norm", x), "head");
      for (int64_t t = 0; t < seq; ++t) {
        double total = 0;
        for (double logit : logits[t]) total += std::exp(logit);
        sum += std::log(total) - logits[t][labels[row * seq + t]];
      }
    }
    return sum / static_cast<double>(ids.size());
  }

 protected:
  using Rows = std::vector<std::vector<double>>;  // [position][column]

  virtual Rows embed(std::span<const int64_t> ids) const = 0;
  virtual Rows layer(const std::string& name, Rows x) const = 0;
  virtual Rows norm(const std::string& name, Rows x) const = 0;

  std::span<const float> values(const std::string& name) const {
    return decoder_.parameter_at(name).values<float>();
  }

  Rows embed_tokens(std::span<const int64_t> ids) const {
    Rows x(ids.size());
    for (size_t t = 0; t < ids.size(); ++t) {
      const auto row = values("token_embedding").subspan(ids[t] * model_.d_model, model_.d_model);
      x[t].assign(row.begin(), row.end());
    }
    return x;
  }

  Rows product(const Rows& x, const std::string& name) const {
    const auto weight = values(name);
    const int64_t in = decoder_.parameter_at(name).shape()[0];
    const int64_t out = decoder_.parameter_at(name).shape()[1];
    Rows y(x.size(), std::vector<double>(out));
    for (size_t t = 0; t < x.size(); ++t) {
      for (int64_t i = 0; i < in; ++i) {
        for (int64_t o = 0; o < out; ++o) y[t][o] += x[t][i] * weight[i * out + o];
      }
    }
    return y;
  }

  /// Causal; columns are head by head. As many heads of q in a row as there are more of them share
  /// one of k and v.
  Rows attention(const Rows& q, const Rows& k, const Rows& v) const {
    const int64_t size = model_.head_size();
    const int64_t group = std::ssize(q[0]) / std::ssize(k[0]);
    Rows out(q.size(), std::vector<double>(q[0].size()));
    for (int64_t head = 0; head < model_.heads; ++head) {
      const int64_t own = head * size;
      const int64_t shared = head / group * size;
      for (size_t t = 0; t < q.size(); ++t) {
        std::vector<double> weights(t + 1);
        double total = 0;
        for (size_t s = 0; s <= t; ++s) {
          double score = 0;
          for (int64_t c = 0; c < size; ++c) score += q[t][own + c] * k[s][shared + c];
          total += weights[s] = std::exp(score / std::sqrt(static_cast<double>(size)));
        }
        for (size_t s = 0; s <= t; ++s) {
          for (int64_t c = 0; c < size; ++c)
            out[t][own + c] += weights[s] / total * v[s][shared + c];
        }
      }
    }
    return out;
  }

  static Rows sum(Rows x, const Rows& y) {
    for (size_t t = 0; t < x.size(); ++t) {
      for (size_t c = 0; c < x[t].size(); ++c) x[t][c] += y[t][c];
    }
    return x;
  }

  const Decoder& decoder_;
  const Config& model_;
};

/// Ids that follow no pattern; those from `first` + 1 on are the ones after them.
inline std::vector<int64_t> numbers(int64_t first, int64_t count) {
  std::vector<int64_t> out;
  for (int64_t i = first; i < first + count; ++i) out.push_back(i * i * 37 % 256);
  return out;
}

/// Initial weights are small and biases 0, which would hide errors: gives all of them weight.
inline void disturb(const Decoder& decoder, const std::string& name, float factor, float step) {
  DenseTensor local = decoder.parameter_at(name).dist().local();
  float* values = local.mutable_data<float>();
  for (int64_t i = 0; i < local.numel(); ++i) {
    values[i] = values[i] * factor + step * static_cast<float>(i % 7 - 3);
  }
}

/// The loss of two texts, by the model and by loops.
struct Losses {
  double given;
  double expected;
};
template <typename Config>
Losses losses_of(const Decoder& decoder, const NaiveDecoder<Config>& naive, int64_t seq_len) {
  const std::vector<int64_t> ids = numbers(1, 2 * seq_len);
  const std::vector<int64_t> labels = numbers(2, 2 * seq_len);
  const Tensor loss = cross_entropy(decoder(Tensor::from<int64_t>(ids, {2, seq_len})),
                                    Tensor::from<int64_t>(labels, {2, seq_len, 1}));
  return {distributed::reshard(loss, one(), {}).item(), naive.loss(ids, labels)};
}

}  // namespace phi::nn::models
