// RandomStream: walks a box of a global tensor in batches of Philox blocks.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "phi/core/box.h"
#include "phi/kernels/functors/philox.h"
#include "phi/kernels/strided_walk.h"

namespace phi {

inline constexpr int kBatchBlocks = 64;
inline constexpr int kBatchValues = 4 * kBatchBlocks;

/// Block numbers of a batch, and its values: value 4 s + w comes from word w of blocks[s].
using BatchBlocks = std::array<uint64_t, kBatchBlocks>;
template <typename Value>
using BatchValues = std::array<Value, kBatchValues>;

/// The random words of a batch. `turn` is the counters' last word, which distinguishes several
/// blocks of one element.
struct BatchWords {
  BatchWords(const BatchBlocks& blocks, uint64_t seed, RandomUse use, uint32_t turn = 0);
  alignas(64) BatchValues<uint32_t> words;
};

/// Returns the numbers of kBatchBlocks consecutive blocks from `first` on.
inline BatchBlocks blocks_from(uint64_t first) {
  BatchBlocks blocks;
  for (size_t s = 0; s < kBatchBlocks; ++s) blocks[s] = first + s;
  return blocks;
}

/// Calls f(index in the global tensor, local index, count) for each run of elements of where.box
/// that is contiguous in both.
template <typename F>
void for_each_run(const ShardBox& where, F&& f) {
  if (where.box.numel() == 0) return;
  const Dims strides = where.global.strides();
  StridedWalk<1> walk;
  int64_t first = 0;
  for (int d = 0; d < where.box.ndim(); ++d) {
    walk.append(where.box.size[d], {strides[d]});
    first += where.box.offset[d] * strides[d];
  }
  int64_t run_length = 1;
  const int last = walk.ndim() - 1;
  if (last >= 0 && walk.stride(last, 0) == 1) {
    run_length = walk.size(last);
    walk.remove(last);
  }
  int64_t at = 0;
  walk.for_each([&](const std::array<int64_t, 1>& row) {
    f(first + row[0], at, run_length);
    at += run_length;
  });
}

/// Draws the elements of where.box. `generate(blocks, &values)` computes a batch; `sink(at, values,
/// count)` receives the values of local elements [at, at + count). Every value is generated in
/// whole batches of the same size, so that its bits do not depend on the box.
template <typename Value, typename Generate, typename Sink>
class RandomStream {
 public:
  RandomStream(Generate generate, Sink sink) : generate_(generate), sink_(sink) {}

  void run(const ShardBox& where) {
    for_each_run(where,
                 [this](int64_t index, int64_t at, int64_t count) { draw(index, count, at); });
    flush();
  }

 private:
  // A part of one block's values, and the local element where it begins.
  struct BlockRun {
    int64_t at;
    int slot;
    int word;
    int count;
  };

  // Draws global elements [index, index + count) for the local elements from `at` on.
  void draw(int64_t index, int64_t count, int64_t at) {
    const int64_t end = index + count;
    while (index < end) {
      if (index % 4 == 0 && end - index >= kBatchValues) {
        BatchValues<Value> values;
        generate_(blocks_from(static_cast<uint64_t>(index / 4)), &values);
        sink_(at, values.data(), kBatchValues);
        index += kBatchValues;
        at += kBatchValues;
        continue;
      }
      const auto word = static_cast<int>(index % 4);
      const auto taken = static_cast<int>(std::min<int64_t>(4 - word, end - index));
      add_piece(static_cast<uint64_t>(index / 4), word, taken, at);
      index += taken;
      at += taken;
    }
  }

  void add_piece(uint64_t block, int word, int count, int64_t at) {
    if (slots_ == 0 || blocks_[slots_ - 1] != block) {
      if (slots_ == kBatchBlocks) flush();
      blocks_[slots_++] = block;
    }
    pieces_[num_pieces_++] = {at, slots_ - 1, word, count};
  }

  void flush() {
    if (slots_ == 0) return;
    BatchValues<Value> values;
    generate_(blocks_, &values);
    for (int i = 0; i < num_pieces_; ++i) {
      const BlockRun& piece = pieces_[i];
      sink_(piece.at, values.data() + 4 * piece.slot + piece.word, piece.count);
    }
    slots_ = 0;
    num_pieces_ = 0;
  }

  Generate generate_;
  Sink sink_;
  BatchBlocks blocks_{};
  std::array<BlockRun, kBatchValues> pieces_;
  int slots_ = 0;
  int num_pieces_ = 0;
};

template <typename Value, typename Generate, typename Sink>
void draw_random(const ShardBox& where, Generate generate, Sink sink) {
  RandomStream<Value, Generate, Sink>(generate, sink).run(where);
}

}  // namespace phi
