// Best fit among the gaps that ended buffers leave.
#include "phi/api/capture/buffer_places.h"

#include <algorithm>
#include <map>
#include <queue>

namespace phi {
namespace {

constexpr size_t kAlignment = 64;

// The arena's free ranges by offset; the last one has no end.
class Gaps {
 public:
  size_t take(size_t nbytes) {
    auto best = gaps_.end();
    for (auto gap = gaps_.begin(); gap != gaps_.end(); ++gap) {
      if (gap->second >= nbytes && (best == gaps_.end() || gap->second < best->second)) best = gap;
    }
    if (best == gaps_.end()) return extend(nbytes);
    const auto [offset, size] = *best;
    gaps_.erase(best);
    if (size > nbytes) gaps_.emplace(offset + nbytes, size - nbytes);
    return offset;
  }
  void give_back(size_t offset, size_t nbytes) {
    auto next = gaps_.lower_bound(offset);
    if (next != gaps_.end() && next->first == offset + nbytes) {
      nbytes += next->second;
      next = gaps_.erase(next);
    }
    if (next != gaps_.begin()) {
      const auto before = std::prev(next);
      if (before->first + before->second == offset) {
        before->second += nbytes;
        return;
      }
    }
    gaps_.emplace(offset, nbytes);
  }
  size_t end() const { return end_; }

 private:
  // Behind all others, beginning in a gap that reaches the end.
  size_t extend(size_t nbytes) {
    size_t offset = end_;
    if (!gaps_.empty() && gaps_.rbegin()->first + gaps_.rbegin()->second == end_) {
      offset = gaps_.rbegin()->first;
      gaps_.erase(std::prev(gaps_.end()));
    }
    end_ = offset + nbytes;
    return offset;
  }

  std::map<size_t, size_t> gaps_;
  size_t end_ = 0;
};

}  // namespace

BufferPlaces place_buffers(const std::vector<LifeTime>& buffers) {
  BufferPlaces places;
  Gaps gaps;
  using End = std::pair<int, size_t>;  // (last step, buffer)
  std::priority_queue<End, std::vector<End>, std::greater<>> alive;
  const auto padded = [&](size_t i) {
    return (buffers[i].nbytes + kAlignment - 1) / kAlignment * kAlignment;
  };
  for (size_t i = 0; i < buffers.size(); ++i) {
    while (!alive.empty() && alive.top().first < buffers[i].first) {
      const size_t ended = alive.top().second;
      alive.pop();
      if (padded(ended) > 0) gaps.give_back(places.offsets[ended], padded(ended));
    }
    places.offsets.push_back(padded(i) > 0 ? gaps.take(padded(i)) : 0);
    alive.emplace(buffers[i].last, i);
  }
  places.nbytes = gaps.end();
  return places;
}

}  // namespace phi
