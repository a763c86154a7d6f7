// Computes lifetimes of values, and places them.
#include "phi/memory/plan/liveness.h"

#include <algorithm>
#include <bit>
#include <numeric>

#include "phi/memory/plan/arena_map.h"

namespace phi::memory {
namespace {

/// Limit on the pairs of simultaneously alive values, above which placement by size is skipped.
constexpr int64_t kMostPairs = 20'000'000;

void add_values(const ProgramIndex& index, SwapBufferId buffer, std::vector<Lifetime>* lifetimes) {
  const int64_t size = index.size(buffer);
  if (index.keep(buffer)) {
    lifetimes->push_back({buffer, size, 0, index.num_steps()});
    return;
  }
  if (index.given(buffer)) lifetimes->push_back({buffer, size, 0, 0});
  for (const BufferUse& use : index.uses(buffer)) {
    // A given value that is overwritten before it is read is merged with the value that replaces
    // it.
    const bool first_of_given = index.given(buffer) && &use == index.uses(buffer).data();
    if (use.access == BufferAccess::kWrite && !first_of_given) {
      lifetimes->push_back({buffer, size, use.step, use.step});
    }
    lifetimes->back().end = use.step;
  }
}

/// Indices of `lifetimes`, sorted by begin, then longest first.
std::vector<int32_t> by_begin(const std::vector<Lifetime>& lifetimes) {
  std::vector<int32_t> order(lifetimes.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int32_t a, int32_t b) {
    const Lifetime &x = lifetimes[static_cast<size_t>(a)], &y = lifetimes[static_cast<size_t>(b)];
    return x.begin != y.begin ? x.begin < y.begin : x.end > y.end;
  });
  return order;
}

/// Changes of the bytes and of the number of alive values at each step.
struct Edges {
  std::vector<int64_t> bytes, count;
};

Edges edges_of(const std::vector<Lifetime>& lifetimes) {
  int32_t last = 0;
  for (const Lifetime& life : lifetimes) last = std::max(last, life.end);
  Edges edges;
  edges.bytes.assign(static_cast<size_t>(last) + 2, 0);
  edges.count = edges.bytes;
  for (const Lifetime& life : lifetimes) {
    edges.bytes[static_cast<size_t>(life.begin)] += life.size;
    edges.bytes[static_cast<size_t>(life.end) + 1] -= life.size;
    ++edges.count[static_cast<size_t>(life.begin)];
    --edges.count[static_cast<size_t>(life.end) + 1];
  }
  return edges;
}

/// Finds the placed lifetimes that overlap a given one in time: a tree over lifetimes sorted by
/// begin, in which each node stores the latest end of its subtree.
class PlacedTree {
 public:
  explicit PlacedTree(size_t n) : leaves_(std::bit_ceil(std::max<size_t>(n, 1))) {
    latest_.assign(2 * leaves_, -1);
  }
  void add(size_t rank, int32_t end) {
    for (size_t node = leaves_ + rank; node > 0; node /= 2) {
      latest_[node] = std::max(latest_[node], end);
    }
  }
  /// Calls `visit(rank)` for placed lifetimes of rank < `ranks` that end at `begin` or later.
  template <typename Visit>
  void each_alive(size_t ranks, int32_t begin, const Visit& visit) const {
    descend(1, 0, leaves_, ranks, begin, visit);
  }

