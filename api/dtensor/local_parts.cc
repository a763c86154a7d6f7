// Distributed tensors from and to the parts of ranks, with gradients.
#include "api/dtensor/local_parts.h"

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <vector>

#include "api/autograd/grad_node.h"
#include "api/call/args/args.h"
#include "api/dtensor/job.h"
#include "api/dtensor/reshard.h"
#include "distributed/comm/world.h"
#include "distributed/placement/dist_attr.h"
#include "phi/common/errors.h"
#include "phi/core/rank_context.h"

namespace phi::distributed {
namespace {

// The gradient of Tensor::local: combines the gradients of the ranks' parts, which are disjoint,
// into one distributed gradient.
class LocalNode final : public GradNode {
 public:
  explicit LocalNode(const Tensor& x) : GradNode("local"), form_(TensorForm::of(x)) {
    add_input(x);
  }
  void release() override {}

 private:
  void backward(const GradOutputs& in, GradInputs& out) override {
    const Tensor grad = in.grad(0);
    const bool here = form_.attr->mesh().contains(rank());
    out.set_grad(0,
                 Tensor(here ? DistTensor(form_.meta, form_.attr, grad.dense())
                             : DistTensor::clipped(form_.meta, form_.attr, grad.place(), "local")));
  }
  TensorForm form_;
};

// If several ranks have the same element, or terms of its sum, it is undefined whether the
// gradients of their parts must be added.
void check_parts_are_disjoint(const Tensor& x) {
  for (int m = 0; m < x.mesh().ndim(); ++m) {
    PHI_CHECK(x.placements()[m].is_shard() || x.mesh().dim_size(m) == 1,
              errors::PreconditionNotMet(
                  "{} requires a gradient, but is not sharded over mesh dim {}, so gradients of "
                  "the local parts cannot be combined into one of the global tensor. To inspect "
                  "its local part, call detach() first (values() and item() do not need local()); "
                  "to compute with it, reshard it to Shard first, or use gathered_everywhere().",
                  x.to_string(), x.mesh().dim_names()[m]));
  }
}

// The gradient of from_local: splits the gradient into the ranks' parts.
class FromLocalNode final : public GradNode {
 public:
  explicit FromLocalNode(const Tensor& local)
      : GradNode("from_local"), form_(TensorForm::of(local)) {
    add_input(local);
  }
  void release() override {}

 private:
  void backward(const GradOutputs& in, GradInputs& out) override {
    const Tensor grad = in.grad(0);
    out.set_grad(0,
                 grad.dist().local().computed_here() ? Tensor(grad.dist().local()) : form_.zeros());
  }
  TensorForm form_;
};

// A rank's description of its part, which is exchanged with all ranks.
struct PartInfo {
  int64_t is_defined = 0;
  int64_t dtype = 0;
  int64_t is_tracked = 0;
  int64_t ndim = 0;
  std::array<int64_t, kMaxNdim> dims{};

