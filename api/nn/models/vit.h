// Vit: a vision transformer, images f32[B,C,H,W] to logits f32[B,classes] (Dosovitskiy et al. 2021,
// "An image is worth 16x16 words").
//
//   nn::models::Vit model({.image = 32, .patch = 4, .classes = 10});
//   nn::shard(model, mesh, nn::transformer_layout(model, mesh));
//   Tensor loss = nn::cross_entropy(model(images), labels);
#pragma once

#include <cstdint>

#include "api/nn/layers/sequential.h"

namespace phi::nn::models {

struct VitConfig {
  int64_t image = 32;  // height and width, a multiple of `patch`
  int64_t patch = 4;
  int64_t channels = 3;
  int64_t classes = 10;
  int64_t d_model = 192;  // a multiple of heads
  int64_t layers = 6;
  int64_t heads = 3;
  int64_t hidden = 4 * 192;
  double dropout = 0.0;
  double norm_eps = 1e-6;

  int64_t patches() const { return (image / patch) * (image / patch); }
};

/// Patches through a linear layer, a learned class token before them, learned positions, blocks
/// with norms before attention (not causal) and MLP (exact GELU), a norm, and a head on the class
/// token. The rows of `patches.weight` have the order of PyTorch's convolution: channel, row,
/// column.
///
/// Links: "input" (parameters `patches`, `class_token`, `position_embedding`), "layer0", ..,
/// "output" (`final_norm`, `head`).
/// Errors: InvalidArgument for an invalid config.
class Vit final : public Sequential {
 public:
  explicit Vit(const VitConfig& config);
  const VitConfig& config() const { return config_; }

 private:
  VitConfig config_;
};

}  // namespace phi::nn::models
