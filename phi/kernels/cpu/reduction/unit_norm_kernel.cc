// Ops that scale rows to a length: norm to 1, renorm to one at the most; and their gradients.
#include <cmath>
#include <vector>

#include "phi/core/kernel_registry.h"
#include "phi/generated/kernels/norms.h"
#include "phi/kernels/cpu/gathered_rows.h"
#include "phi/kernels/functors/binary.h"
#include "phi/kernels/functors/norm_grad.h"

namespace phi {
namespace {

/// An array over one tensor dim, or over all others, as rows in the computing type: of x, and of a
/// tensor like it.
template <typename T>
class RowPair {
 public:
  using C = compute_t<T>;
  RowPair(const DenseTensor& x, AxisSet axes) : places_(x.dims(), axes), x_(x.data<T>()) {}

  /// Calls f(number of the row, x(k), store(k, value)).
  template <typename F>
  void for_each(T* to, F&& f) const {
    std::vector<int64_t> offsets(static_cast<size_t>(places_.length()));
    places_.for_each_element([&](int64_t k, int64_t offset) { offsets[k] = offset; });
    places_.for_each_row([&](int64_t r, int64_t first) {
      const auto x = [&](int64_t k) { return static_cast<double>(C(x_[first + offsets[k]])); };
      const auto store = [&](int64_t k, double value) {
        to[first + offsets[k]] = static_cast<T>(static_cast<C>(value));
      };
      const auto like = [&](const T* other, int64_t k) {
        return static_cast<double>(C(other[first + offsets[k]]));
      };
      f(r, x, store, like);
    });
  }
  int64_t length() const { return places_.length(); }

 private:
  RowPlaces places_;
  const T* x_;
};

AxisSet one_axis(int axis, const Dims& dims) { return normalise_axes(IntArray({axis}), dims); }

AxisSet all_but(int axis, const Dims& dims) {
  AxisSet axes;
  for (int d = 0; d < dims.ndim(); ++d) {
    if (d != axis && d != axis + dims.ndim()) axes.add(d);
  }
  return axes;
}

template <typename X>
double p_norm(int64_t n, double p, X x) {
  if (std::isinf(p)) {
    double most = 0;
    for (int64_t k = 0; k < n; ++k) most = MaximumFunctor<double>()(most, std::fabs(x(k)));
    return most;
  }
  double sum = 0;
  for (int64_t k = 0; k < n; ++k) sum += p == 2 ? x(k) * x(k) : std::pow(std::fabs(x(k)), p);
  return p == 2 ? std::sqrt(sum) : std::pow(sum, 1 / p);
}

}  // namespace

/// out = x / norm, where norm = sqrt(sum of squares along `axis` + epsilon), which is not given if
/// `is_test`.
template <typename T, typename Context>
void NormKernel(const Context&, const DenseTensor& x, int axis, float epsilon, bool is_test,
                DenseTensor* out, DenseTensor* norm) {
  const RowPair<T> rows(x, one_axis(axis, x.dims()));
  const int64_t n = rows.length();
  rows.for_each(out->mutable_data<T>(), [&](int64_t r, auto x_at, auto store, auto) {
    double sum = epsilon;
    for (int64_t k = 0; k < n; ++k) sum += x_at(k) * x_at(k);
    const double length = std::sqrt(sum);
    for (int64_t k = 0; k < n; ++k) store(k, x_at(k) / length);
    if (!is_test) norm->mutable_data<T>()[r] = static_cast<T>(static_cast<compute_t<T>>(length));
  });
}

/// x_grad = (out_grad - out * sum(out * out_grad)) / norm.
template <typename T, typename Context>
void NormGradKernel(const Context&, const DenseTensor& x, const DenseTensor& out_grad, int axis,
                    float epsilon, DenseTensor* x_grad) {
  if (x.numel() == 0) return;
  const RowPair<T> rows(x, one_axis(axis, x.dims()));
  const int64_t n = rows.length();
  const T* grads = out_grad.data<T>();
  rows.for_each(x_grad->mutable_data<T>(), [&](int64_t, auto x_at, auto store, auto like) {
    double squares = epsilon;
    double product = 0;
    for (int64_t k = 0; k < n; ++k) {
      squares += x_at(k) * x_at(k);
      product += x_at(k) * like(grads, k);
    }
    const double length = std::sqrt(squares);
    for (int64_t k = 0; k < n; ++k)
      store(k, (like(grads, k) - x_at(k) * (product / squares)) / length);
  });
}

/// Each slice along `axis` whose p-norm is above `max_norm` is scaled down to that.
template <typename T, typename Context>
void RenormKernel(const Context&, const DenseTensor& x, float p, int axis, float max_norm,
                  DenseTensor* out) {
  if (x.numel() == 0) return;
  const RowPair<T> rows(x, all_but(axis, x.dims()));
  const int64_t n = rows.length();
  rows.for_each(out->mutable_data<T>(), [&](int64_t, auto x_at, auto store, auto) {
    const double norm = p_norm(n, p, x_at);
    const double factor = norm > max_norm ? max_norm / norm : 1.0;
    for (int64_t k = 0; k < n; ++k) store(k, x_at(k) * factor);
  });
}

template <typename T, typename Context>
void RenormGradKernel(const Context&, const DenseTensor& x, const DenseTensor& out_grad, float p,
                      int axis, float max_norm, DenseTensor* x_grad) {
  if (x.numel() == 0) return;
  const RowPair<T> rows(x, all_but(axis, x.dims()));
  const int64_t n = rows.length();
  const T* grads = out_grad.data<T>();
  rows.for_each(x_grad->mutable_data<T>(), [&](int64_t, auto x_at, auto store, auto like) {
    const double norm = p_norm(n, p, x_at);
    if (!(norm > max_norm)) {
      for (int64_t k = 0; k < n; ++k) store(k, like(grads, k));
      return;
    }
    double product = 0;
    for (int64_t k = 0; k < n; ++k) product += x_at(k) * like(grads, k);
    const double factor = max_norm / norm;
    const double by_norm = product * factor / norm;
    const auto of_norm = [&](double value) {  // what an element adds to its norm
      if (std::isinf(p)) return ExtremeMagnitudeGrad<double>()(value, norm, 1);
      return PowerNormGrad<double>{p}(value, norm, 1);
    };
    for (int64_t k = 0; k < n; ++k) store(k, like(grads, k) * factor - by_norm * of_norm(x_at(k)));
  });
}

PHI_REGISTER_KERNEL(norm, CPU, NormKernel, Floats);
PHI_REGISTER_KERNEL(norm_grad, CPU, NormGradKernel, Floats);
PHI_REGISTER_KERNEL(renorm, CPU, RenormKernel, Floats);
PHI_REGISTER_KERNEL(renorm_grad, CPU, RenormGradKernel, Floats);

}  // namespace phi