 private:
  template <typename Visit>
  void descend(size_t node, size_t low, size_t width, size_t ranks, int32_t begin,
               const Visit& visit) const {
    if (low >= ranks || latest_[node] < begin) return;
    if (width == 1) {
      visit(low);
      return;
    }
    descend(2 * node, low, width / 2, ranks, begin, visit);
    descend(2 * node + 1, low + width / 2, width / 2, ranks, begin, visit);
  }
  size_t leaves_;
  std::vector<int32_t> latest_;
};

using ByteRange = std::pair<int64_t, int64_t>;

/// The offset of the smallest gap between `taken` ranges that is large enough; otherwise the end of
/// all ranges. Sorts `taken`.
int64_t smallest_gap(std::vector<ByteRange>* taken, int64_t size) {
  std::sort(taken->begin(), taken->end());
  int64_t end = 0, best = -1, best_room = 0;
  for (const auto& [from, to] : *taken) {
    const int64_t room = from - end;
    if (room >= size && (best < 0 || room < best_room)) {
      best = end;
      best_room = room;
    }
    end = std::max(end, to);
  }
  return best >= 0 ? best : end;
}

Placement place_by_size(const std::vector<Lifetime>& lifetimes) {
  const std::vector<int32_t> ranked = by_begin(lifetimes);
  std::vector<int32_t> begins, order(lifetimes.size());
  for (int32_t i : ranked) begins.push_back(lifetimes[static_cast<size_t>(i)].begin);
  std::iota(order.begin(), order.end(), 0);  // ranks
  const auto life_at = [&](int32_t rank) -> const Lifetime& {
    return lifetimes[static_cast<size_t>(ranked[static_cast<size_t>(rank)])];
  };
  std::stable_sort(order.begin(), order.end(), [&](int32_t a, int32_t b) {
    const Lifetime &x = life_at(a), &y = life_at(b);
    // Values that are alive throughout come first, at the lowest offsets, where they leave no
    // holes.
    const int32_t x_length = x.end - x.begin, y_length = y.end - y.begin;
    return x.size != y.size ? x.size > y.size : x_length > y_length;
  });
  Placement placement{std::vector<int64_t>(lifetimes.size(), 0), 0};
  PlacedTree placed(lifetimes.size());
  std::vector<ByteRange> taken;
  for (int32_t rank : order) {
    const Lifetime& life = life_at(rank);
    taken.clear();
    const auto ranks = std::upper_bound(begins.begin(), begins.end(), life.end) - begins.begin();
    placed.each_alive(static_cast<size_t>(ranks), life.begin, [&](size_t other) {
      const auto at = static_cast<size_t>(ranked[other]);
      taken.emplace_back(placement.offsets[at], placement.offsets[at] + lifetimes[at].size);
    });
    const int64_t offset = smallest_gap(&taken, life.size);
    placement.offsets[static_cast<size_t>(ranked[static_cast<size_t>(rank)])] = offset;
    placement.arena_bytes = std::max(placement.arena_bytes, offset + life.size);
    placed.add(static_cast<size_t>(rank), life.end);
  }
  return placement;
}

/// Places values in the order of steps in an arena of `capacity`: long lifetimes at the low end,
/// short ones at the high end. Empty if they do not fit.
Placement place_in_order(const std::vector<Lifetime>& lifetimes, const std::vector<int32_t>& begins,
                         int64_t capacity) {
  std::vector<int32_t> ends(lifetimes.size());
  std::iota(ends.begin(), ends.end(), 0);
  std::stable_sort(ends.begin(), ends.end(), [&](int32_t a, int32_t b) {
    return lifetimes[static_cast<size_t>(a)].end < lifetimes[static_cast<size_t>(b)].end;
  });
  int32_t last = 0;
  for (const Lifetime& life : lifetimes) last = std::max(last, life.end);
  ArenaMap arena(capacity);
  Placement placement{std::vector<int64_t>(lifetimes.size(), 0), 0};
  std::vector<int32_t> segments(lifetimes.size());
  size_t ended = 0;
  for (int32_t i : begins) {
    const Lifetime& life = lifetimes[static_cast<size_t>(i)];
    for (; lifetimes[static_cast<size_t>(ends[ended])].end < life.begin; ++ended) {
      arena.release(segments[static_cast<size_t>(ends[ended])]);
    }
    const bool is_long = life.end - life.begin > last / 16;
    const int64_t offset =
        arena.best_fit(life.size, is_long ? ArenaMap::End::kLow : ArenaMap::End::kHigh);
    if (offset < 0) return {};
    segments[static_cast<size_t>(i)] = arena.occupy(offset, life.size, i);
    placement.offsets[static_cast<size_t>(i)] = offset;
  }
  placement.arena_bytes = arena.high_water();
  return placement;
}

}  // namespace

std::vector<Lifetime> lifetimes_of(const ProgramIndex& index) {
  std::vector<Lifetime> lifetimes;
  for (SwapBufferId b = 0; b < index.num_buffers(); ++b) add_values(index, b, &lifetimes);
  return lifetimes;
}

int64_t live_bytes(const std::vector<Lifetime>& lifetimes) {
  int64_t now = 0, most = 0;
  for (int64_t change : edges_of(lifetimes).bytes) most = std::max(most, now += change);
  return most;
}

Placement place_lifetimes(const std::vector<Lifetime>& lifetimes) {
  const int64_t least = live_bytes(lifetimes);
  int64_t alive = 0, pairs = 0;
  for (int64_t change : edges_of(lifetimes).count) {
    alive += change;
    if (change > 0) pairs += change * alive;
  }
  Placement best;
  if (pairs <= kMostPairs) best = place_by_size(lifetimes);
  if (!best.offsets.empty() && best.arena_bytes <= least) return best;
  const std::vector<int32_t> begins = by_begin(lifetimes);
  for (const int64_t percent : {100, 101, 102, 104, 107, 112, 120, 135, 160, 200, 400}) {
    const int64_t capacity =
        (least / 100 * percent + kDeviceAlignment) / kDeviceAlignment * kDeviceAlignment;
    if (!best.offsets.empty() && best.arena_bytes <= capacity) return best;
    Placement placement = place_in_order(lifetimes, begins, capacity);
    if (!placement.offsets.empty()) return placement;
  }
  return best.offsets.empty() ? place_by_size(lifetimes) : best;
}

}  // namespace phi::memory
