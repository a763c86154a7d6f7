// Contractions: arrays with labelled dims are multiplied and summed over labels, as sums and
// matmuls of two operands at a time. Device primitives: also copy_pieces and batched_matmul.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "phi/core/dense_tensor.h"
#include "phi/core/storage/memory_ledger.h"
#include "phi/infermeta/axes.h"
#include "phi/kernels/matmul/einsum_labels.h"
#include "phi/kernels/matmul/gemm_plan.h"
#include "phi/kernels/pieces.h"
#include "phi/kernels/templates/data_of.h"
#include "phi/kernels/templates/sum_over.h"

namespace phi {
namespace {

/// An array with a letter for each dim.
struct LabelledArray {
  EinsumLabels labels;
  DenseTensor array;
};

LabelledArray labelled(const std::string& letters, const DenseTensor& x) {
  return {labels_of(letters, x.dims()), x};
}

/// Copies x to the elements of target that `place` selects, repeated along letters that x lacks.
/// Other elements of target keep their values.
template <typename T, typename Context>
void scatter(const Context& ctx, const LabelledArray& x, const EinsumLabels& place,
             DenseTensor* target) {
  Pieces pieces;
  for (int d = 0; d < place.dims.ndim(); ++d) {
    const int at = x.labels.find(place.letters[static_cast<size_t>(d)]);
    pieces.append(place.dims[d], {place.strides[d], at < 0 ? 0 : x.labels.strides[at]});
  }
  copy_pieces<T>(ctx, pieces, x.array, target);
}

template <typename T, typename Context>
LabelledArray made(const Context& ctx, const EinsumLabels& labels) {
  const MemoryUseScope use(MemoryUse::kWorkspace);
  return {labels, DenseTensor::empty({labels.dims, dtype_of<T>()}, ctx.place())};
}

/// x with its dims in the order of `letters`, row-major.
template <typename T, typename Context>
LabelledArray arranged(const Context& ctx, LabelledArray x, const std::string& letters) {
  const EinsumLabels wanted = labels_of(letters, x.labels.extents(letters));
  if (x.labels.is_row_major(letters)) return {wanted, x.array};
  LabelledArray result = made<T>(ctx, wanted);
  scatter<T>(ctx, x, wanted, &result.array);
  return result;
}

/// sums[r] = the sum of row r of x [rows, n].
template <typename T, typename Context>
void sum_rows(const Context& ctx, const T* x, int64_t rows, int64_t n, T* sums) {
  AxisSet along;
  along.add(1);
  sum_over(ctx, x, Dims{rows, n}, along, sums);
}

/// x summed over the letters that `needed` lacks.
template <typename T, typename Context>
LabelledArray summed(const Context& ctx, LabelledArray x, const std::string& needed) {
  const std::string kept = x.labels.common_letters(needed);
  const std::string gone = x.labels.missing_letters(needed);
  if (gone.empty()) return x;
  x = arranged<T>(ctx, std::move(x), kept + gone);
  LabelledArray result = made<T>(ctx, labels_of(kept, x.labels.extents(kept)));
  sum_rows(ctx, data_of<T>(ctx, x.array), result.array.numel(), x.labels.extents(gone).numel(),
           mutable_data_of<T>(ctx, &result.array));
  return result;
}

/// x as matrices. Copies x only if it is row-major neither directly nor transposed.
template <typename T, typename Context>
GemmOperand as_matrices(const Context& ctx, LabelledArray* x, const std::string& batch,
                        const std::string& rows, const std::string& columns) {
  const int64_t m = x->labels.extents(rows).numel(), n = x->labels.extents(columns).numel();
  const Dims batch_dims{x->labels.extents(batch).numel()};
  if (x->labels.is_row_major(batch + columns + rows)) return {{batch_dims, n, m}, true};
  *x = arranged<T>(ctx, std::move(*x), batch + rows + columns);
  return {{batch_dims, m, n}, false};
}

/// a b, summed over the letters that `needed` lacks.
template <typename T, typename Context>
LabelledArray multiplied(const Context& ctx, LabelledArray a, LabelledArray b,
                         const std::string& needed) {
  const PairPlan plan = plan_pair(a.labels, b.labels, needed);
  LabelledArray result = made<T>(ctx, plan.result);
  const GemmOperand left = as_matrices<T>(ctx, &a, plan.batch, plan.rows, plan.inner);
  const GemmOperand right = as_matrices<T>(ctx, &b, plan.batch, plan.inner, plan.columns);
  const MatrixBatch c{left.matrices.batch,
                      left.transposed ? left.matrices.columns : left.matrices.rows,
                      right.transposed ? right.matrices.rows : right.matrices.columns};
  batched_matmul(ctx, left, data_of<T>(ctx, a.array), right, data_of<T>(ctx, b.array), c,
                 mutable_data_of<T>(ctx, &result.array));
  return result;
}

/// The product of all operands in order, summed over the letters that `wanted` lacks. The result
/// omits letters of `wanted` that no operand has. T is one of the types of batched_matmul.
template <typename T, typename Context>
LabelledArray contract(const Context& ctx, std::vector<LabelledArray> operands,
                       const std::string& wanted) {
  // The letters of the output and of operands from `first` on.
  const auto needed_from = [&](size_t first) {
    std::string letters = wanted;
    for (size_t i = first; i < operands.size(); ++i) letters += operands[i].labels.letters;
    return letters;
  };
  LabelledArray result = summed<T>(ctx, operands[0], needed_from(1));
  for (size_t i = 1; i < operands.size(); ++i) {
    const std::string needed = needed_from(i + 1);
    LabelledArray next = summed<T>(ctx, operands[i], needed + result.labels.letters);
    result = multiplied<T>(ctx, std::move(result), std::move(next), needed);
  }
  return result;
}

}  // namespace
}  // namespace phi
