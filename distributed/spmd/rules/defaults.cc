// Rules for any op.
#include "distributed/spmd/rules/defaults.h"

#include "distributed/spmd/rules/names.h"

namespace phi::distributed {
namespace {

Factors any_op(std::span<const TensorSpec> inputs, std::span<const TensorSpec> outputs,
               char first_dim) {
  const auto names = [&](const TensorSpec& tensor) {
    Names result;
    for (int d = 0; d < tensor.ndim(); ++d) result.push_back(d == 0 ? first_dim : '_');
    return result;
  };
  Factors rule;
  for (const TensorSpec& x : inputs) rule.input(x, names(x));
  for (const TensorSpec& y : outputs) rule.output(names(y));
  return rule;
}

}  // namespace

SpmdRule ReplicatedInferSpmd(std::span<const TensorSpec> inputs,
                             std::span<const TensorSpec> outputs) {
  return any_op(inputs, outputs, '_');
}

SpmdRule DataParallelInferSpmd(std::span<const TensorSpec> inputs,
                               std::span<const TensorSpec> outputs) {
  // A scalar holds no batch, and how parts of it would be combined is not known.
  for (const TensorSpec& y : outputs) {
    if (y.ndim() == 0) return any_op(inputs, outputs, '_');
  }
  return any_op(inputs, outputs, 'b');
}

}  // namespace phi::distributed
