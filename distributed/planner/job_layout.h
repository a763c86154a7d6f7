// JobLayout: how a training job is laid out over its ranks: mesh, pipeline, and what is split or
// recomputed.
//
//   LayoutSpace space{.devices = 16, .global_batch = 32, .layers = 12};
//   for (const JobLayout& layout : all_layouts(space)) ...
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "distributed/mesh/process_mesh.h"
#include "distributed/pipeline/schedules/schedule.h"
#include "distributed/planner/recompute.h"

namespace phi::distributed {

/// Which ranks are near each other. Those along tp always are neighbours.
enum class MeshOrder : uint8_t {
  kDpOutside,  // mesh [dp, pp, tp]: stages of a pipeline are nearer than copies of the model
  kPpOutside,  // mesh [pp, dp, tp]
};
/// By value: as plans name them.
inline constexpr std::array<std::string_view, 2> kMeshOrderNames = {"dp_pp_tp", "pp_dp_tp"};
constexpr std::string_view name_of(MeshOrder order) {
  return kMeshOrderNames[static_cast<size_t>(order)];
}

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
  MeshOrder order = MeshOrder::kDpOutside;
  /// Whether tensors have, along tp, the placements that a search finds instead of those that
  /// modules declare.
  bool has_searched_placements = false;

  int64_t ranks() const { return dp * pp * tp; }
  /// From a rank to the one of the next stage.
  int64_t ranks_between_stages() const { return order == MeshOrder::kDpOutside ? tp : dp * tp; }
  friend bool operator==(const JobLayout&, const JobLayout&) = default;
};

/// Names and extents of the mesh, from the outside in.
std::vector<std::pair<std::string, int64_t>> mesh_dims(const JobLayout& layout);

/// The mesh with these dims, also those of one rank.
ProcessMesh mesh_of(const JobLayout& layout);

/// "dp 128  pp 16  tp 8  1f1b, 16 micro-batches  zero 1  sequence parallel", with the mesh dims
/// from the outside in. Different layouts have different texts.
std::string to_string(const JobLayout& layout);

/// The layouts of a job. Each list that is empty has the values that make sense for the sizes.
/// Values that have no effect are those of a default layout: 1F1B without a pipeline, ZeRO 0
/// without dp, no sequence parallelism without tp, dp outside without both dp and pp.
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
  std::vector<MeshOrder> orders{};
};

/// Each once, by increasing tp, then pp. Those that make sense:
/// - extents whose product is `devices`; micro-batches that divide the samples of each rank along
///   dp evenly;
/// - a pipeline of at most `layers` chunks, with 1F1B, zero-bubble schedules, or interleaved with 2
///   to 8 chunks that divide the layers evenly, or would if there were up to a tenth more;
/// - ZeRO 0 to 3 where dp > 1, sequence parallelism where tp > 1.
std::vector<JobLayout> all_layouts(const LayoutSpace& space);

}  // namespace phi::distributed
