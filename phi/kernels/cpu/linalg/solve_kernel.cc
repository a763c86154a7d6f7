// Solutions of systems of equations, and inverses, on the CPU.
#include "phi/common/errors.h"
#include "phi/core/kernel_registry.h"
#include "phi/core/scratch_array.h"
#include "phi/generated/kernels/linalg.h"
#include "phi/infermeta/linalg.h"
#include "phi/kernels/cpu/linalg/small_matrices.h"
#include "phi/kernels/cpu/linalg/systems.h"

namespace phi {
namespace {

using linalg::adjoint;
using linalg::Matrix;
using linalg::Op;
using linalg::Triangle;

/// Errors   InvalidArgument that matrix b of x is singular; none if b is -1.
void throw_singular(const DenseTensor& x, int64_t b) {
  PHI_CHECK(b < 0,
            errors::InvalidArgument("x is {} and its matrix {} (from 0) is singular: there is no "
                                    "inverse, and not one solution; lstsq finds the nearest.",
                                    x.meta().to_string(), b));
}
template <typename T>
linalg::Lu<T> factors_of(Matrix<T> a, const DenseTensor& x, int64_t b) {
  auto lu = linalg::lu_factor(std::move(a));
  if (lu.info != 0) throw_singular(x, b);
  return lu;
}

/// The shapes of the global tensors decide whether y has vectors.
linalg::Systems systems_of(const KernelContext& ctx, const DenseTensor& x, const DenseTensor& y) {
  const bool vectors =
      solves_vectors(ctx.input_box(0, x.dims()).global, ctx.input_box(1, y.dims()).global);
  return {x.dims(), y.dims(), vectors};
}

/// Sets c = -a b^H for each pair of a and b, of `columns` columns. c is neither a nor b.
template <typename T>
void subtract_outer_products(const linalg::Systems& systems, int64_t count, const T* a, const T* b,
                             T* c) {
  const Dims sides{count, systems.n(), systems.columns()};
  const MatrixBatch of_sides = matrices_of(sides, VectorIs::kRow);
  const MatrixBatch squares = matrices_of({count, systems.n(), systems.n()}, VectorIs::kRow);
  batched_matmul<T>({of_sides, false}, a, {of_sides, true}, b, squares, c);
  const int64_t elements = count * systems.n() * systems.n();
  for (int64_t i = 0; i < elements; ++i) c[i] = -c[i];
}

/// Computes SolveGradKernel's gradients and returns true if matrices are small and each has its own
/// right-hand side.
template <typename T>
bool find_small_gradients(const linalg::Systems& systems, const DenseTensor& x,
                          const DenseTensor& out, const DenseTensor& out_grad, DenseTensor* x_grad,
                          DenseTensor* y_grad) {
  if constexpr (kIsComplex<T>) return false;
  const int64_t n = systems.n(), columns = systems.columns();
  const int64_t count = linalg::matrices_in(x.dims());
  if (systems.side_step() != n * columns) return false;
  DenseTensor own;
  if (!y_grad) own = scratch_array(out_grad.meta(), out_grad.place());
  T* of_y = (y_grad ? *y_grad : own).mutable_data<T>();
  const auto singular = linalg::small_solve<T>({x.data<T>(), n, count, /*transposed=*/true},
                                               {out_grad.data<T>(), columns, n * columns}, of_y);
  if (singular != -1) return false;
  if (x_grad) {
    subtract_outer_products(systems, count, of_y, out.data<T>(), x_grad->mutable_data<T>());
  }
  return true;
}

/// op(a)^-1 b for a triangle; the transpose is not conjugated.
struct TriangularSystem {
  Triangle triangle;
  bool transpose;

