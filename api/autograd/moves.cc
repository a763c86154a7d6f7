// Implements the public distributed API on Tensor handles: init, GPUs, shard_tensor, reshard, local
// parts.
#include <utility>

#include "api/autograd/grad_node.h"
#include "api/autograd/own_gpu.h"
#include "api/call/args/args.h"
#include "api/call/call_recorder.h"
#include "distributed/api.h"
#include "distributed/comm/mpi/launcher.h"
#include "distributed/comm/world.h"
#include "distributed/reshard/execute.h"
#include "phi/common/errors.h"
#include "phi/core/device/device.h"
#include "phi/kernels/threads.h"

namespace phi::distributed {
namespace {

// Returns the distributed attribute of a move and reports x to the recorder. Every move of a handle
// calls it first.
const TensorDistAttr* attr_for(const Tensor& x, const ProcessMesh& mesh,
                               std::span<const Placement> placements) {
  const TensorDistAttr* attr = TensorDistAttr::get(mesh, placements);
  attr->check_fits(x.shape());
  if (CallRecorder* recorder = CallRecorder::current()) recorder->used(x);
  return attr;
}

// The node of a move. Its backward reshards the gradient to the form of the move's input.
class MoveNode final : public GradNode {
 public:
  /// `gathers`: the result can be recomputed from x by a gather.
  MoveNode(const char* name, const Tensor& x, bool gathers)
      : GradNode(name), form_(TensorForm::of(x)), source_(gathers ? x.detach() : Tensor()) {
    add_input(x);
  }
  Tensor gathered_from() const override { return source_; }
  void release() override { source_ = Tensor(); }

 private:
  void backward(const Incoming& in, Outgoing& out) override {
    out.give(0, form_.settle(in.grad(0)));
  }
  TensorForm form_;
  Tensor source_;
};

// Whether the move only changes Shard to Replicate. Its input then has the result's value in fewer
// bytes.
bool is_gather(const Tensor& from, const TensorDistAttr* to) {
  if (!from.is_dist() || from.mesh() != to->mesh() || from.dist_attr() == to) return false;
  for (int m = 0; m < from.mesh().ndim(); ++m) {
    const Placement& before = from.placements()[m];
    const Placement& after = to->placement(m);
    if (before != after && !(before.is_shard() && after.is_replicate())) return false;
  }
  return true;
}

Tensor tracked_move(const char* name, const Tensor& from, Tensor to) {
  if (any_requires_grad(from)) track(new MoveNode(name, from, is_gather(from, to.dist_attr())), to);
  return to;
}

// The gradient of Tensor::local: combines the gradients of the ranks' parts, which are disjoint,
// into one distributed gradient.
class LocalNode final : public GradNode {
 public:
  explicit LocalNode(const Tensor& x) : GradNode("local"), form_(TensorForm::of(x)) {
    add_input(x);
  }
  void release() override {}

 private:
  void backward(const Incoming& in, Outgoing& out) override {
    const Tensor grad = in.grad(0);
    const bool here = form_.attr->mesh().contains(rank());
    out.give(0, Tensor(here ? DistTensor(form_.meta, form_.attr, grad.dense())
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
                  "{} requires a gradient, and the parts of its ranks along mesh dim {} are no "
                  "shards, so that gradients of the parts do not make one of the whole. To look at "
                  "its part detach() it (values() and item() need no local()); to compute with it "
                  "reshard it to Shard first, or take gathered_everywhere().",
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
  void backward(const Incoming& in, Outgoing& out) override {
    const Tensor grad = in.grad(0);
    out.give(0, grad.dist().local().computed_here() ? Tensor(grad.dist().local()) : form_.zeros());
  }
  TensorForm form_;
};

}  // namespace

void init(int* argc, char*** argv, std::chrono::milliseconds start_deadline) {
  const World& world = init_world(argc, argv, start_deadline);
  share_cores(ranks_on_machine(world.size()));
}
void finalize() { finalize_world(); }
int64_t rank() { return World::current().rank(); }
int64_t world_size() { return World::current().size(); }

GpuMessages parse_gpu_messages(std::string_view word) {
  if (word == "nccl") return GpuMessages::kNccl;
  if (word == "host") return GpuMessages::kHost;
  throw errors::InvalidArgument(
      "messages is '{}'; between GPUs they go by 'nccl' or through the "
      "memory of the 'host'.",
      word);
}

GpuReduction parse_gpu_reduction(std::string_view word) {
  if (word == "exact") return GpuReduction::kExact;
  if (word == "fast") return GpuReduction::kFast;
  throw errors::InvalidArgument("reduction is '{}'; there are 'exact' and 'fast'.", word);
}

Place use_gpu(const GpuOptions& options) {
  World& world = World::current();
  const Place place = own_gpu(world);
  world.set_carrier(nullptr);  // removes the device communicator of an earlier call
  if (options.messages == GpuMessages::kHost) {
    tell_of_shared_gpus(world, place);
  } else if (world.size() > 1 && world.carries()) {
    world.set_carrier(join_by_nccl(world, place, options.reduction));
  }
  world.rank_context().set_place(place);
  world.rank_context().set_tf32(options.tf32);
  return place;
}

Tensor shard_tensor(const Tensor& x, const ProcessMesh& mesh,
                    std::span<const Placement> placements) {
  const OpScope scope("shard_tensor");
  const TensorDistAttr* attr = attr_for(x, mesh, placements);
  return tracked_move("shard_tensor", x,
                      Tensor(x.is_dist() ? distributed::reshard(x.dist(), attr, KeptPart::kAlias)
                                         : distribute(x.dense(), attr)));
}

Tensor reshard(const Tensor& x, const ProcessMesh& mesh, std::span<const Placement> placements) {
  const OpScope scope("reshard");
  const TensorDistAttr* attr = attr_for(x, mesh, placements);
  if (x.dist_attr() == attr) return x;
  return tracked_move("reshard", x, Tensor(distributed::reshard(x.dist(), attr, KeptPart::kAlias)));
}

PendingTensor start_reshard(const Tensor& x, const ProcessMesh& mesh,
                            std::span<const Placement> placements) {
  const OpScope scope("reshard");
  const TensorDistAttr* attr = attr_for(x, mesh, placements);
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
    track(new MoveNode("reshard", from, is_gather(from, to.dist_attr())), to);
  }
  return to;
}

Tensor gathered_everywhere(const Tensor& x) {
  const bool spans_job = x.mesh().contains(rank()) && x.mesh().size() == world_size();
  const ProcessMesh mesh = spans_job ? x.mesh() : ProcessMesh({world_size()}, {"world"});
  Tensor whole(
      distributed::reshard(x.dist(), TensorDistAttr::replicated(mesh), KeptPart::kAlias).local());
  if (any_requires_grad(x)) {
    track(new MoveNode("gathered_everywhere", x, /*gathers=*/false), whole);
  }
  return whole;
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
            errors::InvalidArgument("rank {} gives {}, but of a tensor {} it holds {}.", rank(),
                                    local.shape().to_string(), describe(global_shape, *attr),
                                    expected.to_string()));
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
