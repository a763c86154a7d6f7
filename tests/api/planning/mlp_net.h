// A network for plans: an embedding, blocks of a residual MLP, and a head.
#pragma once

#include "api/generated/ops/add.h"
#include "api/generated/ops/relu.h"
#include "api/nn/layers/embedding.h"
#include "api/nn/layers/linear.h"
#include "api/nn/layers/norm.h"
#include "api/nn/layers/sequential.h"

namespace phi::planning {

class MlpBlock final : public nn::Layer {
 public:
  MlpBlock(nn::Module& parent, const nn::Name& name, int64_t d)
      : Layer(parent, name),
        norm_(*this, "norm", d),
        up_(*this, "up", d, 4 * d),
        down_(*this, "down", 4 * d, d) {}
  Tensor forward(const Tensor& x) const override { return add(x, down_(relu(up_(norm_(x))))); }

 private:
  nn::LayerNorm norm_;
  nn::Linear up_, down_;
};

class MlpNet : public nn::Sequential {
 public:
  MlpNet(int64_t blocks, int64_t vocab, int64_t width) {
    add<nn::Embedding>("tokens", vocab, width);
    repeat<MlpBlock>("block", blocks, width);
    add<nn::Linear>("head", width, vocab);
  }
};

}  // namespace phi::planning
