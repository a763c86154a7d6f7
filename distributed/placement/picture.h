// A picture of how a tensor lies on a mesh: which rank holds which box.
//
//   fmt::print("{}", picture({6, 4}, *TensorDistAttr::get(mesh, {Shard(0), Partial()})));
//
// prints, for a mesh of 2x2,
//
//   | tensor [6,4] [S0,P(sum)] on mesh(d0=2,d1=2)
//   |
//   |      0:4
//   |     +----------+
//   |     |          |
//   | 0:3 |   0+1    |
//   |     |          |
//   |     +----------+
//   ...
//   | partial over d1: the value is the sum of what 2 ranks hold
//   |
//   | rank 0 (d0=0,d1=0): [0:3,0:4], 12 elements, partial
//   ...
//
// `0+1`: the value is the sum of what ranks 0 and 1 hold; `max(0,1)` and the like for other kinds;
// `0,1`: both hold it. Pure: asks nobody.
#pragma once

#include <cstdint>
#include <string>

#include "distributed/placement/dist_attr.h"
#include "phi/common/dims.h"

namespace phi::distributed {

struct PictureStyle {
  bool colour = false;
  int width = 80;  // columns; a picture that needs more is a list of boxes alone
  /// Of the job, so that ranks outside the mesh can be named; 0: not known.
  int64_t world_size = 0;
};

/// Drawn are the last two tensor dims that are split (of a tensor with one split dim or none, its
/// last two), once for each part of those split before them. Below stands a line for each rank.
/// Errors: those of TensorDistAttr::check_fits.
std::string picture(const Dims& shape, const TensorDistAttr& attr, const PictureStyle& style = {});

}  // namespace phi::distributed
