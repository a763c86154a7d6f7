// grid_sample on the CPU: images at places between their elements, by the nearest element or
// linearly between those around, in two or three dims, with the gradients of both.
//
// A rank has whole images of some channels and some of the places; gradients that sum over what it
// lacks are partial sums.
#include <algorithm>
#include <vector>

#include "phi/core/kernel_registry.h"
#include "phi/generated/kernels/image.h"
#include "phi/kernels/cpu/convert.h"
#include "phi/kernels/cpu/rows.h"
#include "phi/kernels/image/sampling.h"

namespace phi {
namespace {

using sampling::Around;
using sampling::Corner;
using sampling::Placing;
using sampling::Sampling;

/// Calls f(image, place, what is around it) for all places of all images.
template <typename C, typename F>
void for_each_place(const Sampling& s, const C* grid, const Placing& placing, F f) {
  for (int64_t i = 0; i < s.n; ++i) {
    for (int64_t p = 0; p < s.places; ++p, grid += s.spatial) f(i, p, Around<C>(grid, s, placing));
  }
}

}  // namespace

template <typename T, typename Context>
void GridSampleKernel(const Context&, const DenseTensor& x, const DenseTensor& grid,
                      const std::string& mode, const std::string& padding_mode, bool align_corners,
                      DenseTensor* out) {
  using C = compute_t<T>;
  const Sampling s(x.dims(), grid.dims());
  const T* images = x.data<T>();
  T* to = out->mutable_data<T>();
  const ComputeArray<C> coordinates(&grid);
  std::vector<C> sums(static_cast<size_t>(s.c));
  for_each_place(s, coordinates.data(), Placing{mode, padding_mode, align_corners},
                 [&](int64_t image, int64_t place, const Around<C>& around) {
                   std::ranges::fill(sums, C(0));
                   const T* from = images + image * s.c * s.pixels;
                   around.for_each(s, [&](const Corner<C>& corner) {
                     for (int64_t c = 0; c < s.c; ++c) {
                       sums[c] +=
                           corner.weight * convert_value<C>(from[c * s.pixels + corner.offset]);
                     }
                   });
                   for (int64_t c = 0; c < s.c; ++c) {
                     to[(image * s.c + c) * s.places + place] = convert_value<T>(sums[c]);
                   }
                 });
}

template <typename T, typename Context>
void GridSampleGradKernel(const Context&, const DenseTensor& x, const DenseTensor& grid,
                          const DenseTensor& out_grad, const std::string& mode,
                          const std::string& padding_mode, bool align_corners, DenseTensor* x_grad,
                          DenseTensor* grid_grad) {
  using C = compute_t<T>;
  const Sampling s(x.dims(), grid.dims());
  const ComputeArray<C> images(&x);
  const ComputeArray<C> coordinates(&grid);
  const ComputeArray<C> g(&out_grad);
  std::vector<C> image_sums(x_grad ? static_cast<size_t>(x.numel()) : 0, C(0));
  std::vector<C> grid_sums(grid_grad ? static_cast<size_t>(grid.numel()) : 0, C(0));
  for_each_place(s, coordinates.data(), Placing{mode, padding_mode, align_corners},
                 [&](int64_t image, int64_t place, const Around<C>& around) {
                   const C* from = images.data() + image * s.c * s.pixels;
                   const C* given = g.data() + image * s.c * s.places + place;
                   around.for_each(s, [&](const Corner<C>& corner) {
                     C along = C(0);
                     for (int64_t c = 0; c < s.c; ++c) {
                       const C each = given[c * s.places];
                       if (x_grad)
                         image_sums[(image * s.c + c) * s.pixels + corner.offset] +=
                             corner.weight * each;
                       along += each * from[c * s.pixels + corner.offset];
                     }
                     if (!grid_grad) return;
                     C* sums = grid_sums.data() + (image * s.places + place) * s.spatial;
                     for (int d = 0; d < s.spatial; ++d) sums[d] += corner.slopes[2 - d] * along;
                   });
                 });
  if (x_grad) convert(image_sums.data(), x_grad->mutable_data<T>(), x.numel());
  if (grid_grad) convert(grid_sums.data(), grid_grad->mutable_data<T>(), grid.numel());
}

PHI_REGISTER_KERNEL(grid_sample, CPU, GridSampleKernel, Floats);
PHI_REGISTER_KERNEL(grid_sample_grad, CPU, GridSampleGradKernel, Floats);

}  // namespace phi
