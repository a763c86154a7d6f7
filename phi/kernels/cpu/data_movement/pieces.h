// PieceMoves: moves the elements of pieces (kernels/pieces.h) on the CPU, row by row.
//
//   PieceMoves(pieces).copy(from, to);
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

#include "phi/kernels/cpu/convert.h"
#include "phi/kernels/cpu/copy_bytes.h"
#include "phi/kernels/functors/hd.h"
#include "phi/kernels/pieces.h"
#include "phi/kernels/strided_walk.h"

namespace phi {

/// Moves the elements of `pieces`, which must outlive this object.
class PieceMoves {
 public:
  explicit PieceMoves(const Pieces& pieces) : loops_(pieces.loops()), first_(pieces.first()) {}

  /// to[..] = from[..] for all elements of all pieces. W is an integer type of an element's width.
  template <typename W>
  void copy(const W* from, W* to) const {
    for_each_rows([&](int64_t at, int64_t source, const StridedRows& rows) {
      if (rows.step.to == 1 && rows.step.from == 1) {
        copy_rows(from + source, to + at, rows);
        return;
      }
      rows.for_each(at, source, [&](int64_t row_at, int64_t row_source) {
        copy_row(from + row_source, rows.step.from, to + row_at, rows.step.to, rows.count);
      });
    });
  }
  /// The gradient of a copy: from[..] += grad[..], where `grad` has the layout of `to`.
  template <typename T, typename C>
  void add_back(const T* grad, C* from) const {
    for_each_row([&](int64_t at, int64_t source, int64_t count, Strides step) {
      add_row(grad + at, step.to, from + source, step.from, count);
    });
  }
  /// The gradient if no element is moved twice: from[..] = grad[..].
  template <typename W>
  void copy_back(const W* grad, W* from) const {
    for_each_row([&](int64_t at, int64_t source, int64_t count, Strides step) {
      copy_row(grad + at, step.to, from + source, step.from, count);
    });
  }

 private:
  using Walk = StridedWalk<2, 2 * kMaxNdim>;
  using Loop = Pieces::StridedLoop;
  static constexpr int64_t kShort = 8;  // elements

  // `turns` rows of `count` elements; elements are `step` apart and rows `row_step`.
  struct StridedRows {
    int64_t count;
    Strides step;
    int64_t turns = 1;
    Strides row_step{0, 0};
    template <typename F>
    void for_each(int64_t at, int64_t source, F&& f) const {
      for (int64_t r = 0; r < turns; ++r) f(at + r * row_step.to, source + r * row_step.from);
    }
  };

  // Copies rows of contiguous elements. Short rows of common sizes are copied without a call each.
  template <typename W>
  static void copy_rows(const W* from, W* to, const StridedRows& rows) {
    const size_t nbytes = static_cast<size_t>(rows.count) * sizeof(W);
    const auto copy_all = [&](auto size) {
      rows.for_each(0, 0,
                    [&](int64_t at, int64_t source) { copy_bytes(to + at, from + source, size); });
    };
    switch (nbytes) {
      case 16:
        return copy_all(std::integral_constant<size_t, 16>());
      case 32:
        return copy_all(std::integral_constant<size_t, 32>());
      case 64:
        return copy_all(std::integral_constant<size_t, 64>());
      case 128:
        return copy_all(std::integral_constant<size_t, 128>());
      default:
        return copy_all(nbytes);
    }
  }

  template <typename W>
  static void copy_row(const W* from, int64_t from_step, W* to, int64_t to_step, int64_t count) {
    if (to_step == 1 && from_step == 1) {
      copy_bytes(to, from, static_cast<size_t>(count) * sizeof(W));
    } else if (to_step == 1 && from_step == 0) {
      std::fill_n(to, count, *from);
    } else if (to_step == 1 && from_step == -1) {
      for (int64_t i = 0; i < count; ++i) to[i] = from[-i];
    } else if (to_step == 1 && from_step == 2) {
#pragma GCC ivdep
      for (int64_t i = 0; i < count; ++i) to[i] = from[2 * i];
    } else {
      for (int64_t i = 0; i < count; ++i) to[i * to_step] = from[i * from_step];
    }
  }

  template <typename T, typename C>
  static void add_row(const T* grad, int64_t grad_step, C* from, int64_t from_step, int64_t count) {
    if (grad_step == 1 && from_step == 1) {
#pragma GCC ivdep
      for (int64_t i = 0; i < count; ++i) from[i] += static_cast<C>(grad[i]);
    } else {
      for (int64_t i = 0; i < count; ++i)
        from[i * from_step] += static_cast<C>(grad[i * grad_step]);
    }
  }

  // Calls f(offset in to, offset in from, count, steps) for each row of each piece.
  template <typename F>
  void for_each_row(F&& f) const {
    for_each_rows([&](int64_t at, int64_t source, const StridedRows& rows) {
      rows.for_each(at, source, [&](int64_t row_at, int64_t row_source) {
        f(row_at, row_source, rows.count, rows.step);
      });
    });
  }

