// Construction of DistTensors.
#include "distributed/tensor/dist_tensor.h"

namespace phi::distributed {
namespace {

std::string describe_attr(const void* attr) {
  return static_cast<const TensorDistAttr*>(attr)->to_string();
}

}  // namespace

DistTensor DistTensor::clipped(const TensorMeta& global, const TensorDistAttr* attr,
                               const Place& place, const char* op) {
  const TensorMeta local{Dims::filled(global.dims.ndim(), 0), global.dtype, global.layout};
  auto storage = Storage::placeholder(
      place, {op, "this rank is outside the tensor's mesh,", attr, &describe_attr});
  return {global, attr, DenseTensor(local, std::move(storage))};
}

DistTensor DistTensor::empty(const TensorMeta& global, const TensorDistAttr* attr,
                             const Place& place, int64_t rank, const char* op) {
  const auto coord = attr->mesh().coord_of(rank);
  if (!coord) return clipped(global, attr, place, op);
  const TensorMeta local{local_box(global.dims, *attr, *coord).size, global.dtype, global.layout};
  return {global, attr, DenseTensor::empty(local, place)};
}

std::string DistTensor::to_string() const { return global_.to_string() + " " + attr_->to_string(); }

}  // namespace phi::distributed
