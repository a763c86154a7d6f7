// Makes calls on placeholders, forward and backward, and records them.
#include "api/planning/placing/dry_costs.h"

#include <algorithm>
#include <utility>

#include "api/autograd/grad_node.h"
#include "api/call/args/outputs.h"
#include "api/call/named_call.h"
#include "api/planning/placing/recorded_seconds.h"
#include "api/simulation/record_step.h"
#include "api/tensor/placeholder.h"
#include "distributed/api.h"
#include "distributed/placement/gradient_attr.h"
#include "phi/common/errors.h"

namespace phi::planning {
namespace {

using distributed::ProcessMesh;
using distributed::TensorDistAttr;
using distributed::World;
using distributed::planner::OpGraph;
using distributed::planner::TensorState;

Tensor placed(const Dims& dims, DataType dtype, const TensorDistAttr* attr) {
  return distributed::placeholder(dims, dtype, attr->mesh(), attr->placements());
}

// The producer of a call's input: it receives the gradient as the call returns it, and lets the
// call keep the input of a gather.
class InputNode final : public GradNode {
 public:
  InputNode(const Tensor& x, Tensor gathered_from)
      : GradNode("input"), gathered_from_(std::move(gathered_from)) {
    add_output(x);
  }
  bool is_leaf() const override { return true; }
  void prepare(std::span<Tensor>) const override {}
  void release() override {}
  Tensor gathered_from() const override { return gathered_from_; }
  const Tensor& gradient() const { return gradient_; }

 private:
  void backward(const GradOutputs& in, GradInputs&) override { gradient_ = in.grad(0); }

  Tensor gathered_from_;
  Tensor gradient_;
};

}  // namespace

// One call with its backward pass.
class DryCosts::Measurement {
 public:
  Measurement(const CallKind& kind, const ProcessMesh& mesh) : kind_(kind), mesh_(mesh) {}

  void make_inputs(std::span<const TensorState> states, const std::vector<bool>& receives) {
    const auto& values = kind_.operation.inputs;
    nodes_.resize(states.size());
    for (size_t slot = 0; slot < states.size(); ++slot) {
      const auto first =
          static_cast<size_t>(std::ranges::find(values, values[slot]) - values.begin());
      if (values[slot] == ir::kAbsent || first < slot) {
        inputs_.push_back(values[slot] == ir::kAbsent ? Tensor() : inputs_[first]);
        continue;
      }
      const auto [dims, dtype] = std::pair(kind_.metas[slot].dims, kind_.metas[slot].dtype);
      Tensor x = placed(dims, dtype, states[slot].attr);
      if (receives[slot]) {
        const TensorDistAttr* source = states[slot].gathered_from;
        nodes_[slot] = IntrusivePtr<InputNode>(
            new InputNode(x, source ? placed(dims, dtype, source) : Tensor()));
        x.set_grad_link(GradLink(IntrusivePtr<GradNode>(nodes_[slot].get()), 0));
      }
      inputs_.push_back(std::move(x));
    }
  }

  void forward() {
    const ir::Operation& operation = kind_.operation;
    std::vector<TensorList> arguments;
    for (size_t i = 0; i + 1 < operation.input_begin.size(); ++i) {
      arguments.emplace_back(inputs_.begin() + operation.input_begin[i],
                             inputs_.begin() + operation.input_begin[i + 1]);
    }
    std::vector<std::pair<std::string, AttributeValue>> attributes;
    for (const ir::Attribute& each : operation.attributes)
      attributes.emplace_back(each.name, each.value);
    results_ = call_op(operation.op->name, std::move(arguments), attributes);
    PHI_CHECK(results_.size() == operation.outputs.size(),
              errors::Internal("{} returned {} tensors, and {} when it was captured.",
                               operation.op->name, results_.size(), operation.outputs.size()));
    for (size_t o = 0; o < results_.size(); ++o) {
      attrs_.push_back(attr_of(results_[o]));
      // An inplace call writes its result to the argument, in the argument's placements.
      const int written = operation.inplace[o];
      if (written < 0 || attrs_[o] == nullptr) continue;
      Tensor target = inputs_[static_cast<size_t>(written)].detach();
      attrs_[o] = target.dist_attr();
      if (results_[o].is_dist() && results_[o].dist_attr() != attrs_[o])
        assign_inplace(target, results_[o]);
    }
  }

  void make_gradients(const std::vector<bool>& receives) {
    for (size_t o = 0; o < results_.size(); ++o) {
      const Tensor& result = results_[o];
      if (!receives[inputs_.size() + o] || !result.defined() || !result.requires_grad()) continue;
      roots_.push_back(
          {{IntrusivePtr<autograd::Node<Tensor>>(result.grad_link().node()),
            result.grad_link().slot()},
           placed(result.shape(), result.dtype(), distributed::without_partial(attrs_[o]))});
    }
  }
  void backward() {
    if (!roots_.empty()) autograd::run_backward<Tensor>(std::move(roots_), {});
  }

