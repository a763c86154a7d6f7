// Timers of the steady clock.
#include "api/simulation/calibration/timing.h"

#include <algorithm>
#include <chrono>
#include <numeric>

#include "distributed/comm/group.h"
#include "distributed/comm/world.h"

namespace phi::simulation {

using distributed::World;

void CacheEvictor::evict() {
  // The write keeps the sum from being optimised away.
  other_[0] = static_cast<char>(std::accumulate(other_.begin(), other_.end(), 0));
}

Timing timing_of(std::vector<double> samples) {
  std::vector<double> sorted = samples;
  std::ranges::sort(sorted);
  const auto quantile = [&](double part) {
    return sorted[static_cast<size_t>(part * static_cast<double>(sorted.size() - 1))];
  };
  // The mean, because a step is a sum; without the tenth of the samples that other processes delay.
  const size_t kept = std::max<size_t>(1, sorted.size() * 9 / 10);
  const double sum =
      std::accumulate(sorted.begin(), sorted.begin() + static_cast<std::ptrdiff_t>(kept), 0.0);
  return {sum / static_cast<double>(kept), (quantile(0.75) - quantile(0.25)) / quantile(0.5),
          std::move(samples)};
}

Timing time_of(const Work& work, const Budget& budget, const Work& before) {
  using Clock = std::chrono::steady_clock;
  constexpr size_t kMost = 1000;
  const auto seconds_since = [](Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
  };
  work();
  std::vector<double> samples;
  for (const auto start = Clock::now();
       samples.size() < budget.samples ||
       (samples.size() < kMost && seconds_since(start) < budget.seconds);) {
    if (before) before();
    const auto begin = Clock::now();
    work();
    samples.push_back(seconds_since(begin));
  }
  return timing_of(std::move(samples));
}

Timing mean_over_ranks(Timing own) {
  double both[] = {own.seconds, own.spread};
  World::current().everyone().all_reduce(both, 2, DataType::FLOAT64, distributed::ReduceKind::kAvg);
  return {both[0], both[1], std::move(own.samples)};
}

Timing time_on_all(const Work& work, const Budget& budget, const Work& before) {
  World::current().everyone().barrier();
  return mean_over_ranks(time_of(work, budget, before));
}

double median_of(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

}  // namespace phi::simulation
