// The first link (ids to the blocks' input) and the last link (blocks' output to logits).
#include "api/nn/models/decoder_input_output.h"

#include "api/generated/ops/add.h"
#include "api/generated/ops/slice.h"

namespace phi::nn::models {

DecoderInput::DecoderInput(Module& parent, const Name& name, const InputOptions& options)
    : Layer(parent, name),
      tokens_(*this, "token_embedding", options.vocab, options.d_model),
      positions_(options.positions == 0
                     ? nullptr
                     : std::make_unique<PositionEmbedding>(*this, "position_embedding",
                                                           options.positions, options.d_model)),
      dropout_(*this, "dropout", options.dropout) {}

Tensor DecoderInput::forward(const Tensor& ids) const {
  Tensor x = tokens_(ids);
  if (positions_) add_(x, positions_->rows(x.shape()[1]));  // x has no other user
  return dropout_(x);
}

DecoderOutput::DecoderOutput(Module& parent, const Name& name, const OutputOptions& options,
                             const Embedding* tied)
    : Layer(parent, name),
      norm_(make_norm(*this, "final_norm", options.norm, options.d_model, options.norm_epsilon)),
      head_(tied ? std::make_unique<Head>(*this, "head", *tied)
                 : std::make_unique<Head>(*this, "head", options.d_model, options.vocab)) {}

Tensor DecoderOutput::forward(const Tensor& x) const {
  const int64_t count = x.shape()[1];
  const bool cuts = forward_context().only_last && count > 1;
  return (*head_)((*norm_)(cuts ? slice(x, {1}, {count - 1}, {count}) : x));
}

}  // namespace phi::nn::models
