// The matmul of a chain of matrices, in the order with the fewest multiplications.
#pragma once

#include <span>
#include <vector>

#include "phi/common/chain_order.h"
#include "phi/core/kernel_registry.h"
#include "phi/core/storage/memory_ledger.h"
#include "phi/generated/kernels/matmul.h"
#include "phi/kernels/templates/matmul/operands.h"

namespace phi {
namespace {

/// A row-major matrix.
struct Factor {
  DenseTensor array;
  int64_t rows = 0;
  int64_t columns = 0;

  GemmOperand operand(bool transposed) const { return {{{}, rows, columns}, transposed}; }
};

/// The first factor may be a row, the last a column.
std::vector<Factor> factors_of(std::span<const DenseTensor* const> x) {
  std::vector<Factor> factors;
  for (size_t i = 0; i < x.size(); ++i) {
    const MatrixBatch matrix =
        matrices_of(x[i]->dims(), i == 0 ? VectorIs::kRow : VectorIs::kColumn);
    factors.push_back({*x[i], matrix.rows, matrix.columns});
  }
  return factors;
}

/// to = op(a) op(b). A flag transposes its argument.
template <typename T, typename Context>
void multiply(const Context& ctx, const Factor& a, bool transpose_a, const Factor& b,
              bool transpose_b, DenseTensor* to) {
  const MatrixBatch c{{}, transpose_a ? a.columns : a.rows, transpose_b ? b.rows : b.columns};
  batched_matmul(ctx, a.operand(transpose_a), data_of<T>(ctx, a.array), b.operand(transpose_b),
                 data_of<T>(ctx, b.array), c, mutable_data_of<T>(ctx, to));
}

template <typename T, typename Context>
Factor product(const Context& ctx, const Factor& a, bool transpose_a, const Factor& b) {
  Factor c{{}, transpose_a ? a.columns : a.rows, b.columns};
  const MemoryUseScope use(MemoryUse::kWorkspace);
  c.array = DenseTensor::empty({{c.rows, c.columns}, dtype_of<T>()}, ctx.place());
  multiply<T>(ctx, a, transpose_a, b, false, &c.array);
  return c;
}

/// The matmul of factors i to j.
template <typename T, typename Context>
Factor product_of(const Context& ctx, const std::vector<Factor>& factors, const ChainOrder& order,
                  size_t i, size_t j) {
  if (i == j) return factors[i];
  const size_t at = order.cut(i, j);
  return product<T>(ctx, product_of<T>(ctx, factors, order, i, at), false,
                    product_of<T>(ctx, factors, order, at + 1, j));
}

ChainOrder order_of(const std::vector<Factor>& factors) {
  std::vector<int64_t> extents{factors.front().rows};
  for (const Factor& factor : factors) extents.push_back(factor.columns);
  return ChainOrder(extents);
}

}  // namespace

template <typename T, typename Context>
void MultiDotKernel(const Context& ctx, std::span<const DenseTensor* const> x, DenseTensor* out) {
  const std::vector<Factor> factors = factors_of(x);
  const ChainOrder order = order_of(factors);
  const size_t last = factors.size() - 1;
  const size_t at = order.cut(0, last);
  multiply<T>(ctx, product_of<T>(ctx, factors, order, 0, at), false,
              product_of<T>(ctx, factors, order, at + 1, last), false, out);
}

/// x_i's gradient is (x_0 .. x_i-1)^H out_grad (x_i+1 .. x_n)^H. The left part is updated from
/// factor to factor; the right parts are computed before.
template <typename T, typename Context>
void MultiDotGradKernel(const Context& ctx, std::span<const DenseTensor* const> x,
                        const DenseTensor& out_grad, std::span<DenseTensor* const> x_grad) {
  std::vector<Factor> factors = factors_of(x);
  for (Factor& factor : factors) factor.array = conjugated<T>(ctx, factor.array);
  const size_t last = factors.size() - 1;
  std::vector<Factor> right(factors.size());  // right[i]: factors i to the last
  right[last] = factors[last];
  for (size_t i = last; i-- > 1;) right[i] = product<T>(ctx, factors[i], false, right[i + 1]);
  Factor left{out_grad, factors.front().rows, factors.back().columns};
  for (size_t i = 0; i < last; ++i) {
    if (x_grad[i]) multiply<T>(ctx, left, false, right[i + 1], true, x_grad[i]);
    if (i + 1 < last) {
      left = product<T>(ctx, factors[i], true, left);
    } else if (x_grad[last]) {
      multiply<T>(ctx, factors[i], true, left, false, x_grad[last]);
    }
  }
}

PHI_REGISTER_KERNEL(multi_dot, PHI_DEVICE, MultiDotKernel, MatmulTypes);
PHI_REGISTER_KERNEL(multi_dot_grad, PHI_DEVICE, MultiDotGradKernel, MatmulTypes);

}  // namespace phi
