// Shards plain, deferred and distributed tensors over a mesh.
#include "api/dtensor/shard_tensor.h"

#include "api/dtensor/move_node.h"
#include "distributed/reshard/execute.h"
#include "phi/common/errors.h"

namespace phi::distributed {

Tensor shard_tensor(const Tensor& x, const ProcessMesh& mesh,
                    std::span<const Placement> placements) {
  const OpScope scope("shard_tensor");
  const TensorDistAttr* attr = attr_of_move(x, mesh, placements);
  return tracked_move(
      "shard_tensor", x,
      Tensor(x.is_dist() ? distributed::reshard(x.dist(), attr, ReshardAliasing::kAlias)
                         : distribute(x.dense(), attr)));
}

}  // namespace phi::distributed
