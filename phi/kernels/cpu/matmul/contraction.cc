// Contractions as batches of matrix products.
#include "phi/kernels/cpu/matmul/contraction.h"

#include <algorithm>

#include "phi/common/dtype.h"
#include "phi/kernels/cpu/convert.h"
#include "phi/kernels/cpu/matmul/batched_product.h"
#include "phi/kernels/strided_walk.h"

namespace phi {
namespace {

bool has(const std::string& letters, char letter) {
  return letters.find(letter) != std::string::npos;
}

/// The letters of x of which `keep` is true.
template <typename T, typename Keep>
std::string those(const Labelled<T>& x, Keep&& keep) {
  std::string result;
  std::copy_if(x.letters.begin(), x.letters.end(), std::back_inserter(result), keep);
  return result;
}

template <typename T>
Dims extents(const Labelled<T>& x, const std::string& letters) {
  Dims dims;
  for (char letter : letters) dims.push_back(x.dims[x.find(letter)]);
  return dims;
}

/// Steps of x along `letters` are those of a row-major array of them.
template <typename T>
bool is_row_major(const Labelled<T>& x, const std::string& letters) {
  int64_t step = 1;
  for (auto i = static_cast<int>(letters.size()) - 1; i >= 0; --i) {
    const int at = x.find(letters[static_cast<size_t>(i)]);
    if (x.dims[at] != 1 && x.strides[at] != step) return false;
    step *= x.dims[at];
  }
  return true;
}

template <typename T>
Labelled<T> made(const std::string& letters, const Dims& dims) {
  Labelled<T> x{letters, nullptr, dims, dims.strides(), {}};
  x.own.resize(static_cast<size_t>(dims.numel()));
  x.data = x.own.data();
  return x;
}

/// x in this order of its letters, row by row.
template <typename T>
Labelled<T> arranged(Labelled<T> x, const std::string& letters) {
  if (is_row_major(x, letters)) {
    x.dims = extents(x, letters);
    x.strides = x.dims.strides();
    x.letters = letters;
    return x;
  }
  Labelled<T> result = made<T>(letters, extents(x, letters));
  scatter(x, letters, result.dims, result.strides, result.own.data());
  return result;
}

/// x summed over the letters that are not kept.
template <typename T>
Labelled<T> summed(Labelled<T> x, const std::string& kept) {
  if (kept.size() == x.letters.size()) return x;
  using Sum = accumulator_t<T>;
  const std::string gone = those(x, [&](char letter) { return !has(kept, letter); });
  x = arranged(std::move(x), kept + gone);
  Labelled<T> result = made<T>(kept, extents(x, kept));
  const int64_t n = extents(x, gone).numel();
  for (size_t i = 0; i < result.own.size(); ++i) {
    Sum sum = 0;
    for (int64_t e = 0; e < n; ++e) {
      sum += static_cast<Sum>(x.data[static_cast<int64_t>(i) * n + e]);
    }
    result.own[i] = static_cast<T>(sum);
  }
  return result;
}

/// x as matrices, read in place where it lies row by row one way or the other.
template <typename T>
ProductOperand as_matrices(Labelled<T>* x, const std::string& batch, const std::string& rows,
                           const std::string& columns) {
  const int64_t m = extents(*x, rows).numel(), n = extents(*x, columns).numel();
  const Dims batch_dims{extents(*x, batch).numel()};
  if (is_row_major(*x, batch + columns + rows)) return {{batch_dims, n, m}, true};
  *x = arranged(std::move(*x), batch + rows + columns);
  return {{batch_dims, m, n}, false};
}

/// a b summed over the letters that are needed no more.
template <typename T>
Labelled<T> multiplied(Labelled<T> a, Labelled<T> b, const std::string& needed) {
  const auto in_both = [&](char letter) {
    return has(a.letters, letter) && has(b.letters, letter);
  };
  const std::string batch =
      those(a, [&](char letter) { return in_both(letter) && has(needed, letter); });
  const std::string inner =
      those(a, [&](char letter) { return in_both(letter) && !has(needed, letter); });
  const std::string rows = those(a, [&](char letter) { return !in_both(letter); });
  const std::string columns = those(b, [&](char letter) { return !in_both(letter); });
  Dims dims = extents(a, batch);
  for (int64_t extent : extents(a, rows)) dims.push_back(extent);
  for (int64_t extent : extents(b, columns)) dims.push_back(extent);
  Labelled<T> result = made<T>(batch + rows + columns, dims);
  const ProductOperand left = as_matrices(&a, batch, rows, inner);
  const ProductOperand right = as_matrices(&b, batch, inner, columns);
  const MatrixBatch c{left.matrices.batch,
                      left.transposed ? left.matrices.columns : left.matrices.rows,
                      right.transposed ? right.matrices.rows : right.matrices.columns};
  batched_product(left, a.data, right, b.data, c, result.own.data());
  return result;
}

}  // namespace

Dims diagonal_strides(const std::string& letters, const Dims& dims, const std::string& wanted) {
  const Dims own = dims.strides();
  Dims strides = Dims::filled(static_cast<int>(wanted.size()), 0);
  for (int d = 0; d < dims.ndim(); ++d) {
    strides[static_cast<int>(wanted.find(letters[static_cast<size_t>(d)]))] += own[d];
  }
  return strides;
}

template <typename T>
Labelled<T> labelled(const std::string& letters, const T* data, const Dims& dims) {
  Labelled<T> x;
  x.data = data;
  for (int d = 0; d < dims.ndim(); ++d) {
    const char letter = letters[static_cast<size_t>(d)];
    if (has(x.letters, letter)) continue;
    x.letters.push_back(letter);
    x.dims.push_back(dims[d]);
  }
  x.strides = diagonal_strides(letters, dims, x.letters);
  return x;
}

template <typename T>
Labelled<T> contract(std::vector<Labelled<T>> operands, const std::string& wanted) {
  // Letters that the output or operands from `first` on have.
  const auto needed_from = [&](size_t first) {
    std::string letters = wanted;
    for (size_t i = first; i < operands.size(); ++i) letters += operands[i].letters;
    return letters;
  };
  const auto summed_alone = [](Labelled<T> x, const std::string& needed) {
    const std::string kept = those(x, [&](char letter) { return has(needed, letter); });
    return summed(std::move(x), kept);
  };
  Labelled<T> result = summed_alone(operands[0], needed_from(1));
  for (size_t i = 1; i < operands.size(); ++i) {
    const std::string needed = needed_from(i + 1);
    Labelled<T> next = summed_alone(operands[i], needed + result.letters);
    result = multiplied(std::move(result), std::move(next), needed);
  }
  return result;
}

template <typename T>
void scatter(const Labelled<T>& x, const std::string& letters, const Dims& dims,
             const Dims& strides, T* target) {
  StridedWalk<2> walk;
  for (int d = 0; d < dims.ndim(); ++d) {
    const int at = x.find(letters[static_cast<size_t>(d)]);
    walk.append(dims[d], {at < 0 ? 0 : x.strides[at], strides[d]});
  }
  if (walk.ndim() == 0) {
    if (dims.numel() == 1) *target = *x.data;
    return;
  }
  const int last = walk.ndim() - 1;
  const int64_t n = walk.size(last), from = walk.stride(last, 0), to = walk.stride(last, 1);
  walk.remove(last);
  if (n == 0) return;
  walk.for_each([&](const std::array<int64_t, 2>& at) {
    for (int64_t i = 0; i < n; ++i) target[at[1] + i * to] = x.data[at[0] + i * from];
  });
}

#define PHI_INSTANTIATE(T)                                                     \
  template Labelled<T> labelled(const std::string&, const T*, const Dims&);    \
  template Labelled<T> contract(std::vector<Labelled<T>>, const std::string&); \
  template void scatter(const Labelled<T>&, const std::string&, const Dims&, const Dims&, T*)
PHI_INSTANTIATE(float);
PHI_INSTANTIATE(double);
PHI_INSTANTIATE(float16);
PHI_INSTANTIATE(bfloat16);
PHI_INSTANTIATE(complex64);
PHI_INSTANTIATE(complex128);
#undef PHI_INSTANTIATE

}  // namespace phi
