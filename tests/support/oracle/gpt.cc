// The GPT: learned positions, layer norms, biases, fused q, k and v, GELU, dropout.
#include <string>

#include "support/oracle/attention.h"
#include "support/oracle/model.h"
#include "support/oracle/operations.h"
#include "support/oracle/philox.h"

namespace oracle {
namespace {

class Gpt {
 public:
  Gpt(Tape* tape, const ModelShape& model, Parameters* parameters, uint64_t number)
      : tape_(tape), model_(model), parameters_(*parameters), number_(number) {}

  Variable* loss(const Batch& batch) {
    Variable* x = rows_of(tape_, at("token_embedding"), batch.ids);
    x = with_dropout(add_repeated(tape_, x, at("position_embedding")), 0);
    for (int64_t i = 0; i < model_.layers; ++i) x = layer(x, i);
    Variable* logits = product(tape_, norm(x, "final_norm"), at("head"));
    return cross_entropy(tape_, logits, batch.labels);
  }

 private:
  Variable* at(const std::string& name) { return &parameters_.at(name); }
  Variable* norm(Variable* x, const std::string& name) {
    return layer_norm(tape_, x, at(name + ".scale"), at(name + ".shift"), model_.norm_eps);
  }
  Variable* linear(Variable* x, const std::string& name) {
    return add_repeated(tape_, product(tape_, x, at(name + ".weight")), at(name + ".bias"));
  }

  Variable* with_dropout(Variable* x, uint64_t site) {
    if (model_.dropout == 0.0) return x;
    const uint64_t noise = (number_ << 20) + site;
    const uint64_t seed = hash("dropout", model_.seed ^ noise << 16) >> 33;
    return dropout(tape_, x, model_.dropout, seed);
  }

  Variable* layer(Variable* x, int64_t i) {
    const std::string name = "layer" + std::to_string(i) + ".";
    const uint64_t site = 1 + 2 * static_cast<uint64_t>(i);
    Variable* mixed = attend(linear(norm(x, name + "norm_attention"), name + "qkv"));
    x = add_repeated(tape_, x, with_dropout(linear(mixed, name + "projection"), site));
    Variable* hidden = gelu_tanh(tape_, linear(norm(x, name + "norm_mlp"), name + "up"));
    return add_repeated(tape_, x, with_dropout(linear(hidden, name + "down"), site + 1));
  }

  Variable* attend(Variable* qkv) {
    const int64_t size = model_.head_size();
    Variable* parts[3];
    for (int64_t part = 0; part < 3; ++part) {
      std::vector<int64_t> columns;
      for (int64_t head = 0; head < model_.heads; ++head) {
        for (int64_t i = 0; i < size; ++i) columns.push_back((head * 3 + part) * size + i);
      }
      parts[part] = columns_of(tape_, qkv, columns);
    }
    const Heads heads{size, model_.heads, model_.heads, model_.seq_len};
    return attention(tape_, parts[0], parts[1], parts[2], heads);
  }

  Tape* tape_;
  const ModelShape& model_;
  Parameters& parameters_;
  uint64_t number_;
};

}  // namespace

Variable* gpt_loss(Tape* tape, const ModelShape& model, Parameters* parameters, const Batch& batch,
                   uint64_t number) {
  return Gpt(tape, model, parameters, number).loss(batch);
}

}  // namespace oracle
