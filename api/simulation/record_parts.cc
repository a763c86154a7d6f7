// An observer that takes the world's record whenever the rank's action or chunk changes.
#include "api/simulation/record_parts.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>
#include <variant>

#include "api/call/call_events.h"
#include "api/simulation/record_step.h"
#include "api/tensor/tensor.h"
#include "distributed/placement/dist_attr.h"
#include "phi/core/observer_scope.h"
#include "phi/core/rank_context.h"

namespace phi::simulation {
namespace {

using distributed::RecordedEvent;
using distributed::RecordedMessages;
using distributed::RecordedWait;
using distributed::RecordingWorld;

StepPart part_of(const char* action) {
  const std::string_view name = action ? action : "";
  if (name == "forward") return StepPart::kForward;
  if (name == "backward_weight") return StepPart::kBackwardWeight;
  if (name.starts_with("backward") || name == "recompute") return StepPart::kBackward;
  return StepPart::kUpdate;
}

int64_t local_bytes(const Tensor& x, int64_t rank) {
  if (!x.defined()) return 0;
  const auto bytes = static_cast<int64_t>(size_of(x.dtype()));
  if (!x.is_dist()) return x.shape().numel() * bytes;
  const auto local = distributed::local_shape(x.shape(), *x.dist_attr(), rank);
  return local ? local->numel() * bytes : 0;
}

class PartRecorder final : public Observer {
 public:
  explicit PartRecorder(RecordingWorld& world) : world_(world) { world_.take(); }

  void on_call_begin(const CallBegin&) override { enter(); }
  void on_reshard_begin(const distributed::ReshardBegin&) override { enter(); }
  void on_planned_launch(const PlannedLaunch& launch) override {
    enter();
    world_.add({launch.op, launch.cost.dtype, launch.cost.flops, launch.cost.bytes()});
    RecordedPart& part = parts_[current_].recorded;
    part.held_bytes = world_.rank_context().memory()->planned().current;
    part.peak_bytes = std::max(part.peak_bytes, part.held_bytes);
  }
  void on_call_outputs(const CallOutputs& call) override {
    if (!call.outputs.tensors.empty())
      parts_[current_].recorded.output_bytes =
          local_bytes(*call.outputs.tensors.front(), world_.rank());
  }

  std::vector<RecordedPart> finish() {
    leave();
    std::vector<RecordedPart> out;
    for (Part& part : parts_) {
      if (part.events.empty()) continue;
      part.recorded.program = program_of(part.events, world_.rank());
      out.push_back(std::move(part.recorded));
    }
    return out;
  }

 private:
  struct Part {
    RecordedPart recorded;
    std::vector<RecordedEvent> events;
    size_t calls = 0;  // among the events
  };
  using Key = std::pair<StepPart, int>;

  void enter() {
    const RankContext& rank = world_.rank_context();
    const StepPart part = part_of(rank.action());
    const Key key(part, part == StepPart::kUpdate ? -1 : rank.work().chunk);
    if (!parts_.empty() && key == current_key_) return;
    if (!parts_.empty()) leave();
    current_key_ = key;
    const auto [known, is_new] = index_.try_emplace(key, parts_.size());
    if (is_new) {
      parts_.emplace_back();
      parts_.back().recorded.part = key.first;
      parts_.back().recorded.chunk = key.second;
      parts_.back().recorded.begin_bytes = rank.memory()->planned().current;
    }
    current_ = known->second;
  }

  // Moves what was recorded since the last change to the part in which it was recorded.
  void leave() {
    if (parts_.empty()) return;
    Part& part = parts_[current_];
    const size_t before = part.calls;
    for (RecordedEvent& event : world_.take()) {
      if (auto* wait = std::get_if<RecordedWait>(&event)) wait->call += before;
      if (std::holds_alternative<RecordedMessages>(event)) ++part.calls;
      part.events.push_back(std::move(event));
    }
  }

  RecordingWorld& world_;
  std::vector<Part> parts_;
  std::map<Key, size_t> index_;
  Key current_key_{};
  size_t current_ = 0;
};

}  // namespace

std::vector<RecordedPart> record_parts(RecordingWorld& world, const std::function<void()>& step) {
  PartRecorder recorder(world);
  {
    const ObserverScope scope(recorder, world.rank_context());
    step();
  }
  return recorder.finish();
}

}  // namespace phi::simulation
