// JobLayout: how a training job is laid out over its ranks: mesh, pipeline, and what is split or
// recomputed.
//
//   LayoutSpace space{.devices = 16, .global_batch = 32, .layers = 12};
//   for (const JobLayout& layout : all_layouts(space)) ...
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "distributed/pipeline/schedules/schedule.h"
#include "distributed/planner/recompute.h"

namespace phi::distributed {

/// The ranks of a mesh [dp, pp, tp] are numbered so that those along tp are neighbours.
struct JobLayout {
  int64_t dp = 1;
  int64_t pp = 1;
  int64_t tp = 1;
  pipeline::ScheduleKind schedule = pipeline::ScheduleKind::k1F1B;
  int64_t chunks = 1;         // per stage
  int64_t micro_batches = 1;  // in a step
  int zero_stage = 0;         // over dp
  bool sequence_parallel = false;
  Recompute recompute = Recompute::kNone;
  /// Layers of each chunk, in the order of the model; empty: evenly.
  std::vector<int64_t> cut{};

  int64_t ranks() const { return dp * pp * tp; }
  friend bool operator==(const JobLayout&, const JobLayout&) = default;
};

/// "dp 128  pp 16  tp 8  1f1b, 16 micro-batches  zero 1  sequence parallel"
std::string to_string(const JobLayout& layout);

/// The layouts of a job. Each list that is empty has the values that make sense for the sizes.
/// Values that have no effect are those of a default layout: 1F1B without a pipeline, ZeRO 0
/// without dp, no sequence parallelism without tp.
struct LayoutSpace {
  int64_t devices = 1;
  int64_t global_batch = 1;  // samples
  int64_t layers = 0;        // that a pipeline distributes; 0: no pipeline
  std::vector<int64_t> dp{};
  std::vector<int64_t> pp{};
  std::vector<int64_t> tp{};
  std::vector<pipeline::ScheduleKind> schedules{};
  std::vector<int64_t> chunks{};
  std::vector<int64_t> micro_batches{};
  std::vector<int> zero_stages{};
  std::vector<bool> sequence_parallel{};
  std::vector<Recompute> recompute{};
};

/// Each once, by increasing tp, then pp. Those that make sense:
/// - extents whose product is `devices`; micro-batches that divide the samples of each rank along
///   dp evenly;
/// - a pipeline of at most `layers` chunks, with 1F1B, zero-bubble schedules, or interleaved with 2
///   to 8 chunks that divide the layers evenly;
/// - ZeRO 0 to 3 where dp > 1, sequence parallelism where tp > 1.
std::vector<JobLayout> all_layouts(const LayoutSpace& space);

}  // namespace phi::distributed
