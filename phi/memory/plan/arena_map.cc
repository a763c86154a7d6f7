// Segments of an address range: a linked list of all segments, and an ordered set of free ones.
#include "phi/memory/plan/arena_map.h"

#include <algorithm>

namespace phi::memory {

ArenaMap::ArenaMap(int64_t capacity) : free_bytes_(capacity) {
  first_ = new_segment({.offset = 0, .size = capacity});
  index_free(first_);
}

int64_t ArenaMap::best_fit(int64_t size, End end) const {
  const auto found = free_.lower_bound({size, 0, 0});
  if (found == free_.end()) return -1;
  const auto& [room, offset, index] = *found;
  return end == End::kLow ? offset : offset + room - size;
}

bool ArenaMap::is_free(int64_t offset, int64_t size) const {
  const Segment& held = segment(segment_at(offset));
  return held.tenant == kNone && held.offset + held.size >= offset + size;
}

int32_t ArenaMap::occupy(int64_t offset, int64_t size, int32_t tenant) {
  const int32_t index = segment_at(offset);
  unindex_free(index);
  const Segment whole = at(index);
  if (whole.offset < offset) {
    const int32_t below = new_segment({.offset = whole.offset,
                                       .size = offset - whole.offset,
                                       .previous = whole.previous,
                                       .next = index});
    (whole.previous == kNone ? first_ : at(whole.previous).next) = below;
    at(index).previous = below;
    index_free(below);
  }
  if (offset + size < whole.offset + whole.size) {
    const int32_t above = new_segment({.offset = offset + size,
                                       .size = whole.offset + whole.size - offset - size,
                                       .previous = index,
                                       .next = whole.next});
    if (whole.next != kNone) at(whole.next).previous = above;
    at(index).next = above;
    index_free(above);
  }
  at(index).offset = offset;
  at(index).size = size;
  at(index).tenant = tenant;
  by_offset_[offset] = index;
  free_bytes_ -= size;
  high_water_ = std::max(high_water_, offset + size);
  return index;
}

void ArenaMap::release(int32_t index) {
  free_bytes_ += at(index).size;
  at(index).tenant = kNone;
  const int32_t next = at(index).next;
  if (next != kNone && at(next).tenant == kNone) {
    unindex_free(next);
    absorb_next(index);
  }
  const int32_t previous = at(index).previous;
  if (previous != kNone && at(previous).tenant == kNone) {
    unindex_free(previous);
    absorb_next(previous);
    index = previous;
  }
  index_free(index);
}

void ArenaMap::absorb_next(int32_t index) {
  const int32_t next = at(index).next;
  by_offset_.erase(at(next).offset);
  at(index).size += at(next).size;
  at(index).next = at(next).next;
  if (at(next).next != kNone) at(at(next).next).previous = index;
  unused_.push_back(next);
}

int32_t ArenaMap::new_segment(const Segment& segment) {
  auto index = static_cast<int32_t>(segments_.size());
  if (unused_.empty()) {
    segments_.push_back(segment);
  } else {
    index = unused_.back();
    unused_.pop_back();
    at(index) = segment;
  }
  by_offset_[segment.offset] = index;
  return index;
}

}  // namespace phi::memory
