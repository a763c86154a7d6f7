// PieceLoops: pieces (kernels/pieces.h) in the form of a kernel parameter, with the offsets of
// iteration i.
#pragma once

#include <cstdint>
#include <vector>

#include "phi/common/dims.h"
#include "phi/common/host_device.h"
#include "phi/gpu/divider.h"
#include "phi/kernels/pieces.h"

namespace phi::gpu {

/// A loop with one run is a stride. Loops with several runs use a table that all of them share.
/// Offsets and strides are in elements.
struct PieceLoops {
  static constexpr int kMaxLoops = 2 * kMaxNdim;
  static constexpr int kMaxRuns = 48;  // limited by the size of kernel parameters
  struct LoopRun {
    int64_t begin;  // iterations of the loop before this run
    int64_t from, to;
    int64_t from_step, to_step;
  };
  Strides first{0, 0};
  int ndim = 0;  // innermost first
  Divider sizes[kMaxLoops];
  Strides strides[kMaxLoops];
  int first_run[kMaxLoops + 1];  // runs of loop d: first_run[d] .. first_run[d + 1] - 1
  LoopRun runs[kMaxRuns];

  bool has_runs() const { return first_run[ndim] > 0; }
  int64_t turns() const {
    int64_t n = 1;
    for (int d = 0; d < ndim; ++d) n *= sizes[d].by();
    return n;
  }

  PHI_HD Strides offsets(int64_t i) const {
    Strides at = first;
    PHI_UNROLL(1)
    for (int d = 0; d < ndim; ++d) {
      const int64_t outer = d + 1 < ndim ? sizes[d].quotient(i) : 0;
      const int64_t turn = i - outer * sizes[d].by();
      i = outer;
      if (first_run[d] == first_run[d + 1]) {
        at.from += turn * strides[d].from;
        at.to += turn * strides[d].to;
        continue;
      }
      const LoopRun& run = runs[run_of(d, turn)];
      at.from += run.from + (turn - run.begin) * run.from_step;
      at.to += run.to + (turn - run.begin) * run.to_step;
    }
    return at;
  }

 private:
  PHI_HD int run_of(int d, int64_t turn) const {
    int low = first_run[d];
    int high = first_run[d + 1];
    while (high - low > 1) {
      const int middle = (low + high) / 2;
      if (runs[middle].begin <= turn) {
        low = middle;
      } else {
        high = middle;
      }
    }
    return low;
  }
};

/// The loops of `pieces`, one launch each: a loop with too many runs is split. Empty if there are
/// no elements.
std::vector<PieceLoops> piece_loops(const Pieces& pieces);

}  // namespace phi::gpu
