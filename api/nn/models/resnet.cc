// The links of ResNet.
#include "api/nn/models/resnet.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "api/generated/ops/add.h"
#include "api/generated/ops/mean.h"
#include "api/generated/ops/relu.h"
#include "api/nn/layers/batch_norm.h"
#include "api/nn/layers/conv.h"
#include "api/nn/layers/linear.h"
#include "api/nn/models/library_kinds.h"
#include "phi/common/errors.h"

namespace phi::nn::models {
namespace {

Conv2dOptions window(int stride, int padding) {
  return {.stride = stride, .padding = padding, .bias = false};
}

class ResNetInput final : public Layer {
 public:
  ResNetInput(Module& parent, const Name& name, const ResNetConfig& config)
      : Layer(parent, name),
        channels_(config.channels),
        conv_(*this, "conv", config.channels, config.width, 3, window(1, 1)),
        norm_(*this, "norm", config.width) {}

  Tensor forward(const Tensor& images) const override {
    PHI_CHECK(images.ndim() == 4 && images.shape()[1] == channels_,
              errors::InvalidArgument("images are {}; the model expects [batch,{},height,width].",
                                      images.shape().to_string(), channels_));
    return relu(norm_(conv_(images)));
  }

 private:
  int64_t channels_;
  Conv2d conv_;
  BatchNorm2d norm_;
};

class ResidualBlock final : public Layer {
 public:
  ResidualBlock(Module& parent, const Name& name, int64_t in, int64_t out, int stride)
      : Layer(parent, name),
        conv1_(*this, "conv1", in, out, 3, window(stride, 1)),
        norm1_(*this, "norm1", out),
        conv2_(*this, "conv2", out, out, 3, window(1, 1)),
        norm2_(*this, "norm2", out) {
    if (in == out && stride == 1) return;
    shortcut_.emplace(*this, "shortcut", in, out, 1, window(stride, 0));
    shortcut_norm_.emplace(*this, "shortcut_norm", out);
  }

  Tensor forward(const Tensor& x) const override {
    const Tensor y = norm2_(conv2_(relu(norm1_(conv1_(x)))));
    return relu(add(y, shortcut_ ? (*shortcut_norm_)((*shortcut_)(x)) : x));
  }

 private:
  Conv2d conv1_;
  BatchNorm2d norm1_;
  Conv2d conv2_;
  BatchNorm2d norm2_;
  std::optional<Conv2d> shortcut_;
  std::optional<BatchNorm2d> shortcut_norm_;
};

class ResNetHead final : public Layer {
 public:
  ResNetHead(Module& parent, const Name& name, int64_t width, int64_t classes)
      : Layer(parent, name), linear_(*this, "linear", width, classes) {}
  Tensor forward(const Tensor& x) const override { return linear_(mean(x, {2, 3})); }

 private:
  Linear linear_;
};

void check_resnet(const ResNetConfig& c) {
  PHI_CHECK(c.width > 0 && c.channels > 0 && c.classes > 0,
            errors::InvalidArgument("width {}, channels {} and classes {} must be at least 1.",
                                    c.width, c.channels, c.classes));
  PHI_CHECK(!c.blocks.empty() && std::ranges::all_of(c.blocks, [](int64_t n) { return n > 0; }),
            errors::InvalidArgument(
                "the model must have at least one stage, and each stage at least one block."));
}

}  // namespace

ResNet::ResNet(const ResNetConfig& config) : config_(config) {
  check_resnet(config);
  add<ResNetInput>("input", config);
  int64_t width = config.width;
  for (size_t stage = 0; stage < config.blocks.size(); ++stage) {
    const int64_t out = stage == 0 ? width : 2 * width;
    for (int64_t block = 0; block < config.blocks[stage]; ++block) {
      const bool halves = stage > 0 && block == 0;
      add<ResidualBlock>(fmt::format("stage{}_block{}", stage, block), block == 0 ? width : out,
                         out, halves ? 2 : 1);
    }
    width = out;
  }
  add<ResNetHead>("head", width, config.classes);
}

ModelKind resnet_kind() {
  const ResNetConfig defaults;
  ModelKind kind{.name = "resnet", .samples = SampleKind::kImages};
  kind.keys = {sizes_key("blocks", defaults.blocks), size_key("width", defaults.width),
               size_key("channels", defaults.channels), size_key("classes", defaults.classes)};
  kind.make = [](const ModelValues& values) {
    return std::make_unique<ResNet>(ResNetConfig{.blocks = values.sizes("blocks"),
                                                 .width = values.size("width"),
                                                 .channels = values.size("channels"),
                                                 .classes = values.size("classes")});
  };
  kind.find_fault = [](const ModelValues& values) -> std::optional<KeyFault> {
    if (!values.sizes("blocks").empty()) return std::nullopt;
    return KeyFault{{"blocks"}, "is empty; list the blocks of each stage, e.g. [2, 2, 2, 2]."};
  };
  return kind;
}

}  // namespace phi::nn::models
