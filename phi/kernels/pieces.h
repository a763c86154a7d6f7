// Pieces: the common description of kernels that move elements without changing them. A move is a
// nest of loops. Each loop walks its tensor dim in runs; the source indices of a run rise, fall or
// stay constant. One run of each loop together form a piece: a strided box.
//
//   Pieces pieces;                                    // flip of the last tensor dim
//   pieces.append(rows, {columns, columns});          // strides in `to` and in `from`
//   pieces.append({{{0, columns - 1, columns, -1}}}, {1, 1});
//
// The devices execute pieces in cpu/data_movement/pieces.h and gpu/data_movement/piece_moves.h.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

namespace phi {

/// `count` indices: to, to + 1, .. of the destination correspond to from, from + step, .. of the
/// source.
struct IndexRun {
  int64_t to;
  int64_t from;
  int64_t count;
  int64_t step;
};

/// Groups `size` destination indices into runs. Index i corresponds to source(i), and is left out
/// if that is negative.
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

/// Strides of a loop in the destination and in the source, in elements.
struct Strides {
  int64_t to;
  int64_t from;
};

/// The loop nest of a move, outermost loop first.
class Pieces {
 public:
  struct StridedLoop {
    std::vector<IndexRun> runs;
    Strides strides;
  };

  /// `first`: the offsets at which the moves begin in both arrays.
  explicit Pieces(Strides first = {0, 0}) : first_(first) {}

  /// Appends the next inner loop. The first form walks all of its indices.
  void append(int64_t size, Strides strides) { append({{0, 0, size, 1}}, strides); }
  void append(std::vector<IndexRun> runs, Strides strides) {
    loops_.push_back({std::move(runs), strides});
  }

  const std::vector<StridedLoop>& loops() const { return loops_; }
  const Strides& first() const { return first_; }

 private:
  std::vector<StridedLoop> loops_;
  Strides first_;
};

}  // namespace phi
