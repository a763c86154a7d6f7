// Shape and dtype inference of ops whose output shape depends on data.
#include "phi/infermeta/data_dependent.h"

#include <limits>

#include "phi/common/errors.h"
#include "phi/infermeta/axes.h"

namespace phi {

TensorMeta NonZeroInferMeta(const TensorMeta& condition) {
  PHI_CHECK(condition.dims.ndim() > 0,
            errors::InvalidArgument("condition is {}, but an element without tensor dims has no "
                                    "coordinates; reshape it to [1].",
                                    condition.to_string()));
  return {{kUnknownDim, condition.dims.ndim()}, DataType::INT64, condition.layout};
}

TensorMeta MaskedSelectInferMeta(const TensorMeta& x, const TensorMeta& mask) {
  PHI_CHECK(mask.dtype == DataType::BOOL,
            errors::InvalidArgument("mask is {}, but it must be bool; cast it.", mask.to_string()));
  broadcast_dims(x.dims, mask.dims, "x", "mask");
  return {{kUnknownDim}, x.dtype, x.layout};
}

std::tuple<TensorMeta, std::optional<TensorMeta>, std::optional<TensorMeta>,
           std::optional<TensorMeta>>
UniqueInferMeta(const TensorMeta& x, bool return_index, bool return_inverse, bool return_counts,
                const std::vector<int>& axis, DataType dtype) {
  PHI_CHECK(dtype == DataType::INT32 || dtype == DataType::INT64,
            errors::InvalidArgument("dtype is {}, but indices, inverse and counts must be int32 or "
                                    "int64.",
                                    name_of(dtype)));
  PHI_CHECK(axis.size() <= 1,
            errors::InvalidArgument("axis has {} entries, but it takes one, or none to flatten "
                                    "x first.",
                                    axis.size()));
  TensorMeta out{{kUnknownDim}, x.dtype, x.layout};
  int64_t items = x.dims.known() ? x.dims.numel() : kUnknownDim;
  if (!axis.empty()) {
    const int at = normalise_axis(axis[0], x.dims.ndim(), x.dims);
    items = x.dims[at];
    out.dims = x.dims;
    out.dims[at] = kUnknownDim;
  }
  PHI_CHECK(dtype == DataType::INT64 || items <= std::numeric_limits<int32_t>::max(),
            errors::InvalidArgument(
                "dtype is int32, but x {} has {} items, more than it can count; use int64.",
                x.to_string(), items));
  const auto when = [&](bool wanted, int64_t extent) {
    return wanted ? std::optional(TensorMeta{{extent}, dtype, x.layout}) : std::nullopt;
  };
  return {out, when(return_index, kUnknownDim), when(return_inverse, items),
          when(return_counts, kUnknownDim)};
}

std::tuple<TensorMeta, std::optional<TensorMeta>, std::optional<TensorMeta>>
UniqueConsecutiveInferMeta(const TensorMeta& x, bool return_inverse, bool return_counts,
                           const std::vector<int>& axis, DataType dtype) {
  const DataType needed = return_inverse || return_counts ? dtype : DataType::INT64;
  auto [out, indices, inverse, counts] =
      UniqueInferMeta(x, false, return_inverse, return_counts, axis, needed);
  return {out, inverse, counts};
}

}  // namespace phi
