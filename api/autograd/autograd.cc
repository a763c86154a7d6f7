// Runs backward passes over tensors, and recomputation within them.
#include "api/autograd/autograd.h"

#include "api/autograd/grad_node.h"
#include "api/call/traced_action.h"
#include "api/call/write_journal.h"
#include "api/tensor/deferred.h"
#include "distributed/api.h"
#include "distributed/comm/comm_annotation.h"
#include "distributed/reshard/execute.h"
#include "phi/common/errors.h"
#include "phi/common/inexact.h"
#include "phi/core/rank_context.h"

namespace phi {

namespace {

using GraphEdge = autograd::Edge<Tensor>;
using GraphRoot = autograd::BackwardRoot<Tensor>;
using BackwardOptions = autograd::BackwardOptions<Tensor>;

GraphEdge edge_of(const Tensor& x) {
  return {IntrusivePtr<autograd::Node<Tensor>>(x.grad_link().node()), x.grad_link().slot()};
}

void check_tracked(const Tensor& x, const char* what) {
  PHI_CHECK(x.defined() && x.requires_grad(),
            errors::PreconditionNotMet(
                "{} {} does not require a gradient: it was computed only from values that require "
                "none, or under NoGrad. Call set_requires_grad() on the parameters first.",
                what, x.to_string()));
  check_history(x);
}

// The gradient from which the pass starts: `grad`, or 1 if it is undefined.
Tensor seed_of(const Tensor& output, const Tensor& grad) {
  const TensorForm form = TensorForm::of(output);
  if (grad.defined()) {
    PHI_CHECK(
        grad.shape() == output.shape() && grad.dtype() == output.dtype(),
        errors::InvalidArgument("the gradient passed for {} is {}; shape and dtype must match.",
                                output.to_string(), grad.to_string()));
    return form.reshard(grad);
  }
  PHI_CHECK(output.numel() == 1,
            errors::InvalidArgument("{} has {} elements: pass the gradient that backward starts "
                                    "from, or reduce it to one element.",
                                    output.to_string(), output.numel()));
  PHI_CHECK(!is_complex(output.dtype()),
            errors::InvalidArgument("{} is complex: pass the gradient that backward starts from, "
                                    "or use its real part or its magnitude.",
                                    output.to_string()));
  return form.reshard(deferred_full(output.shape(), 1.0, output.dtype()));
}

GraphRoot root_of(const Tensor& output, const Tensor& grad) {
  check_tracked(output, "the output");
  const autograd::GradMode no_grad(false);
  return {edge_of(output), seed_of(output, grad)};
}

// Checks the gradient that a hook returned in place of `grad`, and reshards it to the placements of
// `form`. A leaf's gradient keeps its placements: ZeRO's hooks shard it.
Tensor checked_hooked(const TensorForm& form, bool is_leaf, const Tensor& grad,
                      const Tensor& made) {
  PHI_CHECK(made.defined(),
            errors::InvalidArgument("a hook on the gradient {} returned an undefined tensor; "
                                    "return the gradient itself to leave it as it is.",
                                    grad.to_string()));
  PHI_CHECK(
      made.shape() == grad.shape() && made.dtype() == grad.dtype(),
      errors::InvalidArgument("a hook on the gradient {} returned {}; shape and dtype must match.",
                              grad.to_string(), made.to_string()));
  if (is_leaf) return made;
  const NoGrad no_grad;
  return form.reshard(made);
}

bool is_among(const std::vector<Tensor>& leaves, const autograd::Node<Tensor>& node) {
  for (const Tensor& leaf : leaves) {
    if (leaf.requires_grad() && leaf.grad_link().node() == &node) return true;
  }
  return false;
}

// ---- recompute ----

class RecomputeNode final : public GradNode {
 public:
  using Function = std::function<Tensor(const std::vector<Tensor>&)>;

  /// `written`: the values that f overwrote. `draws`: the generator's state before f.
  RecomputeNode(Function f, const std::vector<Tensor>& inputs, WriteJournal written,
                GeneratorState draws)
      : GradNode("recompute"),
        f_(std::move(f)),
        inputs_(inputs),
        written_(std::move(written)),
        draws_(std::move(draws)) {
    for (const Tensor& x : inputs) {
      add_input(x);
      needs_.push_back(x.requires_grad());
    }
  }
  void release() override {
    inputs_.release();
    f_ = nullptr;
    written_ = WriteJournal();
  }
  // The inner pass leads to tensors that f captures.
  bool reaches_further() const override { return true; }

 private:
  void backward(const GradOutputs& in, GradInputs& out) override {
    std::vector<Tensor> inputs;
    for (const Tensor& x : inputs_.get()) {
      inputs.push_back(x.detach());
      if (needs_[inputs.size() - 1]) inputs.back().set_requires_grad();
    }
    // Notes the writes of the second call, so that the current values are restored afterwards.
    WriteJournal again;
    std::vector<Tensor> grads;
    try {
      grads = gradients(inputs, in.grad(0), again);
    } catch (...) {
      again.undo();
      throw;
    }
    again.undo();
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (!needs_[i]) continue;
      out.set_grad(static_cast<int>(i), grads.empty() ? inputs[i].grad_so_far() : grads[i]);
    }
  }

  // Calls f again, notes its writes in `again`, and returns the gradients of the inputs. An empty
  // result means that the inputs have accumulated them.
  std::vector<Tensor> gradients(const std::vector<Tensor>& inputs, const Tensor& grad,
                                WriteJournal& again) const {
    const Tensor result = called_again(inputs, again);
    std::vector<GraphEdge> edges;
    for (const Tensor& x : inputs) edges.push_back(edge_of(x));
    return autograd::run_inner_backward<Tensor>({{edge_of(result), grad}}, edges);
  }

