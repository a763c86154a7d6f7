// Copies of strided elements: one thread per element, or per 16 bytes where runs, strides and
// addresses allow.
#include "phi/gpu/box_move.h"

#include "phi/core/box_copy.h"
#include "phi/gpu/launch.h"
#include "phi/gpu/walk.h"

namespace phi::gpu {
namespace {

template <typename Word>
__global__ void move_words(const Word* from, Word* to, int64_t n, MoveWalk walk) {
  for (int64_t i = first_item(); i < n; i += item_stride()) {
    const Offsets<2> offsets = walk.offsets(i);
    to[offsets.at[1]] = from[offsets.at[0]];
  }
}

// One move, in bytes.
struct Move {
  const std::byte* from;
  std::byte* to;
  MoveWalk walk;

  // Whether all of it is a multiple of `width`.
  bool is_in_words_of(int64_t width) const {
    auto bits = reinterpret_cast<uintptr_t>(from) | reinterpret_cast<uintptr_t>(to) |
                static_cast<uintptr_t>(walk.sizes[0]);
    for (int d = 1; d < walk.ndim; ++d) {
      bits |= static_cast<uintptr_t>(walk.strides[0][d] | walk.strides[1][d]);
    }
    return bits % static_cast<uintptr_t>(width) == 0;
  }
};

template <typename Word>
void move_in(GpuDevice& device, Move move) {
  constexpr auto kWidth = static_cast<int64_t>(sizeof(Word));
  move.walk.sizes[0] /= kWidth;
  for (int d = 1; d < move.walk.ndim; ++d) {
    move.walk.strides[0][d] /= kWidth;
    move.walk.strides[1][d] /= kWidth;
  }
  int64_t n = 1;
  for (int d = 0; d < move.walk.ndim; ++d) n *= move.walk.sizes[d];
  if (n == 0) return;
  launch(device, move_words<Word>, blocks_for(device, n), kBlock,
         reinterpret_cast<const Word*>(move.from), reinterpret_cast<Word*>(move.to), n, move.walk);
}

}  // namespace

void move_elements(GpuDevice& device, const std::byte* from, std::byte* to, const MoveWalk& walk) {
  const Move move{from, to, walk};
  device.make_current();
  if (move.is_in_words_of(16)) return move_in<uint4>(device, move);
  if (move.is_in_words_of(8)) return move_in<uint64_t>(device, move);
  if (move.is_in_words_of(4)) return move_in<uint32_t>(device, move);
  if (move.is_in_words_of(2)) return move_in<uint16_t>(device, move);
  move_in<uint8_t>(device, move);
}

void move_box(GpuDevice& device, const std::byte* src, const Box& src_box, std::byte* dst,
              const Box& dst_box, const Box& region, size_t width) {
  if (region.empty()) return;
  const auto w = static_cast<int64_t>(width);
  MoveWalk walk;
  walk.append(w, {1, 1});
  const Dims src_strides = src_box.size.strides();
  const Dims dst_strides = dst_box.size.strides();
  for (int d = region.ndim() - 1; d >= 0; --d) {
    if (region.size[d] != 1) {
      walk.append(region.size[d], {src_strides[d] * w, dst_strides[d] * w});
    }
  }
  move_elements(device, src + offset_in(src_box, region) * w, dst + offset_in(dst_box, region) * w,
                walk);
}

}  // namespace phi::gpu
