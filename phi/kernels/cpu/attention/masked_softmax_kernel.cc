// Softmax of masked attention scores on the CPU.
#include <memory>

#include "phi/core/kernel_registry.h"
#include "phi/generated/kernels/masked_softmax.h"
#include "phi/kernels/cpu/loop_isa.h"
#include "phi/kernels/cpu/rows.h"

namespace phi {
namespace {

/// Softmax of `rows` rows of n scores; `mask_row(r)` is the mask's row for row r.
template <typename T, typename MaskRow>
inline void masked_rows(const T* x, const T* mask, int64_t rows, int64_t n, MaskRow mask_row,
                        T* out) {
  using C = compute_t<T>;
  RowReader<T> scores(x, n);
  RowReader<T> masks(mask, n);
  RowWriter<T> writer(out, n);
  for (int64_t r = 0; r < rows; ++r) {
    const C* row = scores.row(r);
    const C* added = masks.row(mask_row(r));
    C* to = writer.row(r);
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) to[i] = row[i] + added[i];
    const C factor = C(1) / row_exp_sum(to, n, row_max(to, n), to);
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) to[i] *= factor;
    writer.done(r);
  }
}

}  // namespace

/// out = softmax(x + mask) along the last tensor dim; all heads share one mask.
template <typename T, typename Context>
void FusedSoftmaxMaskKernel(const Context&, const DenseTensor& x, const DenseTensor& mask,
                            DenseTensor* out) {
  if (x.numel() == 0) return;
  const Dims& dims = x.dims();
  const int64_t n = dims[3];
  const int64_t heads = dims[1];
  const int64_t queries = dims[2];
  const int64_t rows = x.numel() / n;
  const T* from = x.data<T>();
  const T* added = mask.data<T>();
  T* to = out->mutable_data<T>();
  run_best_isa<compute_t<T>>([=] {
    // Row r belongs to query r % queries; consecutive heads share one mask.
    const auto mask_row = [=](int64_t r) { return r / (queries * heads) * queries + r % queries; };
    masked_rows(from, added, rows, n, mask_row, to);
  });
}

PHI_REGISTER_KERNEL(fused_softmax_mask, CPU, FusedSoftmaxMaskKernel, Floats);

}  // namespace phi
