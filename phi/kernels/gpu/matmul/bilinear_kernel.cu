// bilinear and its gradient on GPUs, by contractions in the compute type. The largest intermediate
// array has one element per row of x, output, and column of y (or x). The CPU kernels state the
// semantics.
#include "phi/generated/kernels/bilinear.h"
#include "phi/kernels/gpu/compute_array.h"
#include "phi/kernels/gpu/data_movement/move.h"
#include "phi/kernels/gpu/device_primitives.h"
#include "phi/kernels/gpu/matmul/batched_matmul.h"
#include "phi/kernels/templates/converted.h"
#include "phi/kernels/templates/matmul/contraction.h"

namespace phi {
namespace {

/// x with its index letters, in the compute type.
template <typename T>
LabelledArray computed(const GpuContext& ctx, const std::string& letters, const DenseTensor& x) {
  return labelled(letters, converted<compute_t<T>, T>(ctx, x));
}

/// Contracts the operands to the index letters `wanted`.
template <typename T>
DenseTensor contracted(const GpuContext& ctx, const std::vector<LabelledArray>& operands,
                       const std::string& wanted) {
  using C = compute_t<T>;
  return arranged<C>(ctx, contract<C>(ctx, operands, wanted), wanted).array;
}

template <typename T>
void contract_into(const GpuContext& ctx, const std::vector<LabelledArray>& operands,
                   const std::string& wanted, DenseTensor* to) {
  if (!to) return;
  const DenseTensor sums = contracted<T>(ctx, operands, wanted);
  convert(ctx, sums.data<compute_t<T>>(), to->mutable_data<T>(), to->numel());
}

}  // namespace

template <typename T, typename Context>
void BilinearKernel(const Context& ctx, const DenseTensor& x, const DenseTensor& y,
                    const DenseTensor& weight, const DenseTensor* bias, DenseTensor* out) {
  using C = compute_t<T>;
  const std::vector<LabelledArray> operands{
      computed<T>(ctx, "ni", x), computed<T>(ctx, "kij", weight), computed<T>(ctx, "nj", y)};
  if (!bias) return contract_into<T>(ctx, operands, "nk", out);
  const DenseTensor sums = contracted<T>(ctx, operands, "nk");
  const gpu::ComputeArray<C> shifts(ctx, bias);
  binary_loop(ctx, sums.data<C>(), out->dims(), shifts.data(), Dims{1, out->dims()[1]},
              out->mutable_data<T>(), out->dims(), AddFunctor<C>());
}

/// A null output is not computed.
template <typename T, typename Context>
void BilinearGradKernel(const Context& ctx, const DenseTensor& x, const DenseTensor& y,
                        const DenseTensor& weight, const DenseTensor& out_grad, DenseTensor* x_grad,
                        DenseTensor* y_grad, DenseTensor* weight_grad, DenseTensor* bias_grad) {
  const LabelledArray xs = computed<T>(ctx, "ni", x);
  const LabelledArray ys = computed<T>(ctx, "nj", y);
  const LabelledArray ws = computed<T>(ctx, "kij", weight);
  const LabelledArray gs = computed<T>(ctx, "nk", out_grad);
  contract_into<T>(ctx, {gs, ys, ws}, "ni", x_grad);
  contract_into<T>(ctx, {gs, xs, ws}, "nj", y_grad);
  contract_into<T>(ctx, {gs, xs, ys}, "kij", weight_grad);
  contract_into<T>(ctx, {gs}, "k", bias_grad);
}

PHI_REGISTER_KERNEL(bilinear, GPU, BilinearKernel, Floats);
PHI_REGISTER_KERNEL(bilinear_grad, GPU, BilinearGradKernel, Floats);

}  // namespace phi
