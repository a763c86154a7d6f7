// Implementation of local_shard().
#include "api/tensor/local_shard.h"

#include "phi/core/rank_context.h"

namespace phi {

LocalShard local_shard(const Tensor& x) {
  if (!x.defined()) return {};
  if (!x.is_dist()) return {&x.dense(), Box::whole(x.shape())};
  const auto coord = x.dist().mesh().coord_of(RankContext::current().rank());
  if (!coord) return {};
  const Box box = distributed::local_box(x.shape(), *x.dist_attr(), *coord);
  if (box.empty()) return {};
  return {&x.dist().local(), box};
}

}  // namespace phi
