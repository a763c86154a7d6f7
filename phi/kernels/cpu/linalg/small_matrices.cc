// Elimination of small matrices, one per lane.
#include "phi/kernels/cpu/linalg/small_matrices.h"

#include <algorithm>

#include "phi/common/dtype.h"
#include "phi/kernels/cpu/lanes.h"
#include "phi/kernels/cpu/workspace.h"

namespace phi::linalg {
namespace {

/// L matrices, each followed by its right-hand sides in the same rows.
template <typename T, int L>
class Eliminated {
 public:
  using V = Lanes<T, L>;

  Eliminated(const SmallMatrices<T>& a, const SmallSides<T>& b)
      : a_(a), b_(b), width_(a.n + b.columns) {
    rows_.room<V>(a.n * width_);
  }

  /// Reads matrices first, first + 1, .. and writes their diagonals.
  PHI_LANES void find_diagonals(int64_t first, T* diagonals) {
    read(first);
    V sign = eliminate();
    for (int64_t k = 0; k < a_.n; ++k, sign = V(1)) {
      write(sign * row(k)[k], first, diagonals, a_.n, k);
    }
  }
  /// Returns the number of the first singular matrix among them, or -1.
  PHI_LANES int64_t solve(int64_t first, T* x) {
    read(first);
    eliminate();
    for (int64_t l = 0; l < here(first); ++l) {
      for (int64_t k = 0; k < a_.n; ++k) {
        if (at(k, k)[l] == T(0)) return first + l;
      }
    }
    substitute();
    for (int64_t i = 0; i < a_.n; ++i) {
      for (int64_t j = 0; j < b_.columns; ++j) {
        write(row(i)[a_.n + j], first, x, a_.n * b_.columns, i * b_.columns + j);
      }
    }
    return -1;
  }

 private:
  PHI_LANES V* row(int64_t i) const { return rows_.data<V>() + i * width_; }
  /// Returns element (i, j) of all lanes.
  PHI_LANES T* at(int64_t i, int64_t j) const { return reinterpret_cast<T*>(row(i) + j); }
  int64_t here(int64_t first) const { return std::min<int64_t>(L, a_.count - first); }

  /// Lanes without a matrix repeat the last one.
  PHI_LANES void read(int64_t first) {
    for (int64_t l = 0; l < L; ++l) {
      const int64_t which = std::min(first + l, a_.count - 1);
      const T* from = a_.first + which * a_.n * a_.n;
      for (int64_t i = 0; i < a_.n; ++i) {
        for (int64_t j = 0; j < a_.n; ++j) {
          (a_.transposed ? at(j, i) : at(i, j))[l] = *from++;
        }
      }
      if (!b_.first) continue;
      from = b_.first + which * b_.step;
      for (int64_t i = 0; i < a_.n; ++i) {
        for (int64_t j = a_.n; j < width_; ++j) at(i, j)[l] = *from++;
      }
    }
    for (int64_t i = 0; !b_.first && i < a_.n; ++i) {
      for (int64_t j = 0; j < b_.columns; ++j) row(i)[a_.n + j] = V(i == j ? 1 : 0);
    }
  }
  /// Writes element `place` of each matrix's `each` elements.
  PHI_LANES void write(const V& x, int64_t first, T* out, int64_t each, int64_t place) {
    T lanes[L];
    x.put(lanes);
    for (int64_t l = 0; l < here(first); ++l) out[(first + l) * each + place] = lanes[l];
  }

