// Hidden units.
#include "api/nn/layers/mlp.h"

#include "api/generated/ops/gelu.h"
#include "api/generated/ops/swiglu.h"
#include "api/nn/layout/layout.h"

namespace phi::nn {

using distributed::Replicate;

namespace {

LinearOptions into_hidden(const MlpOptions& options) {
  return {.bias = options.bias, .weight = options.weight};
}
LinearOptions out_of_hidden(const MlpOptions& options) {
  return {.bias = options.bias, .weight = options.down};
}

}  // namespace

Tensor gelu_tanh(const Tensor& x) { return gelu(x, /*approximate=*/true); }

MLP::MLP(Module& parent, const Name& name, int64_t d, int64_t hidden, const MlpOptions& options)
    : Layer(parent, name),
      activation_(options.activation),
      up_(*this, "up", d, hidden, into_hidden(options)),
      down_(*this, "down", hidden, d, out_of_hidden(options)) {}

// A temporary would live until the product out of the hidden units is there.
Tensor MLP::forward(const Tensor& x) const {
  Tensor hidden = up_(x);
  hidden = activation_(hidden);
  return down_(std::move(hidden));
}

void MLP::add_tensor_parallel(Layout* layout, const std::string& tp, bool sequence_parallel) const {
  split_by_columns(up_, tp, layout);
  split_by_rows(down_, tp, sequence_parallel, layout);
  if (sequence_parallel) layout->inputs(path(), {{tp, Replicate()}});
}

SwiGLU::SwiGLU(Module& parent, const Name& name, int64_t d, int64_t hidden,
               const MlpOptions& options)
    : Layer(parent, name),
      gate_(*this, "gate", d, hidden, into_hidden(options)),
      up_(*this, "up", d, hidden, into_hidden(options)),
      down_(*this, "down", hidden, d, out_of_hidden(options)) {}

Tensor SwiGLU::forward(const Tensor& x) const {
  Tensor hidden = swiglu(gate_(x), up_(x));
  return down_(std::move(hidden));
}

void SwiGLU::add_tensor_parallel(Layout* layout, const std::string& tp,
                                 bool sequence_parallel) const {
  split_by_columns(gate_, tp, layout);
  split_by_columns(up_, tp, layout);
  split_by_rows(down_, tp, sequence_parallel, layout);
  if (sequence_parallel) layout->inputs(path(), {{tp, Replicate()}});
}

}  // namespace phi::nn
