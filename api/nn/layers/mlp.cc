// MLP and SwiGLU in terms of linear layers and operators.
#include "api/nn/layers/mlp.h"

#include <algorithm>

#include "api/call/named_call.h"
#include "api/generated/ops/gelu.h"
#include "api/generated/ops/swiglu.h"
#include "api/nn/layout/layout.h"
#include "api/rules/op_rule.h"
#include "phi/common/errors.h"

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

Activation activation_named(const std::string& name) {
  if (name == "gelu_tanh") return gelu_tanh;
  const OpRule& op = rules::find(name);
  const bool is_of_one = op.tensors().size() == 1 && op.tensors()[0].kind == TensorKind::kOne &&
                         op.outputs().size() == 1 &&
                         std::ranges::all_of(op.attributes(), [](const auto& each) {
                           return each.by_default.has_value();
                         });
  PHI_CHECK(is_of_one,
            errors::InvalidArgument("'{}' is not an activation: it must take one tensor, otherwise "
                                    "only attributes with defaults, and return one tensor.",
                                    name));
  return [name, attributes = op.attributes({})](const Tensor& x) {
    return call_function(name, {{x}}, attributes).at(0);
  };
}

MLP::MLP(Module& parent, const Name& name, int64_t d, int64_t hidden, const MlpOptions& options)
    : Layer(parent, name),
      activation_(options.activation),
      up_(*this, "up", d, hidden, into_hidden(options)),
      down_(*this, "down", hidden, d, out_of_hidden(options)) {}

// Assigning to `hidden` frees up_'s output before down_ runs; a temporary would live until then.
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
