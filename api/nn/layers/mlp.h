// The MLPs of transformers: MLP and SwiGLU.
#pragma once

#include <functional>
#include <string>

#include "api/nn/layers/linear.h"

namespace phi::nn {

/// x * Phi(x) in the tanh approximation of GPT-2 (Hendrycks & Gimpel 2016).
Tensor gelu_tanh(const Tensor& x);

using Activation = std::function<Tensor(const Tensor&)>;

/// gelu_tanh, or the operator of this name ("relu"), which must have one input tensor; loaded
/// libraries count (api/library/load_ops.h). Its attributes have their defaults.
/// Errors: NotFound with the nearest names; InvalidArgument for an operator with other inputs.
Activation activation_named(const std::string& name);

struct MlpOptions {
  bool bias = true;
  Activation activation = gelu_tanh;
  Initialiser weight = normal(0.02);
  Initialiser down = normal(0.02);  // of the down projection
};

/// down(activation(up(x))), with `hidden` units: x [.., d] to [.., d]. Submodules: `up`, `down`.
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

/// down(silu(gate(x)) * up(x)) (Shazeer 2020): x [.., d] to [.., d]. No biases by default.
/// Submodules: `gate`, `up`, `down`. Ignores the option `activation`.
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
