// The places that tensors of indices name, checked, and counted from the first.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "phi/core/dense_tensor.h"
#include "phi/kernels/cpu/indexing/indices.h"
#include "phi/kernels/cpu/looked_up_rows.h"

namespace phi {

/// `index`, int32 or int64, along a tensor dim of `extent`; `argument` is its name. Errors:
/// InvalidArgument with the index, its position and the extent.
std::vector<int64_t> places_along(const DenseTensor& index, std::string_view argument,
                                  int64_t extent, FromEnd from_end);

/// The rows of a table that ids name, counted from the first that is here, negative for others.
/// Errors: those of look_up.
std::vector<int64_t> places_in(const LookupTable& table, const DenseTensor& ids,
                               std::string_view argument, std::string_view table_name);

/// index [..., k] along the first k tensor dims, counted as one. Indices may count from the end.
/// Errors: as above.
std::vector<int64_t> places_of_first(const DenseTensor& index, const Dims& dims);

/// What the indices of index_put name of an array of `dims`.
struct NamedPlaces {
  std::vector<int64_t> places;
  Dims shape;      // of the places, broadcast together
  int named_dims;  // of the array, which the places count as one
};
/// Errors: InvalidArgument, as above, and if what bool indices name does not broadcast with others.
NamedPlaces places_of_indices(std::span<const DenseTensor* const> indices, const Dims& dims);

}  // namespace phi