  static PartInfo of(const Tensor& local) {
    PartInfo info;
    if (!local.defined()) return info;
    info.is_defined = 1;
    const TensorMeta& meta = local.dense().meta();  // throws for a distributed tensor
    info.dtype = static_cast<int64_t>(meta.dtype);
    info.is_tracked = any_requires_grad(local) ? 1 : 0;
    info.ndim = meta.dims.ndim();
    std::copy(meta.dims.begin(), meta.dims.end(), info.dims.begin());
    return info;
  }
  Dims shape() const { return Dims(std::span(dims.data(), static_cast<size_t>(ndim))); }
  DataType type() const { return static_cast<DataType>(dtype); }
  std::string to_string() const {
    if (!is_defined) return "nothing";
    return TensorMeta{shape(), type()}.to_string() + (is_tracked ? " with a gradient" : "");
  }
};
static_assert(sizeof(PartInfo) == (4 + kMaxNdim) * sizeof(int64_t));

// All ranks' descriptions, indexed by rank of the job. Collective over the world.
std::vector<PartInfo> parts_of_all(const PartInfo& own) {
  World& world = World::current();
  std::vector<PartInfo> parts(static_cast<size_t>(world.size()), own);
  if (world.transfers_data() && world.size() > 1) {
    world.everyone().all_gather(&own, parts.data(), sizeof(PartInfo) / sizeof(int64_t),
                                DataType::INT64);
  }
  return parts;
}

// Checks that the parts agree in everything but shape. Errors: InvalidArgument, the same on every
// rank.
void check_alike(const std::vector<PartInfo>& parts, const ProcessMesh& mesh) {
  const int64_t first = mesh.rank_at(int64_t{0});
  const PartInfo& expected = parts[static_cast<size_t>(first)];
  for (const int64_t rank : mesh.ranks()) {
    const PartInfo& part = parts[static_cast<size_t>(rank)];
    PHI_CHECK(part.is_defined, errors::InvalidArgument(
                                   "rank {} of {} passes an undefined tensor; pass its local part.",
                                   rank, mesh.to_string()));
    PHI_CHECK(
        part.dtype == expected.dtype && part.ndim == expected.ndim &&
            part.is_tracked == expected.is_tracked,
        errors::InvalidArgument("rank {} passes {} and rank {} passes {}: local parts of one "
                                "tensor must have the same dtype and the same number of tensor "
                                "dims, and all of them or none must require a gradient.",
                                first, expected.to_string(), rank, part.to_string()));
  }
}

// A tensor dim's extent is the sum of the parts' extents along the mesh dims that shard it, at
// coordinate 0 of the other mesh dims.
Dims global_shape(const std::vector<PartInfo>& parts, const TensorDistAttr& attr) {
  const ProcessMesh& mesh = attr.mesh();
  Dims dims = parts[static_cast<size_t>(mesh.rank_at(int64_t{0}))].shape();
  for (int d = 0; d < dims.ndim(); ++d) dims[d] = 0;
  for (int64_t at = 0; at < mesh.size(); ++at) {
    const MeshCoord coord = mesh.coord_at(at);
    const Dims part = parts[static_cast<size_t>(mesh.rank_at(coord))].shape();
    for (int d = 0; d < dims.ndim(); ++d) {
      bool counts = true;
      for (int m = 0; m < mesh.ndim(); ++m) {
        const Placement& placement = attr.placement(m);
        counts = counts && (coord[static_cast<size_t>(m)] == 0 || placement.is_shard(d));
      }
      if (counts) dims[d] += part[d];
    }
  }
  return dims;
}

// Checks that each part has the shape of its rank's shard. Errors: InvalidArgument, the same on
// every rank.
void check_split(const std::vector<PartInfo>& parts, const Dims& global,
                 const TensorDistAttr& attr) {
  for (const int64_t rank : attr.mesh().ranks()) {
    const Dims given = parts[static_cast<size_t>(rank)].shape();
    const Dims held = local_box(global, attr, *attr.mesh().coord_of(rank)).size;
    PHI_CHECK(
        given == held,
        errors::InvalidArgument("the local parts of all ranks form {}, of which rank {} stores {}, "
                                "but it passes {}. Extents are split as evenly as possible, the "
                                "first ranks having one more, and local parts are equal along mesh "
                                "dims that shard nothing; move elements between ranks first.",
                                describe(global, attr), rank, held.to_string(), given.to_string()));
  }
}

// An empty part for a rank outside the mesh, so that it has the same graph.
Tensor nothing_of(const PartInfo& part) {
  const TensorMeta none{Dims::filled(static_cast<int>(part.ndim), 0), part.type()};
  Tensor x(DenseTensor::empty(none, RankContext::current().place()));
  if (part.is_tracked) x.set_requires_grad();
  return x;
}

}  // namespace

Tensor dtensor_from_local(const Tensor& local, const ProcessMesh& mesh,
                          std::span<const Placement> placements) {
  const OpScope scope("dtensor_from_local");
  PHI_CHECK(!RankContext::current().recorder(),
            errors::Unimplemented(
                "ranks exchange the sizes of their local parts, which a captured program does not "
                "support; use from_local with the global shape in it."));
  check_mesh(mesh);
  const TensorDistAttr* attr = TensorDistAttr::get(mesh, placements);
  std::vector<PartInfo> parts = parts_of_all(PartInfo::of(local));
  check_alike(parts, mesh);
  const PartInfo& first = parts[static_cast<size_t>(mesh.rank_at(int64_t{0}))];
  attr->check_fits(first.shape());
  const Dims global = global_shape(parts, *attr);
  check_split(parts, global, *attr);
  if (mesh.contains(rank())) return from_local(local, global, mesh, placements);
  return from_local(nothing_of(first), global, mesh, placements);
}

Tensor dtensor_to_local(const Tensor& x, const ProcessMesh& mesh,
                        std::span<const Placement> placements) {
  return reshard(x, mesh, placements).local();
}

Tensor from_local(const Tensor& local, const Dims& global_shape, const ProcessMesh& mesh,
                  std::span<const Placement> placements) {
  const OpScope scope("from_local");
  check_mesh(mesh);
  const TensorDistAttr* attr = TensorDistAttr::get(mesh, placements);
  attr->check_fits(global_shape);
  const TensorMeta global{global_shape, local.dtype(), local.layout()};
  const auto coord = mesh.coord_of(rank());
  const auto tracked = [&](Tensor out) {
    if (any_requires_grad(local)) track(new FromLocalNode(local), out);
    return out;
  };
  if (!coord) return tracked(Tensor(DistTensor::clipped(global, attr, local.place(), nullptr)));
  const Dims expected = local_box(global_shape, *attr, *coord).size;
  PHI_CHECK(local.shape() == expected,
            errors::InvalidArgument("rank {} passes {}, but its local part of a tensor {} is {}.",
                                    rank(), local.shape().to_string(),
                                    describe(global_shape, *attr), expected.to_string()));
  return tracked(Tensor(DistTensor(global, attr, local.dense())));
}

}  // namespace phi::distributed

namespace phi {

Tensor Tensor::local() const {
  Tensor part(dist().local());
  if (any_requires_grad(*this)) {
    const OpScope scope("local");
    distributed::check_parts_are_disjoint(*this);
    track(new distributed::LocalNode(*this), part);
  }
  return part;
}

}  // namespace phi
