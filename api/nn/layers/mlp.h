// The MLPs of transformers.
#pragma once

#include <functional>
#include <string>

#include "api/nn/layers/linear.h"

namespace phi::nn {

/// x * Phi(x), by tanh as GPT-2 does (Hendrycks & Gimpel 2016).
Tensor gelu_tanh(const Tensor& x);

using Activation = std::function<Tensor(const Tensor&)>;

/// gelu_tanh, or an operator of one tensor by its name, "relu", also of a library that is loaded
/// (api/library/load_ops.h); its attributes have their defaults. Errors: NotFound with the nearest
/// names; InvalidArgument for an operator of another kind.
Activation activation_named(const std::string& name);

struct MlpOptions {
  bool bias = true;
  Activation activation = gelu_tanh;
  Initialiser weight = normal(0.02);
  Initialiser down = normal(0.02);  // of the product out of the hidden units
};

/// down(activation(up(x))): x [.., d] to the same, over `hidden` units. Parts: `up`, `down`.
class MLP final : public Layer {
 public:
  MLP(Module& parent, const Name& name, int64_t d, int64_t hidden, const MlpOptions& options = {});
  Tensor forward(const Tensor& x) const override;
  void add_tensor_parallel(Layout* layout, const std::string& tp,
                           bool sequence_parallel) const override;

 private:
  Activation activation_;
  Linear up_;
  Linear down_;
};

/// down(silu(gate(x)) * up(x)) (Shazeer 2020), without biases unless asked for. Parts: `gate`,
/// `up`, `down`. The option `activation` is not read.
class SwiGLU final : public Layer {
 public:
  SwiGLU(Module& parent, const Name& name, int64_t d, int64_t hidden,
         const MlpOptions& options = {.bias = false});
  Tensor forward(const Tensor& x) const override;
  void add_tensor_parallel(Layout* layout, const std::string& tp,
                           bool sequence_parallel) const override;

 private:
  Linear gate_;
  Linear up_;
  Linear down_;
};

}  // namespace phi::nn
