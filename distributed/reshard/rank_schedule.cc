// Computes the messages that a rank sends and receives in each step of a plan.
#include "distributed/reshard/rank_schedule.h"

#include <glog/logging.h>

#include <bit>
#include <unordered_map>

#include "distributed/comm/rank_positions.h"
#include "distributed/reshard/staging_buffer.h"
#include "phi/core/box_copy.h"

namespace phi::distributed {
namespace {

std::vector<BoxMessage> box_messages_of(const std::vector<BoxTransfer>& transfers, const Box& local,
                                        int64_t rank, const RankPositions& positions,
                                        size_t width) {
  std::vector<BoxMessage> legs;
  legs.reserve(transfers.size());
  for (const BoxTransfer& t : transfers) {
    legs.push_back({positions.of(t.peer), t.peer == rank, t.box,
                    static_cast<size_t>(t.box.numel()) * width, contiguous_offset(local, t.box)});
  }
  return legs;
}

// If each rank's local array is the concatenation of the parts for its group's ranks, returns the
// sizes of the parts; otherwise an empty list. It uses only what all ranks know, so all get the
// same result.
std::vector<int64_t> scatter_counts(const ReshardStep& step, std::span<const int64_t> group) {
  if (step.move.reduced == 0 || step.over != step.move.reduced || step.move.first_only != 0)
    return {};
  const ProcessMesh& mesh = step.to()->mesh();
  const int tensor_dim = step.to()->placement(std::countr_zero(step.over)).tensor_dim();
  if (tensor_dim < 0 || step.move.shape.numel(0, tensor_dim) != 1) return {};
  int order = -1;
  for (int m = 0; m < mesh.ndim(); ++m) {
    if (!has(step.over, m)) continue;
    const Placement& p = step.to()->placement(m);
    if (!p.is_shard(tensor_dim) || p.order() <= order) return {};
    order = p.order();
  }
  std::vector<int64_t> counts;
  counts.reserve(group.size());
  for (int64_t rank : group) {
    counts.push_back(local_box(step.move.shape, *step.to(), *mesh.coord_of(rank)).numel());
  }
  return counts;
}

// Whether a step between two meshes has all ranks of the job, which need not be listed.
bool has_every_rank(const ReshardStep& step, int64_t size) {
  const ProcessMesh& from = step.from()->mesh();
  const ProcessMesh& to = step.to()->mesh();
  return from != to &&
         ((to.size() == size && covers(to, from)) || (from.size() == size && covers(from, to)));
}

StepSchedule schedule_move(const ReshardStep& step, DataType dtype, Communicator& communicator) {
  StepSchedule schedule;
  const int64_t rank = communicator.rank();
  const size_t width = size_of(dtype);
  std::vector<int64_t> listed;
  std::span<const int64_t> group;
  if (has_every_rank(step, communicator.size())) {
    group = communicator.everyone().ranks();
  } else {
    listed = ranks_of_step(step, rank);
    group = listed;
  }
  if (group.empty()) return schedule;
  schedule.takes_part = true;
  if (group.size() > 1) {
    schedule.group = listed.empty() ? &communicator.everyone() : &communicator.group(group);
  }
  if (!step.moves_boxes()) return schedule;
  const RankPositions positions(group);
  const TransferRoutes routes(step.move);
  schedule.contributions = routes.contributions();
  if (const auto coord = step.from()->mesh().coord_of(rank)) {
    schedule.src_box = local_box(step.move.shape, *step.from(), *coord);
    schedule.sends =
        box_messages_of(routes.outgoing(rank), schedule.src_box, rank, positions, width);
  }
  if (const auto coord = step.to()->mesh().coord_of(rank)) {
    schedule.receives = true;
    for (int m = 0; m < kMaxMeshNdim; ++m) {
      if (has(step.move.first_only, m) && (*coord)[m] != 0) schedule.receives = false;
    }
    schedule.dst_box = local_box(step.move.shape, *step.to(), *coord);
    schedule.recvs =
        box_messages_of(routes.incoming(rank), schedule.dst_box, rank, positions, width);
  }
  schedule.scatter_counts = scatter_counts(step, group);
  for (const BoxMessage& message : schedule.sends) {
    if (!message.offset) schedule.staging_bytes += StagingBuffer::round_up(message.bytes);
  }
  const bool reduces = step.move.reduced != 0;
  for (size_t i = 0; i < schedule.recvs.size(); ++i) {
    const BoxMessage& message = schedule.recvs[i];
    const bool is_first = i % static_cast<size_t>(schedule.contributions) == 0;
    // Space for what arrives and, once per box, for the result of reducing it.
    if (!message.offset || reduces)
      schedule.staging_bytes += StagingBuffer::round_up(message.bytes);
    if (!message.offset && reduces && is_first)
      schedule.staging_bytes += StagingBuffer::round_up(message.bytes);
  }
  return schedule;
}

}  // namespace

std::shared_ptr<const RankSchedule> schedule_of(const std::shared_ptr<const ReshardPlan>& plan,
                                                Communicator& communicator) {
  struct Key {
    const ReshardPlan* plan;
    uint64_t communicator;
    bool operator==(const Key&) const = default;
  };
  struct KeyHash {
    size_t operator()(const Key& key) const {
      return reinterpret_cast<uintptr_t>(key.plan) * 0x9e3779b97f4a7c15u ^ key.communicator << 20;
    }
  };
  constexpr size_t kMostSchedules = 8192;
  thread_local std::unordered_map<Key, std::shared_ptr<const RankSchedule>, KeyHash> schedules;
  const Key key{plan.get(), communicator.id()};
  if (const auto it = schedules.find(key); it != schedules.end()) return it->second;
  VLOG(1) << "rank " << communicator.rank() << ": " << plan->to_string();
  auto schedule = std::make_shared<RankSchedule>(RankSchedule{plan, {}});
  for (const ReshardStep& step : plan->steps) {
    schedule->moves.push_back(schedule_move(step, plan->dtype, communicator));
  }
  if (schedules.size() >= kMostSchedules) schedules.clear();
  return schedules[key] = std::move(schedule);
}

}  // namespace phi::distributed
