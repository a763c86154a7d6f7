// Matrix ranks on the CPU: the number of singular values, or of magnitudes of eigenvalues, above a
// tolerance.
#include <limits>

#include "phi/core/kernel_registry.h"
#include "phi/generated/kernels/linalg.h"
#include "phi/kernels/cpu/linalg/lapack.h"
#include "phi/kernels/cpu/loops/broadcast.h"

namespace phi {
namespace {

template <typename T>
std::vector<real_t<T>> magnitudes(const DenseTensor& x, int64_t b, bool hermitian) {
  auto a = linalg::matrix_of<T>(x, b);
  if (!hermitian) return linalg::svd(std::move(a), 'N').s;
  auto values = linalg::hermitian_eigen(std::move(a), true, false).values;
  for (auto& value : values) value = std::abs(value);
  return values;
}

/// Returns the default relative tolerance: the rounding error of the largest value.
template <typename R>
R default_rtol(const DenseTensor& x) {
  const int64_t longest = std::max(linalg::rows_of(x), linalg::columns_of(x));
  return std::numeric_limits<R>::epsilon() * static_cast<R>(longest);
}

/// Reads tolerances of any real dtype.
class Tolerances {
 public:
  explicit Tolerances(const DenseTensor& x) : x_(x) {}
  double operator[](int64_t i) const {
    return visit_dtype(x_.dtype(),
                       [&]<typename T>() { return static_cast<double>(x_.data<T>()[i]); });
  }

 private:
  const DenseTensor& x_;
};

template <typename R>
int64_t count_above(const std::vector<R>& values, double atol, double rtol) {
  const R largest = values.empty() ? R(0) : *std::max_element(values.begin(), values.end());
  const double tolerance = std::max(atol, rtol * static_cast<double>(largest));
  return std::count_if(values.begin(), values.end(),
                       [=](R value) { return static_cast<double>(value) > tolerance; });
}

/// `rtol(atol, i)` returns the relative tolerance for an absolute tolerance and element i of the
/// relative tolerances.
template <typename T, typename Rtol>
void rank_all(const DenseTensor& x, const DenseTensor& atol, const Dims& rtol_dims, bool hermitian,
              DenseTensor* out, Rtol&& rtol) {
  if (out->numel() == 0) return;
  std::vector<std::vector<real_t<T>>> values;
  for (int64_t b = 0; b < linalg::matrices_in(x.dims()); ++b) {
    values.push_back(magnitudes<T>(x, b, hermitian));
  }
  const Dims batch(std::span(x.dims().begin(), x.dims().end() - 2));
  const Tolerances absolute(atol);
  const Broadcast<3> walk(out->dims(), {&batch, &atol.dims(), &rtol_dims});
  auto* to = out->mutable_data<int64_t>();
  walk.for_each_row([&](int64_t at, const std::array<int64_t, 3>& from, int64_t count) {
    for (int64_t i = 0; i < count; ++i) {
      const auto own = [&](int operand) { return from[operand] + i * walk.inner_stride(operand); };
      const double least = absolute[own(1)];
      to[at + i] = count_above(values[static_cast<size_t>(own(0))], least, rtol(least, own(2)));
    }
  });
}

}  // namespace

/// `tol` is used only if `use_default_tol` is false.
template <typename T, typename Context>
void MatrixRankKernel(const Context&, const DenseTensor& x, float tol, bool use_default_tol,
                      bool hermitian, DenseTensor* out) {
  const double rtol = use_default_tol ? default_rtol<real_t<T>>(x) : 0;
  auto* to = out->mutable_data<int64_t>();
  for (int64_t b = 0; b < out->numel(); ++b) {
    to[b] = count_above(magnitudes<T>(x, b, hermitian), use_default_tol ? 0 : tol, rtol);
  }
}

/// The tolerance is the larger of the given one and, with `use_default_tol`, the default.
template <typename T, typename Context>
void MatrixRankTolKernel(const Context&, const DenseTensor& x, const DenseTensor& atol_tensor,
                         bool use_default_tol, bool hermitian, DenseTensor* out) {
  const double relative = use_default_tol ? default_rtol<real_t<T>>(x) : 0;
  rank_all<T>(x, atol_tensor, {}, hermitian, out, [=](double, int64_t) { return relative; });
}

/// Without rtol, the default relative tolerance is used if atol is 0.
template <typename T, typename Context>
void MatrixRankAtolRtolKernel(const Context&, const DenseTensor& x, const DenseTensor& atol,
                              const DenseTensor* rtol, bool hermitian, DenseTensor* out) {
  if (rtol) {
    const Tolerances relative(*rtol);
    return rank_all<T>(x, atol, rtol->dims(), hermitian, out,
                       [&](double, int64_t i) { return relative[i]; });
  }
  const double relative = default_rtol<real_t<T>>(x);
  rank_all<T>(x, atol, {}, hermitian, out,
              [=](double least, int64_t) { return least > 0 ? 0 : relative; });
}

PHI_REGISTER_KERNEL(matrix_rank, CPU, MatrixRankKernel, linalg::MatrixTypes);
PHI_REGISTER_KERNEL(matrix_rank_tol, CPU, MatrixRankTolKernel, linalg::MatrixTypes);
PHI_REGISTER_KERNEL(matrix_rank_atol_rtol, CPU, MatrixRankAtolRtolKernel, linalg::MatrixTypes);

}  // namespace phi
