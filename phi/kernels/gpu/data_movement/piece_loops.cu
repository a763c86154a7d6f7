// Converts pieces to kernel parameters: a loop with one run becomes a stride, and the table of runs
// has a size limit.
#include <algorithm>

#include "phi/kernels/gpu/data_movement/piece_loops.h"

namespace phi::gpu {
namespace {

// Number of entries that a loop needs in the table.
size_t runs_in(const Pieces::StridedLoop& loop) {
  return loop.runs.size() > 1 ? loop.runs.size() : 0;
}

void append_stride(int64_t size, Strides stride, PieceLoops* loops) {
  if (size == 1) return;
  const int last = loops->ndim - 1;
  const bool follows = last >= 0 && loops->first_run[last] == loops->first_run[last + 1] &&
                       stride.to == loops->strides[last].to * loops->sizes[last].by() &&
                       stride.from == loops->strides[last].from * loops->sizes[last].by();
  if (follows) {
    loops->sizes[last] = Divider(loops->sizes[last].by() * size);
    return;
  }
  loops->sizes[loops->ndim] = Divider(size);
  loops->strides[loops->ndim] = stride;
  loops->first_run[loops->ndim + 1] = loops->first_run[loops->ndim];
  ++loops->ndim;
}

void append_runs(const Pieces::StridedLoop& loop, PieceLoops* loops) {
  const Strides& by = loop.strides;
  int at = loops->first_run[loops->ndim];
  int64_t turns = 0;
  for (const IndexRun& run : loop.runs) {
    loops->runs[at++] = {turns, run.from * by.from, run.to * by.to, run.step * by.from, by.to};
    turns += run.count;
  }
  loops->sizes[loops->ndim] = Divider(turns);
  loops->strides[loops->ndim] = {0, 0};
  loops->first_run[++loops->ndim] = at;
}

PieceLoops whole(const std::vector<Pieces::StridedLoop>& all, Strides first) {
  PieceLoops loops;
  loops.first = first;
  loops.first_run[0] = 0;
  for (auto loop = all.rbegin(); loop != all.rend(); ++loop) {
    if (loop->runs.size() > 1) {
      append_runs(*loop, &loops);
      continue;
    }
    const IndexRun& run = loop->runs[0];
    loops.first.to += run.to * loop->strides.to;
    loops.first.from += run.from * loop->strides.from;
    append_stride(run.count, {loop->strides.to, run.step * loop->strides.from}, &loops);
  }
  return loops;
}

void append_parts(const std::vector<Pieces::StridedLoop>& all, Strides first,
                  std::vector<PieceLoops>* parts) {
  size_t runs = 0;
  for (const Pieces::StridedLoop& loop : all) runs += runs_in(loop);
  if (runs <= PieceLoops::kMaxRuns) {
    parts->push_back(whole(all, first));
    return;
  }
  const auto longest = std::ranges::max_element(all, {}, runs_in) - all.begin();
  const std::vector<IndexRun>& cut = all[longest].runs;
  const auto middle = cut.begin() + static_cast<std::ptrdiff_t>(cut.size() / 2);
  std::vector<Pieces::StridedLoop> half = all;
  half[longest].runs.assign(cut.begin(), middle);
  append_parts(half, first, parts);
  half[longest].runs.assign(middle, cut.end());
  append_parts(half, first, parts);
}

}  // namespace

std::vector<PieceLoops> piece_loops(const Pieces& pieces) {
  std::vector<PieceLoops> parts;
  const std::vector<Pieces::StridedLoop>& all = pieces.loops();
  const bool is_empty = std::ranges::any_of(all, [](const Pieces::StridedLoop& loop) {
    return std::ranges::all_of(loop.runs, [](const IndexRun& run) { return run.count == 0; });
  });
  if (!is_empty) append_parts(all, pieces.first(), &parts);
  return parts;
}

}  // namespace phi::gpu
