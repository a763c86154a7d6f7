// Implements TensorPart by the operators slice and slice_scatter_.
#include "api/tensor/indexing.h"

#include <fmt/format.h>

#include "api/generated/ops/expand.h"
#include "api/generated/ops/slice.h"
#include "api/generated/ops/slice_scatter.h"
#include "api/tensor/scalar_operand.h"
#include "phi/common/errors.h"

namespace phi {
namespace {

std::string index_text(const TensorIndex& index) {
  if (index.is_number()) return std::to_string(index.begin());
  const std::string end = index.end() == kEnd ? "" : std::to_string(index.end());
  return fmt::format("range {}:{}", index.begin(), end);
}

// Whether shape `from` broadcasts to `to` by the operators' rule: dims are aligned to the right.
bool broadcasts_to(const Dims& from, const Dims& to) {
  const int added = to.ndim() - from.ndim();
  if (added < 0) return false;
  for (int d = 0; d < from.ndim(); ++d) {
    if (from[d] != 1 && from[d] != to[added + d]) return false;
  }
  return true;
}

}  // namespace

struct TensorPart::SliceArguments {
  std::vector<int64_t> axes;
  IntArray starts;
  IntArray ends;
  std::vector<int64_t> gone;
};

TensorPart::TensorPart(const Tensor& whole) : whole_(whole) {
  for (const int64_t extent : whole.shape()) extents_.push_back({0, extent, true, false});
}

TensorPart TensorPart::part(std::span<const TensorIndex> indices) const {
  TensorPart result = *this;
  const Dims now = shape();
  PHI_CHECK(static_cast<int>(indices.size()) <= now.ndim(),
            errors::InvalidArgument(
                "{} indices for {}, which has {} tensor dims; pass at most one for each.",
                indices.size(), to_string(), now.ndim()));
  size_t next = 0;
  for (int d = 0; next < indices.size(); ++next, ++d) {
    while (result.extents_[d].is_gone) ++d;
    DimRange& extent = result.extents_[d];
    const TensorIndex& index = indices[next];
    const int64_t size = extent.size;
    const auto counted = [size](int64_t at) { return at < 0 ? at + size : at; };
    const int64_t begin = counted(index.begin());
    int64_t end = begin + 1;
    if (!index.is_number()) end = index.end() == kEnd ? size : counted(index.end());
    PHI_CHECK(
        begin >= 0 && begin <= end && end <= size,
        errors::OutOfRange(
            "{} of tensor dim {} of {}: its extent is {}; {}", index_text(index), next, to_string(),
            size,
            index.is_number()
                ? fmt::format("use {} to {}.", -size, size - 1)
                : fmt::format(
                      "use bounds from {} to {}, the first not after the second (kEnd is the end).",
                      -size, size)));
    extent = {extent.begin + begin, end - begin, extent.is_whole && begin == 0 && end == size,
              index.is_number()};
    if (index.is_number()) extent.is_whole = false;
  }
  return result;
}

Dims TensorPart::shape() const {
  Dims dims;
  for (const DimRange& extent : extents_) {
    if (!extent.is_gone) dims.push_back(extent.size);
  }
  return dims;
}

std::string TensorPart::to_string() const {
  std::vector<std::string> indices;
  bool is_whole = true;
  for (const DimRange& extent : extents_) {
    is_whole = is_whole && extent.is_whole;
    indices.push_back(extent.is_gone ? std::to_string(extent.begin)
                      : extent.is_whole
                          ? ":"
                          : fmt::format("{}:{}", extent.begin, extent.begin + extent.size));
  }
  if (is_whole) return whole_.to_string();
  return fmt::format("part [{}] of {}", fmt::join(indices, ","), whole_.to_string());
}

// Leaves out tensor dims that are selected whole, so that the operators may keep them sharded.
TensorPart::SliceArguments TensorPart::arguments() const {
  SliceArguments arguments;
  std::vector<int64_t> starts;
  std::vector<int64_t> ends;
  for (size_t d = 0; d < extents_.size(); ++d) {
    const DimRange& extent = extents_[d];
    if (extent.is_whole) continue;
    arguments.axes.push_back(static_cast<int64_t>(d));
    starts.push_back(extent.begin);
    ends.push_back(extent.begin + extent.size);
    if (extent.is_gone) arguments.gone.push_back(static_cast<int64_t>(d));
  }
  arguments.starts = IntArray(starts);
  arguments.ends = IntArray(ends);
  return arguments;
}

Tensor TensorPart::get() const {
  const auto [axes, starts, ends, gone] = arguments();
  return slice(whole_, axes, starts, ends, {}, gone);
}

void TensorPart::assign(const Tensor& value) const {
  const Dims dims = shape();
  PHI_CHECK(value.dtype() == dtype(),
            errors::InvalidArgument("{} cannot be assigned to {}: their dtypes differ; cast it "
                                    "(value.to(dtype)).",
                                    value.to_string(), to_string()));
  PHI_CHECK(broadcasts_to(value.shape(), dims),
            errors::InvalidArgument("{} cannot be assigned to {}, whose shape is {}: it does not "
                                    "broadcast to that; reshape it.",
                                    value.to_string(), to_string(), dims.to_string()));
  PHI_CHECK(
      whole_.is_dist() || !value.is_dist(),
      errors::InvalidArgument(
          "{} cannot be assigned to {}, which is plain; use distributed::unshard_dtensor(value).",
          value.to_string(), to_string()));
  const auto [axes, starts, ends, gone] = arguments();
  Tensor written = whole_;
  slice_scatter_(written, value.shape() == dims ? value : expand(value, dims), axes, starts, ends,
                 gone);
}

void TensorPart::assign(const Scalar& value) const {
  assign(scalar_like(whole_, value, "assigned to"));
}

}  // namespace phi
