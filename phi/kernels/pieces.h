// Pieces: the one mechanism of kernels that move elements without changing them. What is moved is a
// nest of loops; each loop goes through its tensor dim in runs, whose indices in the array that is
// read rise, fall or stand still. A choice of one run per loop is a piece: a strided box.
//
//   Pieces pieces;                                    // flip of the last tensor dim
//   pieces.append(rows, {columns, columns});          // strides in `to` and in `from`
//   pieces.append({{{0, columns - 1, columns, -1}}}, {1, 1});
//
// What a device does with them: cpu/moves/pieces.h, gpu/moves/piece_moves.h.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

namespace phi {

/// Indices to, to + 1, ... of one array stand for from, from + step, ... of the other, `count` of
/// them.
struct IndexRun {
  int64_t to;
  int64_t from;
  int64_t count;
  int64_t step;
};

/// The runs of `size` indices, of which index i stands for source(i), or for none where that is
/// negative.
template <typename Source>
std::vector<IndexRun> runs_of(int64_t size, Source source) {
  std::vector<IndexRun> runs;
  for (int64_t i = 0; i < size; ++i) {
    const int64_t from = source(i);
    if (from < 0) continue;
    IndexRun* last = runs.empty() ? nullptr : &runs.back();
    if (last && last->to + last->count == i) {
      const int64_t step = from - (last->from + (last->count - 1) * last->step);
      if (last->count == 1 && step >= -1 && step <= 1) last->step = step;
      if (last->step == step) {
        ++last->count;
        continue;
      }
    }
    runs.push_back({i, from, 1, 1});
  }
  return runs;
}

/// Steps of a loop in the array that is made and in the one that it is made of.
struct Strides {
  int64_t to;
  int64_t from;
};

class Pieces {
 public:
  struct Loop {
    std::vector<IndexRun> runs;
    Strides strides;
  };

  /// Where the moves begin in both arrays.
  explicit Pieces(Strides first = {0, 0}) : first_(first) {}

  /// The next loop inwards, through all of its indices.
  void append(int64_t size, Strides strides) { append({{0, 0, size, 1}}, strides); }
  void append(std::vector<IndexRun> runs, Strides strides) {
    loops_.push_back({std::move(runs), strides});
  }

  const std::vector<Loop>& loops() const { return loops_; }
  const Strides& first() const { return first_; }

 private:
  std::vector<Loop> loops_;
  Strides first_;
};

}  // namespace phi
