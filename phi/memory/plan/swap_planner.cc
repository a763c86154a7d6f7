// The steps of a run: fetch operands, prefetch, launch, end values.
#include "phi/memory/plan/swap_planner.h"

#include <algorithm>

#include "phi/common/errors.h"

namespace phi::memory {

SwapPlanner::SwapPlanner(const ProgramIndex& index, const PlannerOptions& options,
                         const std::vector<SwapResidence>& start)
    : index_(index),
      options_(options),
      start_(start),
      clock_(index),
      log_(options.costs),
      below_(index, clock_, log_, options.limits),
      arena_(options.limits.device_bytes / kDeviceAlignment * kDeviceAlignment),
      states_(static_cast<size_t>(index.num_buffers())) {
  start_.resize(states_.size());
}

int64_t SwapPlanner::home(SwapBufferId buffer) const {
  return options_.steady ? start_[static_cast<size_t>(buffer)].device_offset : kNone;
}

SwapPlan SwapPlanner::run() {
  take_start();
  for (int32_t step = 0; step < index_.num_steps(); ++step) plan_step(step);
  if (options_.steady) {
    restore_start();
  } else {
    reserve_inputs();
  }
  return finish();
}

void SwapPlanner::take_start() {
  for (SwapBufferId b = 0; b < index_.num_buffers(); ++b) {
    const SwapResidence& at = start_[static_cast<size_t>(b)];
    if (at.device_offset >= 0) {
      settle_at(b, at.device_offset);
      state(b).written = true;
    }
    for (Tier tier : {Tier::kHost, Tier::kDisk}) {
      const bool wanted = tier == Tier::kHost ? at.host : at.disk;
      PHI_CHECK(!wanted || below_.hold_at_start(b, tier),
                errors::ResourceExhausted(
                    "{} does not fit on the {} between two runs; raise its limit "
                    "of {} bytes.",
                    index_.describe_buffer(b), name_of(tier), options_.limits.of(tier)));
    }
  }
  for (SwapBufferId b = 0; b < index_.num_buffers(); ++b) {
    if (index_.given(b) && !clock_.is_needed(b)) end_value(b);
  }
}

void SwapPlanner::plan_step(int32_t step) {
  recompute_missing(step);
  pin(step);
  std::vector<SwapOperand> operands(index_.operands(step).begin(), index_.operands(step).end());
  // The largest first, while free memory is least fragmented.
  std::stable_sort(operands.begin(), operands.end(), [&](const auto& a, const auto& b) {
    return index_.size(a.buffer) > index_.size(b.buffer);
  });
  for (const SwapOperand& operand : operands) bring(operand.buffer, operand.access);
  fetch_ahead();
  promote_ahead();
  launch(step, false);
  finish_uses(step);
}

void SwapPlanner::pin(int32_t step) {
  for (const SwapOperand& operand : index_.operands(step)) {
    state(operand.buffer).pinned_at = next_launch();
  }
}

void SwapPlanner::bring(SwapBufferId buffer, BufferAccess access) {
  if (is_resident(buffer)) return;
  if (!place(buffer, {.now = true})) fail(buffer);
  if (access != BufferAccess::kWrite) fetch(buffer);
}

void SwapPlanner::launch(int32_t step, bool recompute) {
  const int32_t launch = next_launch();
  for (const SwapOperand& operand : index_.operands(step)) {
    State& at = state(operand.buffer);
    if (at.last != kNone) log_.settle(at.last, launch);
    at.last = kNone;
    const int64_t begin = offset_of(operand.buffer);
    if (!at.written) {
      for (int32_t action : busy_actions(begin, begin + index_.size(operand.buffer))) {
        log_.settle(action, launch);
      }
    }
  }
  launches_.push_back({step, recompute, static_cast<int32_t>(offsets_.size())});
  const SwapStep& given = index_.program().steps[static_cast<size_t>(step)];
  for (const SwapOperand& operand : given.operands) offsets_.push_back(offset_of(operand.buffer));
  if (given.scratch_bytes > 0) offsets_.push_back(offset_of(index_.scratch_of(step)));
  now_ = std::max(now_, log_.take_settled_end()) + given.seconds;
}

void SwapPlanner::finish_uses(int32_t step) {
  clock_.finish_step();
  for (const SwapOperand& operand : index_.operands(step)) {
    clock_.finish_use(operand.buffer);
    if (operand.access != BufferAccess::kRead) {
      state(operand.buffer).written = true;
      below_.drop_all(operand.buffer, next_launch());
    }
    if (!clock_.is_needed(operand.buffer)) {
      end_value(operand.buffer);
    } else {
      list_use(operand.buffer);
    }
  }
}

void SwapPlanner::end_value(SwapBufferId buffer) {
  if (is_resident(buffer)) leave(buffer);
  below_.drop_all(buffer, next_launch());
}

void SwapPlanner::fetch(SwapBufferId buffer) {
  const int64_t begin = offset_of(buffer);
  SwapAction action{.buffer = buffer, .to_offset = begin, .issue = next_launch()};
  action.after = busy_actions(begin, begin + index_.size(buffer));
  state(buffer).last = below_.fetch(std::move(action), now_);
  state(buffer).written = true;
}

std::span<const SwapOperand> SwapPlanner::operands_at(int32_t use) const {
  const int32_t n = index_.num_steps();
  return index_.operands(use < n ? use : use - n);
}

void SwapPlanner::fetch_ahead() {
  ahead_ = std::max(ahead_, clock_.step() + 1);
  for (; ahead_ < 2 * index_.num_steps(); ++ahead_) {
    for (const SwapOperand& operand : operands_at(ahead_)) {
      if (is_resident(operand.buffer)) continue;
      if (try_ahead(operand, ahead_) == Ahead::kWait) return;
    }
  }
}

SwapPlanner::Ahead SwapPlanner::try_ahead(const SwapOperand& operand, int32_t use) {
  const SwapBufferId b = operand.buffer;
  const int32_t n = index_.num_steps();
  const bool fresh = operand.access == BufferAccess::kWrite;
  if (use >= n && (fresh || (options_.steady && home(b) == kNone))) return Ahead::kSkip;
  const BufferUse* next = clock_.next_access(b);
  if (fresh ? !next || next->step != use : !below_.holds(b) || clock_.next_use(b) != use) {
    return Ahead::kSkip;
  }
  const Tier from = fresh ? Tier::kHost : below_.source(b);
  const Channel channel = from == Tier::kDisk ? Channel::kDisk : Channel::kToDevice;
  if (!is_worth_while(from, Tier::kDevice, channel, index_.nbytes(b), use)) return Ahead::kWait;
  if (!place(b, {.now = false, .use = use})) return Ahead::kWait;
  if (!fresh) fetch(b);
  return Ahead::kDone;
}

void SwapPlanner::promote_ahead() {
  ahead_host_ =
      std::max({std::min(ahead_host_, below_.take_earliest_on_disk()), clock_.step() + 1});
  for (; ahead_host_ < 2 * index_.num_steps(); ++ahead_host_) {
    for (const SwapOperand& operand : operands_at(ahead_host_)) {
      const SwapBufferId b = operand.buffer;
      if (is_resident(b) || below_.holds(b, Tier::kHost) || !below_.holds(b, Tier::kDisk)) continue;
      if (clock_.next_use(b) != ahead_host_) continue;
      const SwapResidence& at = start_[static_cast<size_t>(b)];
      const bool next_run = ahead_host_ >= index_.num_steps();
      if (next_run && options_.steady && !at.host && at.device_offset < 0) continue;
      if (!is_worth_while(Tier::kDisk, Tier::kHost, Channel::kDisk, index_.nbytes(b),
                          ahead_host_) ||
          !below_.promote(b, next_launch(), now_)) {
        return;
      }
    }
  }
}

bool SwapPlanner::is_worth_while(Tier from, Tier to, Channel channel, int64_t nbytes,
                                 int32_t use) const {
  const double transfer = options_.costs.seconds(from, to, nbytes);
  const double step = index_.program().steps[static_cast<size_t>(clock_.step())].seconds;
  const double backlog = std::max(0.0, log_.free_at(channel) - now_);
  // The queued transfers keep the channel busy through this step and the eviction before the next
  // one.
  if (backlog > step + 2 * transfer) return false;
  // A transfer is in time even if estimates are wrong by this factor.
  constexpr double kMargin = 4;
  if (use <= clock_.step() + 2) return true;
  return clock_.seconds_until(use) <= 2 * step + kMargin * (backlog + 2 * transfer);
}

SwapPlan SwapPlanner::finish() {
  SwapPlan plan;
  plan.start.assign(start_.begin(),
                    start_.begin() + static_cast<ptrdiff_t>(index_.program().buffers.size()));
  plan.end = residences();
  plan.transfers = log_.stats();
  plan.actions = log_.take(next_launch());
  plan.launches = std::move(launches_);
  plan.offsets = std::move(offsets_);
  plan.arena_bytes = arena_.high_water();
  plan.peak_bytes = {peak_device_, below_.peak_bytes(Tier::kHost), below_.peak_bytes(Tier::kDisk)};
  return plan;
}

}  // namespace phi::memory
