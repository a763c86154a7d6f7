// The links of Vit.
#include "api/nn/models/vit.h"

#include <fmt/format.h>

#include <cmath>

#include "api/generated/ops/add.h"
#include "api/generated/ops/concat.h"
#include "api/generated/ops/expand.h"
#include "api/generated/ops/reshape.h"
#include "api/generated/ops/slice.h"
#include "api/generated/ops/transpose.h"
#include "api/nn/layers/dropout.h"
#include "api/nn/layers/embedding.h"
#include "api/nn/layers/transformer_block.h"
#include "api/nn/models/library_kinds.h"
#include "phi/common/errors.h"

namespace phi::nn::models {
namespace {

constexpr double kVitWeightStd = 0.02;

void check_vit(const VitConfig& c) {
  PHI_CHECK(c.image > 0 && c.patch > 0 && c.image % c.patch == 0,
            errors::InvalidArgument("image is {} and patch {}; image must be a multiple of patch.",
                                    c.image, c.patch));
  PHI_CHECK(
      c.heads > 0 && c.d_model > 0 && c.d_model % c.heads == 0,
      errors::InvalidArgument("d_model {} is not a multiple of heads {}.", c.d_model, c.heads));
  PHI_CHECK(c.channels > 0 && c.classes > 0 && c.layers > 0 && c.hidden > 0,
            errors::InvalidArgument(
                "channels {}, classes {}, layers {} and hidden {} must be at least 1.", c.channels,
                c.classes, c.layers, c.hidden));
}

// Maps [B,C,H,W] to [B, patches, C * patch * patch].
Tensor patches_of(const Tensor& images, int64_t patch) {
  const Dims& shape = images.shape();
  const int64_t rows = shape[2] / patch;
  const int64_t columns = shape[3] / patch;
  const Tensor grid = reshape(images, {shape[0], shape[1], rows, patch, columns, patch});
  return reshape(transpose(grid, {0, 2, 4, 1, 3, 5}),
                 {shape[0], rows * columns, shape[1] * patch * patch});
}

class VitInput final : public Layer {
 public:
  VitInput(Module& parent, const Name& name, const VitConfig& config)
      : Layer(parent, name),
        config_(config),
        patches_(*this, "patches", config.channels * config.patch * config.patch, config.d_model),
        class_token_(parameter("class_token", {1, 1, config.d_model}, constant(0.0))),
        positions_(*this, "position_embedding", config.patches() + 1, config.d_model),
        dropout_(*this, "dropout", config.dropout) {}

  Tensor forward(const Tensor& images) const override {
    const Dims& shape = images.shape();
    PHI_CHECK(
        shape.ndim() == 4 && shape[1] == config_.channels && shape[2] == config_.image &&
            shape[3] == config_.image,
        errors::InvalidArgument("images are {}; the model expects [batch,{},{},{}].",
                                shape.to_string(), config_.channels, config_.image, config_.image));
    const Tensor x = patches_(patches_of(images, config_.patch));
    const Tensor token = expand(class_token_, {shape[0], 1, config_.d_model});
    return dropout_(positions_(concat({token, x}, 1)));
  }

 private:
  VitConfig config_;
  Linear patches_;
  const Tensor& class_token_;
  PositionEmbedding positions_;
  Dropout dropout_;
};

class VitOutput final : public Layer {
 public:
  VitOutput(Module& parent, const Name& name, const VitConfig& config)
      : Layer(parent, name),
        norm_(
            make_norm(*this, "final_norm", NormKind::kLayerNorm, config.d_model, config.norm_eps)),
        head_(*this, "head", config.d_model, config.classes) {}

  Tensor forward(const Tensor& x) const override {
    const Tensor token = reshape(slice(x, {1}, {0}, {1}), {x.shape()[0], x.shape()[2]});
    return head_((*norm_)(token));
  }

 private:
  std::unique_ptr<Layer> norm_;
  Head head_;
};

BlockOptions vit_block(const VitConfig& config) {
  const double into_residual = kVitWeightStd / std::sqrt(2.0 * static_cast<double>(config.layers));
  BlockOptions block;
  block.attention = {.d_model = config.d_model,
                     .heads = config.heads,
                     .fused = true,
                     .causal = false,
                     .projection = normal(into_residual)};
  block.norm_epsilon = config.norm_eps;
  block.hidden = config.hidden;
  block.mlp_options.activation = activation_named("gelu");
  block.mlp_options.down = normal(into_residual);
  block.dropout = config.dropout;
  return block;
}

VitConfig config_of(const ModelValues& values) {
  return {.image = values.size("image_size"),
          .patch = values.size("patch"),
          .channels = values.size("channels"),
          .classes = values.size("classes"),
          .d_model = values.size("d_model"),
          .layers = values.size("layers"),
          .heads = values.size("heads"),
          .hidden = values.size("hidden"),
          .dropout = values.number("dropout"),
          .norm_eps = values.number("norm_eps")};
}

std::optional<KeyFault> fault_of(const ModelValues& values) {
  const VitConfig c = config_of(values);
  if (c.image % c.patch != 0) {
    return KeyFault{{"patch", "image_size"},
                    fmt::format("patches of {} do not divide image_size {}.", c.patch, c.image)};
  }
  if (c.d_model % c.heads == 0) return std::nullopt;
  return KeyFault{
      {"heads", "d_model"},
      fmt::format("{} heads do not divide d_model {}; d_model must be a multiple of heads.",
                  c.heads, c.d_model)};
}

}  // namespace

Vit::Vit(const VitConfig& config) : config_(config) {
  check_vit(config);
  add<VitInput>(Name::flat("input"), config);
  repeat<TransformerBlock>("layer", config.layers, vit_block(config));
  add<VitOutput>(Name::flat("output"), config);
}

ModelKind vit_kind() {
  const VitConfig defaults;
  ModelKind kind{.name = "vit", .samples = SampleKind::kImages};
  kind.keys = {size_key("image_size", defaults.image),
               size_key("patch", defaults.patch),
               size_key("channels", defaults.channels),
               size_key("classes", defaults.classes),
               size_key("d_model", defaults.d_model),
               size_key("layers", defaults.layers),
               size_key("heads", defaults.heads),
               size_key("hidden", defaults.hidden),
               fraction_key("dropout", defaults.dropout),
               number_key("norm_eps", defaults.norm_eps, 0.0, 1.0)};
  kind.make = [](const ModelValues& values) { return std::make_unique<Vit>(config_of(values)); };
  kind.find_fault = fault_of;
  kind.repeated = "layers";
  kind.splits_over_tp = true;
  return kind;
}

}  // namespace phi::nn::models
