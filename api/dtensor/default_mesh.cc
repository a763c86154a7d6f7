// The default mesh, kept by the rank's world.
#include "api/dtensor/default_mesh.h"

#include <memory>

#include "api/dtensor/job.h"
#include "api/dtensor/reshard.h"
#include "api/dtensor/shard_tensor.h"
#include "distributed/comm/world.h"
#include "phi/common/errors.h"

namespace phi::distributed {

void set_mesh(const ProcessMesh& mesh) {
  const OpScope scope("set_mesh");
  check_mesh(mesh);
  World::current().set_default_mesh(mesh.defined() ? std::make_shared<const ProcessMesh>(mesh)
                                                   : nullptr);
}

bool has_mesh() { return World::current().default_mesh() != nullptr; }

ProcessMesh get_mesh() {
  const auto& mesh = World::current().default_mesh();
  PHI_CHECK(mesh, errors::PreconditionNotMet("no mesh is passed, and rank {} has no default mesh; "
                                             "call set_mesh(mesh) on every rank, or pass the mesh.",
                                             rank()));
  return *mesh;
}

Tensor shard_tensor(const Tensor& x, std::span<const Placement> placements) {
  const OpScope scope("shard_tensor");
  return shard_tensor(x, get_mesh(), placements);
}

Tensor reshard(const Tensor& x, std::span<const Placement> placements) {
  const OpScope scope("reshard");
  return reshard(x, get_mesh(), placements);
}

}  // namespace phi::distributed
