// The links of Gpt and Llama.
#include "api/nn/models/decoder.h"

#include <cmath>

#include "api/nn/models/decoder_input_output.h"

namespace phi::nn::models {
namespace {

// The default standard deviation of GPT-2's weights (Radford et al. 2019).
constexpr double kDecoderWeightStd = 0.02;

// Each layer adds to the residual twice. GPT-2 scales these two weights to keep the sum's variance.
double into_residual_std(int64_t layers) {
  return kDecoderWeightStd / std::sqrt(2.0 * static_cast<double>(layers));
}

BlockOptions decoder_block(const GptConfig& config) {
  const double into_residual = into_residual_std(config.layers);
  BlockOptions block;
  block.attention = {.d_model = config.d_model,
                     .heads = config.heads,
                     .fused = true,
                     .projection = normal(into_residual)};
  block.norm_epsilon = config.norm_eps;
  block.hidden = config.hidden;
  block.mlp_options.activation = activation_named(config.activation);
  block.mlp_options.down = normal(into_residual);
  block.dropout = config.dropout;
  return block;
}

BlockOptions decoder_block(const LlamaConfig& config) {
  const double into_residual = into_residual_std(config.layers);
  BlockOptions block;
  block.attention = {.d_model = config.d_model,
                     .heads = config.heads,
                     .kv_heads = config.kv_heads,
                     .qkv_bias = config.qkv_bias,
                     .projection_bias = false,
                     .rope_base = config.rope_base,
                     .projection = normal(into_residual)};
  block.norm = NormKind::kRmsNorm;
  block.norm_epsilon = config.norm_eps;
  block.mlp = MlpKind::kSwiGlu;
  block.hidden = config.ffn;
  block.mlp_options = {.bias = false, .down = normal(into_residual)};
  return block;
}

template <typename Config>
void build(Sequential* model, const Config& config, const InputOptions& ends) {
  const BlockOptions block = decoder_block(config);
  const auto& input = model->add<DecoderInput>(Name::flat("input"), ends);
  model->repeat<TransformerBlock>("layer", config.layers, block);
  const OutputOptions output{config.vocab, config.d_model, block.norm, config.norm_eps};
  model->add<DecoderOutput>(Name::flat("output"), output,
                            config.tied_head ? &input.tokens() : nullptr);
}

}  // namespace

int64_t Decoder::vocab() const {
  return std::visit([](const auto& config) { return config.vocab; }, config_);
}

int64_t Decoder::seq_len() const {
  return std::visit([](const auto& config) { return config.seq_len; }, config_);
}

Gpt::Gpt(const GptConfig& config) : Decoder(config) {
  check(config, "a GPT");
  build(this, config, {config.vocab, config.d_model, config.seq_len, config.dropout});
}

Llama::Llama(const LlamaConfig& config) : Decoder(config) {
  check(config, "a Llama");
  build(this, config, {config.vocab, config.d_model});
}

std::unique_ptr<Decoder> make(const ModelConfig& config) {
  if (const auto* gpt = std::get_if<GptConfig>(&config)) return std::make_unique<Gpt>(*gpt);
  return std::make_unique<Llama>(std::get<LlamaConfig>(config));
}

}  // namespace phi::nn::models
