// Shuffles epochs (Fisher and Yates).
#include "api/data/images/epoch_order.h"

#include <algorithm>
#include <numeric>

#include "phi/common/split_mix.h"

namespace phi::data {
namespace {

constexpr size_t kKept = 2;

}  // namespace

int64_t EpochOrder::sample_at(int64_t number) const {
  const Permutation permutation = permutation_of(number / count_);
  return (*permutation)[static_cast<size_t>(number % count_)];
}

EpochOrder::Permutation EpochOrder::permutation_of(int64_t epoch) const {
  const std::lock_guard lock(mutex_);
  for (const auto& [known, permutation] : latest_) {
    if (known == epoch) return permutation;
  }
  auto order = std::make_shared<std::vector<int64_t>>(static_cast<size_t>(count_));
  std::iota(order->begin(), order->end(), 0);
  const uint64_t seed = split_mix(split_mix(seed_) + static_cast<uint64_t>(epoch));
  for (uint64_t i = static_cast<uint64_t>(count_) - 1; i > 0; --i) {
    std::swap((*order)[i], (*order)[split_mix(seed + i) % (i + 1)]);
  }
  if (latest_.size() == kKept) latest_.erase(latest_.begin());
  latest_.emplace_back(epoch, order);
  return order;
}

}  // namespace phi::data
