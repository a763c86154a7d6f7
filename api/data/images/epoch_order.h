// EpochOrder: the order in which samples are drawn: each epoch is a permutation of all of them.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace phi::data {

class EpochOrder {
 public:
  /// `count` samples, at least 1.
  EpochOrder(int64_t count, uint64_t seed) : count_(count), seed_(seed) {}

  /// The sample with number `number` among all that are drawn, from 0: it is in epoch number /
  /// count. Depends on seed, count and number only; docs/data.md has the formula. Thread-safe.
  int64_t sample_at(int64_t number) const;

 private:
  using Permutation = std::shared_ptr<const std::vector<int64_t>>;
  Permutation permutation_of(int64_t epoch) const;

  const int64_t count_;
  const uint64_t seed_;
  mutable std::mutex mutex_;
  // The last two, because a batch may reach from one epoch into the next.
  mutable std::vector<std::pair<int64_t, Permutation>> latest_;
};

}  // namespace phi::data
