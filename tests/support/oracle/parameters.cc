// Names, shapes and initial values.
#include "support/oracle/parameters.h"

#include <cmath>

#include "support/oracle/philox.h"

namespace oracle {
namespace {

constexpr double kStd = 0.02;

class Maker {
 public:
  explicit Maker(const ModelShape& model)
      : model_(model), small_(kStd / std::sqrt(2.0 * static_cast<double>(model.layers))) {}

  Parameters all() {
    const int64_t d = model_.d_model;
    normal("token_embedding", model_.vocab, d, kStd);
    if (model_.kind == "gpt") normal("position_embedding", model_.seq_len, d, kStd);
    for (int64_t i = 0; i < model_.layers; ++i) {
      const std::string name = "layer" + std::to_string(i) + ".";
      norm(name + "norm_attention");
      norm(name + "norm_mlp");
      model_.kind == "gpt" ? gpt_layer(name) : llama_layer(name);
    }
    norm("final_norm");
    normal("head", d, model_.vocab, kStd);
    return std::move(parameters_);
  }

 private:
  void normal(const std::string& name, int64_t rows, int64_t columns, double std) {
    Matrix values(rows, columns);
    const uint64_t seed = hash(name, model_.seed);
    for (size_t e = 0; e < values.values.size(); ++e) {
      values.values[e] = static_cast<float>(std * oracle::normal(seed, e));
    }
    parameters_.insert({name, Parameter(std::move(values), true)});
  }
  void vector(const std::string& name, int64_t size, double value) {
    parameters_.insert({name, Parameter(Matrix(1, size, value), false)});
  }
  void norm(const std::string& name) {
    vector(name + ".scale", model_.d_model, 1.0);
    if (model_.kind == "gpt") vector(name + ".shift", model_.d_model, 0.0);
  }
  void linear(const std::string& name, int64_t in, int64_t out, double std) {
    normal(name + ".weight", in, out, std);
    if (model_.kind == "gpt") vector(name + ".bias", out, 0.0);
  }

  void gpt_layer(const std::string& name) {
    const int64_t d = model_.d_model;
    linear(name + "qkv", d, 3 * d, kStd);
    linear(name + "projection", d, d, small_);
    linear(name + "up", d, model_.mlp_ratio * d, kStd);
    linear(name + "down", model_.mlp_ratio * d, d, small_);
  }
  void llama_layer(const std::string& name) {
    const int64_t d = model_.d_model;
    linear(name + "query", d, d, kStd);
    linear(name + "key", d, model_.kv_heads * model_.head_size(), kStd);
    linear(name + "value", d, model_.kv_heads * model_.head_size(), kStd);
    linear(name + "projection", d, d, small_);
    linear(name + "gate", d, model_.ffn, kStd);
    linear(name + "up", d, model_.ffn, kStd);
    linear(name + "down", model_.ffn, d, small_);
  }

  const ModelShape& model_;
  const double small_;  // of what is added to the residual
  Parameters parameters_;
};

}  // namespace

Parameters initial_parameters(const ModelShape& model) { return Maker(model).all(); }

}  // namespace oracle
