// Gather, assignment and accumulation of slices at given places on a GPU. Each element is written
// by one thread, once, however many places select it. The CPU version is cpu/indexing/slices.h.
#pragma once

#include <cstdint>

#include "phi/gpu/index_space.h"
#include "phi/gpu/launch.h"
#include "phi/kernels/element_width.h"
#include "phi/kernels/functors/elementwise/binary.h"
#include "phi/kernels/functors/hd.h"
#include "phi/kernels/gpu/indexing/positions.h"
#include "phi/kernels/slices.h"

namespace phi {
namespace gpu {

/// These functions are compiled once per element width in bytes.
void read_slices(const GpuContext& ctx, const Slices& slices, const DenseTensor& places,
                 const void* x, void* to, size_t width);
/// x = `there` with the slices of `from` [outer, places, inner] written to it. If several places
/// select one slice, the last one is written.
void put_slices(const GpuContext& ctx, const Slices& slices, const DenseTensor& places,
                const void* there, const void* from, void* x, size_t width);
/// Sets the selected slices of x to zero.
void clear_slices(const GpuContext& ctx, const Slices& slices, const DenseTensor& places, void* x,
                  size_t width);

/// Returns the places that put_slices writes: a place that a later one repeats becomes negative.
DenseTensor last_named(const GpuContext& ctx, const Slices& slices, const DenseTensor& places);

/// Element i of an array [outer, slices, inner], and the positions that select its slice.
struct IndexedElement {
  int64_t outer;
  int64_t inner;
  int64_t begin;
  int64_t end;
  __device__ IndexedElement(int64_t i, const IndexSpace<2>& slices, const int64_t* begins) {
    const auto place = slices.place(i);
    const int64_t slice = place.along[0];
    outer = place.outer;
    inner = place.along[1];
    begin = begins[slice];
    end = begins[slice + 1];
  }
};

template <typename T>
struct SumOfSlices {
  SumsFrom start;
  const T* there;
  const T* from;  // [outer, places, inner]
  int64_t places;
};

template <typename T>
__global__ void sum_slices(SumOfSlices<T> sum, IndexSpace<2> slices, int64_t n,
                           const int64_t* begins, const int64_t* positions, T* x) {
  using C = compute_t<T>;
  for (int64_t i = first_item(); i < n; i += item_stride()) {
    const IndexedElement at(i, slices, begins);
    if (at.begin == at.end) {
      x[i] = sum.start == SumsFrom::kZero ? T(0.0f) : sum.there[i];
      continue;
    }
    const int64_t inner = slices.extent(1);
    const T* from = sum.from + at.outer * sum.places * inner + at.inner;
    int64_t k = at.begin;
    C total;
    if (sum.start == SumsFrom::kExisting) {
      total = static_cast<C>(sum.there[i]);
    } else {
      total = static_cast<C>(from[positions[k++] * inner]);
    }
    for (; k < at.end; ++k) {
      total = AddFunctor<C>()(total, static_cast<C>(from[positions[k] * inner]));
    }
    x[i] = static_cast<T>(total);
  }
}

/// add_slices for positions that are already grouped. x may be `there`; otherwise the arrays must
/// not overlap.
template <typename T>
void add_positions(const GpuContext& ctx, SumsFrom start, const Slices& slices,
                   const PositionsBySlice& named, int64_t places, const T* there, const T* from,
                   T* x) {
  const int64_t n = slices.outer * slices.extent * slices.inner;
  if (n == 0) return;
  launch(ctx, sum_slices<T>, blocks_for(ctx, n), kBlock, SumOfSlices<T>{start, there, from, places},
         IndexSpace<2>({slices.extent, slices.inner}), n, named.first(), named.of(), x);
}

}  // namespace gpu

/// to [outer, places, inner] = the selected slices of x; zeros for places that are not here.
template <typename W>
void read_slices(const GpuContext& ctx, const Slices& slices, const DenseTensor& places, const W* x,
                 W* to) {
  gpu::read_slices(ctx, slices, places, x, to, sizeof(W));
}

/// Writes the slices of `from` [outer, places, inner] to x. If several places select one slice, the
/// last one is written.
template <typename W>
void put_slices(const GpuContext& ctx, const Slices& slices, const DenseTensor& places,
                const W* from, W* x) {
  gpu::put_slices(ctx, slices, places, x, from, x, sizeof(W));
}

inline DenseTensor last_named(const GpuContext& ctx, const Slices& slices,
                              const DenseTensor& places) {
  return gpu::last_named(ctx, slices, places);
}

template <typename T>
void clear_slices(const GpuContext& ctx, const Slices& slices, const DenseTensor& places, T* x) {
  gpu::clear_slices(ctx, slices, places, x, sizeof(T));
}

/// x = `there`, as `start` specifies, plus the slices of `from` [outer, places, inner], added in
/// ascending order of positions. Half-precision slices are added in float and rounded once. x may
/// be `there`.
template <typename T>
void add_slices(const GpuContext& ctx, SumsFrom start, const Slices& slices,
                const DenseTensor& places, const T* there, const T* from, T* x) {
  gpu::add_positions(ctx, start, slices, gpu::positions_by_slice(ctx, places, slices.extent),
                     places.numel(), there, from, x);
}

}  // namespace phi
