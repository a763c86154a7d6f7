// Places on a GPU: index tensors normalised to int64 numbers counted from the first slice. A
// negative place means that the slice is not on this rank. The CPU version is
// cpu/indexing/index_positions.h. A kernel finds out-of-range indices; the error is thrown at the
// next host synchronisation, and until then they count as not on this rank.
#pragma once

#include <cstdint>
#include <span>

#include "phi/core/dense_tensor.h"
#include "phi/core/device/device_context.h"
#include "phi/kernels/index_errors.h"
#include "phi/kernels/lookup_table.h"

namespace phi {

/// Same contract as on the CPU.
DenseTensor positions_along(const GpuContext& ctx, const DenseTensor& index, const char* argument,
                            int64_t extent, FromEnd from_end);
DenseTensor places_in(const GpuContext& ctx, const LookupTable& table, const DenseTensor& ids,
                      const char* argument, const char* table_name);
DenseTensor positions_of_first(const GpuContext& ctx, const DenseTensor& index, const Dims& dims);
/// Rows of this rank's part of a table whose first row has the id `start_index`.
DenseTensor rows_from(const GpuContext& ctx, int64_t start_index, const LookupTable& table,
                      const DenseTensor& ids);
/// An array of one place, from an attribute.
DenseTensor place_at(const GpuContext& ctx, int64_t index, int64_t extent);

namespace gpu {

/// Indices that select single elements along an axis (take_along_axis).
struct ElementAxis {
  const DenseTensor& indices;
  const char* argument;
  FromEnd from_end;
  int axis;
  void (*raise)(const DeviceAssertion& found) =
      throw_outside_dim;  // throws for an out-of-range index
};
/// The offset in the array of each selected element.
DenseTensor element_places(const GpuContext& ctx, const Dims& array, const ElementAxis& named);

}  // namespace gpu
}  // namespace phi
