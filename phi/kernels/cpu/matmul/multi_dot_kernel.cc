// The product of a chain of matrices in the order that takes the fewest multiplications.
#include <limits>
#include <vector>

#include "phi/core/kernel_registry.h"
#include "phi/generated/kernels/matmul.h"
#include "phi/kernels/cpu/matmul/gemm.h"
#include "phi/kernels/cpu/matmul/matmul_operands.h"

namespace phi {
namespace {

/// A row-major matrix, of a tensor or of its own.
template <typename T>
struct Factor {
  const T* data = nullptr;
  int64_t rows = 0;
  int64_t columns = 0;
  std::vector<T> own;
};

template <typename T>
Factor<T> product(const Factor<T>& a, bool transpose_a, const Factor<T>& b, bool transpose_b) {
  using C = accumulator_t<T>;
  Factor<T> c;
  c.rows = transpose_a ? a.columns : a.rows;
  c.columns = transpose_b ? b.rows : b.columns;
  c.own.resize(static_cast<size_t>(c.rows * c.columns));
  c.data = c.own.data();
  gemm<T>({.m = c.rows,
           .n = c.columns,
           .k = transpose_a ? a.rows : a.columns,
           .trans_a = transpose_a,
           .trans_b = transpose_b},
          C(1), a.data, a.columns, b.data, b.columns, C(0), c.own.data(), c.columns);
  return c;
}

template <typename T>
std::vector<Factor<T>> factors_of(std::span<const DenseTensor* const> x) {
  std::vector<Factor<T>> factors(x.size());
  for (size_t i = 0; i < x.size(); ++i) {
    const Dims& dims = x[i]->dims();
    const bool is_row = dims.ndim() == 1 && i == 0;
    factors[i].data = x[i]->data<T>();
    factors[i].rows = is_row ? 1 : dims[0];
    factors[i].columns = is_row ? dims[0] : dims.ndim() == 1 ? 1 : dims[1];
  }
  return factors;
}

/// Where to cut products of neighbours in two (Cormen et al., "Introduction to Algorithms",
/// matrix-chain multiplication).
class Order {
 public:
  template <typename T>
  explicit Order(const std::vector<Factor<T>>& factors)
      : size_(factors.size()), cut_(size_ * size_) {
    std::vector<double> cost(size_ * size_);
    for (size_t length = 1; length < size_; ++length) {
      for (size_t i = 0; i + length < size_; ++i) {
        const size_t j = i + length;
        double least = std::numeric_limits<double>::infinity();
        for (size_t at = i; at < j; ++at) {
          const double work = static_cast<double>(factors[i].rows) *
                              static_cast<double>(factors[at].columns) *
                              static_cast<double>(factors[j].columns);
          const double total = cost[i * size_ + at] + cost[(at + 1) * size_ + j] + work;
          if (total >= least) continue;
          least = total;
          cut_[i * size_ + j] = at;
        }
        cost[i * size_ + j] = least;
      }
    }
  }
  /// The last factor of the left part of factors i to j.
  size_t cut(size_t i, size_t j) const { return cut_[i * size_ + j]; }

 private:
  size_t size_;
  std::vector<size_t> cut_;
};

template <typename T>
Factor<T> product_of(const std::vector<Factor<T>>& factors, const Order& order, size_t i,
                     size_t j) {
  if (i == j) return factors[i];
  const size_t at = order.cut(i, j);
  return product(product_of(factors, order, i, at), false, product_of(factors, order, at + 1, j),
                 false);
}

}  // namespace

template <typename T, typename Context>
void MultiDotKernel(const Context&, std::span<const DenseTensor* const> x, DenseTensor* out) {
  const auto factors = factors_of<T>(x);
  const Factor<T> result = product_of(factors, Order(factors), 0, factors.size() - 1);
  std::copy(result.own.begin(), result.own.end(), out->mutable_data<T>());
}

/// (x_0 .. x_i-1)^H out_grad (x_i+1 .. x_n)^H: what is left of x_i is carried along from the first
/// factor to the last, what is right of it was multiplied before.
template <typename T, typename Context>
void MultiDotGradKernel(const Context&, std::span<const DenseTensor* const> x,
                        const DenseTensor& out_grad, std::span<DenseTensor* const> x_grad) {
  auto factors = factors_of<T>(x);
  std::vector<Conjugated<T>> conjugated;
  for (size_t i = 0; i < x.size(); ++i) {
    conjugated.emplace_back(*x[i]);
    factors[i].data = conjugated.back().data();
  }
  const size_t last = factors.size() - 1;
  std::vector<Factor<T>> right(factors.size());  // of factors i to the last
  right[last] = factors[last];
  for (size_t i = last; i-- > 1;) right[i] = product(factors[i], false, right[i + 1], false);
  Factor<T> left;
  left.data = out_grad.data<T>();
  left.rows = factors.front().rows;
  left.columns = factors.back().columns;
  for (size_t i = 0; i <= last; ++i) {
    if (x_grad[i]) {
      T* to = x_grad[i]->mutable_data<T>();
      if (i == last) {
        std::copy_n(left.data, left.rows * left.columns, to);
      } else {
        const Factor<T> grad = product(left, false, right[i + 1], true);
        std::copy(grad.own.begin(), grad.own.end(), to);
      }
    }
    if (i < last) left = product(factors[i], true, left, false);
  }
}

PHI_REGISTER_KERNEL(multi_dot, CPU, MultiDotKernel, ProductTypes);
PHI_REGISTER_KERNEL(multi_dot_grad, CPU, MultiDotGradKernel, ProductTypes);

}  // namespace phi
