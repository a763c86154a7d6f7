// Shape functions, rules and kernels of ops.yaml, in the plainest loops.
#include "tests/api/forms/forms.h"

#include <algorithm>
#include <numeric>

#include "distributed/spmd/factors.h"
#include "phi/core/kernel_registry.h"
#include "t_forms/kernels/backward.h"
#include "t_forms/kernels/ops.h"

namespace phi {

// ---- shapes ----

std::tuple<std::vector<TensorMeta>, std::vector<TensorMeta>, TensorMeta> SpreadInferMeta(
    const TensorMeta& x, std::span<const TensorMeta> scales) {
  const std::vector<TensorMeta> each(scales.begin(), scales.end());
  return {each, each, x};
}

std::tuple<TensorMeta, std::vector<TensorMeta>> SpreadGradInferMeta(
    const TensorMeta& x, std::span<const TensorMeta> scales) {
  return {x, {scales.begin(), scales.end()}};
}

std::tuple<std::vector<TensorMeta>, std::vector<TensorMeta>> TwoListsInferMeta(
    std::span<const TensorMeta> xs, std::span<const TensorMeta> ys) {
  return {{xs.begin(), xs.end()}, {ys.begin(), ys.end()}};
}

std::tuple<TensorMeta, TensorMeta, std::optional<TensorMeta>, TensorMeta> RunningInferMeta(
    const TensorMeta& x, const TensorMeta& mean, const TensorMeta* variance) {
  return {x, mean, variance ? std::optional(*variance) : std::nullopt, x};
}

std::tuple<TensorMeta, TensorMeta> ColumnInferMeta(const TensorMeta& x) {
  TensorMeta out = x;
  out.dims.push_back(1);
  return {out, x};
}

TensorMeta SpinInferMeta(const TensorMeta& x) { return {x.dims, complex_of(x.dtype)}; }

TensorMeta RealPartOfInferMeta(const TensorMeta& x) { return {x.dims, real_part_of(x.dtype)}; }

TensorMeta PickInferMeta(const TensorMeta& x, const std::optional<DataType>& dtype) {
  return {x.dims, dtype.value_or(x.dtype)};
}

// ---- rules ----

namespace distributed {
namespace {

// All tensors have one shape and lie alike.
class Alike {
 public:
  explicit Alike(const TensorSpec& x) : batch_(Factors::batch(x.ndim())) { add(x); }
  explicit Alike(std::span<const TensorSpec> xs) : batch_(Factors::batch(xs[0].ndim())) { add(xs); }
  Alike& add(const TensorSpec& x) {
    rule_.input(x, batch_, "");
    return *this;
  }
  Alike& add(std::span<const TensorSpec> xs) {
    for (const TensorSpec& x : xs) add(x);
    return *this;
  }
  SpmdRule outputs(size_t count) {
    for (size_t i = 0; i < count; ++i) rule_.output(batch_, "");
    return rule_;
  }

