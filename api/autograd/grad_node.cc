// Saved tensors, sums of gradients, and the inputs and outputs of gradient nodes.
#include "api/autograd/grad_node.h"

#include <optional>

#include "api/call/call.h"
#include "api/generated/ops/add.h"
#include "api/generated/ops/add_n.h"
#include "api/tensor/deferred.h"
#include "distributed/api.h"
#include "distributed/comm/world.h"
#include "distributed/placement/gradient_attr.h"
#include "distributed/reshard/execute.h"
#include "phi/autograd/grad_mode.h"
#include "phi/common/errors.h"
#include "phi/common/inexact.h"
#include "phi/common/process/interruption.h"
#include "phi/core/rank_context.h"
#include "phi/core/recorder.h"
#include "phi/core/storage/memory_ledger.h"

namespace phi {

using distributed::DistTensor;

// ---- links ----

GradLink::GradLink(IntrusivePtr<GradNode> node, int slot) : node_(node.release()), slot_(slot) {}

GradLink::GradLink(const GradLink& other)
    : GradLink(IntrusivePtr<GradNode>(other.node_), other.slot_) {
  tracked_writes_ = other.tracked_writes_;
}

void GradLink::drop() { IntrusivePtr<GradNode>::adopt(std::exchange(node_, nullptr)); }

void Tensor::set_grad_link(GradLink link) {
  impl_->link = std::move(link);
  impl_->link.set_tracked_writes(array().storage()->tracked_writes());
}

void check_history(const Tensor& x) {
  PHI_CHECK(
      !x.is_history_outdated(),
      errors::PreconditionNotMet(
          "{} shares its bytes with a tensor that an inplace operation has written to since: a "
          "view of it, or the tensor that it views. Its own gradient history does not include that "
          "write. Use the tensor that was written to, or clone() one of the two before the write.",
          x.to_string()));
}

// ---- sums ----

namespace {
// Whether this rank has a part of x, which may be deferred.
bool has_part(const Tensor& x) {
  return !x.is_dist() || x.mesh().contains(RankContext::current().rank());
}

// Adds tensors of equal placements: each rank adds its local parts.
void add_parts(Tensor& sum, Tensor&& more) {
  if (!has_part(sum)) return;
  if (!sum.is_sole_owner() && more.is_sole_owner()) std::swap(sum, more);
  const bool may_write = sum.is_sole_owner();
  Tensor x(array_of(sum));
  const Tensor y(array_of(more));
  if (may_write) {
    add_(x, y);
    return;
  }
  const Tensor result = add(x, y);
  sum = sum.is_dist() ? Tensor(DistTensor(sum.meta(), sum.dist_attr(), result.dense())) : result;
}
}  // namespace

void accumulate(Tensor& sum, Tensor&& more) {
  const bool alike = sum.is_dist() == more.is_dist() && sum.dtype() == more.dtype() &&
                     (!sum.is_dist() || sum.dist_attr() == more.dist_attr());
  if (!alike) {
    sum = add_n({sum, more});
    return;
  }
  const Call call(ops::add, attrs(), sum, more);
  add_parts(sum, std::move(more));
  if (!call.is_observed()) return;
  // Outside the mesh no add ran, so `sum` still has its old storage. The captured program needs a
  // new value for the sum.
  if (!has_part(sum)) {
    sum = Tensor(DistTensor::clipped(sum.meta(), sum.dist_attr(), sum.place(), "add"));
  }
  call.set_outputs(sum);
}

// ---- forms ----

TensorForm TensorForm::of(const Tensor& x) {
  return {x.meta(), x.is_dist() ? distributed::without_partial(x.dist_attr()) : nullptr};
}

Tensor TensorForm::zeros() const {
  const Tensor plain = deferred_full(meta.dims, 0.0, meta.dtype);
  return attr ? distributed::shard_tensor(plain, attr->mesh(), attr->placements()) : plain;
}

Tensor TensorForm::reshard(const Tensor& grad) const {
  if (!attr) return grad.is_dist() ? distributed::gathered_everywhere(grad) : grad;
  if (!grad.is_dist()) return distributed::shard_tensor(grad, attr->mesh(), attr->placements());
  if (grad.dist_attr() == attr) return grad;
  return Tensor(distributed::reshard(grad.dist(), attr));
}

// ---- saved ----

Tensor without_bytes(const Tensor& x) {
  const DenseTensor& array = array_of(x);
  const Storage::Absence absence{OpScope::current(), "only its shape was saved for a gradient",
                                 nullptr, nullptr};
  DenseTensor nothing(array.meta(), Storage::placeholder(array.place(), absence));
  Tensor out = x.is_dist() ? Tensor(DistTensor(x.meta(), x.dist_attr(), std::move(nothing)))
                           : Tensor(std::move(nothing));
  if (x.requires_grad()) out.set_grad_link(x.grad_link());
  if (Recorder* recorder = RankContext::current().recorder()) recorder->alias(x, out);
  return out;
}

SavedTensor::SavedTensor(const Tensor& x) {
  if (!x.defined()) return;
  value_ = x.requires_grad() ? x.grad_link().node()->gathered_from() : Tensor();
  if (value_.defined()) {
    gathered_ = x.dist_attr();
  } else {
    value_ = x.detach();
  }
  version_ = array_of(value_).storage()->version();
}

SavedTensor SavedTensor::meta_of(const Tensor& x) {
  SavedTensor saved;
  if (x.defined()) saved.value_ = without_bytes(x.detach());
  return saved;
}

void SavedTensor::check() const {
  PHI_CHECK(!released_, errors::PreconditionNotMet(
                            "this part of the graph was already run backwards, and its saved "
                            "tensors are released; pass retain_graph=true to the first backward."));
  PHI_CHECK(!value_.defined() || array_of(value_).storage()->version() == version_,
            errors::PreconditionNotMet(
                "{} is needed for a gradient but an inplace operation has written to it since; "
                "use the operation without `_`, or clone the tensor first.",
                value_.to_string()));
}

Tensor SavedTensor::get() const {
  check();
  return gathered_ ? Tensor(distributed::reshard(value_.dist(), gathered_)) : value_;
}

OptionalTensor SavedTensor::optional() const {
  check();
  return value_.defined() ? OptionalTensor(get()) : std::nullopt;
}

void SavedTensor::release() {
  value_ = Tensor();
  released_ = true;
}

SavedList::SavedList(const TensorList& xs) {
  for (const Tensor& x : xs) values_.emplace_back(x);
}

SavedList SavedList::meta_of(const TensorList& xs) {
  SavedList list;
  for (const Tensor& x : xs) list.values_.push_back(SavedTensor::meta_of(x));
  return list;
}

TensorList SavedList::get() const {
  TensorList list;
  for (const SavedTensor& value : values_) list.push_back(value.get());
  return list;
}

void SavedList::release() {
  for (SavedTensor& value : values_) value.release();
}

// ---- nodes ----

template class autograd::Node<Tensor>;

GradNode::GradNode(const char* name) : autograd::Node<Tensor>(name) {
  if (RankContext::current().observers().any_events()) [[unlikely]]
    site_ = std::make_unique<SavedCallSite>(CallSite::current());
}

GradNode::~GradNode() = default;

int GradNode::add_output(const Tensor& out) {
  outputs_.push_back(out.defined() ? TensorForm::of(out) : TensorForm());
  return num_outputs() - 1;
}

void GradNode::begin_list(size_t count) {
  lists_.push_back({num_outputs(), static_cast<int>(count)});
}

GradNode::SlotRange GradNode::range_of(int output) const {
  int first = output;  // earlier outputs have one slot each, lists excepted
  for (const SlotRange& list : lists_) {
    if (list.first > first) break;
    if (list.first == first) return list;
    first += list.count - 1;
  }
  return {first, 1};
}

void GradNode::prepare(std::span<Tensor> grads) const {
  std::optional<CallSite::Scope> site;
  if (site_) site.emplace(site_->view("a gradient is resharded to the placements of its value"));
  for (size_t slot = 0; slot < grads.size(); ++slot) {
    if (grads[slot].defined()) grads[slot] = outputs_[slot].reshard(grads[slot]);
  }
}

void GradNode::run(std::span<Tensor> grads, const autograd::EdgeMask& wanted,
                   std::span<Tensor> results) {
  poll_interruption();
  const autograd::GradMode no_grad(false);
  const OpScope scope(name());
  std::optional<CallSite::Scope> site;
  if (site_) site.emplace(site_->view());
  GradInputs out(*this, wanted, results);
  backward(GradOutputs(*this, grads), out);
}

void GradNode::add_input(const Tensor& x) {
  inputs_.push_back({static_cast<int>(edges().size()), 1});
  if (!x.requires_grad()) return add_edge({});
  check_history(x);
  add_edge({IntrusivePtr<autograd::Node<Tensor>>(x.grad_link().node()), x.grad_link().slot()});
}

void GradNode::add_input(const OptionalTensor& x) {
  if (x && x->defined()) return add_input(*x);
  inputs_.push_back({static_cast<int>(edges().size()), 1});
  add_edge({});
}

void GradNode::add_input(const TensorList& xs) {
  const int first = static_cast<int>(edges().size());
  for (const Tensor& x : xs) add_input(x);
  inputs_.resize(inputs_.size() - xs.size());
  inputs_.push_back({first, static_cast<int>(xs.size())});
}

Tensor GradNode::GradOutputs::of_slot(int slot) const {
  const Tensor& grad = grads_[static_cast<size_t>(slot)];
  return grad.defined() ? grad : node_.output(slot).zeros();
}

OptionalTensor GradNode::GradOutputs::optional(int output) const {
  const int slot = node_.range_of(output).first;
  if (node_.output(slot).meta.dtype == DataType::UNDEFINED) return std::nullopt;
  return of_slot(slot);
}

TensorList GradNode::GradOutputs::list(int output) const {
  const SlotRange range = node_.range_of(output);
  TensorList list;
  for (int i = 0; i < range.count; ++i) list.push_back(of_slot(range.first + i));
  return list;
}

bool GradNode::GradInputs::needs(int input) const {
  const SlotRange& range = node_.inputs_[static_cast<size_t>(input)];
  for (int i = 0; i < range.count; ++i) {
    if (wanted_[static_cast<size_t>(range.first + i)]) return true;
  }
  return false;
}

GradMask GradNode::GradInputs::mask() const {
  GradMask mask = GradMask::none();
  for (size_t input = 0; input < node_.inputs_.size(); ++input) {
    if (needs(static_cast<int>(input))) mask.add(static_cast<int>(input));
  }
  return mask;
}

namespace {
// Lets the receiver write to the gradient, even if a view op of the backward pass made it.
Tensor writable(Tensor grad) {
  if (grad.defined()) array_of(grad).storage()->allow_writes();
  return grad;
}
}  // namespace

void GradNode::GradInputs::set_grad(int input, Tensor grad) {
  const SlotRange& range = node_.inputs_[static_cast<size_t>(input)];
  if (wanted_[static_cast<size_t>(range.first)]) {
    results_[static_cast<size_t>(range.first)] = writable(std::move(grad));
  }
}

void GradNode::GradInputs::set_grad(int input, TensorList grads) {
  const SlotRange& range = node_.inputs_[static_cast<size_t>(input)];
  for (int i = 0; i < range.count; ++i) {
    const auto edge = static_cast<size_t>(range.first + i);
    if (wanted_[edge]) results_[edge] = writable(std::move(grads[static_cast<size_t>(i)]));
  }
}

void LeafNode::backward(const GradOutputs& in, GradInputs&) {
  Tensor more = in.grad(0);
  if (grad_.defined()) {
    accumulate(grad_, std::move(more));
  } else {
    grad_ = std::move(more);
  }
  const DenseTensor& local = array_of(grad_);
  if (!local.defined()) return;
  MemoryLedger::assign(*RankContext::current().memory(), local.storage().get(),
                       MemoryUse::kGradients);
}

// ---- tracking ----

void track_output(const IntrusivePtr<GradNode>& node, Tensor& out) {
  const int slot = node->add_output(out);
  if (out.defined() && is_inexact(out.dtype())) out.set_grad_link(GradLink(node, slot));
}

void track_output(const IntrusivePtr<GradNode>& node, OptionalTensor& out) {
  Tensor absent;
  track_output(node, out ? *out : absent);
}

void track_output(const IntrusivePtr<GradNode>& node, TensorList& outs) {
  node->begin_list(outs.size());
  for (Tensor& out : outs) track_output(node, out);
}

void track_output(const IntrusivePtr<GradNode>& node, const WithoutGrad<Tensor>& output) {
  node->add_output(output.out);
}

void track_output(const IntrusivePtr<GradNode>& node, const WithoutGrad<TensorList>& outputs) {
  node->begin_list(outputs.out.size());
  for (const Tensor& out : outputs.out) node->add_output(out);
}

void check_inplace_tracked(const Tensor& x, bool needs_value) {
  PHI_CHECK(!x.requires_grad() || !x.is_leaf(),
            errors::PreconditionNotMet(
                "{} is a leaf that requires a gradient; write to it under NoGrad, or use the "
                "operation without `_`.",
                x.to_string()));
  if (x.requires_grad()) check_history(x);
  PHI_CHECK(!needs_value,
            errors::PreconditionNotMet("the gradient needs the value of {}, which would be "
                                       "overwritten; use the operation without `_`.",
                                       x.to_string()));
}

void check_inplace_tracked(const OptionalTensor& x, bool needs_value) {
  if (x && x->defined()) check_inplace_tracked(*x, needs_value);
}

void check_inplace_tracked(const TensorList& xs, bool needs_value) {
  for (const Tensor& x : xs) check_inplace_tracked(x, needs_value);
}

void throw_written_untracked(const Tensor& x) {
  throw errors::PreconditionNotMet(
      "{} requires a gradient, but this inplace operation has no gradient; call it under NoGrad, "
      "or on a detached tensor.",
      x.to_string());
}

}  // namespace phi