  /// Returns the sign of the swaps. A column of zeros leaves the rows unchanged.
  PHI_LANES V eliminate() {
    V sign(1);
    for (int64_t k = 0; k < a_.n; ++k) {
      for (int64_t i = k + 1; i < a_.n; ++i) swap_larger_up(k, i, &sign);
      const V pivot = choose(row(k)[k] == V(), V(1), row(k)[k]);
      for (int64_t i = k + 1; i < a_.n; ++i) {
        const V factor = row(i)[k] / pivot;
        for (int64_t j = k + 1; j < width_; ++j) row(i)[j] -= factor * row(k)[j];
      }
    }
    return sign;
  }
  /// Swaps rows k and i in the lanes in which row i has the larger magnitude in column k. NaN is
  /// not larger.
  PHI_LANES void swap_larger_up(int64_t k, int64_t i, V* sign) {
    const auto swaps = magnitude(row(k)[k]) < magnitude(row(i)[k]);
    *sign = choose(swaps, -*sign, *sign);
    for (int64_t j = k; j < width_; ++j) {
      const V upper = row(k)[j], lower = row(i)[j];
      row(k)[j] = choose(swaps, lower, upper);
      row(i)[j] = choose(swaps, upper, lower);
    }
  }
  PHI_LANES void substitute() {
    for (int64_t i = a_.n; i-- > 0;) {
      for (int64_t j = a_.n; j < width_; ++j) {
        V x = row(i)[j];
        for (int64_t k = i + 1; k < a_.n; ++k) x -= row(i)[k] * row(k)[j];
        row(i)[j] = x / row(i)[i];
      }
    }
  }

  SmallMatrices<T> a_;
  SmallSides<T> b_;  // null: the identity
  int64_t width_;
  Workspace rows_;
};

/// Calls f(eliminated, first matrix) for groups of as many matrices as registers have lanes, until
/// it returns a number that is not negative. Returns that number, or -1.
template <typename T, int L, typename F>
int64_t for_all_in(const SmallMatrices<T>& a, const SmallSides<T>& b, F f) {
  Eliminated<T, L> eliminated(a, b);
  auto* const lanes = &eliminated;
  return run_in_lanes<T, L>([=, count = a.count] {
    for (int64_t first = 0; first < count; first += L) {
      const int64_t found = f(lanes, first);
      if (found >= 0) return found;
    }
    return int64_t{-1};
  });
}
template <typename T, typename F>
int64_t for_all(const SmallMatrices<T>& a, const SmallSides<T>& b, F f) {
  return (has_avx512() ? for_all_in<T, kWideLanes<T>, F> : for_all_in<T, kLanes<T>, F>)(a, b, f);
}

template <typename T>
bool are_small(const SmallMatrices<T>& a) {
  return !kIsComplex<T> && a.n <= 16;
}

/// If b is null, the right-hand side is the identity, which has `columns` columns.
template <typename T>
std::optional<int64_t> solve(const SmallMatrices<T>& a, const SmallSides<T>& b, T* x) {
  if constexpr (!kIsComplex<T>) {
    if (are_small(a)) {
      return for_all(a, b, [x](auto* lanes, int64_t first) { return lanes->solve(first, x); });
    }
  }
  return std::nullopt;
}

}  // namespace

template <typename T>
bool small_diagonals(const SmallMatrices<T>& a, T* diagonals) {
  if constexpr (!kIsComplex<T>) {
    if (!are_small(a)) return false;
    for_all(a, SmallSides<T>{}, [diagonals](auto* lanes, int64_t first) {
      lanes->find_diagonals(first, diagonals);
      return int64_t{-1};
    });
    return true;
  }
  return false;
}

template <typename T>
std::optional<int64_t> small_solve(const SmallMatrices<T>& a, const SmallSides<T>& b, T* x) {
  return solve(a, b, x);
}

template <typename T>
std::optional<int64_t> small_inverse(const SmallMatrices<T>& a, T* x) {
  return solve<T>(a, {nullptr, a.n, 0}, x);
}

#define PHI_INSTANTIATE(T)                                                                        \
  template bool small_diagonals(const SmallMatrices<T>&, T*);                                     \
  template std::optional<int64_t> small_solve(const SmallMatrices<T>&, const SmallSides<T>&, T*); \
  template std::optional<int64_t> small_inverse(const SmallMatrices<T>&, T*)
PHI_INSTANTIATE(float);
PHI_INSTANTIATE(double);
PHI_INSTANTIATE(complex64);
PHI_INSTANTIATE(complex128);
#undef PHI_INSTANTIATE

}  // namespace phi::linalg
