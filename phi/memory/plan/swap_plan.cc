// Chooses a strategy: placement by liveness if all values fit, otherwise plans with transfers, from
// the most elaborate to the simplest until one succeeds.
#include "phi/memory/plan/swap_plan.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "phi/common/errors.h"
#include "phi/memory/plan/liveness.h"
#include "phi/memory/plan/page.h"
#include "phi/memory/plan/simulate_plan.h"
#include "phi/memory/plan/swap_planner.h"

namespace phi::memory {
namespace {

void check_limits(const MemoryLimits& limits) {
  for (Tier tier : {Tier::kDevice, Tier::kHost, Tier::kDisk}) {
    PHI_CHECK(limits.of(tier) >= 0,
              errors::InvalidArgument("the {}'s limit is {} bytes; it cannot be negative.",
                                      name_of(tier), limits.of(tier)));
  }
  PHI_CHECK(
      limits.disk_bytes == 0 || limits.host_bytes >= kLeastStaging,
      errors::InvalidArgument("a disk of {} bytes needs {} bytes of host memory for values to "
                              "pass through; the host's limit is {}.",
                              limits.disk_bytes, kLeastStaging, limits.host_bytes));
}

void check_steps_fit(const ProgramIndex& index, const MemoryLimits& limits) {
  int32_t largest = 0;
  for (int32_t step = 1; step < index.num_steps(); ++step) {
    if (index.operand_bytes(step) > index.operand_bytes(largest)) largest = step;
  }
  if (index.num_steps() == 0) return;
  const int64_t needed = index.operand_bytes(largest);
  PHI_CHECK(
      needed <= limits.device_bytes,
      errors::ResourceExhausted("{} needs {} bytes on the device for its operands and scratch; "
                                "the limit is {}.",
                                index.describe_step(largest), needed, limits.device_bytes));
}

int64_t staging_of(const MemoryLimits& limits) {
  constexpr int64_t kMostStaging = 2 << 20;
  if (limits.disk_bytes == 0) return 0;
  const int64_t share = std::min(limits.host_bytes / 8, kMostStaging);
  return std::max(share / kLeastStaging * kLeastStaging, kLeastStaging);
}

SwapPlan plan_by_liveness(const ProgramIndex& index, const std::vector<Lifetime>& lifetimes,
                          const Placement& placement) {
  SwapPlan plan;
  const size_t num_buffers = index.program().buffers.size();
  plan.start.resize(num_buffers);
  plan.end.resize(num_buffers);
  std::vector<size_t> current(static_cast<size_t>(index.num_buffers()), lifetimes.size());
  for (size_t i = lifetimes.size(); i-- > 0;) current[static_cast<size_t>(lifetimes[i].buffer)] = i;
  for (size_t b = 0; b < num_buffers; ++b) {
    if (current[b] == lifetimes.size()) continue;
    const int64_t offset = placement.offsets[current[b]];
    if (index.given(static_cast<SwapBufferId>(b))) plan.start[b].device_offset = offset;
    if (index.keep(static_cast<SwapBufferId>(b))) plan.end[b].device_offset = offset;
  }
  const auto offset_at = [&](SwapBufferId buffer, int32_t step) {
    size_t& at = current[static_cast<size_t>(buffer)];
    while (lifetimes[at].end < step) ++at;
    return placement.offsets[at];
  };
  for (int32_t step = 0; step < index.num_steps(); ++step) {
    plan.launches.push_back({step, false, static_cast<int32_t>(plan.offsets.size())});
    const SwapStep& given = index.program().steps[static_cast<size_t>(step)];
    for (const SwapOperand& operand : given.operands) {
      plan.offsets.push_back(offset_at(operand.buffer, step));
    }
    if (given.scratch_bytes > 0) plan.offsets.push_back(offset_at(index.scratch_of(step), step));
  }
  plan.arena_bytes = placement.arena_bytes;
  plan.peak_bytes[static_cast<size_t>(Tier::kDevice)] = live_bytes(lifetimes);
  return plan;
}

/// A start with all given values on lower tiers if there is room; those that are used first are on
/// the host.
std::vector<SwapResidence> start_below(const ProgramIndex& index, const MemoryLimits& limits) {
  std::vector<SwapBufferId> given;
  for (SwapBufferId b = 0; b < index.num_buffers(); ++b) {
    if (index.given(b)) given.push_back(b);
  }
  const auto first_use = [&](SwapBufferId b) {
    return index.uses(b).empty() ? index.num_steps() : index.uses(b).front().step;
  };
  std::stable_sort(given.begin(), given.end(),
                   [&](SwapBufferId a, SwapBufferId b) { return first_use(a) < first_use(b); });
  std::vector<SwapResidence> start(static_cast<size_t>(index.num_buffers()));
  int64_t host = limits.host_bytes, disk = limits.disk_bytes, device = 0;
  for (SwapBufferId b : given) {
    const int64_t bytes = occupied_bytes(Tier::kHost, index.nbytes(b));
    SwapResidence& at = start[static_cast<size_t>(b)];
    if (host >= bytes) {
      at.host = true;
      host -= bytes;
    } else if (disk >= bytes) {
      at.disk = true;
      disk -= bytes;
    } else {
      at.device_offset = device;
      device += index.size(b);
      PHI_CHECK(
          device <= limits.device_bytes,
          errors::ResourceExhausted(
              "the values that a run begins with do not fit: {} is the first without room on "
              "the device ({} bytes), the host ({}) or the disk ({}). Raise a limit.",
              index.describe_buffer(b), limits.device_bytes, limits.host_bytes, limits.disk_bytes));
    }
  }
  return start;
}

std::optional<SwapPlan> try_plan(const ProgramIndex& index, const PlannerOptions& options,
                                 const std::vector<SwapResidence>& start) {
  try {
    return SwapPlanner(index, options, start).run();
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kResourceExhausted) throw;
    return std::nullopt;
  }
}

/// The start of a run that follows a run with the given `end`.
std::vector<SwapResidence> start_after(const ProgramIndex& index, std::vector<SwapResidence> end) {
  for (SwapBufferId b = 0; static_cast<size_t>(b) < end.size(); ++b) {
    if (!index.given(b)) end[static_cast<size_t>(b)] = {};
  }
  return end;
}

/// Plans with a steady start. A start is the end of a previous run, so that the device has the
/// values that are used first. Tries the ends of a few successive runs and returns the fastest
/// plan, or nullopt if none works.
std::optional<SwapPlan> plan_from_steady_start(const ProgramIndex& index, PlannerOptions options,
                                               std::vector<SwapResidence> start) {
  constexpr int32_t kManySteps = 50'000;
  const int rounds = index.num_steps() < kManySteps ? 3 : 1;
  std::optional<SwapPlan> best;
  double least = std::numeric_limits<double>::infinity();
  for (int round = 0; round < rounds; ++round) {
    options.steady = false;
    const std::optional<SwapPlan> free_run = try_plan(index, options, start);
    if (!free_run) break;
    start = start_after(index, free_run->end);
    options.steady = true;
    std::optional<SwapPlan> plan = try_plan(index, options, start);
    if (!plan) continue;
    plan->buffers = index.program().buffers;
    const double total = simulate_plan(*plan, index.program(), options.costs).total_s;
    if (total >= least) continue;
    least = total;
    best = std::move(plan);
  }
  return best;
}

SwapPlan plan_with_transfers(const ProgramIndex& index, PlannerOptions options) {
  const std::vector<SwapResidence> below = start_below(index, options.limits);
  if (auto plan = plan_from_steady_start(index, options, below)) return *std::move(plan);
  if (auto plan = try_plan(index, options, below)) return *std::move(plan);
  options.recompute = false;
  return SwapPlanner(index, options, below).run();
}

SwapPlan plan_within(const ProgramIndex& index, const MemoryLimits& limits,
                     const TransferCosts& costs) {
  check_steps_fit(index, limits);
  const std::vector<Lifetime> lifetimes = lifetimes_of(index);
  const Placement placement = place_lifetimes(lifetimes);
  const bool all_fits = placement.arena_bytes <= limits.device_bytes;
  SwapPlan plan;
  if (all_fits) {
    plan = plan_by_liveness(index, lifetimes, placement);
  } else {
    MemoryLimits for_values = limits;
    for_values.host_bytes -= staging_of(limits);
    plan = plan_with_transfers(index, {.limits = for_values, .costs = costs});
    plan.staging_bytes = staging_of(limits);
    plan.peak_bytes[static_cast<size_t>(Tier::kHost)] += plan.staging_bytes;
  }
  plan.buffers = index.program().buffers;
  plan.limits = limits;
  plan.live_bytes = live_bytes(lifetimes);
  return plan;
}

// Returns a device limit with which planning succeeds under the given host and disk limits, at most
// 1/64 above a limit with which it fails. Found by bisection, because no formula predicts whether
// the planner succeeds.
int64_t least_device_bytes(const ProgramIndex& index, MemoryLimits limits,
                           const TransferCosts& costs) {
  const auto works = [&](int64_t device_bytes) {
    limits.device_bytes = device_bytes;
    try {
      plan_within(index, limits, costs);
      return true;
    } catch (const Error& error) {
      if (error.code() != ErrorCode::kResourceExhausted) throw;
      return false;
    }
  };
  int64_t low = 0;  // a lower bound: the largest step
  for (int32_t step = 0; step < index.num_steps(); ++step) {
    low = std::max(low, index.operand_bytes(step));
  }
  if (works(low)) return low;
  int64_t high = place_lifetimes(lifetimes_of(index)).arena_bytes;  // nothing moves with this limit
  while (high - low > low / 64 + kDeviceAlignment) {
    const int64_t middle = low + (high - low) / 2 / kDeviceAlignment * kDeviceAlignment;
    (works(middle) ? high : low) = middle;
  }
  return high;
}

}  // namespace

SwapPlan make_swap_plan(const SwapProgram& program, const MemoryLimits& limits,
                        const TransferCosts& costs, int64_t device_bytes_beside) {
  check_limits(limits);
  const ProgramIndex index(program);
  MemoryLimits left = limits;
  left.device_bytes = std::max<int64_t>(left.device_bytes - device_bytes_beside, 0);
  try {
    return plan_within(index, left, costs);
  } catch (Error& error) {
    if (error.code() != ErrorCode::kResourceExhausted) throw;
    const int64_t least = least_device_bytes(index, left, costs) + device_bytes_beside;
    error.note(
        fmt::format("The least device limit that works is {} bytes, with these of the host "
                    "and the disk.",
                    least));
    throw;
  }
}

}  // namespace phi::memory
