// Sines and cosines of positions. Compiled separately, because CUDA's functions use a local array
// for large arguments.
#include <cmath>

#include "phi/gpu/launch.h"
#include "phi/kernels/gpu/rope/rope_angles.h"

namespace phi::gpu {
namespace {

template <typename C>
__global__ void find_angles(RopePositions positions, int64_t n, int64_t half, double base, C* sines,
                            C* cosines) {
  for (int64_t i = first_item(); i < n; i += item_stride()) {
    const int64_t row = i / half;
    const auto pair = static_cast<double>(i - row * half);
    const double rate = std::pow(base, -2.0 * pair / static_cast<double>(2 * half));
    const double angle = static_cast<double>(positions.at(row)) * rate;
    sines[i] = static_cast<C>(std::sin(angle));
    cosines[i] = static_cast<C>(std::cos(angle));
  }
}

}  // namespace

template <typename C>
void rope_angles(const GpuContext& ctx, const RopePositions& positions, int64_t rows, int64_t half,
                 double base, C* sines, C* cosines) {
  const int64_t n = rows * half;
  if (n == 0) return;
  launch(ctx, find_angles<C>, blocks_for(ctx, n), kBlock, positions, n, half, base, sines, cosines);
}
template void rope_angles(const GpuContext&, const RopePositions&, int64_t, int64_t, double, float*,
                          float*);
template void rope_angles(const GpuContext&, const RopePositions&, int64_t, int64_t, double,
                          double*, double*);

}  // namespace phi::gpu
