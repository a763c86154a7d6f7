// Gather, assignment and clearing of slices, compiled once per element width. Contiguous runs move
// in words of up to 16 bytes.
#include "phi/kernels/gpu/elementwise/map.h"
#include "phi/kernels/gpu/indexing/slices.h"

namespace phi::gpu {
namespace {

template <typename W>
__global__ void read_named(const W* x, int64_t extent, const int64_t* places, IndexSpace<2> named,
                           int64_t n, W* to) {
  for (int64_t i = first_item(); i < n; i += item_stride()) {
    const auto at = named.place(i);
    const int64_t place = places[at.along[0]];
    to[i] = place < 0 ? W{} : x[(at.outer * extent + place) * named.extent(1) + at.along[1]];
  }
}

/// Writes zeros if `from` is null.
template <typename W>
__global__ void put_named(const W* there, const W* from, IndexSpace<2> slices, int64_t count,
                          int64_t n, const int64_t* begins, const int64_t* positions, W* x) {
  for (int64_t i = first_item(); i < n; i += item_stride()) {
    const IndexedElement at(i, slices, begins);
    W value{};
    if (at.begin == at.end) {
      value = there[i];
    } else if (from) {
      value = from[(at.outer * count + positions[at.end - 1]) * slices.extent(1) + at.inner];
    }
    x[i] = value;
  }
}

struct LastNamed {
  const int64_t* places;
  const int64_t* begins;
  const int64_t* positions;
  PHI_HD int64_t operator()(int64_t i) const {
    const int64_t slice = places[i];
    return slice < 0 || positions[begins[slice + 1] - 1] != i ? -1 : slice;
  }
};

/// Calls f.operator()<Word>(slices in words) with the widest word that divides the rows and the
/// addresses.
template <typename F>
void visit_words(Slices slices, size_t width, uintptr_t addresses, F&& f) {
  const auto row = static_cast<uint64_t>(slices.inner) * width;
  const uint64_t bits = row | addresses;
  const auto in = [&]<typename Word>() {
    slices.inner = static_cast<int64_t>(row / sizeof(Word));
    f.template operator()<Word>(slices);
  };
  if (bits % 16 == 0) return in.template operator()<uint4>();
  if (bits % 8 == 0) return in.template operator()<uint64_t>();
  if (bits % 4 == 0) return in.template operator()<uint32_t>();
  if (bits % 2 == 0) return in.template operator()<uint16_t>();
  in.template operator()<uint8_t>();
}

uintptr_t address(const void* x) { return reinterpret_cast<uintptr_t>(x); }

}  // namespace

void read_slices(const GpuContext& ctx, const Slices& slices, const DenseTensor& places,
                 const void* x, void* to, size_t width) {
  const int64_t count = places.numel();
  if (slices.outer * count * slices.inner == 0) return;
  visit_words(slices, width, address(x) | address(to), [&]<typename Word>(const Slices& words) {
    const int64_t n = words.outer * count * words.inner;
    launch(ctx, read_named<Word>, blocks_for(ctx, n), kBlock, static_cast<const Word*>(x),
           words.extent, places.data<int64_t>(), IndexSpace<2>({count, words.inner}), n,
           static_cast<Word*>(to));
  });
}

void put_slices(const GpuContext& ctx, const Slices& slices, const DenseTensor& places,
                const void* there, const void* from, void* x, size_t width) {
  if (slices.outer * slices.extent * slices.inner == 0) return;
  const PositionsBySlice named = positions_by_slice(ctx, places, slices.extent);
  const uintptr_t addresses = address(there) | address(from) | address(x);
  visit_words(slices, width, addresses, [&]<typename Word>(const Slices& words) {
    const int64_t n = words.outer * words.extent * words.inner;
    launch(ctx, put_named<Word>, blocks_for(ctx, n), kBlock, static_cast<const Word*>(there),
           static_cast<const Word*>(from), IndexSpace<2>({words.extent, words.inner}),
           places.numel(), n, named.first(), named.of(), static_cast<Word*>(x));
  });
}

void clear_slices(const GpuContext& ctx, const Slices& slices, const DenseTensor& places, void* x,
                  size_t width) {
  put_slices(ctx, slices, places, x, nullptr, x, width);
}

DenseTensor last_named(const GpuContext& ctx, const Slices& slices, const DenseTensor& places) {
  const PositionsBySlice named = positions_by_slice(ctx, places, slices.extent);
  DenseTensor last = DenseTensor::empty(places.meta(), ctx.place());
  map_index(ctx, last.mutable_data<int64_t>(), places.numel(),
            LastNamed{places.data<int64_t>(), named.first(), named.of()});
  return last;
}

}  // namespace phi::gpu
