// The Llama: rotary positions, RMS norms, shared heads of keys and values, SwiGLU, no biases.
#include <string>

#include "support/oracle/attention.h"
#include "support/oracle/model.h"
#include "support/oracle/operations.h"

namespace oracle {
namespace {

class Llama {
 public:
  Llama(Tape* tape, const ModelShape& model, Parameters* parameters)
      : tape_(tape),
        model_(model),
        parameters_(*parameters),
        heads_{model.head_size(), model.heads, model.kv_heads, model.seq_len} {}

  Variable* loss(const Batch& batch) {
    Variable* x = rows_of(tape_, at("token_embedding"), batch.ids);
    for (int64_t i = 0; i < model_.layers; ++i) x = layer(x, "layer" + std::to_string(i) + ".");
    Variable* logits = product(tape_, norm(x, "final_norm"), at("head"));
    return cross_entropy(tape_, logits, batch.labels);
  }

 private:
  Variable* at(const std::string& name) { return &parameters_.at(name); }
  Variable* norm(Variable* x, const std::string& name) {
    return rms_norm(tape_, x, at(name + ".scale"), model_.norm_eps);
  }
  Variable* linear(Variable* x, const std::string& name) {
    return product(tape_, x, at(name + ".weight"));
  }

  Variable* layer(Variable* x, const std::string& name) {
    Variable* h = norm(x, name + "norm_attention");
    Variable* q = rotated(tape_, linear(h, name + "query"), heads_, model_.rope_base);
    Variable* k = rotated(tape_, linear(h, name + "key"), heads_, model_.rope_base);
    Variable* mixed = attention(tape_, q, k, linear(h, name + "value"), heads_);
    x = add_repeated(tape_, x, linear(mixed, name + "projection"));
    h = norm(x, name + "norm_mlp");
    Variable* hidden = swiglu(tape_, linear(h, name + "gate"), linear(h, name + "up"));
    return add_repeated(tape_, x, linear(hidden, name + "down"));
  }

  Tape* tape_;
  const ModelShape& model_;
  Parameters& parameters_;
  Heads heads_;
};

}  // namespace

Variable* llama_loss(Tape* tape, const ModelShape& model, Parameters* parameters,
                     const Batch& batch) {
  return Llama(tape, model, parameters).loss(batch);
}

Variable* loss_of(Tape* tape, const ModelShape& model, Parameters* parameters, const Batch& batch,
                  uint64_t number) {
  if (model.kind == "llama") return llama_loss(tape, model, parameters, batch);
  return gpt_loss(tape, model, parameters, batch, number);
}

}  // namespace oracle