  // An output that is a view of an input, or overwrites one, keeps no bytes of its own.
  CallCost result() const {
    CallCost cost;
    cost.outputs = attrs_;
    for (const auto& node : nodes_) {
      cost.gradients.push_back(node && node->gradient().defined() ? attr_of(node->gradient())
                                                                  : nullptr);
    }
    return cost;
  }
  // Local bytes of outputs that are written over inputs: the placeholders are new, the job's are
  // not.
  int64_t reused_bytes() const {
    int64_t bytes = 0;
    for (size_t o = 0; o < results_.size(); ++o) {
      if (kind_.operation.inplace[o] >= 0 && results_[o].defined())
        bytes += static_cast<int64_t>(array_of(results_[o]).nbytes());
    }
    return bytes;
  }

 private:
  AttrPtr attr_of(const Tensor& x) const {
    if (!x.defined()) return nullptr;
    return x.is_dist() ? x.dist_attr() : TensorDistAttr::replicated(mesh_);
  }

  const CallKind& kind_;
  const ProcessMesh& mesh_;
  TensorList inputs_;
  std::vector<IntrusivePtr<InputNode>> nodes_;  // by input; null: no gradient
  TensorList results_;
  std::vector<AttrPtr> attrs_;  // of results
  std::vector<autograd::BackwardRoot<Tensor>> roots_;
};

DryCosts::DryCosts(const std::vector<CallKind>& kinds, const ProcessMesh& mesh, int64_t num_ranks,
                   const distributed::simulator::MachineModel& machine)
    : kinds_(kinds),
      mesh_(mesh),
      num_ranks_(num_ranks),
      machine_(machine),
      world_(mesh.rank_at(int64_t{0}), mesh.highest_rank() + 1) {}

int64_t DryCosts::price(const std::function<void()>& step) {
  return picoseconds_of(simulation::record_step(world_, step), world_.rank(), num_ranks_, machine_);
}

std::optional<distributed::planner::PlacementCosts::CallCost> DryCosts::call(
    const OpGraph::OpCall& call, std::span<const TensorState> inputs,
    const std::vector<bool>& receives) {
  CallKey key{call.kind, {}, {}};
  for (const TensorState& input : inputs) {
    key.attrs.push_back(input.attr);
    key.attrs.push_back(input.gathered_from);
  }
  for (const auto* tensors : {&call.inputs, &call.outputs}) {
    for (const auto t : *tensors)
      key.receives.push_back(t != distributed::planner::kAbsent &&
                             receives[static_cast<size_t>(t)]);
  }
  const auto known = calls_.find(key);
  if (known != calls_.end()) return known->second;
  std::optional<CallCost> cost;
  const World::Scope scope(world_);
  try {
    const auto& account = *world_.rank_context().memory();
    Measurement measurement(kinds_[call.kind], mesh_);
    measurement.make_inputs(inputs, key.receives);
    const int64_t before = account.planned().current;
    const int64_t forward = price([&] { measurement.forward(); });
    const int64_t kept = account.planned().current - before - measurement.reused_bytes();
    measurement.make_gradients(key.receives);
    const int64_t backward = price([&] { measurement.backward(); });
    cost = measurement.result();
    cost->picoseconds = forward + backward;
    cost->bytes = std::max<int64_t>(0, kept);
  } catch (const Error& error) {
    refusal_ = error.what();
  }
  return calls_.emplace(std::move(key), std::move(cost)).first->second;
}

namespace {

std::vector<int64_t> extents_of(const OpGraph::Tensor& tensor) {
  return {tensor.shape.begin(), tensor.shape.end()};
}

}  // namespace

int64_t DryCosts::reshard(const OpGraph::Tensor& tensor, AttrPtr from, AttrPtr to) {
  if (from == to) return 0;
  const auto [known, is_new] =
      reshards_.try_emplace({extents_of(tensor), tensor.dtype, {from, to}});
  if (is_new) {
    const World::Scope scope(world_);
    const Tensor x = placed(tensor.shape, tensor.dtype, from);
    known->second = price([&] { distributed::reshard(x.dist(), to); });
  }
  return known->second;
}

DryCosts::Sum DryCosts::sum(const OpGraph::Tensor& tensor, AttrPtr a, AttrPtr b) {
  const auto [known, is_new] = sums_.try_emplace({extents_of(tensor), tensor.dtype, {a, b}});
  if (is_new) {
    const World::Scope scope(world_);
    Tensor total = placed(tensor.shape, tensor.dtype, a);
    Tensor more = placed(tensor.shape, tensor.dtype, b);
    const int64_t picoseconds = price([&] { accumulate(total, std::move(more)); });
    known->second = {total.dist_attr(), picoseconds};
  }
  return known->second;
}

}  // namespace phi::planning
