// Binary cross entropy with logits, and its gradient, on GPUs. The count of labels stays on the
// GPU.
#include "phi/generated/kernels/elementwise_loss.h"
#include "phi/kernels/functors/losses.h"
#include "phi/kernels/gpu/device_primitives.h"

namespace phi {
namespace {

template <typename C>
struct IsCounted {
  C ignored;
  PHI_HD C operator()(C label) const { return label != ignored ? C(1) : C(0); }
};

template <typename C>
struct ReciprocalOfCount {
  PHI_HD C operator()(double count) const {
    return static_cast<C>(1 / (count > 1e-5 ? count : 1e-5));
  }
};

/// 1 / (number of labels on all ranks that are not ignored).
template <typename T>
DenseTensor reciprocal_label_count(const GpuContext& ctx, const DenseTensor& label,
                                   int ignore_index) {
  using C = compute_t<T>;
  constexpr int kLabelInput = 1;
  DenseTensor counted = DenseTensor::empty({label.dims(), dtype_of<C>()}, ctx.place());
  DenseTensor count = DenseTensor::empty({{}, DataType::FLOAT64}, ctx.place());
  DenseTensor share = DenseTensor::empty({{}, dtype_of<C>()}, ctx.place());
  even_loop<T>(ctx, std::array{&label}, counted.mutable_data<C>(), label.dims(),
               IsCounted<C>{static_cast<C>(ignore_index)});
  reduce_all<SumReducer<C>>(ctx, counted.data<C>(), label.numel(), count.mutable_data<double>());
  for (int d = 0; ctx.view() && d < label.ndim(); ++d)
    ctx.view()->combine_over(kLabelInput, d, CombineKind::kSum, &count);
  unary_loop(ctx, count.data<double>(), share.mutable_data<C>(), 1, ReciprocalOfCount<C>());
  return share;
}

/// A loss functor with a scale in GPU memory, if the scale is not 1.
template <typename T, template <typename> typename Functor>
class ScaledLoss {
 public:
  using C = compute_t<T>;
  /// `share` is undefined, or must outlive the launch.
  ScaledLoss(int ignore_index, const DenseTensor& share)
      : ignored_(static_cast<C>(ignore_index)),
        share_(share.defined() ? share.data<C>() : nullptr) {}

  template <typename... Rest>
  PHI_HD C operator()(C x, C label, Rest... rest) const {
    return Functor<C>{ignored_, share_ ? *share_ : C(1)}(x, label, rest...);
  }

 private:
  C ignored_;
  const C* share_;
};

}  // namespace

template <typename T, typename Context>
void SigmoidCrossEntropyWithLogitsKernel(const Context& ctx, const DenseTensor& x,
                                         const DenseTensor& label, const DenseTensor* pos_weight,
                                         bool normalize, int ignore_index, DenseTensor* out) {
  const auto share =
      normalize ? reciprocal_label_count<T>(ctx, label, ignore_index) : DenseTensor();
  const ScaledLoss<T, SigmoidCrossEntropyFunctor> loss(ignore_index, share);
  if (pos_weight) return nary_loop<T>(ctx, {&x, &label, pos_weight}, out, loss);
  even_loop<T>(ctx, {&x, &label}, out, loss);
}

template <typename T, typename Context>
void SigmoidCrossEntropyWithLogitsGradKernel(const Context& ctx, const DenseTensor& x,
                                             const DenseTensor& label,
                                             const DenseTensor* pos_weight,
                                             const DenseTensor& out_grad, bool normalize,
                                             int ignore_index, DenseTensor* x_grad) {
  const auto share =
      normalize ? reciprocal_label_count<T>(ctx, label, ignore_index) : DenseTensor();
  const ScaledLoss<T, SigmoidCrossEntropyGradFunctor> grad(ignore_index, share);
  if (pos_weight) return nary_loop<T>(ctx, {&x, &label, pos_weight, &out_grad}, x_grad, grad);
  even_loop<T>(ctx, {&x, &label, &out_grad}, x_grad, grad);
}

PHI_REGISTER_KERNEL(sigmoid_cross_entropy_with_logits, GPU, SigmoidCrossEntropyWithLogitsKernel,
                    Floats);
PHI_REGISTER_KERNEL(sigmoid_cross_entropy_with_logits_grad, GPU,
                    SigmoidCrossEntropyWithLogitsGradKernel, Floats);

}  // namespace phi
