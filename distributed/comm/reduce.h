// Elementwise reduction of arrays in this process's memory, for every dtype and reduce kind.
#pragma once

#include <cstdint>
#include <span>

#include "distributed/placement/placement.h"
#include "phi/common/dtype.h"
#include "phi/core/dense_tensor.h"

namespace phi::distributed {

/// out[i] = kind over j of inputs[j][i], combined in order of j and rounded once. 16-bit floats are
/// accumulated in float, integers in int64 with wrap-around. `out` may be one of the inputs. In max
/// and min NaN wins. any and all return 1 or 0 in the dtype; on bool, sum and max mean any, and
/// prod, min and avg mean all. avg does not overflow: for integers it is exact and rounded toward
/// zero; floats whose sum is infinite are scaled down before they are added.
void reduce_arrays(std::span<const void* const> inputs, void* out, int64_t count, DataType dtype,
                   ReduceKind kind);

/// Fills an array with the identity element: 0 for sum and any, 1 for prod and all, the lowest
/// value for max (-inf for floats), the highest for min. Errors: InvalidArgument for avg, which has
/// none.
void fill_identity(void* out, int64_t count, DataType dtype, ReduceKind kind);
/// Fills an array on any device.
void fill_identity(ReduceKind kind, DenseTensor& out);

}  // namespace phi::distributed