  // Calls f(offset in to, offset in from, rows) for groups of rows.
  template <typename F>
  void for_each_rows(F&& f) const {
    const bool together = goes_together();
    const size_t chosen_loops = loops_.size() - (together ? 1 : 0);
    std::vector<size_t> chosen(chosen_loops, 0);
    for (const Loop& loop : loops_) {
      if (loop.runs.empty()) return;
    }
    while (true) {
      if (together) {
        walk_rows(chosen, f);
      } else {
        walk_piece(chosen, f);
      }
      size_t d = chosen_loops;
      while (d > 0 && ++chosen[d - 1] == loops_[d - 1].runs.size()) chosen[--d] = 0;
      if (d == 0) return;
    }
  }

  // Whether the runs of the last loop are copied side by side, row after row. Copied one after the
  // other, each run would load the same cache lines from memory again.
  bool goes_together() const {
    constexpr int64_t kLong = 16;  // elements
    return !loops_.empty() && loops_.back().runs.size() > 1 && row_length() >= kLong;
  }
  // Returns the number of elements in all runs of the last loop.
  int64_t row_length() const {
    int64_t count = 0;
    for (const IndexRun& run : loops_.back().runs) count += run.count;
    return count;
  }

  // Appends the loops of the chosen runs to `walk` and returns where they begin.
  Strides begin_walk(std::span<const size_t> chosen, Walk* walk) const {
    Strides first = first_;
    for (size_t d = 0; d < chosen.size(); ++d) {
      const IndexRun& run = loops_[d].runs[chosen[d]];
      const Strides& strides = loops_[d].strides;
      first.to += run.to * strides.to;
      first.from += run.from * strides.from;
      walk->append(run.count, {strides.to, run.step * strides.from});
    }
    return first;
  }

  // Walks in blocks of rows, which stay in the first-level cache from run to run.
  template <typename F>
  void walk_rows(std::span<const size_t> chosen, F&& f) const {
    constexpr int64_t kBlock = 2048;  // elements
    constexpr int64_t kMostRows = 16;
    const int64_t most = std::clamp<int64_t>(kBlock / row_length(), 1, kMostRows);
    Walk walk;
    const Strides first = begin_walk(chosen, &walk);
    int64_t rows = 1;
    Strides row{0, 0};
    if (walk.ndim() > 0) rows = take_loop(walk.ndim() - 1, &walk, &row);
    // The longest run first: it loads the cache lines that the short ones share.
    std::vector<IndexRun> runs = loops_.back().runs;
    std::stable_sort(runs.begin(), runs.end(),
                     [](const IndexRun& a, const IndexRun& b) { return a.count > b.count; });
    walk.for_each([&](const std::array<int64_t, 2>& at) {
      for (int64_t r = 0; r < rows; r += most) {
        const Strides begin{first.to + at[0] + r * row.to, first.from + at[1] + r * row.from};
        for (const IndexRun& run : runs) walk_block(run, begin, std::min(most, rows - r), row, f);
      }
    });
  }

  // One run of the last loop in `rows` rows, or column by column if the run is short.
  template <typename F>
  void walk_block(const IndexRun& run, Strides begin, int64_t rows, Strides row, F& f) const {
    const Strides& strides = loops_.back().strides;
    const Strides step{strides.to, run.step * strides.from};
    const bool is_short = run.count < kShort;
    f(begin.to + run.to * strides.to, begin.from + run.from * strides.from,
      is_short ? StridedRows{rows, row, run.count, step} : StridedRows{run.count, step, rows, row});
  }

  template <typename F>
  void walk_piece(std::span<const size_t> chosen, F&& f) const {
    Walk walk;
    const Strides first = begin_walk(chosen, &walk);
    StridedRows rows{1, {1, 1}};
    if (walk.ndim() > 0) rows.count = take_loop(row_loop(walk), &walk, &rows.step);
    if (walk.ndim() > 0) rows.turns = take_loop(walk.ndim() - 1, &walk, &rows.row_step);
    if (rows.count == 0) return;
    walk.for_each(
        [&](const std::array<int64_t, 2>& at) { f(first.to + at[0], first.from + at[1], rows); });
  }

  // Removes a loop from the walk and returns its number of turns.
  static int64_t take_loop(int loop, Walk* walk, Strides* step) {
    const int64_t turns = walk->size(loop);
    *step = {walk->stride(loop, 0), walk->stride(loop, 1)};
    walk->remove(loop);
    return turns;
  }

  // Returns the loop to run innermost: the last one, unless it is short and the loop around it is
  // longer.
  static int row_loop(const Walk& walk) {
    const int last = walk.ndim() - 1;
    return last > 0 && walk.size(last) < kShort && walk.size(last - 1) > walk.size(last) ? last - 1
                                                                                         : last;
  }

  const std::vector<Loop>& loops_;
  Strides first_;
};

/// The gradient of copied pieces: sets each element of `from` to the sum of `grad` over the places
/// to which it was moved. Half precision is summed in float.
template <typename T>
void sum_back(const Pieces& pieces, const T* grad, T* from, int64_t count) {
  if constexpr (kIs16Bit<T>) {
    std::vector<compute_t<T>> sums(static_cast<size_t>(count));
    PieceMoves(pieces).add_back(grad, sums.data());
    convert(sums.data(), from, count);
  } else {
    std::fill_n(from, count, T(0));
    PieceMoves(pieces).add_back(grad, from);
  }
}

}  // namespace phi
