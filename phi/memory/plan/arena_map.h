// ArenaMap: a best-fit allocator over an address range. It manages offsets and owns no memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <set>
#include <tuple>
#include <vector>

namespace phi::memory {

class ArenaMap {
 public:
  static constexpr int32_t kNone = -1;

  /// A part of the range that a tenant occupies or that is free. Adjacent free segments are always
  /// merged.
  struct Segment {
    int64_t offset = 0;
    int64_t size = 0;
    int32_t tenant = kNone;
    int32_t previous = kNone;  // indices of the neighbours
    int32_t next = kNone;
  };
  enum class End : uint8_t { kLow, kHigh };

  explicit ArenaMap(int64_t capacity);

  /// Offset of `size` bytes at the given end of the smallest free segment that is large enough; -1
  /// if there is none.
  int64_t best_fit(int64_t size, End end = End::kLow) const;
  bool is_free(int64_t offset, int64_t size) const;
  /// Assigns a range to `tenant`. Requires is_free(offset, size). Returns the index of the segment,
  /// which stays valid until it is released.
  int32_t occupy(int64_t offset, int64_t size, int32_t tenant);
  void release(int32_t segment);

  int32_t first() const { return first_; }
  /// The segment that contains `offset`.
  int32_t segment_at(int64_t offset) const {
    return std::prev(by_offset_.upper_bound(offset))->second;
  }
  const Segment& segment(int32_t index) const { return segments_[static_cast<size_t>(index)]; }
  int64_t free_bytes() const { return free_bytes_; }
  /// The end of the highest range that was ever occupied.
  int64_t high_water() const { return high_water_; }

 private:
  Segment& at(int32_t index) { return segments_[static_cast<size_t>(index)]; }
  int32_t new_segment(const Segment& segment);
  void index_free(int32_t index) { free_.emplace(at(index).size, at(index).offset, index); }
  void unindex_free(int32_t index) { free_.erase({at(index).size, at(index).offset, index}); }
  void absorb_next(int32_t index);

  std::vector<Segment> segments_;
  std::vector<int32_t> unused_;
  std::set<std::tuple<int64_t, int64_t, int32_t>> free_;  // size, offset, segment
  std::map<int64_t, int32_t> by_offset_;                  // all segments
  int32_t first_ = 0;
  int64_t free_bytes_;
  int64_t high_water_ = 0;
};

}  // namespace phi::memory
