// How long calls take on a GPU, beside others that take turns with them: clocks rise and fall while
// one measures.
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <vector>

#include "benchmarks/gpu/measurement.h"
#include "phi/core/device/device.h"

namespace phi::gpu_bench {

/// Seconds of one call of each kind, medians over turns, and the median of their ratios.
struct Comparison {
  double ours = 0, theirs = 0;
  double ratio = 0;  // theirs / ours: above 1 ours is quicker
};

class Stopwatch {
 public:
  Stopwatch(const Place& place, const Extent& extent)
      : device_(Device::of(place)),
        turns_(static_cast<int>(extent.of(15, 1))),
        most_calls_(static_cast<int>(extent.of(1000, 1))),
        warm_up_(extent.is_tiny ? 0 : kWarmUpSeconds),
        host_calls_(static_cast<int>(extent.of(200, 1))) {}

  template <typename Ours, typename Theirs>
  Comparison compare(const Ours& ours, const Theirs& theirs) const {
    const int our_calls = calls_for(ours), their_calls = calls_for(theirs);
    std::vector<double> a, b, ratios;
    for (int turn = 0; turn < turns_; ++turn) {
      a.push_back(run(ours, our_calls));
      b.push_back(run(theirs, their_calls));
      ratios.push_back(b.back() / a.back());
    }
    return {median(a), median(b), median(ratios)};
  }

  template <typename Body>
  double seconds(const Body& body) const {
    const int calls = calls_for(body);
    std::vector<double> taken;
    for (int turn = 0; turn < turns_; ++turn) taken.push_back(run(body, calls));
    return median(taken);
  }

  /// What a call costs the host, which queues it and goes on.
  template <typename Body>
  double host_seconds(const Body& body) const {
    std::vector<double> taken;
    for (int turn = 0; turn < turns_; ++turn) {
      device_.wait();
      const Clock::time_point begin = Clock::now();
      for (int call = 0; call < host_calls_; ++call) body();
      taken.push_back(since(begin) / host_calls_);
      device_.wait();
    }
    return median(taken);
  }

  /// What a call costs the host where the device has nothing to do yet.
  template <typename Body>
  double idle_host_seconds(const Body& body) const {
    warm_up(body);
    std::vector<double> taken;
    for (int call = 0; call < host_calls_; ++call) {
      const Clock::time_point begin = Clock::now();
      body();
      taken.push_back(since(begin));
      device_.wait();
    }
    return median(taken);
  }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr double kSeconds = 0.02;  // of a turn: long beside what one wait costs
  static constexpr double kWarmUpSeconds = 0.3;

  static double since(Clock::time_point begin) {
    return std::chrono::duration<double>(Clock::now() - begin).count();
  }
  static double median(std::vector<double> values) {
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
  }
  /// Of one call, of so many that are queued one behind the other.
  template <typename Body>
  double run(const Body& body, int calls) const {
    device_.wait();
    const Clock::time_point begin = Clock::now();
    for (int call = 0; call < calls; ++call) body();
    device_.wait();
    return since(begin) / calls;
  }
  /// The first calls make plans, fill the pool of memory, and find the clocks of an idle GPU.
  template <typename Body>
  void warm_up(const Body& body) const {
    const Clock::time_point begin = Clock::now();
    do run(body, 3);
    while (since(begin) < warm_up_);
  }
  template <typename Body>
  int calls_for(const Body& body) const {
    warm_up(body);
    return std::clamp(static_cast<int>(std::ceil(kSeconds / run(body, 3))), 1, most_calls_);
  }

  Device& device_;
  int turns_, most_calls_;
  double warm_up_;  // seconds
  int host_calls_;  // fewer than a stream takes before it makes the host wait
};

}  // namespace phi::gpu_bench
