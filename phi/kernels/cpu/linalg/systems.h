// Systems of equations a x = b: a batch of square matrices a and a batch of right-hand sides b,
// which broadcast. The loops below serve solvers of any factorisation and their gradients.
#pragma once

#include <optional>
#include <utility>

#include "phi/kernels/cpu/linalg/lapack.h"
#include "phi/kernels/cpu/matmul/batched_matmul.h"
#include "phi/kernels/strided_walk.h"

namespace phi::linalg {

/// Pairs matrices and right-hand sides. Right-hand sides are matrices or, with `vectors`, single
/// columns.
class Systems {
 public:
  Systems(const Dims& a, const Dims& b, bool vectors = false)
      : n_(a.back()), columns_(vectors ? 1 : b.back()) {
    const Dims a_batch(std::span(a.begin(), a.end() - 2));
    const Dims b_batch(std::span(b.begin(), b.end() - (vectors ? 1 : 2)));
    const Dims batch = broadcast_batch(a_batch, b_batch);
    if (a_batch == batch) side_step_ = step_of_sides(batch, b_batch);
    int64_t out_step = batch.numel();
    for (int d = 0; d < batch.ndim(); ++d) {
      out_step /= std::max<int64_t>(batch[d], 1);
      walk_.append(batch[d], {step(a_batch, batch, d), step(b_batch, batch, d), out_step});
    }
  }

  int64_t n() const { return n_; }
  int64_t columns() const { return columns_; }
  /// If each system has a matrix of its own, and right-hand sides either do not broadcast or are
  /// one for all: the elements from one right-hand side to the next (0 for one). Otherwise nullopt.
  std::optional<int64_t> side_step() const { return side_step_; }
  /// Calls f(i, j, k) for each system: solution k belongs to matrix i of a and right-hand side j.
  template <typename F>
  void for_each(F&& f) const {
    walk_.for_each([&](const std::array<int64_t, 3>& at) { f(at[0], at[1], at[2]); });
  }
  template <typename T>
  Matrix<T> matrix(const DenseTensor& a, int64_t i) const {
    return Matrix<T>::from(a.data<T>() + i * n_ * n_, n_, n_);
  }
  /// Returns element `j` of a batch of right-hand sides or of solutions.
  template <typename T>
  Matrix<T> side(const DenseTensor& b, int64_t j) const {
    return Matrix<T>::from(b.data<T>() + j * n_ * columns_, n_, columns_);
  }

 private:
  static int64_t step(const Dims& own, const Dims& batch, int d) {
    const int at = d - (batch.ndim() - own.ndim());
    return at < 0 || own[at] == 1 ? 0 : own.numel(at + 1, own.ndim());
  }

  std::optional<int64_t> step_of_sides(const Dims& batch, const Dims& b_batch) const {
    if (b_batch == batch) return n_ * columns_;
    if (b_batch.numel() == 1) return 0;
    return std::nullopt;
  }

  int64_t n_;
  int64_t columns_;
  std::optional<int64_t> side_step_;
  StridedWalk<3> walk_;
};

/// Solves all systems. `solver(i, a)` factors matrix i and returns a function that solves it for a
/// right-hand side.
template <typename T, typename Solver>
void solve_all(const Systems& systems, const DenseTensor& a, const DenseTensor& b, DenseTensor* out,
               Solver&& solver) {
  T* to = out->mutable_data<T>();
  using Solve = decltype(solver(int64_t{}, Matrix<T>()));
  std::optional<Solve> solve;  // of the last matrix, which may have several right-hand sides
  int64_t last = -1;
  systems.for_each([&](int64_t i, int64_t j, int64_t k) {
    if (i != last) solve.emplace(solver(i, systems.matrix<T>(a, i)));
    last = i;
    (*solve)(systems.side<T>(b, j)).to(to + k * systems.n() * systems.columns());
  });
}

/// Computes all gradients. `gradients(a, out, out_grad)` returns those of a and b. They are summed
/// if a matrix or a right-hand side is part of several systems.
template <typename T, typename Gradients>
void solve_grad_all(const Systems& systems, const DenseTensor& a, const DenseTensor& out,
                    const DenseTensor& out_grad, DenseTensor* a_grad, DenseTensor* b_grad,
                    Gradients&& gradients) {
  const auto clear = [](DenseTensor* grad) {
    if (grad) std::fill_n(grad->mutable_data<T>(), grad->numel(), T(0));
  };
  clear(a_grad);
  clear(b_grad);
  const auto add = [](const Matrix<T>& x, int64_t at, DenseTensor* grad) {
    T* to = grad->mutable_data<T>() + at * x.rows() * x.columns();
    for (int64_t r = 0; r < x.rows(); ++r) {
      for (int64_t c = 0; c < x.columns(); ++c) to[r * x.columns() + c] += x(r, c);
    }
  };
  systems.for_each([&](int64_t i, int64_t j, int64_t k) {
    const auto [of_a, of_b] =
        gradients(systems.matrix<T>(a, i), systems.side<T>(out, k), systems.side<T>(out_grad, k));
    if (a_grad) add(of_a, i, a_grad);
    if (b_grad) add(of_b, j, b_grad);
  });
}

template <typename T>
using MatrixPair = std::pair<Matrix<T>, Matrix<T>>;

}  // namespace phi::linalg
