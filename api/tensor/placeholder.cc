// Constructors of placeholders.
#include "api/tensor/placeholder.h"

#include "distributed/placement/dist_attr.h"
#include "phi/common/errors.h"
#include "phi/core/rank_context.h"

namespace phi {
namespace {

// In a dry run this is an ordinary array, so that the memory account counts its planned bytes.
DenseTensor absent(const TensorMeta& meta, const Place& place) {
  if (RankContext::current().is_dry()) return DenseTensor::empty(meta, place);
  const Storage::Absence absence{.op = "placeholder",
                                 .reason = "it represents a value that does not exist",
                                 .remedy = "Pass a tensor with a value to the operator."};
  return {meta, Storage::placeholder(place, absence)};
}

void check_shape(const Dims& shape) {
  PHI_CHECK(shape.known(), errors::InvalidArgument(
                               "a placeholder needs extents of 0 or more, got {}; pass its shape.",
                               shape.to_string()));
}

}  // namespace

Tensor placeholder(const Dims& shape, DataType dtype, const Place& place) {
  check_shape(shape);
  return Tensor(absent({shape, dtype}, place));
}

double item_or(const Tensor& x, double otherwise) {
  return RankContext::current().is_dry() ? otherwise : x.item();
}

namespace distributed {

Tensor placeholder(const Dims& shape, DataType dtype, const ProcessMesh& mesh,
                   std::span<const Placement> placements) {
  check_shape(shape);
  const TensorDistAttr* attr = TensorDistAttr::get(mesh, placements);
  attr->check_fits(shape);
  const TensorMeta global{shape, dtype};
  const Place& place = RankContext::current().place();
  const auto coord = mesh.coord_of(RankContext::current().rank());
  if (!coord) return Tensor(DistTensor::clipped(global, attr, place, "placeholder"));
  const TensorMeta local{local_box(shape, *attr, *coord).size, dtype};
  return Tensor(DistTensor(global, attr, absent(local, place)));
}

}  // namespace distributed
}  // namespace phi
