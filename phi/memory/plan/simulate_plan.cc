// Simulates a run of a plan with estimated clocks: one for launches and one for each channel.
#include "phi/memory/plan/simulate_plan.h"

#include <algorithm>

#include "phi/memory/plan/transfer_log.h"

namespace phi::memory {
namespace {

class Simulation {
 public:
  Simulation(const SwapPlan& plan, const SwapProgram& program, const TransferCosts& costs)
      : plan_(plan), program_(program), costs_(costs), needed_(plan.launches.size() + 1, 0.0) {}

  SwapTimeline run() {
    double now = 0;
    for (size_t launch = 0; launch <= plan_.launches.size(); ++launch) {
      issue(static_cast<int32_t>(launch), now);
      const double start = std::max(now, needed_[launch]);
      timeline_.exposed_s += start - now;
      now = start;
      if (launch == plan_.launches.size()) break;
      const auto step = static_cast<size_t>(plan_.launches[launch].step);
      timeline_.compute_s += program_.steps[step].seconds;
      now += program_.steps[step].seconds;
    }
    timeline_.total_s = now;
    timeline_.transfer_s = covered();
    timeline_.roofline_s =
        std::max(timeline_.compute_s, *std::max_element(busy_.begin(), busy_.end()));
    return timeline_;
  }

 private:
  void issue(int32_t launch, double now) {
    for (; next_ < plan_.actions.size() && plan_.actions[next_].issue == launch; ++next_) {
      const SwapAction& action = plan_.actions[next_];
      double start = now;
      for (int32_t other : action.after) start = std::max(start, ends_[static_cast<size_t>(other)]);
      double end = start;
      if (action.kind == SwapAction::Kind::kCopy) {
        const auto channel = static_cast<size_t>(channel_of(action));
        start = std::max(start, free_at_[channel]);
        const double seconds = costs_.seconds(
            action.from, action.to, plan_.buffers[static_cast<size_t>(action.buffer)].nbytes);
        end = start + seconds;
        free_at_[channel] = end;
        busy_[channel] += seconds;
        spans_.emplace_back(start, end);
      }
      ends_.push_back(end);
      double& needed = needed_[static_cast<size_t>(action.due)];
      needed = std::max(needed, end);
    }
  }

  /// Total time that at least one span covers.
  double covered() {
    std::sort(spans_.begin(), spans_.end());
    double sum = 0, until = 0;
    for (const auto& [begin, end] : spans_) {
      sum += std::max(0.0, end - std::max(begin, until));
      until = std::max(until, end);
    }
    return sum;
  }

  const SwapPlan& plan_;
  const SwapProgram& program_;
  const TransferCosts& costs_;
  std::vector<double> needed_;  // by launch: end of the actions that are due there
  std::vector<double> ends_;    // by action
  std::vector<std::pair<double, double>> spans_;
  std::array<double, kNumChannels> free_at_{}, busy_{};
  size_t next_ = 0;
  SwapTimeline timeline_;
};

}  // namespace

SwapTimeline simulate_plan(const SwapPlan& plan, const SwapProgram& program,
                           const TransferCosts& costs) {
  return Simulation(plan, program, costs).run();
}

}  // namespace phi::memory
