// Schedule: a plan for one rank, with its group, boxes and messages in every step.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "distributed/comm/world.h"
#include "distributed/reshard/plan.h"

namespace phi::distributed {

// One message of a step, for this rank.
struct BoxMessage {
  int64_t position = 0;  // the peer's position in the group
  bool is_own = false;   // from this rank to itself
  Box box;
  size_t bytes = 0;
  std::optional<int64_t> offset;  // in elements, if the box is contiguous in the local array
};

// This rank's work in one step that moves boxes.
struct StepSchedule {
  bool takes_part = false;
  bool receives = false;
  Group* group = nullptr;
  Box src_box;  // this rank's part before the step
  Box dst_box;  // and after it
  std::vector<BoxMessage> sends;
  std::vector<BoxMessage> recvs;
  int64_t contributions = 1;
  std::vector<int64_t> scatter_counts;  // not empty: the step is exactly Group::reduce_scatter_v
  size_t staging_bytes = 0;
};

struct RankSchedule {
  std::shared_ptr<const ReshardPlan> plan;
  std::vector<StepSchedule> moves;  // one per step
};

/// Returns the schedule of a plan. Schedules are cached per thread.
std::shared_ptr<const RankSchedule> schedule_of(const std::shared_ptr<const ReshardPlan>& plan,
                                                Communicator& communicator);

}  // namespace phi::distributed