 private:
  Factors::BatchFactors batch_;
  Factors rule_;
};

}  // namespace

SpmdRule SpreadInferSpmd(const TensorSpec& x, std::span<const TensorSpec> scales) {
  return Alike(x).add(scales).outputs(2 * scales.size() + 1);
}

SpmdRule SpreadGradInferSpmd(const TensorSpec& x, std::span<const TensorSpec> scales,
                             std::span<const TensorSpec> products_grad,
                             std::span<const TensorSpec> sums_grad, const TensorSpec& total_grad) {
  return Alike(x)
      .add(scales)
      .add(products_grad)
      .add(sums_grad)
      .add(total_grad)
      .outputs(scales.size() + 1);
}

SpmdRule TwoListsInferSpmd(std::span<const TensorSpec> xs, std::span<const TensorSpec> ys) {
  return Alike(xs).add(ys).outputs(xs.size() + ys.size());
}

SpmdRule RunningInferSpmd(const TensorSpec& x, const TensorSpec& mean, const TensorSpec* variance) {
  Factors rule;
  rule.input(x, "mn").input(mean, "n").combined("m");
  variance ? rule.input(*variance, "n") : rule.absent_input();
  rule.output("mn").output("n");
  variance ? rule.output("n") : rule.absent_output();
  return rule.output("mn");
}

SpmdRule ColumnInferSpmd(const TensorSpec& x) {
  const auto batch = Factors::batch(x.ndim());
  return Factors().input(x, batch, "").output(batch, "1").output(batch, "");
}

}  // namespace distributed

// ---- kernels ----

namespace {

using Floating = TypeList<float, double>;
using Complex = TypeList<complex64, complex128>;
using Arrays = std::span<const DenseTensor* const>;
using Outs = std::span<DenseTensor* const>;

// out[i] = f(i)
template <typename T, typename F>
void fill(DenseTensor* out, F&& f) {
  T* to = out->mutable_data<T>();
  for (int64_t i = 0; i < out->numel(); ++i) to[i] = f(i);
}

template <typename T, typename Context>
void SpreadKernel(const Context&, const DenseTensor& x, Arrays scales, Outs products, Outs sums,
                  DenseTensor* total) {
  const T* from = x.data<T>();
  const auto scale = [&](size_t k, int64_t i) { return scales[k]->data<T>()[i]; };
  for (size_t k = 0; k < scales.size(); ++k) {
    fill<T>(products[k], [&](int64_t i) { return from[i] * scale(k, i); });
    fill<T>(sums[k], [&](int64_t i) { return from[i] + scale(k, i); });
  }
  fill<T>(total, [&](int64_t i) {
    T sum = 0;
    for (size_t k = 0; k < scales.size(); ++k) sum += scale(k, i);
    return from[i] * sum;
  });
}

template <typename T, typename Context>
void SpreadGradKernel(const Context&, const DenseTensor& x, Arrays scales, Arrays products_grad,
                      Arrays sums_grad, const DenseTensor& total_grad, DenseTensor* x_grad,
                      Outs scales_grad) {
  const auto at = [](const DenseTensor& array, int64_t i) { return array.data<T>()[i]; };
  if (x_grad) {
    fill<T>(x_grad, [&](int64_t i) {
      T sum = 0;
      for (size_t k = 0; k < scales.size(); ++k) {
        sum += at(*scales[k], i) * (at(*products_grad[k], i) + at(total_grad, i)) +
               at(*sums_grad[k], i);
      }
      return sum;
    });
  }
  for (size_t k = 0; k < scales_grad.size(); ++k) {
    fill<T>(scales_grad[k], [&](int64_t i) {
      return at(x, i) * (at(*products_grad[k], i) + at(total_grad, i)) + at(*sums_grad[k], i);
    });
  }
}

template <typename T, typename Context>
void ScaleAllKernel(const Context&, Arrays xs, Arrays ys, float factor, Outs xs_out, Outs ys_out) {
  const auto scale = [factor](Arrays from, Outs to) {
    for (size_t k = 0; k < to.size(); ++k) {
      fill<T>(to[k], [&](int64_t i) { return T(factor) * from[k]->data<T>()[i]; });
    }
  };
  scale(xs, xs_out);
  scale(ys, ys_out);
}

template <typename T, typename Context>
void RunningKernel(const Context&, const DenseTensor& x, const DenseTensor& mean,
                   const DenseTensor* variance, float momentum, const std::optional<int>& seed,
                   DenseTensor* out, DenseTensor* mean_out, DenseTensor* variance_out,
                   DenseTensor* saved) {
  const T* from = x.data<T>();
  const int64_t width = mean.numel();
  fill<T>(saved, [&](int64_t i) { return 2 * from[i]; });
  fill<T>(out, [&](int64_t i) {
    return from[i] * from[i] - mean.data<T>()[i % width] + T(seed.value_or(0));
  });
  fill<T>(mean_out, [&](int64_t i) { return T(momentum) * mean.data<T>()[i]; });
  if (variance) fill<T>(variance_out, [&](int64_t i) { return 2 * variance->data<T>()[i]; });
}

template <typename T, typename Context>
void ScaledByKernel(const Context&, const DenseTensor& x, float factor, DenseTensor* out) {
  fill<T>(out, [&](int64_t i) { return T(factor) * x.data<T>()[i]; });
}

template <typename T, typename Context>
void SpinKernel(const Context&, const DenseTensor& x, DenseTensor* out) {
  using Part = typename T::value_type;
  fill<T>(out, [&](int64_t i) { return T(x.data<Part>()[i], x.data<Part>()[i]); });
}

template <typename T, typename Context>
void SpinGradKernel(const Context&, const DenseTensor& out_grad, DenseTensor* x_grad) {
  fill<typename T::value_type>(x_grad, [&](int64_t i) {
    return out_grad.data<T>()[i].real() + out_grad.data<T>()[i].imag();
  });
}

template <typename T, typename Context>
void RealPartKernel(const Context&, const DenseTensor& x, DenseTensor* out) {
  fill<typename T::value_type>(out, [&](int64_t i) { return x.data<T>()[i].real(); });
}

template <typename T, typename Context>
void RealPartGradKernel(const Context&, const DenseTensor& out_grad, DenseTensor* x_grad) {
  fill<T>(x_grad, [&](int64_t i) { return T(out_grad.data<typename T::value_type>()[i], 0); });
}

double factor_of(const std::optional<Scalar>& fill) { return fill ? fill->to<double>() : 3.0; }

template <typename T, typename Context>
void PickKernel(const Context&, const DenseTensor& x, const std::optional<int>& seed,
                const std::optional<std::vector<float>>& shifts,
                const std::optional<std::string>& name, const std::optional<Scalar>& fill_with,
                const std::optional<IntArray>& axes, DenseTensor* out) {
  double shift = seed.value_or(0);
  if (shifts) shift = std::accumulate(shifts->begin(), shifts->end(), shift);
  if (name) shift += static_cast<double>(name->size());
  if (axes) shift += axes->size();
  const bool is_wide = x.dtype() == DataType::FLOAT64;
  fill<T>(out, [&](int64_t i) {
    return T((is_wide ? x.data<double>()[i] : x.data<float>()[i]) * factor_of(fill_with) + shift);
  });
}

template <typename T, typename Context>
void PickGradKernel(const Context&, const DenseTensor& out_grad,
                    const std::optional<Scalar>& fill_with, DenseTensor* x_grad) {
  fill<T>(x_grad, [&](int64_t i) { return T(factor_of(fill_with)) * out_grad.data<T>()[i]; });
}

PHI_REGISTER_KERNEL(t_spread, CPU, SpreadKernel, Floating);
PHI_REGISTER_KERNEL(t_spread_grad, CPU, SpreadGradKernel, Floating);
PHI_REGISTER_KERNEL(t_scale_all, CPU, ScaleAllKernel, Floating);
PHI_REGISTER_KERNEL(t_running, CPU, RunningKernel, Floating);
PHI_REGISTER_KERNEL(t_scaled_by, CPU, ScaledByKernel, Floating);
PHI_REGISTER_KERNEL(t_spin, CPU, SpinKernel, Complex);
PHI_REGISTER_KERNEL(t_spin_grad, CPU, SpinGradKernel, Complex);
PHI_REGISTER_KERNEL(t_real_part, CPU, RealPartKernel, Complex);
PHI_REGISTER_KERNEL(t_real_part_grad, CPU, RealPartGradKernel, Complex);
PHI_REGISTER_KERNEL(t_pick, CPU, PickKernel, Floating);
PHI_REGISTER_KERNEL(t_pick_grad, CPU, PickGradKernel, Floating);

}  // namespace
}  // namespace phi
