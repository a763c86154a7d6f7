// Places (positions along one or more tensor dims) that index tensors select, checked and counted
// from the start.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "phi/core/dense_tensor.h"
#include "phi/core/device/device_context.h"
#include "phi/kernels/cpu/indexing/indices.h"
#include "phi/kernels/cpu/row_lookup.h"

namespace phi {

/// Returns the places that `index`, int32 or int64, selects along a tensor dim of `extent`.
/// `argument` is the name of `index`.
///
/// Errors   OutOfRange with the index, its position and the extent.
std::vector<int64_t> positions_along(const DenseTensor& index, const char* argument, int64_t extent,
                                     FromEnd from_end);

/// Returns the row of each id, counted from the first row of the table on this rank, or a negative
/// number for rows on other ranks.
///
/// Errors   those of look_up.
std::vector<int64_t> places_in(const LookupTable& table, const DenseTensor& ids,
                               const char* argument, const char* table_name);

/// Returns places along the first k tensor dims, counted as one dim, for an `index` of dims [...,
/// k]. Indices may count from the end.
///
/// Errors   OutOfRange, as positions_along.
std::vector<int64_t> positions_of_first(const DenseTensor& index, const Dims& dims);

/// The places that index_put's indices select in an array of `dims`.
struct IndexedPositions {
  std::vector<int64_t> places;
  Dims shape;      // broadcast shape of the places
  int named_dims;  // leading dims of the array that the places count as one
};
/// Errors   OutOfRange, as positions_along; InvalidArgument if the places of bool indices do not
///          broadcast with those of others.
IndexedPositions positions_of_indices(std::span<const DenseTensor* const> indices,
                                      const Dims& dims);

/// Returns the row here of each id, or a negative number if it has none, for a table whose first
/// row has id `start_index`.
std::vector<int64_t> rows_from(const CpuContext& ctx, int64_t start_index, const LookupTable& table,
                               const DenseTensor& ids);

// Device primitives for the same (gpu/indexing/index_positions.h has the GPU's).

inline std::vector<int64_t> positions_along(const CpuContext&, const DenseTensor& index,
                                            const char* argument, int64_t extent,
                                            FromEnd from_end) {
  return positions_along(index, argument, extent, from_end);
}
inline std::vector<int64_t> places_in(const CpuContext&, const LookupTable& table,
                                      const DenseTensor& ids, const char* argument,
                                      const char* table_name) {
  return places_in(table, ids, argument, table_name);
}
inline std::vector<int64_t> positions_of_first(const CpuContext&, const DenseTensor& index,
                                               const Dims& dims) {
  return positions_of_first(index, dims);
}
/// Returns the one place that an attribute selects.
inline std::array<int64_t, 1> place_at(const CpuContext&, int64_t index, int64_t extent) {
  return {from_front(index, extent)};
}

}  // namespace phi
