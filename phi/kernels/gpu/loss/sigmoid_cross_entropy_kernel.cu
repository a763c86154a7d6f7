// Binary cross entropy of logits, and its gradient, on GPUs. How many labels count stays there.
#include "phi/generated/kernels/elementwise_loss.h"
#include "phi/kernels/functors/losses.h"
#include "phi/kernels/gpu/words.h"

namespace phi {
namespace {

template <typename C>
struct IsCounted {
  C ignored;
  PHI_HD C operator()(C label) const { return label != ignored ? C(1) : C(0); }
};

template <typename C>
struct ShareOf {
  PHI_HD C operator()(double count) const {
    return static_cast<C>(1 / (count > 1e-5 ? count : 1e-5));
  }
};

/// A functor of losses whose scale lies in the GPU's memory; a null one is 1.
template <template <typename> typename Functor, typename C>
struct Shared {
  C ignored;
  const C* share;
  template <typename... Rest>
  PHI_HD C operator()(C x, C label, Rest... rest) const {
    return Functor<C>{ignored, share ? *share : C(1)}(x, label, rest...);
  }
};

/// One over the number of labels, on all ranks, that are not ignored.
template <typename T>
DenseTensor share_of_label(const GpuContext& ctx, const DenseTensor& label, int ignore_index) {
  using C = compute_t<T>;
  constexpr int kLabelInput = 1;
  DenseTensor counted = DenseTensor::empty({label.dims(), dtype_of<C>()}, ctx.place());
  DenseTensor count = DenseTensor::empty({{}, DataType::FLOAT64}, ctx.place());
  DenseTensor share = DenseTensor::empty({{}, dtype_of<C>()}, ctx.place());
  nary_loop<T>(ctx, std::array{&label}, counted.mutable_data<C>(), label.dims(),
               IsCounted<C>{static_cast<C>(ignore_index)});
  reduce<SumReducer<C>>(ctx, counted.data<C>(), label.dims(), AxisSet::all(label.ndim()),
                        count.mutable_data<double>(), ConvertFunctor<double>());
  for (int d = 0; ctx.view() && d < label.ndim(); ++d)
    ctx.view()->combine_over(kLabelInput, d, CombineKind::kSum, &count);
  unary_loop(ctx, count.data<double>(), share.mutable_data<C>(), 1, ShareOf<C>());
  return share;
}

template <typename T, template <typename> typename Functor, size_t kInputs>
void shared_loop(const GpuContext& ctx, const DenseTensor* const (&inputs)[kInputs],
                 const DenseTensor& label, bool normalize, int ignore_index, DenseTensor* out) {
  using C = compute_t<T>;
  const DenseTensor share = normalize ? share_of_label<T>(ctx, label, ignore_index) : DenseTensor();
  nary_loop<T>(ctx, inputs, out,
               Shared<Functor, C>{static_cast<C>(ignore_index),
                                  normalize ? share.template data<C>() : nullptr});
}

}  // namespace

template <typename T, typename Context>
void SigmoidCrossEntropyWithLogitsKernel(const Context& ctx, const DenseTensor& x,
                                         const DenseTensor& label, const DenseTensor* pos_weight,
                                         bool normalize, int ignore_index, DenseTensor* out) {
  const auto loop = [&](const auto&... inputs) {
    shared_loop<T, SigmoidCrossEntropyFunctor>(ctx, {inputs...}, label, normalize, ignore_index,
                                               out);
  };
  pos_weight ? loop(&x, &label, pos_weight) : loop(&x, &label);
}

template <typename T, typename Context>
void SigmoidCrossEntropyWithLogitsGradKernel(const Context& ctx, const DenseTensor& x,
                                             const DenseTensor& label,
                                             const DenseTensor* pos_weight,
                                             const DenseTensor& out_grad, bool normalize,
                                             int ignore_index, DenseTensor* x_grad) {
  const auto loop = [&](const auto&... inputs) {
    shared_loop<T, SigmoidCrossEntropyGradFunctor>(ctx, {inputs...}, label, normalize, ignore_index,
                                                   x_grad);
  };
  pos_weight ? loop(&x, &label, pos_weight, &out_grad) : loop(&x, &label, &out_grad);
}

PHI_REGISTER_KERNEL(sigmoid_cross_entropy_with_logits, GPU, SigmoidCrossEntropyWithLogitsKernel,
                    Floats);
PHI_REGISTER_KERNEL(sigmoid_cross_entropy_with_logits_grad, GPU,
                    SigmoidCrossEntropyWithLogitsGradKernel, Floats);

}  // namespace phi
