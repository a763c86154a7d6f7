// Einsum. The gradient of an operand is the einsum of all other operands with the output's
// gradient, to the operand's letters.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "phi/common/equation.h"
#include "phi/core/kernel_registry.h"
#include "phi/generated/kernels/matmul.h"
#include "phi/kernels/templates/matmul/contraction.h"
#include "phi/kernels/templates/matmul/operands.h"

namespace phi {

/// Multiplies the operands in order.
template <typename T, typename Context>
void EinsumKernel(const Context& ctx, std::span<const DenseTensor* const> x,
                  const std::string& equation, DenseTensor* out) {
  const Equation terms = Equation::parse(equation, x.size());
  std::vector<LabelledArray> operands;
  for (size_t i = 0; i < x.size(); ++i) operands.push_back(labelled(terms.inputs[i].before, *x[i]));
  const std::string& wanted = terms.output.before;
  scatter<T>(ctx, contract<T>(ctx, std::move(operands), wanted), labels_of(wanted, out->dims()),
             out);
}

/// Letters of this operand alone were summed, so each element along them has the gradient of the
/// sum. If an operand repeats a letter, the gradient is 0 off the diagonal.
template <typename T, typename Context>
void EinsumGradKernel(const Context& ctx, std::span<const DenseTensor* const> x,
                      const DenseTensor& out_grad, const std::string& equation,
                      std::span<DenseTensor* const> x_grad) {
  const Equation terms = Equation::parse(equation, x.size());
  std::vector<LabelledArray> factors;
  for (size_t i = 0; i < x.size(); ++i)
    factors.push_back(labelled(terms.inputs[i].before, conjugated<T>(ctx, *x[i])));
  for (size_t i = 0; i < x.size(); ++i) {
    if (!x_grad[i]) continue;
    std::vector<LabelledArray> others{labelled(terms.output.before, out_grad)};
    for (size_t j = 0; j < x.size(); ++j) {
      if (j != i) others.push_back(factors[j]);
    }
    const EinsumLabels& own = factors[i].labels;
    if (own.letters != terms.inputs[i].before)
      fill(ctx, mutable_data_of<T>(ctx, x_grad[i]), x_grad[i]->numel(), T(0));
    scatter<T>(ctx, contract<T>(ctx, std::move(others), own.letters), own, x_grad[i]);
  }
}

PHI_REGISTER_KERNEL(einsum, PHI_DEVICE, EinsumKernel, MatmulTypes);
PHI_REGISTER_KERNEL(einsum_grad, PHI_DEVICE, EinsumGradKernel, MatmulTypes);

}  // namespace phi
