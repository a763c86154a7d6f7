// The peak is in the first backward of a stage, or the same in each later one.
#include "api/planning/stage_bytes.h"

#include <algorithm>

#include "distributed/pipeline/schedules/make_schedule.h"
#include "distributed/pipeline/schedules/peak_memory.h"
#include "distributed/placement/split.h"

namespace phi::planning {
namespace {

using distributed::JobLayout;
using distributed::pipeline::MemoryBound;
using distributed::pipeline::Schedule;

Schedule sizes_of(const JobLayout& layout) {
  return {.kind = "",
          .stages = static_cast<int>(layout.pp),
          .chunks = static_cast<int>(layout.chunks),
          .micro_batches = static_cast<int>(layout.micro_batches),
          .actions = {}};
}

int64_t part_of(double share, int64_t bytes) {
  return static_cast<int64_t>(share * static_cast<double>(bytes));
}

int64_t activation_bytes(const JobLayout& layout, const std::vector<LayerCost>& chunks,
                         int64_t stage) {
  if (layout.chunks == 1) {
    const LayerCost& own = chunks[static_cast<size_t>(stage)];
    const HeldMicroBatches held = held_micro_batches(layout, stage, own);
    return held.kept * own.kept_bytes + held.deferred * own.deferred_bytes;
  }
  const std::vector<int> held =
      held_by_chunk(layout.schedule, sizes_of(layout), static_cast<int>(stage));
  int64_t bytes = 0;
  for (size_t c = 0; c < held.size(); ++c)
    bytes += held[c] *
             chunks[c * static_cast<size_t>(layout.pp) + static_cast<size_t>(stage)].kept_bytes;
  return bytes;
}

// A chunk has gradients after its first backward. Backwards of a group of micro-batches pass the
// last chunk, then the one before it, and so on.
int64_t gradient_bytes_at_peak(const JobLayout& layout, const PartCosts& costs,
                               const std::vector<LayerCost>& chunks, int64_t stage) {
  const MemoryBound bound =
      memory_bound(layout.schedule, sizes_of(layout), static_cast<int>(stage));
  const int64_t forwards = layout.micro_batches * layout.chunks;
  const int64_t group = std::min(layout.micro_batches, layout.pp);
  const auto chunk = [&](int64_t i) { return chunks[static_cast<size_t>(i * layout.pp + stage)]; };
  if (bound.weight == 0 && bound.input == forwards) {
    // The first backward, which frees what a micro-batch kept, follows all forwards.
    const LayerCost last = chunk(layout.chunks - 1);
    return std::max<int64_t>(0, part_of(last.share, costs.gradient_bytes) - last.kept_bytes);
  }
  const int64_t backwards = bound.weight > 0 ? group : forwards - bound.input;
  double share = 0;
  for (int64_t i = 0; i < std::min(layout.chunks, (backwards + group - 1) / group); ++i)
    share += chunk(layout.chunks - 1 - i).share;
  return part_of(share, costs.gradient_bytes);
}

}  // namespace

std::vector<LayerCost> chunks_of(const JobLayout& layout, const PartCosts& costs) {
  const int64_t count = layout.pp * layout.chunks;
  const auto layers = static_cast<int64_t>(costs.layers.size());
  std::vector<LayerCost> out(static_cast<size_t>(count));
  size_t layer = 0;
  for (int64_t c = 0; c < count; ++c) {
    const int64_t own = layout.cut.empty() ? distributed::split_range(layers, count, c).size
                                           : layout.cut[static_cast<size_t>(c)];
    LayerCost& chunk = out[static_cast<size_t>(c)];
    for (int64_t i = 0; i < own; ++i, ++layer) chunk += costs.layers[layer];
    // The received input is counted here, and the sender's copy of it in the chunk before
    // (release_points.h).
    if (c > 0) chunk.kept_bytes += out[static_cast<size_t>(c - 1)].output_bytes;
  }
  return out;
}

// A stage of a zero-bubble schedule holds as many micro-batches during a forward as it does after
// the next backward, which defers one more.
HeldMicroBatches held_micro_batches(const JobLayout& layout, int64_t stage,
                                    const LayerCost& layers) {
  const MemoryBound bound =
      memory_bound(layout.schedule, sizes_of(layout), static_cast<int>(stage));
  const int64_t m = layout.micro_batches;
  if (bound.weight == 0) return {bound.input, 0};
  if (layers.kept_bytes > layers.deferred_bytes)
    return {bound.input, std::min<int64_t>(bound.weight - 1, m - bound.input)};
  return {std::min<int64_t>(bound.input - 1, m - bound.weight), bound.weight};
}

int64_t stage_bytes(const JobLayout& layout, const PartCosts& costs,
                    const std::vector<LayerCost>& chunks, int64_t stage) {
  LayerCost own;
  for (int64_t c = stage; c < std::ssize(chunks); c += layout.pp)
    own += chunks[static_cast<size_t>(c)];
  const int64_t at_peak = activation_bytes(layout, chunks, stage) +
                          gradient_bytes_at_peak(layout, costs, chunks, stage);
  const int64_t at_end = part_of(own.share, costs.gradient_bytes);
  return part_of(own.share, costs.state_bytes - costs.gradient_bytes) + own.passing_bytes +
         std::max(at_peak, at_end);
}

}  // namespace phi::planning
