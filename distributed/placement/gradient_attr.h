// What placements mean for gradients.
#pragma once

#include "distributed/placement/dist_attr.h"

namespace phi::distributed {

/// `attr` with Replicate in place of Partial. A gradient has these placements of its tensor: it is
/// never partial when it reaches the tensor's producer.
const TensorDistAttr* without_partial(const TensorDistAttr* attr);

/// Whether a reshard only changes Shard to Replicate, on one mesh. Its input then has the result's
/// value in fewer bytes, so that the backward pass keeps the input and gathers again.
bool is_gather(const TensorDistAttr* from, const TensorDistAttr* to);

}  // namespace phi::distributed
