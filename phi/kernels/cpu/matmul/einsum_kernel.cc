// Products in Einstein's notation. The gradient of an operand is the product of all others with
// that of the output, by the operand's letters.
#include "phi/common/equation.h"
#include "phi/core/kernel_registry.h"
#include "phi/generated/kernels/matmul.h"
#include "phi/kernels/cpu/matmul/contraction.h"
#include "phi/kernels/cpu/matmul/matmul_operands.h"

namespace phi {

/// Operands are multiplied from the first to the last.
template <typename T, typename Context>
void EinsumKernel(const Context&, std::span<const DenseTensor* const> x,
                  const std::string& equation, DenseTensor* out) {
  const Equation terms = Equation::parse(equation, x.size());
  std::vector<Labelled<T>> operands;
  for (size_t i = 0; i < x.size(); ++i) {
    operands.push_back(labelled(terms.inputs[i].before, x[i]->data<T>(), x[i]->dims()));
  }
  const std::string& wanted = terms.output.before;
  scatter(contract(std::move(operands), wanted), wanted, out->dims(), out->dims().strides(),
          out->mutable_data<T>());
}

/// Letters that only the operand has were summed: each element gets the gradient of the sum. Off a
/// diagonal there is none.
template <typename T, typename Context>
void EinsumGradKernel(const Context&, std::span<const DenseTensor* const> x,
                      const DenseTensor& out_grad, const std::string& equation,
                      std::span<DenseTensor* const> x_grad) {
  const Equation terms = Equation::parse(equation, x.size());
  std::vector<Conjugated<T>> conjugated;
  for (const DenseTensor* each : x) conjugated.emplace_back(*each);
  for (size_t i = 0; i < x.size(); ++i) {
    if (!x_grad[i]) continue;
    std::vector<Labelled<T>> others{
        labelled(terms.output.before, out_grad.data<T>(), out_grad.dims())};
    for (size_t j = 0; j < x.size(); ++j) {
      if (j == i) continue;
      others.push_back(labelled(terms.inputs[j].before, conjugated[j].data(), x[j]->dims()));
    }
    const std::string& letters = terms.inputs[i].before;
    const Labelled<T> own = labelled(letters, x[i]->data<T>(), x[i]->dims());
    T* to = x_grad[i]->mutable_data<T>();
    if (own.letters != letters) std::fill_n(to, x_grad[i]->numel(), T(0));
    scatter(contract(std::move(others), own.letters), own.letters, own.dims, own.strides, to);
  }
}

PHI_REGISTER_KERNEL(einsum, CPU, EinsumKernel, ProductTypes);
PHI_REGISTER_KERNEL(einsum_grad, CPU, EinsumGradKernel, ProductTypes);

}  // namespace phi
