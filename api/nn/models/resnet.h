// ResNet: residual networks on small images, f32[B,C,H,W] to logits f32[B,classes] (He et al. 2016,
// "Deep residual learning for image recognition").
//
//   nn::models::ResNet model({.blocks = {2, 2, 2, 2}, .classes = 10});     // ResNet-18
//   Tensor loss = nn::cross_entropy(model(images), labels);
#pragma once

#include <cstdint>
#include <vector>

#include "api/nn/layers/sequential.h"

namespace phi::nn::models {

struct ResNetConfig {
  // Blocks per stage. Every stage but the first halves height and width.
  std::vector<int64_t> blocks = {2, 2, 2, 2};
  int64_t width = 64;  // channels of the first stage; each further stage doubles them
  int64_t channels = 3;
  int64_t classes = 10;
};

/// A 3 x 3 convolution at full resolution, as for CIFAR's 32 x 32 images; stages of blocks of two 3
/// x 3 convolutions; the mean of each channel; a head. A block that changes the shape passes its
/// input through a 1 x 1 convolution. Convolutions have no biases; batch norms follow them.
///
/// Links: "input" (`conv`, `norm`), "stage0_block0", .. (`conv1`, `norm1`, `conv2`, `norm2` and
/// `shortcut`, `shortcut_norm`), "head".
/// Errors: InvalidArgument for an invalid config.
class ResNet final : public Sequential {
 public:
  explicit ResNet(const ResNetConfig& config);
  const ResNetConfig& config() const { return config_; }

 private:
  ResNetConfig config_;
};

}  // namespace phi::nn::models
