// nvcuda::wmma for g++: tiles of 16 x 16 x 16 in half precision, with float or half accumulators.
// Each lane has 8 elements of a tile, in a layout that is opaque as on a GPU and the same for all
// accumulators. Loads and stores fail the test where the GPU would fault on the address or the
// stride.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <array>
#include <cstdint>

#include "cuda_on_cpu/tiles.h"

namespace nvcuda::wmma {

struct matrix_a;
struct matrix_b;
struct accumulator;
struct row_major;
struct col_major;
enum layout_t { mem_row_major, mem_col_major };

template <class Use, int m, int n, int k, class T, class Layout = void>
struct fragment {
  static_assert(m == 16 && n == 16 && k == 16, "the emulator has tiles of 16 x 16 x 16 only");
  static_assert(sizeof(T) == 2 || std::is_same_v<T, float>,
                "the emulator has tiles of __half, __nv_bfloat16 and float only");
  static constexpr int num_elements = cuda_on_cpu::kTileOfLane;
  using element_type = T;
  T x[num_elements];
};

template <class Use, class T, class Layout>
using tile_fragment = fragment<Use, 16, 16, 16, T, Layout>;

template <class Use, class T, class Layout>
void fill_fragment(tile_fragment<Use, T, Layout>& tile, std::type_identity_t<T> value) {
  for (T& x : tile.x) x = value;
}

/// All lanes of the warp must arrive. This does not order memory.
inline void meet(const char* file, int line) { __any_sync(~0u, 1, file, line); }

/// Offset in memory of element `i` of this lane.
inline size_t offset_of(int i, unsigned stride, bool by_rows) {
  const unsigned lane = (threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z)) % 32;
  const unsigned element =
      static_cast<unsigned>(cuda_on_cpu::tile_element(static_cast<int>(lane), i));
  const size_t row = element / 16;
  const size_t column = element % 16;
  return by_rows ? row * stride + column : column * stride + row;
}

template <class T, class Fragment>
void load_tile(Fragment& tile, const T* memory, unsigned stride, bool by_rows, const char* file,
               int line) {
  cuda_on_cpu::check_tile(memory, stride, sizeof(T), {file, line});
  meet(file, line);
  for (int i = 0; i < Fragment::num_elements; ++i)
    tile.x[i] = memory[offset_of(i, stride, by_rows)];
}

template <class Use, class T, class Layout>
void load_matrix_sync(tile_fragment<Use, T, Layout>& tile, const T* memory, unsigned stride,
                      const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
  static_assert(!std::is_void_v<Layout>, "an accumulator is loaded with its layout");
  load_tile(tile, memory, stride, std::is_same_v<Layout, row_major>, file, line);
}

template <class T>
void load_matrix_sync(tile_fragment<accumulator, T, void>& tile, const T* memory, unsigned stride,
                      layout_t layout, const char* file = __builtin_FILE(),
                      int line = __builtin_LINE()) {
  load_tile(tile, memory, stride, layout == mem_row_major, file, line);
}

template <class T>
void store_matrix_sync(T* memory, const tile_fragment<accumulator, T, void>& tile, unsigned stride,
                       layout_t layout, const char* file = __builtin_FILE(),
                       int line = __builtin_LINE()) {
  cuda_on_cpu::check_tile(memory, stride, sizeof(T), {file, line});
  meet(file, line);
  for (int i = 0; i < cuda_on_cpu::kTileOfLane; ++i) {
    memory[offset_of(i, stride, layout == mem_row_major)] = tile.x[i];
  }
}

template <class Fragment>
std::array<float, cuda_on_cpu::kTileOfLane> as_floats(const Fragment& tile) {
  std::array<float, cuda_on_cpu::kTileOfLane> floats;
  for (int i = 0; i < Fragment::num_elements; ++i) floats[i] = static_cast<float>(tile.x[i]);
  return floats;
}

template <class D, class In, class LayoutA, class LayoutB, class C>
void mma_sync(tile_fragment<accumulator, D, void>& d, const tile_fragment<matrix_a, In, LayoutA>& a,
              const tile_fragment<matrix_b, In, LayoutB>& b,
              const tile_fragment<accumulator, C, void>& c, const char* file = __builtin_FILE(),
              int line = __builtin_LINE()) {
  const auto left = as_floats(a);
  const auto right = as_floats(b);
  const auto sums = as_floats(c);
  std::array<float, cuda_on_cpu::kTileOfLane> result;
  const cuda_on_cpu::TileProduct part{
      {cuda_on_cpu::multiply_tiles}, left.data(), right.data(), sums.data(), result.data()};
  cuda_on_cpu::work_together(part, {file, line});
  for (int i = 0; i < cuda_on_cpu::kTileOfLane; ++i) d.x[i] = static_cast<D>(result[i]);
}

}  // namespace nvcuda::wmma
