// prelu and rrelu on GPUs: leaky ReLU with learned or random slopes.
#include <string>

#include "phi/generated/kernels/activation.h"
#include "phi/kernels/functors/reduce.h"
#include "phi/kernels/gpu/device_primitives.h"
#include "phi/kernels/gpu/random/uniform.h"

namespace phi {
namespace {

/// x as [outer, weights, inner], with one slope per index of the middle dim.
Dims blocks_of(const Dims& dims, const std::string& data_format, const std::string& mode) {
  const int last = dims.ndim();
  if (mode == "all") return {1, 1, dims.numel()};
  if (mode == "element") return {dims[0], dims.numel(1, last), 1};
  if (data_format == "NHWC") return {dims.numel(0, last - 1), dims.back(), 1};
  return {dims[0], dims[1], dims.numel(2, last)};
}

template <typename T>
struct Slopes {
  const T* alpha;
  int64_t weights;
  int64_t inner;
  PHI_HD compute_t<T> at(int64_t i) const {
    return static_cast<compute_t<T>>(alpha[i / inner % weights]);
  }
};

template <typename T>
struct PReluFunctor {
  const T* x;
  Slopes<T> slopes;
  PHI_HD T operator()(int64_t i) const {
    const auto value = static_cast<compute_t<T>>(x[i]);
    return static_cast<T>(value > 0 ? value : slopes.at(i) * value);
  }
};

template <typename T>
struct PReluGradFunctor {
  const T* x;
  const T* out_grad;
  Slopes<T> slopes;
  PHI_HD T operator()(int64_t i) const {
    const auto g = static_cast<compute_t<T>>(out_grad[i]);
    return static_cast<T>(static_cast<compute_t<T>>(x[i]) > 0 ? g : slopes.at(i) * g);
  }
};

/// An element's term of the gradient of its slope.
template <typename T>
struct SlopeTerm {
  const T* x;
  const T* out_grad;
  PHI_HD double operator()(int64_t i) const {
    const auto value = static_cast<compute_t<T>>(x[i]);
    const auto g = static_cast<compute_t<T>>(out_grad[i]);
    return value > 0 ? 0.0 : static_cast<double>(g * value);
  }
};

/// Slope of an element; 1 for elements that are not negative.
template <typename T>
struct KnownSlope {
  const T* x;
  const T* slopes;
  PHI_HD T operator()(int64_t i) const {
    return static_cast<compute_t<T>>(x[i]) < 0 ? slopes[i] : T(1.0f);
  }
};

}  // namespace

/// out = x where x is not negative, else alpha x.
template <typename T, typename Context>
void PReluKernel(const Context& ctx, const DenseTensor& x, const DenseTensor& alpha,
                 const std::string& data_format, const std::string& mode, DenseTensor* out) {
  if (out->numel() == 0) return;
  const Dims blocks = blocks_of(x.dims(), data_format, mode);
  index_loop(ctx, out->mutable_data<T>(), out->numel(),
             PReluFunctor<T>{x.data<T>(), {alpha.data<T>(), blocks[1], blocks[2]}});
}

/// A null gradient is not computed.
template <typename T, typename Context>
void PReluGradKernel(const Context& ctx, const DenseTensor& x, const DenseTensor& alpha,
                     const DenseTensor& out_grad, const std::string& data_format,
                     const std::string& mode, DenseTensor* x_grad, DenseTensor* alpha_grad) {
  const int64_t n = x.numel();
  if (n == 0) {
    if (alpha_grad) fill(ctx, alpha_grad->mutable_data<T>(), alpha_grad->numel(), T(0.0f));
    return;
  }
  const Dims blocks = blocks_of(x.dims(), data_format, mode);
  const T* xs = x.data<T>();
  const T* g = out_grad.data<T>();
  if (x_grad) {
    index_loop(ctx, x_grad->mutable_data<T>(), n,
               PReluGradFunctor<T>{xs, g, {alpha.data<T>(), blocks[1], blocks[2]}});
  }
  if (!alpha_grad) return;
  DenseTensor terms = DenseTensor::empty({blocks, DataType::FLOAT64}, ctx.place());
  index_loop(ctx, terms.mutable_data<double>(), n, SlopeTerm<T>{xs, g});
  AxisSet axes;
  axes.add(0);
  axes.add(2);
  reduce<SumReducer<double>>(ctx, terms.data<double>(), blocks, axes, alpha_grad->mutable_data<T>(),
                             ConvertFunctor<T>());
}

template <typename T, typename Context>
void RReluKernel(const Context& ctx, const DenseTensor& x, float lower, float upper, bool is_test,
                 int seed, DenseTensor* out, DenseTensor* noise) {
  using C = compute_t<T>;
  const int64_t n = out->numel();
  T* slopes = noise->mutable_data<T>();
  if (is_test || lower == upper) {
    fill(ctx, slopes, n, convert_value<T>((C(lower) + C(upper)) / C(2)));
  } else {
    gpu::draw_to(ctx, ctx.output_box(1, noise->dims()), gpu::seed_source(seed), RandomUse::kUniform,
                 slopes, gpu::DrawUniform<T>(lower, upper));
  }
  index_loop(ctx, slopes, n, KnownSlope<T>{x.data<T>(), slopes});
  binary_loop(ctx, x.data<T>(), noise->data<T>(), out->mutable_data<T>(), n, MultiplyFunctor<C>());
}

PHI_REGISTER_KERNEL(prelu, GPU, PReluKernel, Floats);
PHI_REGISTER_KERNEL(prelu_grad, GPU, PReluGradKernel, Floats);
PHI_REGISTER_KERNEL(rrelu, GPU, RReluKernel, Floats);

}  // namespace phi
