// Least squares on the CPU.
#include "phi/core/kernel_registry.h"
#include "phi/generated/kernels/linalg.h"
#include "phi/kernels/cpu/linalg/lapack.h"

namespace phi {
namespace {

using linalg::Matrix;

/// Returns the squared residual of each right-hand side.
template <typename T>
std::vector<real_t<T>> residuals_of(const Matrix<T>& a, const Matrix<T>& x, const Matrix<T>& b) {
  const Matrix<T> left = a * x - b;
  std::vector<real_t<T>> sums(static_cast<size_t>(left.columns()));
  using std::norm;
  for (int64_t j = 0; j < left.columns(); ++j) {
    for (int64_t i = 0; i < left.rows(); ++i) sums[static_cast<size_t>(j)] += norm(left(i, j));
  }
  return sums;
}

DenseTensor made(TensorMeta meta, const Dims& dims, const Place& place) {
  meta.dims = dims;
  return DenseTensor::empty(meta, place);
}

}  // namespace

/// Residuals are returned if x has more rows than columns and, for gelsd and gelss, all of its
/// matrices have full rank. gelsy returns none.
template <typename T, typename Context>
void LstsqKernel(const Context& ctx, const DenseTensor& x, const DenseTensor& y,
                 const Scalar& rcond, const std::string& driver, DenseTensor* solution,
                 DenseTensor* residuals, DenseTensor* rank, DenseTensor* singular_values) {
  const int64_t m = linalg::rows_of(x), n = linalg::columns_of(x), k = linalg::columns_of(y);
  const Dims batch(std::span(x.dims().begin(), x.dims().end() - 2));
  const auto of_batch = [&](std::initializer_list<int64_t> last) {
    Dims dims = batch;
    for (int64_t extent : last) dims.push_back(extent);
    return dims;
  };
  *solution = made(solution->meta(), of_batch({n, k}), ctx.place());
  if (rank) *rank = made(rank->meta(), batch, ctx.place());
  if (singular_values) {
    *singular_values = made(singular_values->meta(), of_batch({std::min(m, n)}), ctx.place());
  }
  bool has_residuals = m > n && driver != "gelsy";
  std::vector<real_t<T>> left;
  for (int64_t b = 0; b < batch.numel(); ++b) {
    const auto a = linalg::matrix_of<T>(x, b), sides = linalg::matrix_of<T>(y, b);
    const auto found = linalg::least_squares(a, sides, rcond.to<real_t<T>>(), driver);
    const Matrix<T> best = found.solved.part(0, 0, n, k);
    linalg::put_matrix(best, b, solution);
    if (rank) rank->mutable_data<int>()[b] = found.rank;
    if (singular_values) linalg::put_vector(found.s, b, singular_values);
    has_residuals &= !rank || found.rank == n;
    if (!has_residuals) continue;
    const auto sums = residuals_of(a, best, sides);
    left.insert(left.end(), sums.begin(), sums.end());
  }
  *residuals = made(residuals->meta(), has_residuals ? of_batch({k}) : Dims{0}, ctx.place());
  if (has_residuals) {
    std::copy(left.begin(), left.end(), residuals->mutable_data<real_t<T>>());
  }
}

PHI_REGISTER_KERNEL(lstsq, CPU, LstsqKernel, linalg::MatrixTypes);

}  // namespace phi
