// maxout and label_smooth on the CPU. I. Goodfellow et al., "Maxout Networks", 2013.
#include <algorithm>
#include <vector>

#include "phi/generated/kernels/activation.h"
#include "phi/infermeta/axes.h"
#include "phi/kernels/cpu/loop_isa.h"
#include "phi/kernels/cpu/rows.h"

namespace phi {
namespace {

/// x as [rows, groups, inner], out as [rows, inner].
struct MaxOutBlocks {
  MaxOutBlocks(const Dims& x, int groups_of_x, int axis) : groups(groups_of_x) {
    const int d = normalise_axis(axis, x.ndim(), x);
    rows = x.numel(0, d) * (x[d] / groups);
    inner = x.numel(d + 1, x.ndim());
  }
  int64_t rows;
  int64_t groups;
  int64_t inner;
};

/// Computes the elementwise maximum of `groups` rows, NaN if one is NaN.
template <typename C, typename RowOf>
void largest_of_rows(const MaxOutBlocks& blocks, RowOf row_of, C* most) {
  run_best_isa<C>([&blocks, row_of, most, n = blocks.inner] {
    std::copy_n(row_of(0), n, most);
    for (int64_t g = 1; g < blocks.groups; ++g) {
      const C* const other = row_of(g);
#pragma GCC ivdep
      for (int64_t i = 0; i < n; ++i) {
        const bool stays = (most[i] >= other[i]) | (most[i] != most[i]);
        most[i] = stays ? most[i] : other[i];
      }
    }
  });
}

/// Moves the remaining gradient `left` of element i to x_grad if x is the maximum or NaN; otherwise
/// sets x_grad to 0. Called for the rows of a group in order, so that the first maximum gets the
/// gradient.
template <typename C>
void take_gradient(const C* x, const C* most, int64_t n, C* left, C* x_grad) {
  run_best_isa<C>([=] {
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) {
      const bool takes = (x[i] == most[i]) | (x[i] != x[i]);
      x_grad[i] = takes ? left[i] : C(0);
      left[i] = takes ? C(0) : left[i];
    }
  });
}

}  // namespace

/// The maximum of each `groups` neighbours along `axis`, NaN if one is NaN.
template <typename T, typename Context>
void MaxOutKernel(const Context&, const DenseTensor& x, int groups, int axis, DenseTensor* out) {
  const MaxOutBlocks blocks(x.dims(), groups, axis);
  RowReader<T> rows(x.data<T>(), blocks.inner);
  RowWriter<T> results(out->mutable_data<T>(), blocks.inner);
  for (int64_t r = 0; r < blocks.rows; ++r) {
    const auto row_of = [&, r](int64_t g) { return rows.row(r * blocks.groups + g); };
    largest_of_rows(blocks, row_of, results.row(r));
    results.done(r);
  }
}

/// The gradient goes to the first maximum among the neighbours, or to the first NaN if there is
/// one.
template <typename T, typename Context>
void MaxOutGradKernel(const Context&, const DenseTensor& x, const DenseTensor& out,
                      const DenseTensor& out_grad, int groups, int axis, DenseTensor* x_grad) {
  using C = compute_t<T>;
  const MaxOutBlocks blocks(x.dims(), groups, axis);
  RowReader<T> rows(x.data<T>(), blocks.inner);
  RowReader<T> largest(out.data<T>(), blocks.inner);
  RowWriter<T> gradients(x_grad->mutable_data<T>(), blocks.inner);
  std::vector<C> left(static_cast<size_t>(blocks.inner));
  for (int64_t r = 0; r < blocks.rows; ++r) {
    convert(out_grad.data<T>() + r * blocks.inner, left.data(), blocks.inner);
    const C* const most = largest.row(r);
    for (int64_t g = r * blocks.groups; g < (r + 1) * blocks.groups; ++g) {
      take_gradient(rows.row(g), most, blocks.inner, left.data(), gradients.row(g));
      gradients.done(g);
    }
  }
}

/// out = (1 - epsilon) label + epsilon prior_dist. Without prior_dist the distribution is uniform.
/// The factors are computed in float, like the gradient's.
template <typename T, typename Context>
void LabelSmoothKernel(const Context& ctx, const DenseTensor& label, const DenseTensor* prior_dist,
                       float epsilon, DenseTensor* out) {
  using C = compute_t<T>;
  if (out->numel() == 0) return;
  const int64_t classes = label.dims().back();  // of this rank's part
  const auto all_classes = static_cast<float>(ctx.output_box(0, out->dims()).global.back());
  const auto kept = static_cast<C>(1.0f - epsilon);
  const auto given = static_cast<C>(epsilon);
  const auto even = static_cast<C>(epsilon / all_classes);
  RowReader<T> labels(label.data<T>(), classes);
  RowWriter<T> results(out->mutable_data<T>(), classes);
  std::vector<C> more(static_cast<size_t>(classes), even);
  if (prior_dist) {
    convert(prior_dist->data<T>(), more.data(), classes);
    for (C& share : more) share *= given;
  }
  for (int64_t row = 0; row < label.numel() / classes; ++row) {
    const C* const from = labels.row(row);
    C* const to = results.row(row);
    for (int64_t c = 0; c < classes; ++c) to[c] = kept * from[c] + more[c];
    results.done(row);
  }
}

PHI_REGISTER_KERNEL(maxout, CPU, MaxOutKernel, Floats);
PHI_REGISTER_KERNEL(maxout_grad, CPU, MaxOutGradKernel, Floats);
PHI_REGISTER_KERNEL(label_smooth, CPU, LabelSmoothKernel, Floats);

}  // namespace phi
