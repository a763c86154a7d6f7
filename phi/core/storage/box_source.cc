// Translates boxes of a BoxSource to coordinates of its whole array.
#include "phi/core/storage/box_source.h"

#include <utility>

#include "phi/common/errors.h"

namespace phi {

BoxSource::BoxSource(std::shared_ptr<const Storage::Source> whole, const Box& box)
    : whole_(std::move(whole)), offset_(box.offset), meta_(whole_->meta()) {
  const Dims& dims = meta_.dims;
  PHI_CHECK(box.ndim() == dims.ndim() && (box.empty() || intersect(box, Box::whole(dims)) == box),
            errors::OutOfRange("box {} is not within a tensor of {}.", box.to_string(),
                               meta_.to_string()));
  meta_.dims = box.size;
}

Box BoxSource::in_whole(Box box) const {
  for (int d = 0; d < box.ndim(); ++d) box.offset[d] += offset_[d];
  return box;
}

}  // namespace phi