  // Calls f with the values that it overwrote in the first call restored.
  Tensor called_again(const std::vector<Tensor>& inputs, WriteJournal& again) const {
    const WriteJournal::Scope noting(again);
    written_.undo();
    const autograd::GradMode track(true);
    const Generator::Scope drawing(RankContext::current().generator(), draws_);
    TracedAction traced("recompute");
    Tensor result = f_(inputs);
    traced.made(result);
    return result;
  }

  Function f_;
  SavedList inputs_;
  WriteJournal written_;  // of the first call
  const GeneratorState draws_;
  std::vector<bool> needs_;
};

}  // namespace

std::vector<Tensor> grad(const std::vector<Tensor>& outputs, const std::vector<Tensor>& inputs,
                         const std::vector<Tensor>& grad_outputs, bool retain_graph) {
  const OpScope scope("grad");
  PHI_CHECK(grad_outputs.empty() || grad_outputs.size() == outputs.size(),
            errors::InvalidArgument("{} outputs and {} gradients for them are passed.",
                                    outputs.size(), grad_outputs.size()));
  std::vector<GraphRoot> roots;
  for (size_t i = 0; i < outputs.size(); ++i) {
    roots.push_back(root_of(outputs[i], grad_outputs.empty() ? Tensor() : grad_outputs[i]));
  }
  BackwardOptions options;
  options.retain_graph = retain_graph;
  for (const Tensor& x : inputs) {
    check_tracked(x, "the input");
    options.captures.push_back(edge_of(x));
  }
  std::vector<Tensor> grads = autograd::run_backward(std::move(roots), options);
  const NoGrad no_grad;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (grads[i].defined()) grads[i] = TensorForm::of(inputs[i]).reshard(grads[i]);
  }
  return grads;
}

void backward_deferring(const Tensor& output, const Tensor& grad, const std::vector<Tensor>& now,
                        DeferredGradients* deferred) {
  const OpScope scope("backward");
  BackwardOptions options;
  options.deferred = deferred;
  options.defers = [&](const autograd::Node<Tensor>& leaf) { return !is_among(now, leaf); };
  autograd::run_backward({root_of(output, grad)}, options);
}

Tensor recompute(std::function<Tensor(const std::vector<Tensor>&)> f,
                 const std::vector<Tensor>& inputs) {
  if (!autograd::grad_enabled()) return f(inputs);
  GeneratorState draws = RankContext::current().generator().state();
  Tensor result;
  WriteJournal written;
  {
    const NoGrad no_grad;
    const WriteJournal::Scope noting(written);
    result = f(inputs).detach();
  }
  written.forget_unshared();
  track(new RecomputeNode(std::move(f), inputs, std::move(written), std::move(draws)), result);
  return result;
}

// ---- members of Tensor ----

Tensor& Tensor::set_requires_grad(bool wanted) {
  require_defined();
  if (wanted == requires_grad()) return *this;
  if (!wanted) {
    PHI_CHECK(is_leaf(), errors::PreconditionNotMet(
                             "{} is the result of an operation ({}); call detach() on it instead.",
                             to_string(), impl_->link.node()->name()));
    impl_->link = GradLink();
    return *this;
  }
  PHI_CHECK(is_inexact(dtype()),
            errors::InvalidArgument(
                "{} cannot have a gradient: it is neither floating nor complex.", to_string()));
  IntrusivePtr<GradNode> leaf(new LeafNode);
  const int slot = leaf->add_output(*this);
  set_grad_link(GradLink(std::move(leaf), slot));
  return *this;
}

bool Tensor::is_leaf() const { return !requires_grad() || impl_->link.node()->is_leaf(); }

namespace {
LeafNode* leaf_of(const Tensor& x) {
  if (!x.requires_grad() || !x.is_leaf()) return nullptr;
  return static_cast<LeafNode*>(x.grad_link().node());
}
}  // namespace

Tensor Tensor::grad_so_far() const {
  LeafNode* leaf = leaf_of(*this);
  return leaf ? leaf->grad() : Tensor();
}

Tensor Tensor::grad() const {
  LeafNode* leaf = leaf_of(*this);
  if (!leaf || !leaf->grad().defined()) return {};
  const NoGrad no_grad;
  // The leaf's number is in the header of each message. Ranks that read gradients in different
  // orders get an error; without the number they would sum gradients of different leaves.
  const Dims dims = shape();
  const distributed::CommAnnotation about(dims, dtype(), leaf->sequence());
  leaf->grad() = TensorForm::of(*this).reshard(leaf->grad());
  return leaf->grad();
}

void Tensor::clear_grad() {
  if (LeafNode* leaf = leaf_of(*this)) leaf->grad() = Tensor();
}

Tensor Tensor::detach() const {
  require_defined();
  if (is_dist()) return Tensor(dist());
  return Tensor(dense());
}

void Tensor::backward(const Tensor& grad, bool retain_graph) const {
  const OpScope scope("backward");
  BackwardOptions options;
  options.retain_graph = retain_graph;
  autograd::run_backward({root_of(*this, grad)}, options);
}

void Tensor::register_hook(std::function<Tensor(const Tensor&)> hook) const {
  check_tracked(*this, "the tensor");
  auto checked = [form = TensorForm::of(*this), is_leaf = is_leaf(),
                  hook = std::move(hook)](const Tensor& grad) {
    return checked_hooked(form, is_leaf, grad, hook(grad));
  };
  impl_->link.node()->add_hook(impl_->link.slot(), std::move(checked));
}

}  // namespace phi
