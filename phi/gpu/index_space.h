// IndexSpace: coordinates of element i of a row-major array with fixed trailing extents.
//
//   const IndexSpace<2> space({rows, columns});  // on the host; any number of such matrices
//   const auto at = space.place(i);         // in a kernel: at.outer, at.along[0], at.along[1]
#pragma once

#include <array>
#include <cstdint>

#include "phi/common/host_device.h"
#include "phi/gpu/divider.h"

namespace phi::gpu {

template <int kDims>
class IndexSpace {
 public:
  struct Coordinates {
    int64_t outer;  // index of the array of these extents
    int64_t along[kDims];
  };

  /// Leaves the members uninitialised. Assign before use.
  IndexSpace() = default;
  /// The innermost extent comes last. With an extent of 0, place() must not be called.
  explicit IndexSpace(const std::array<int64_t, kDims>& extents) {
    for (int d = 0; d < kDims; ++d) extents_[d] = Divider(extents[d]);
  }

  PHI_HD int64_t extent(int d) const { return extents_[d].by(); }

  PHI_HD Coordinates place(int64_t i) const {
    Coordinates place{};
    PHI_UNROLL(8)
    for (int d = kDims - 1; d >= 0; --d) {
      const int64_t outer = extents_[d].quotient(i);
      place.along[d] = i - outer * extents_[d].by();
      i = outer;
    }
    place.outer = i;
    return place;
  }

 private:
  Divider extents_[kDims];
};

}  // namespace phi::gpu
