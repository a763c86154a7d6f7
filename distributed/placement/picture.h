// Draws a tensor's sharding as text: which rank holds which box.
//
//   fmt::print("{}", picture({6, 4}, *TensorDistAttr::get(mesh, {Shard(0), Partial()})));
//
// For a mesh of 2x2 this prints
//
//   | tensor [6,4] [S0,P(sum)] on mesh(d0=2,d1=2)
//   |
//   |      0:4
//   |     +----------+
//   |     |          |
//   | 0:3 |   0+1    |
//   |     |          |
//   |     +----------+
//   | ...
//   | partial over d1: the value is the sum of what 2 ranks hold
//   |
//   | rank 0 (d0=0,d1=0): [0:3,0:4], 12 elements, partial
//   | ...
//
// In a cell, `0+1` means that the value is the sum of what ranks 0 and 1 hold, `max(0,1)` and the
// like are other reduce kinds, and `0,1` means that both ranks hold it. Pure: no communication.
#pragma once

#include <cstdint>
#include <string>

#include "distributed/placement/dist_attr.h"
#include "phi/common/dims.h"

namespace phi::distributed {

struct PictureStyle {
  bool colour = false;
  int width = 80;  // columns; a wider picture becomes a list of boxes
  /// Ranks of the job, to list those outside the mesh; 0: unknown.
  int64_t world_size = 0;
};

/// Returns the picture and a line for each rank. It draws the last two tensor dims that are split
/// (the last two dims if fewer are split), once for each part of the split dims before them.
/// Errors: those of TensorDistAttr::check_fits.
std::string picture(const Dims& shape, const TensorDistAttr& attr, const PictureStyle& style = {});

}  // namespace phi::distributed
