// Fills a local shard with random values. Element i of the *global* row-major tensor depends only
// on the seed and i. Shards drawn on different ranks therefore match bit for bit, and a deferred
// initialiser can draw its local shard without a kernel launch.
//
//   fill_gaussian({global_dims, box}, 0.0f, 0.02f, seed, &local);
#pragma once

#include <cstdint>

#include "phi/core/box.h"
#include "phi/core/dense_tensor.h"

namespace phi {

/// Fills `out` with mean + std z, where z is standard normal. `out` is the local array of
/// where.box.size and has a floating dtype. All dtypes draw the same z (float, Box-Muller,
/// |z| < 6.7). Errors: InvalidArgument for another dtype or a negative std.
void fill_gaussian(const ShardBox& where, float mean, float std, uint64_t seed, DenseTensor* out);
/// Fills `out` uniformly in [min, max), rounded to its dtype. Errors: InvalidArgument if min > max.
void fill_uniform(const ShardBox& where, double min, double max, uint64_t seed, DenseTensor* out);

}  // namespace phi
