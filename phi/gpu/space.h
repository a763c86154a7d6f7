// Space: where element number i of a row-major array lies along its extents.
//
//   const Space<2> space({rows, columns});  // on the host; of how many such matrices is not asked
//   const auto at = space.place(i);         // in a kernel: at.outer, at.along[0], at.along[1]
#pragma once

#include <array>
#include <cstdint>

#include "phi/common/hd.h"
#include "phi/gpu/divider.h"

namespace phi::gpu {

template <int kDims>
class Space {
 public:
  struct Place {
    int64_t outer;  // which of the arrays of these extents
    int64_t along[kDims];
  };

  /// Not to be used before it is assigned.
  Space() = default;
  /// The innermost extent comes last. 0: nothing is asked of it.
  explicit Space(const std::array<int64_t, kDims>& extents) {
    for (int d = 0; d < kDims; ++d) extents_[d] = Divider(extents[d]);
  }

  PHI_HD int64_t extent(int d) const { return extents_[d].by(); }

  PHI_HD Place place(int64_t i) const {
    Place place{};
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