  template <typename T>
  Matrix<T> solve(const Matrix<T>& a, Matrix<T> b) const {
    return solve_left(a, triangle, transpose ? Op::kTranspose : Op::kNone, std::move(b));
  }
  /// Returns op(a)^-H b.
  template <typename T>
  Matrix<T> solve_adjoint(const Matrix<T>& a, Matrix<T> b) const {
    if (!transpose) return solve_left(a, triangle, Op::kAdjoint, std::move(b));
    return solve_left(conjugated(a), triangle, Op::kNone, std::move(b));
  }
  /// Returns the gradient of a from that of op(a), with zeros for elements that are not read.
  template <typename T>
  Matrix<T> of_triangle(Matrix<T> grad) const {
    if (transpose) grad = transposed(grad);
    const int64_t skipped = triangle.unit ? 1 : 0;
    return triangle.upper ? triu(std::move(grad), skipped) : tril(std::move(grad), -skipped);
  }
};

}  // namespace

template <typename T, typename Context>
void SolveKernel(const Context& ctx, const DenseTensor& x, const DenseTensor& y, DenseTensor* out) {
  const linalg::Systems systems = systems_of(ctx, x, y);
  const linalg::SmallMatrices<T> matrices{x.data<T>(), systems.n(), linalg::matrices_in(x.dims())};
  if (const auto step = systems.side_step()) {
    const linalg::SmallSides<T> sides{y.data<T>(), systems.columns(), *step};
    const auto singular = linalg::small_solve<T>(matrices, sides, out->mutable_data<T>());
    if (singular) return throw_singular(x, *singular);
  }
  linalg::solve_all<T>(systems, x, y, out, [&x](int64_t i, Matrix<T> a) {
    return
        [lu = factors_of(std::move(a), x, i)](Matrix<T> b) { return lu_solve(lu, std::move(b)); };
  });
}

/// y_grad = A^-H out_grad, x_grad = -y_grad out^H (Giles 2008, section 2.3.1).
template <typename T, typename Context>
void SolveGradKernel(const Context& ctx, const DenseTensor& x, const DenseTensor& y,
                     const DenseTensor& out, const DenseTensor& out_grad, DenseTensor* x_grad,
                     DenseTensor* y_grad) {
  const linalg::Systems systems = systems_of(ctx, x, y);
  if (find_small_gradients<T>(systems, x, out, out_grad, x_grad, y_grad)) return;
  linalg::solve_grad_all<T>(systems, x, out, out_grad, x_grad, y_grad,
                            [](const Matrix<T>& a, const Matrix<T>& solution, Matrix<T> g) {
                              Matrix<T> b_grad = lu_solve(lu_factor(adjoint(a)), std::move(g));
                              return linalg::MatrixPair<T>(negated(b_grad * adjoint(solution)),
                                                           std::move(b_grad));
                            });
}

/// Reads one triangle of x, without its diagonal if `unitriangular`.
template <typename T, typename Context>
void TriangularSolveKernel(const Context&, const DenseTensor& x, const DenseTensor& y, bool upper,
                           bool transpose, bool unitriangular, DenseTensor* out) {
  const TriangularSystem system{{upper, unitriangular}, transpose};
  linalg::solve_all<T>(
      linalg::Systems(x.dims(), y.dims()), x, y, out, [&system](int64_t, Matrix<T> a) {
        return [a = std::move(a), &system](Matrix<T> b) { return system.solve(a, std::move(b)); };
      });
}

template <typename T, typename Context>
void TriangularSolveGradKernel(const Context&, const DenseTensor& x, const DenseTensor& y,
                               const DenseTensor& out, const DenseTensor& out_grad, bool upper,
                               bool transpose, bool unitriangular, DenseTensor* x_grad,
                               DenseTensor* y_grad) {
  const TriangularSystem system{{upper, unitriangular}, transpose};
  linalg::solve_grad_all<T>(linalg::Systems(x.dims(), y.dims()), x, out, out_grad, x_grad, y_grad,
                            [&system](const Matrix<T>& a, const Matrix<T>& solution, Matrix<T> g) {
                              Matrix<T> b_grad = system.solve_adjoint(a, std::move(g));
                              return linalg::MatrixPair<T>(
                                  system.of_triangle(negated(b_grad * adjoint(solution))),
                                  std::move(b_grad));
                            });
}

template <typename T, typename Context>
void InverseKernel(const Context&, const DenseTensor& x, DenseTensor* out) {
  const int64_t n = linalg::rows_of(x), count = linalg::matrices_in(x.dims());
  const auto singular = linalg::small_inverse<T>({x.data<T>(), n, count}, out->mutable_data<T>());
  if (singular) return throw_singular(x, *singular);
  for (int64_t b = 0; b < count; ++b) {
    const auto lu = factors_of(linalg::matrix_of<T>(x, b), x, b);
    linalg::put_matrix(lu_solve(lu, Matrix<T>::identity(n)), b, out);
  }
}

/// x_grad = -out^H out_grad out^H (Giles 2008, section 2.2.3).
template <typename T, typename Context>
void InverseGradKernel(const Context&, const DenseTensor& out, const DenseTensor& out_grad,
                       DenseTensor* x_grad) {
  const MatrixBatch matrices = matrices_of(out.dims(), VectorIs::kRow);
  DenseTensor conjugates = scratch_array(out.meta(), out.place());
  DenseTensor half = scratch_array(out.meta(), out.place());
  const T* inverse = out.data<T>();
  T* to = conjugates.mutable_data<T>();
  const int64_t n = out.numel();
  for (int64_t i = 0; i < n; ++i) to[i] = -conjugate(inverse[i]);
  batched_matmul<T>({matrices, true}, to, {matrices, false}, out_grad.data<T>(), matrices,
                    half.mutable_data<T>());
  for (int64_t i = 0; i < n; ++i) to[i] = -to[i];
  batched_matmul<T>({matrices, false}, half.data<T>(), {matrices, true}, to, matrices,
                    x_grad->mutable_data<T>());
}

PHI_REGISTER_KERNEL(solve, CPU, SolveKernel, linalg::MatrixTypes);
PHI_REGISTER_KERNEL(solve_grad, CPU, SolveGradKernel, linalg::MatrixTypes);
PHI_REGISTER_KERNEL(triangular_solve, CPU, TriangularSolveKernel, linalg::MatrixTypes);
PHI_REGISTER_KERNEL(triangular_solve_grad, CPU, TriangularSolveGradKernel, linalg::MatrixTypes);
PHI_REGISTER_KERNEL(inverse, CPU, InverseKernel, linalg::MatrixTypes);
PHI_REGISTER_KERNEL(inverse_grad, CPU, InverseGradKernel, linalg::MatrixTypes);

}  // namespace phi
