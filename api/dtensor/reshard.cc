// Reshards tensor handles, with gradients.
#include "api/dtensor/reshard.h"

#include <utility>

#include "api/dtensor/job.h"
#include "api/dtensor/move_node.h"
#include "phi/common/errors.h"

namespace phi::distributed {

Tensor reshard(const Tensor& x, const ProcessMesh& mesh, std::span<const Placement> placements) {
  const OpScope scope("reshard");
  const TensorDistAttr* attr = attr_of_move(x, mesh, placements);
  if (x.dist_attr() == attr) return x;
  return tracked_move("reshard", x,
                      Tensor(distributed::reshard(x.dist(), attr, ReshardAliasing::kAlias)));
}

PendingTensor start_reshard(const Tensor& x, const ProcessMesh& mesh,
                            std::span<const Placement> placements) {
  const OpScope scope("reshard");
  const TensorDistAttr* attr = attr_of_move(x, mesh, placements);
  PendingTensor pending;
  pending.pending_ = distributed::start_reshard(x.dist(), attr);
  if (any_requires_grad(x)) pending.from_ = is_gather(x, attr) ? x : without_bytes(x);
  return pending;
}

Tensor PendingTensor::wait() {
  const OpScope scope("reshard");
  Tensor to(pending_.wait());
  if (from_.defined()) {
    const Tensor from = std::exchange(from_, {});
    track_move("reshard", from, to, is_gather(from, to.dist_attr()));
  }
  return to;
}

Tensor gathered_everywhere(const Tensor& x) {
  const bool spans_job = x.mesh().contains(rank()) && x.mesh().size() == world_size();
  const ProcessMesh mesh = spans_job ? x.mesh() : ProcessMesh({world_size()}, {"world"});
  Tensor whole(
      distributed::reshard(x.dist(), TensorDistAttr::replicated(mesh), ReshardAliasing::kAlias)
          .local());
  if (any_requires_grad(x)) track_move("gathered_everywhere", x, whole, /*gathers=*/false);
  return whole;
}

Tensor unshard_dtensor(const Tensor& x) {
  const OpScope scope("unshard_dtensor");
  return gathered_everywhere(x);
}

}  // namespace phi::distributed
