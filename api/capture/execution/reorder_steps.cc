// Sorts steps by the number of the step that they follow, then by a count of steps moved after it.
#include "api/capture/execution/reorder_steps.h"

#include <algorithm>
#include <tuple>
#include <unordered_map>
#include <utility>

namespace phi::ir {
namespace {

struct StepPosition {
  int64_t behind = -1;  // the step's number, or that of the step after which it was moved
  int64_t count = 0;
  friend bool operator<(const StepPosition& a, const StepPosition& b) {
    return std::tie(a.behind, a.count) < std::tie(b.behind, b.count);
  }
};

// Whether the step writes only to buffers that it also reads.
bool is_sum(const RecordedStep& step) {
  if (!step.step->is_repeatable()) return false;
  const auto reads = [&](BufferId buffer) {
    return std::any_of(step.uses.begin(), step.uses.end(), [&](const BufferUse& use) {
      return use.buffer == buffer && (use.access == Access::kRead || use.access == Access::kUpdate);
    });
  };
  bool writes = false;
  for (const BufferUse& use : step.uses) {
    if (use.buffer == kNoBuffer || !use.writes()) continue;
    if (!reads(use.buffer)) return false;
    writes = true;
  }
  return writes;
}

class Order {
 public:
  // Returns the step's place: for a sum, directly after the last step that it depends on.
  StepPosition place(const RecordedStep& step, int64_t number) {
    StepPosition place{number, 0};
    if (is_sum(step)) {
      place = after(step);
      place.count = ++moved_[place.behind];
    }
    for (const BufferUse& use : step.uses) {
      if (use.buffer == kNoBuffer || use.access == Access::kShape) continue;
      StepPosition& last = use.writes() ? written_[use.buffer] : read_[use.buffer];
      last = std::max(last, place);
    }
    return place;
  }

 private:
  StepPosition after(const RecordedStep& step) const {
    StepPosition last;
    const auto look = [&](const std::unordered_map<BufferId, StepPosition>& places,
                          BufferId buffer) {
      const auto found = places.find(buffer);
      if (found != places.end()) last = std::max(last, found->second);
    };
    for (const BufferUse& use : step.uses) {
      if (use.buffer == kNoBuffer || use.access == Access::kShape) continue;
      look(written_, use.buffer);
      if (use.writes()) look(read_, use.buffer);
    }
    return last;
  }

  std::unordered_map<BufferId, StepPosition> written_;  // by buffer: the last write
  std::unordered_map<BufferId, StepPosition> read_;     // by buffer: the last read
  std::unordered_map<int64_t, int64_t> moved_;          // number of steps moved after a step
};

}  // namespace

std::vector<RecordedStep> hoist_accumulations(std::vector<RecordedStep> steps) {
  std::vector<std::pair<StepPosition, size_t>> places;
  Order order;
  for (size_t i = 0; i < steps.size(); ++i) {
    places.emplace_back(order.place(steps[i], static_cast<int64_t>(i)), i);
  }
  std::sort(places.begin(), places.end());
  std::vector<RecordedStep> moved;
  moved.reserve(steps.size());
  for (const auto& [place, i] : places) moved.push_back(std::move(steps[i]));
  return moved;
}

}  // namespace phi::ir
