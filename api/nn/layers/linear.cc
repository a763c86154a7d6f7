// The linear layer and its tensor-parallel splits.
#include "api/nn/layers/linear.h"

#include "api/generated/ops/add.h"
#include "api/generated/ops/matmul.h"
#include "api/nn/layout/layout.h"

namespace phi::nn {

using distributed::Replicate;
using distributed::Shard;

Linear::Linear(Module& parent, const Name& name, int64_t in, int64_t out, LinearOptions options)
    : Layer(parent, name),
      weight_(parameter("weight", {in, out}, std::move(options.weight))),
      bias_(options.bias ? &parameter("bias", {out}, constant(0.0)) : nullptr) {}

Tensor Linear::forward(const Tensor& x) const {
  Tensor y = apply_placements(ActivationSlot::kOutput, matmul(x, weight_));
  if (bias_) add_(y, *bias_);  // y has no other user
  return y;
}

distributed::Placement placement_between_matmuls(bool sequence_parallel) {
  return sequence_parallel ? Shard(1) : Replicate();
}

void split_by_columns(const Linear& linear, const std::string& tp, Layout* layout) {
  layout->parameters(linear.parameter_name("weight"), {{tp, Shard(1)}});
  if (linear.has_bias()) layout->parameters(linear.parameter_name("bias"), {{tp, Shard(0)}});
}

void split_by_rows(const Linear& linear, const std::string& tp, bool sequence_parallel,
                   Layout* layout) {
  layout->parameters(linear.parameter_name("weight"), {{tp, Shard(0)}});
  layout->outputs(linear.path(), {{tp, placement_between_matmuls(sequence_parallel)}});
}

}  // namespace phi::nn
