// The places that tensors of indices name, checked, and counted from the first.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "phi/core/dense_tensor.h"
#include "phi/core/device/device_context.h"
#include "phi/kernels/cpu/indexing/indices.h"
#include "phi/kernels/cpu/looked_up_rows.h"

namespace phi {

/// `index`, int32 or int64, along a tensor dim of `extent`; `argument` is its name. Errors:
/// OutOfRange with the index, its position and the extent.
std::vector<int64_t> places_along(const DenseTensor& index, const char* argument, int64_t extent,
                                  FromEnd from_end);

/// The rows of a table that ids name, counted from the first that is here, negative for others.
/// Errors: those of look_up.
std::vector<int64_t> places_in(const LookupTable& table, const DenseTensor& ids,
                               const char* argument, const char* table_name);

/// index [..., k] along the first k tensor dims, counted as one. Indices may count from the end.
/// Errors: as above.
std::vector<int64_t> places_of_first(const DenseTensor& index, const Dims& dims);

/// What the indices of index_put name of an array of `dims`.
struct NamedPlaces {
  std::vector<int64_t> places;
  Dims shape;      // of the places, broadcast together
  int named_dims;  // of the array, which the places count as one
};
/// Errors: as above; InvalidArgument if what bool indices name does not broadcast with others.
NamedPlaces places_of_indices(std::span<const DenseTensor* const> indices, const Dims& dims);

/// The rows here of a table whose first row is for id `start_index`, negative for ids that it does
/// not have.
std::vector<int64_t> rows_from(const CpuContext& ctx, int64_t start_index, const LookupTable& table,
                               const DenseTensor& ids);

// The same as words of tables of kernels (gpu/indexing/places.h has the GPUs').

inline std::vector<int64_t> places_along(const CpuContext&, const DenseTensor& index,
                                         const char* argument, int64_t extent, FromEnd from_end) {
  return places_along(index, argument, extent, from_end);
}
inline std::vector<int64_t> places_in(const CpuContext&, const LookupTable& table,
                                      const DenseTensor& ids, const char* argument,
                                      const char* table_name) {
  return places_in(table, ids, argument, table_name);
}
inline std::vector<int64_t> places_of_first(const CpuContext&, const DenseTensor& index,
                                            const Dims& dims) {
  return places_of_first(index, dims);
}
/// The one place that an attribute names.
inline std::array<int64_t, 1> place_at(const CpuContext&, int64_t index, int64_t extent) {
  return {from_front(index, extent)};
}

}  // namespace phi
