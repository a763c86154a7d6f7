// Shapes of ops that read or write elements at positions in an index tensor.
#include "phi/infermeta/indexing.h"

#include <algorithm>
#include <string_view>

#include "phi/common/errors.h"
#include "phi/infermeta/axes.h"
#include "phi/infermeta/lookup.h"

namespace phi {
namespace {

bool may_be_equal(int64_t a, int64_t b) { return a == b || a == kUnknownDim || b == kUnknownDim; }

bool may_be_equal(const Dims& a, const Dims& b) {
  return std::ranges::equal(a, b, [](int64_t x, int64_t y) { return may_be_equal(x, y); });
}

/// Whether extent `part` is at most `whole`; true if one is unknown.
bool may_fit(int64_t part, int64_t whole) {
  return part <= whole || part == kUnknownDim || whole == kUnknownDim;
}

void check_indexing_dtypes(const TensorMeta& x, const TensorMeta& other, std::string_view name) {
  PHI_CHECK(x.dtype == other.dtype,
            errors::InvalidArgument("{} is {}, but its destination is {}; cast one of them.", name,
                                    other.to_string(), x.to_string()));
}

/// The number of elements of an index [n], or [n, 1].
int64_t listed(const TensorMeta& index) {
  check_index_dtype(index, "index");
  const Dims& dims = index.dims;
  PHI_CHECK(
      dims.ndim() == 1 || (dims.ndim() == 2 && may_be_equal(dims[1], 1)),
      errors::InvalidArgument("index is {}, but it must be [n] or [n, 1]; reshape it to [-1].",
                              index.to_string()));
  return dims[0];
}

void check_index_ndim(const TensorMeta& x, const TensorMeta& other, std::string_view x_name,
                      std::string_view name) {
  PHI_CHECK(x.dims.ndim() == other.dims.ndim() && x.dims.ndim() > 0,
            errors::InvalidArgument("{} is {} and {} is {}: they must have one number of tensor "
                                    "dims, at least 1; reshape one of them.",
                                    x_name, x.to_string(), name, other.to_string()));
}

/// The dims of gather_nd(x, index).
Dims named_by(const TensorMeta& x, const TensorMeta& index) {
  check_index_dtype(index, "index");
  PHI_CHECK(index.dims.ndim() > 0 && may_fit(index.dims.back(), x.dims.ndim()),
            errors::InvalidArgument("index is {}, but its last extent is the number of tensor dims "
                                    "of x {} that it indexes: 0 to {}.",
                                    index.to_string(), x.to_string(), x.dims.ndim()));
  Dims out;
  for (int d = 0; d + 1 < index.dims.ndim(); ++d) out.push_back(index.dims[d]);
  const int64_t named = index.dims.back() == kUnknownDim ? x.dims.ndim() : index.dims.back();
  for (int d = static_cast<int>(named); d < x.dims.ndim(); ++d) out.push_back(x.dims[d]);
  return out;
}

/// Whether an array of `dims` broadcasts to `full`.
bool broadcasts_to(const Dims& dims, const Dims& full) {
  const int missing = full.ndim() - dims.ndim();
  bool fits = missing >= 0;
  for (int d = 0; fits && d < dims.ndim(); ++d) {
    fits = dims[d] == 1 || may_be_equal(dims[d], full[missing + d]);
  }
  return fits;
}

/// One index of index_put: the shape of its positions, and the number of tensor dims of x, from
/// `first` on, that it covers.
struct IndexedDims {
  Dims positions;
  int count;
};
IndexedDims indexed_dims(const TensorMeta& x, const TensorMeta& index, int first) {
  if (index.dtype != DataType::BOOL) {
    check_index_dtype(index, "an index");
    PHI_CHECK(
        first < x.dims.ndim(),
        errors::InvalidArgument("indices index more tensor dims than x {} has.", x.to_string()));
    return {index.dims, 1};
  }
  const int count = index.dims.ndim();
  bool fits = count > 0 && first + count <= x.dims.ndim();
  for (int d = 0; fits && d < count; ++d) {
    fits = may_be_equal(index.dims[d], x.dims[first + d]);
  }
  PHI_CHECK(fits, errors::InvalidArgument("an index is {}, but a bool one must have the extents of "
                                          "x {} from tensor dim {} on.",
                                          index.to_string(), x.to_string(), first));
  return {{kUnknownDim}, count};
}

}  // namespace

TensorMeta GatherNdInferMeta(const TensorMeta& x, const TensorMeta& index) {
  return {named_by(x, index), x.dtype, x.layout};
}

TensorMeta IndexSelectInferMeta(const TensorMeta& x, const TensorMeta& index, int axis) {
  TensorMeta out = x;
  out.dims[normalise_axis(axis, x.dims.ndim(), x.dims)] = listed(index);
  return out;
}

TensorMeta IndexSelectStridedInferMeta(const TensorMeta& x, int64_t index, int axis) {
  const int at = normalise_axis(axis, x.dims.ndim(), x.dims);
  const int64_t extent = x.dims[at];
  PHI_CHECK(extent == kUnknownDim || (index >= -extent && index < extent),
            errors::OutOfRange("index is {}, but tensor dim {} of x {} has {} entries; it must be "
                               "in [{}, {}).",
                               index, at, x.to_string(), extent, -extent, extent));
  TensorMeta out{{}, x.dtype, x.layout};
  for (int d = 0; d < x.dims.ndim(); ++d) {
    if (d != at) out.dims.push_back(x.dims[d]);
  }
  return out;
}

TensorMeta IndexSampleInferMeta(const TensorMeta& x, const TensorMeta& index) {
  check_index_dtype(index, "index");
  PHI_CHECK(x.dims.ndim() == 2 && index.dims.ndim() == 2 && may_be_equal(x.dims[0], index.dims[0]),
            errors::InvalidArgument("x is {} and index is {}: both must be matrices of one number "
                                    "of rows.",
                                    x.to_string(), index.to_string()));
  return {index.dims, x.dtype, x.layout};
}

TensorMeta TakeAlongAxisInferMeta(const TensorMeta& arr, const TensorMeta& indices, int axis) {
  check_index_dtype(indices, "indices");
  check_index_ndim(arr, indices, "arr", "indices");
  const int at = normalise_axis(axis, arr.dims.ndim(), arr.dims);
  for (int d = 0; d < arr.dims.ndim(); ++d) {
    PHI_CHECK(d == at || may_fit(indices.dims[d], arr.dims[d]),
              errors::InvalidArgument("indices is {}, but along tensor dim {} it may have no more "
                                      "entries than arr {}; slice it.",
                                      indices.to_string(), d, arr.to_string()));
  }
  return {indices.dims, arr.dtype, arr.layout};
}

TensorMeta PutAlongAxisInferMeta(const TensorMeta& arr, const TensorMeta& indices,
                                 const TensorMeta& values, int axis, const std::string& reduce) {
  TakeAlongAxisInferMeta(arr, indices, axis);
  check_index_ndim(arr, values, "arr", "values");
  check_indexing_dtypes(arr, values, "values");
  for (int d = 0; d < arr.dims.ndim(); ++d) {
    PHI_CHECK(
        may_fit(indices.dims[d], values.dims[d]),
        errors::InvalidArgument(
            "values is {}, but indices {} selects more elements along tensor dim {}; expand it.",
            values.to_string(), indices.to_string(), d));
  }
  constexpr std::string_view kKnown[] = {"assign", "add",  "mul", "multiply",
                                         "mean",   "amax", "amin"};
  PHI_CHECK(
      std::ranges::find(kKnown, reduce) != std::end(kKnown),
      errors::InvalidArgument("reduce is '{}', but it must be assign, add, mul, mean, amax or "
                              "amin.",
                              reduce));
  return arr;
}

TensorMeta ScatterInferMeta(const TensorMeta& x, const TensorMeta& index,
                            const TensorMeta& updates) {
  PHI_CHECK(x.dims.ndim() > 0, errors::InvalidArgument("x is {}, but scatter writes slices along "
                                                       "the first tensor dim.",
                                                       x.to_string()));
  check_indexing_dtypes(x, updates, "updates");
  Dims wanted;
  if (index.dims.ndim() > 0) {
    wanted.push_back(listed(index));
  } else {
    check_index_dtype(index, "index");
  }
  for (int d = 1; d < x.dims.ndim(); ++d) wanted.push_back(x.dims[d]);
  PHI_CHECK(may_be_equal(updates.dims, wanted),
            errors::InvalidArgument("updates is {}, but index {} selects slices of x {}: {}.",
                                    updates.to_string(), index.to_string(), x.to_string(),
                                    wanted.to_string()));
  return x;
}

TensorMeta ScatterNdAddInferMeta(const TensorMeta& x, const TensorMeta& index,
                                 const TensorMeta& updates) {
  const Dims wanted = named_by(x, index);
  check_indexing_dtypes(x, updates, "updates");
  const bool known = index.dims.back() != kUnknownDim;
  PHI_CHECK(!known || may_be_equal(updates.dims, wanted),
            errors::InvalidArgument("updates is {}, but index {} selects elements of x {}: {}.",
                                    updates.to_string(), index.to_string(), x.to_string(),
                                    wanted.to_string()));
  return x;
}

TensorMeta IndexAddInferMeta(const TensorMeta& x, const TensorMeta& index,
                             const TensorMeta& add_value, int axis) {
  PHI_CHECK(
      index.dims.ndim() == 1,
      errors::InvalidArgument("index is {}, but it must have 1 tensor dim; reshape it to [-1].",
                              index.to_string()));
  const TensorMeta slices = IndexSelectInferMeta(x, index, axis);
  check_indexing_dtypes(x, add_value, "add_value");
  PHI_CHECK(may_be_equal(slices.dims, add_value.dims),
            errors::InvalidArgument("add_value is {}, but index {} selects slices of x {}: {}.",
                                    add_value.to_string(), index.to_string(), x.to_string(),
                                    slices.dims.to_string()));
  return x;
}

TensorMeta IndexPutInferMeta(const TensorMeta& x, std::span<const TensorMeta> indices,
                             const TensorMeta& value) {
  PHI_CHECK(
      !indices.empty(),
      errors::InvalidArgument(
          "indices is an empty list; pass an index for each tensor dim of x that is indexed."));
  check_indexing_dtypes(x, value, "value");
  Dims wanted;
  int first = 0;
  for (size_t i = 0; i < indices.size(); ++i) {
    const auto [positions, count] = indexed_dims(x, indices[i], first);
    wanted = i == 0 ? positions : broadcast_dims(wanted, positions, "an index", "the next");
    first += count;
  }
  for (int d = first; d < x.dims.ndim(); ++d) wanted.push_back(x.dims[d]);
  PHI_CHECK(broadcasts_to(value.dims, wanted),
            errors::InvalidArgument("value is {}, but the elements of x {} that indices select are "
                                    "{}, to which it does not broadcast; reshape or expand it.",
                                    value.to_string(), x.to_string(), wanted.to_string()));
  return x;
}

TensorMeta CEmbeddingInferMeta(const TensorMeta& weight, const TensorMeta& x, int64_t start_index) {
  PHI_CHECK(start_index >= 0, errors::InvalidArgument("start_index is {}, but it is the id of "
                                                      "weight's first row; it must be at least 0.",
                                                      start_index));
  return EmbeddingInferMeta(x, weight, /*padding_idx=*/-1, /*sparse=*/false);
}

}  // namespace phi
