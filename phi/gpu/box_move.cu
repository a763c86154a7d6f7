// Strided copies with one thread per word. A word is one element, or up to 16 bytes where extents,
// strides and addresses permit. Several box copies share one launch.
#include <algorithm>
#include <iterator>
#include <vector>

#include "phi/gpu/box_move.h"
#include "phi/gpu/launch.h"
#include "phi/gpu/walk.h"

namespace phi::gpu {
namespace {

// Grid-stride loop of a copy over n words.
template <typename Word, typename Loops>
__device__ void move_words(const std::byte* from, std::byte* to, int64_t n, const Loops& loops,
                           int64_t first, int64_t stride) {
  const auto* const source = reinterpret_cast<const Word*>(from);
  auto* const target = reinterpret_cast<Word*>(to);
  for (int64_t i = first; i < n; i += stride) {
    const WalkOffsets<2> offsets = loops.offsets(i);
    target[offsets.at[1]] = source[offsets.at[0]];
  }
}

// One copy. Its extents, strides and addresses are multiples of the word.
template <typename Loops>
struct Move {
  const std::byte* from;
  std::byte* to;
  Loops walk;
  int64_t n;  // words
  int width;  // bytes of a word

  __device__ void run(int64_t first, int64_t stride) const {
    switch (width) {
      case 16:
        return move_words<uint4>(from, to, n, walk, first, stride);
      case 8:
        return move_words<uint64_t>(from, to, n, walk, first, stride);
      case 4:
        return move_words<uint32_t>(from, to, n, walk, first, stride);
      case 2:
        return move_words<uint16_t>(from, to, n, walk, first, stride);
      default:
        return move_words<uint8_t>(from, to, n, walk, first, stride);
    }
  }
};

// Chooses the widest word for a copy. `walk` is in bytes.
template <typename Loops>
Move<Loops> move_of(const std::byte* from, std::byte* to, const Loops& walk) {
  Move<Loops> move{from, to, walk, 1, 16};
  auto bits = reinterpret_cast<uintptr_t>(from) | reinterpret_cast<uintptr_t>(to) |
              static_cast<uintptr_t>(walk.size(0));
  for (int d = 1; d < walk.ndim; ++d) {
    bits |= static_cast<uintptr_t>(walk.strides[0][d] | walk.strides[1][d]);
  }
  while (bits % static_cast<uintptr_t>(move.width) != 0) move.width /= 2;
  move.walk.group(move.width);
  for (int d = 1; d < walk.ndim; ++d) {
    for (auto& strides : move.walk.strides) strides[d] /= move.width;
  }
  for (int d = 0; d < walk.ndim; ++d) move.n *= move.walk.size(d);
  return move;
}

__global__ void move_elements_kernel(const __grid_constant__ Move<MoveWalk> move) {
  move.run(first_item(), item_stride());
}

// ---- boxes ----

using BoxMove = Move<Walk<2, kMaxNdim + 1>>;

// Arguments of one launch. CUDA limits them to 32 KiB and copies all of them at each launch, so a
// few copies use the smaller instantiation.
template <int kMost>
struct BoxMoves {
  int count;
  BoxMove moves[kMost];
};
constexpr int kFew = 4;
constexpr int kMany = 64;
static_assert(sizeof(BoxMoves<kMany>) < 32 * 1024 - 64);

// Blocks are assigned to the moves in turn, an equal number to each.
template <int kMost>
__global__ void move_boxes_kernel(const __grid_constant__ BoxMoves<kMost> all) {
  const auto count = static_cast<unsigned>(all.count);
  const unsigned blocks = gridDim.x / count;
  const unsigned block = blockIdx.x / count;
  all.moves[blockIdx.x % count].run(int64_t{block} * blockDim.x + threadIdx.x,
                                    int64_t{blocks} * blockDim.x);
}

BoxMove move_of(const BoxCopy& copy, int64_t width) {
  Walk<2, kMaxNdim + 1> walk;
  walk.append(width, {1, 1});
  const Dims from_strides = copy.from_box.size.strides();
  const Dims to_strides = copy.to_box.size.strides();
  for (int d = copy.region.ndim() - 1; d >= 0; --d) {
    if (copy.region.size[d] != 1) {
      walk.append(copy.region.size[d], {from_strides[d] * width, to_strides[d] * width});
    }
  }
  return move_of(copy.from + offset_in(copy.from_box, copy.region) * width,
                 copy.to + offset_in(copy.to_box, copy.region) * width, walk);
}

template <int kMost>
void launch_moves(GpuDevice& device, std::span<const BoxMove> moves) {
  BoxMoves<kMost> all;
  all.count = static_cast<int>(moves.size());
  std::ranges::copy(moves, std::begin(all.moves));
  int64_t largest = 0;
  for (const BoxMove& move : moves) largest = std::max(largest, move.n);
  const auto count = static_cast<unsigned>(moves.size());
  const unsigned blocks = std::max(1u, blocks_for(device, largest * count) / count);
  launch(device, move_boxes_kernel<kMost>, blocks * count, kBlock, all);
}

}  // namespace

void move_elements(GpuDevice& device, const std::byte* from, std::byte* to, const MoveWalk& walk) {
  const auto move = move_of(from, to, walk);
  if (move.n == 0) return;
  device.make_current();
  launch(device, move_elements_kernel, blocks_for(device, move.n), kBlock, move);
}

void move_boxes(GpuDevice& device, std::span<const BoxCopy> copies, size_t width) {
  std::vector<BoxMove> moves;
  for (const BoxCopy& copy : copies) {
    if (!copy.region.empty()) moves.push_back(move_of(copy, static_cast<int64_t>(width)));
  }
  device.make_current();
  for (std::span<const BoxMove> rest = moves; !rest.empty();) {
    const auto some = rest.first(std::min<size_t>(rest.size(), kMany));
    some.size() <= kFew ? launch_moves<kFew>(device, some) : launch_moves<kMany>(device, some);
    rest = rest.subspan(some.size());
  }
}

}  // namespace phi::gpu
