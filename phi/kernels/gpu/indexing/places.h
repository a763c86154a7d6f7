// Places on a GPU: what tensors of indices name, as int64 numbers counted from the first, negative
// for what is elsewhere. The CPU's are cpu/indexing/places.h. Indices that name nothing are found
// by a kernel, whose error rises where the host waits next; they count as elsewhere.
#pragma once

#include <cstdint>
#include <span>

#include "phi/core/dense_tensor.h"
#include "phi/core/device/device_context.h"
#include "phi/kernels/index_errors.h"
#include "phi/kernels/lookup_table.h"

namespace phi {

/// As on the CPU.
DenseTensor places_along(const GpuContext& ctx, const DenseTensor& index, const char* argument,
                         int64_t extent, FromEnd from_end);
DenseTensor places_in(const GpuContext& ctx, const LookupTable& table, const DenseTensor& ids,
                      const char* argument, const char* table_name);
DenseTensor places_of_first(const GpuContext& ctx, const DenseTensor& index, const Dims& dims);
/// The rows here of a table whose first row is for id `start_index`.
DenseTensor rows_from(const GpuContext& ctx, int64_t start_index, const LookupTable& table,
                      const DenseTensor& ids);
/// One place, which an attribute names.
DenseTensor place_at(const GpuContext& ctx, int64_t index, int64_t extent);

namespace gpu {

/// Indices that name elements one by one along an axis of an array (take_along_axis).
struct ElementAxis {
  const DenseTensor& indices;
  const char* argument;
  FromEnd from_end;
  int axis;
  void (*raise)(const Misfit& found) = throw_outside_dim;  // of an index that names nothing
};
/// The offset in the array of each element that is named.
DenseTensor element_places(const GpuContext& ctx, const Dims& array, const ElementAxis& named);

}  // namespace gpu
}  // namespace phi
