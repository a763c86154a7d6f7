// Chooses between shard_tensor and reshard.
#include "api/nn/apply_placements.h"

#include "distributed/api.h"

namespace phi::nn {

Tensor apply_placements(const Tensor& x, const distributed::TensorDistAttr* attr) {
  if (attr == nullptr) return x;
  if (!x.is_dist()) return distributed::shard_tensor(x, attr->mesh(), attr->placements());
  if (x.dist_attr() == attr) return x;
  return distributed::reshard(x, attr->mesh(), attr->placements());
}

}  // namespace phi::nn
