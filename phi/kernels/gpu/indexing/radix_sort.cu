// Stable radix sort with 8-bit digits. Per digit: each block counts the digits of its range; the
// counts become the start position of each (digit, range); each range is then moved in its order.
#include <algorithm>
#include <bit>
#include <utility>

#include "phi/gpu/launch.h"
#include "phi/kernels/gpu/indexing/radix_sort.h"
#include "phi/kernels/gpu/shuffle.h"

namespace phi::gpu {
namespace {

constexpr int kDigitBits = 8;
constexpr int kDigits = 1 << kDigitBits;
constexpr int kWarps = kBlock / kWarp;
static_assert(kDigits == kBlock, "a thread has a digit");

/// The elements that a block sorts: a multiple of the block's tile, except for the last.
struct BlockRange {
  int64_t begin;
  int64_t end;
};
__device__ BlockRange range_of(int64_t n, int64_t per_block) {
  const int64_t begin = int64_t{blockIdx.x} * per_block;
  return {begin, begin + per_block < n ? begin + per_block : n};
}

__device__ int digit_of(uint64_t key, int shift) {
  return static_cast<int>(key >> shift) & (kDigits - 1);
}

/// Writes counts [blocks, kDigits].
__global__ void count_digits(const uint64_t* keys, int64_t n, int64_t per_block, int shift,
                             int64_t* counts) {
  __shared__ unsigned own[kDigits];
  own[threadIdx.x] = 0;
  __syncthreads();
  const BlockRange range = range_of(n, per_block);
  for (int64_t i = range.begin + threadIdx.x; i < range.end; i += kBlock) {
    atomicAdd(&own[digit_of(keys[i], shift)], 1u);
  }
  __syncthreads();
  counts[int64_t{blockIdx.x} * kDigits + threadIdx.x] = own[threadIdx.x];
}

/// Replaces counts by start positions, ordered by digit and then by block. Runs as one block with
/// one thread per digit.
__global__ void place_digits(int64_t* counts, int64_t blocks) {
  __shared__ int64_t of_digit[kDigits];
  const int digit = static_cast<int>(threadIdx.x);
  int64_t all = 0;
  for (int64_t b = 0; b < blocks; ++b) all += counts[b * kDigits + digit];
  of_digit[digit] = all;
  __syncthreads();
  int64_t before = 0;
  for (int d = 0; d < digit; ++d) before += of_digit[d];
  for (int64_t b = 0; b < blocks; ++b) {
    const int64_t count = counts[b * kDigits + digit];
    counts[b * kDigits + digit] = before;
    before += count;
  }
}

/// Mask of the lanes that have the same digit, among those with an element.
__device__ unsigned peers_of(int digit, bool has_one) {
  unsigned peers = __ballot_sync(kWholeWarp, has_one);
  PHI_UNROLL(8)
  for (int bit = 0; bit < kDigitBits; ++bit) {
    const bool is_set = (digit >> bit & 1) != 0;
    const unsigned set = __ballot_sync(kWholeWarp, is_set);
    peers &= is_set ? set : ~set;
  }
  return peers;
}

__global__ void move_pairs(const uint64_t* keys, const int64_t* values, int64_t n,
                           int64_t per_block, int shift, const int64_t* places, uint64_t* to_keys,
                           int64_t* to_values) {
  __shared__ int64_t next[kDigits];              // position of each digit's next element
  __shared__ unsigned of_warp[kWarps][kDigits];  // per warp of a tile: counts, then exclusive sums
  const int thread = static_cast<int>(threadIdx.x);
  const int warp = thread / kWarp;
  const unsigned below = (1u << thread % kWarp) - 1;
  next[thread] = places[int64_t{blockIdx.x} * kDigits + thread];
  const BlockRange range = range_of(n, per_block);
  for (int64_t tile = range.begin; tile < range.end; tile += kBlock) {
    for (int w = 0; w < kWarps; ++w) of_warp[w][thread] = 0;
    __syncthreads();
    const int64_t i = tile + thread;
    const bool has_one = i < range.end;
    const uint64_t key = has_one ? keys[i] : 0;
    const int digit = digit_of(key, shift);
    const unsigned peers = peers_of(digit, has_one);
    const int rank = __popc(peers & below);
    if (has_one && rank == 0) of_warp[warp][digit] = static_cast<unsigned>(__popc(peers));
    __syncthreads();
    unsigned before = 0;
    for (int w = 0; w < kWarps; ++w) {
      const unsigned count = of_warp[w][thread];
      of_warp[w][thread] = before;
      before += count;
    }
    __syncthreads();
    if (has_one) {
      const int64_t to = next[digit] + of_warp[warp][digit] + rank;
      to_keys[to] = key;
      to_values[to] = values[i];
    }
    __syncthreads();
    next[thread] += before;
    // The first barrier of the next iteration separates this write from its readers.
  }
}

uint64_t* keys_of(DenseTensor* keys) { return static_cast<uint64_t*>(keys->mutable_raw_data()); }

}  // namespace

int bits_below(int64_t end) {
  return std::bit_width(static_cast<uint64_t>(std::max<int64_t>(end, 1) - 1));
}

SortedPairs radix_sort(const GpuContext& ctx, SortedPairs pairs, int bits) {
  constexpr int64_t kLeast = 4096;  // minimum elements per block
  const int64_t n = pairs.keys.numel();
  if (n < 2) return pairs;
  const int64_t most = blocks_for(ctx, n);
  const int64_t wanted = std::clamp<int64_t>((n + kLeast - 1) / kLeast, 1, most);
  const int64_t per_block = ((n + wanted - 1) / wanted + kBlock - 1) / kBlock * kBlock;
  const int64_t blocks = (n + per_block - 1) / per_block;
  SortedPairs other{DenseTensor::empty(pairs.keys.meta(), ctx.place()),
                    DenseTensor::empty(pairs.values.meta(), ctx.place())};
  DenseTensor counts = DenseTensor::empty({{blocks, kDigits}, DataType::INT64}, ctx.place());
  auto* places = counts.mutable_data<int64_t>();
  const auto grid = static_cast<unsigned>(blocks);
  for (int shift = 0; shift < bits; shift += kDigitBits) {
    const uint64_t* keys = keys_of(&pairs.keys);
    launch(ctx, count_digits, grid, kBlock, keys, n, per_block, shift, places);
    launch(ctx, place_digits, 1, kBlock, places, blocks);
    launch(ctx, move_pairs, grid, kBlock, keys, pairs.values.data<int64_t>(), n, per_block, shift,
           places, keys_of(&other.keys), other.values.mutable_data<int64_t>());
    std::swap(pairs, other);
  }
  return pairs;
}

}  // namespace phi::gpu
