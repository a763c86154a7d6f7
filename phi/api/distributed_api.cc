// The public distributed API on Tensor handles.
#include "distributed/api.h"
#include "distributed/comm/mpi/mpi_world.h"
#include "distributed/comm/world.h"
#include "distributed/reshard/execute.h"
#include "phi/common/errors.h"
#include "phi/kernels/threads.h"

namespace phi::distributed {
namespace {

const TensorDistAttr* attr_for(const Tensor& x, const ProcessMesh& mesh,
                               std::span<const Placement> placements) {
  const TensorDistAttr* attr = TensorDistAttr::get(mesh, placements);
  attr->check_fits(x.shape());
  return attr;
}

// This rank's part of a deferred tensor, straight from its source.
DistTensor materialise_shard(const DenseTensor& whole, const TensorDistAttr* attr) {
  const auto coord = attr->mesh().coord_of(rank());
  if (!coord) return DistTensor::clipped(whole.meta(), attr, whole.place(), nullptr);
  DistTensor out = DistTensor::empty(whole.meta(), attr, whole.place(), rank());
  whole.storage()->source()->read(local_box(whole.dims(), *attr, *coord), &out.local());
  return out;
}

bool can_give_boxes(const DenseTensor& x) {
  const auto& source = x.storage()->source();
  return source && x.byte_offset() == 0 && source->meta() == x.meta();
}

}  // namespace

void init(int* argc, char*** argv) {
  const World& world = init_world(argc, argv);
  share_cores(ranks_on_machine(world.size()));
}
void finalize() { finalize_world(); }
int64_t rank() { return World::current().rank(); }
int64_t world_size() { return World::current().size(); }

Tensor shard_tensor(const Tensor& x, const ProcessMesh& mesh,
                    std::span<const Placement> placements) {
  const OpScope scope("shard_tensor");
  const TensorDistAttr* attr = attr_for(x, mesh, placements);
  if (x.is_dist()) return Tensor(distributed::reshard(x.dist(), attr));
  if (can_give_boxes(x.dense()) && !attr->has_partial())
    return Tensor(materialise_shard(x.dense(), attr));
  return Tensor(distribute(x.dense(), attr));
}

Tensor reshard(const Tensor& x, const ProcessMesh& mesh, std::span<const Placement> placements) {
  const OpScope scope("reshard");
  const TensorDistAttr* attr = attr_for(x, mesh, placements);
  return Tensor(distributed::reshard(x.dist(), attr));
}

Tensor from_local(const Tensor& local, const Dims& global_shape, const ProcessMesh& mesh,
                  std::span<const Placement> placements) {
  const OpScope scope("from_local");
  const TensorDistAttr* attr = TensorDistAttr::get(mesh, placements);
  attr->check_fits(global_shape);
  const TensorMeta global{global_shape, local.dtype(), local.layout()};
  const auto coord = mesh.coord_of(rank());
  if (!coord) return Tensor(DistTensor::clipped(global, attr, local.place(), nullptr));
  const Dims expected = local_box(global_shape, *attr, *coord).size;
  PHI_CHECK(local.shape() == expected,
            errors::InvalidArgument("rank {} gives {}, but of a tensor {} it holds {}.", rank(),
                                    local.shape().to_string(), describe(global_shape, *attr),
                                    expected.to_string()));
  return Tensor(DistTensor(global, attr, local.dense()));
}

}  // namespace phi::distributed
