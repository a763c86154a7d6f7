// Places in one arena for buffers that live from one step to another.
#pragma once

#include <cstddef>
#include <vector>

namespace phi {

/// A buffer that must keep its place from before step `first` until after step `last`.
struct LifeTime {
  size_t nbytes = 0;
  int first = 0;
  int last = 0;
};

struct BufferPlaces {
  std::vector<size_t> offsets;  // multiples of 64
  size_t nbytes = 0;            // of the arena
};

/// Buffers that live at the same time do not overlap. Best fit in the order of `first`, which must
/// not decrease.
BufferPlaces place_buffers(const std::vector<LifeTime>& buffers);

}  // namespace phi
