// GradNode: the node of a tracked operation in the autograd graph. The generator writes one class
// per differentiable op, which saves tensors and calls the gradient function; reshard and recompute
// have custom classes.
//
// A rank that does not compute builds the node from metadata, so every rank has the same graph. A
// gradient is resharded to the mesh and placements of the output that it belongs to before a node
// receives it; this reduces partial values. Leaves keep gradients unchanged, possibly partial.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "api/call/args/args.h"
#include "api/call/call_site.h"
#include "api/call/grad_mask.h"
#include "api/tensor/tensor.h"
#include "phi/autograd/engine.h"

namespace phi {

/// The metadata of a tensor that a gradient needs to get the same mesh and placements.
struct TensorForm {
  TensorMeta meta;
  const distributed::TensorDistAttr* attr = nullptr;  // null: a plain tensor; never partial

  static TensorForm of(const Tensor& x);
  /// A tensor of zeros in this form.
  Tensor zeros() const;
  /// Returns `grad` with this form's mesh and placements; partial values are reduced. Collective.
  Tensor reshard(const Tensor& grad) const;
};

/// Returns a tensor with x's metadata, place, placements and history, and without bytes.
Tensor without_bytes(const Tensor& x);

/// A tensor saved for the backward pass, without its history. For the result of a gather it saves
/// the gather's input, and get() gathers again: sequence parallelism then stores each rank's part
/// of the sequence only (Korthikanti et al. 2022, section 4.2.2).
class SavedTensor {
 public:
  SavedTensor() = default;
  explicit SavedTensor(const Tensor& x);
  explicit SavedTensor(const OptionalTensor& x) : SavedTensor(x ? *x : Tensor()) {}
  /// Saves metadata, place and placements; no bytes.
  static SavedTensor meta_of(const Tensor& x);
  static SavedTensor meta_of(const OptionalTensor& x) { return x ? meta_of(*x) : SavedTensor(); }

  /// Returns the saved tensor. Collective if the tensor has to be gathered again.
  /// Errors: PreconditionNotMet if the tensor was written to since, or has been released.
  Tensor get() const;
  OptionalTensor optional() const;
  void release();

 private:
  void check() const;

  Tensor value_;
  const distributed::TensorDistAttr* gathered_ = nullptr;  // null: value_ is the tensor itself
  uint32_t version_ = 0;
  bool released_ = false;
};

class SavedList {
 public:
  SavedList() = default;
  explicit SavedList(const TensorList& xs);
  static SavedList meta_of(const TensorList& xs);
  TensorList get() const;
  void release();

 private:
  std::vector<SavedTensor> values_;
};

// Instantiated once (grad_node.cc), to save compile time of operators' nodes.
extern template class autograd::Node<Tensor>;

class GradNode : public autograd::Node<Tensor> {
 public:
  explicit GradNode(const char* name);
  ~GradNode() override;

  int num_outputs() const override { return static_cast<int>(outputs_.size()); }
  /// Adds the next output of the tracked operation and returns its slot.
  int add_output(const Tensor& out);
  /// Begins a list output of `count` elements, which are then added one by one.
  void begin_list(size_t count);
  const TensorForm& output(int slot) const { return outputs_[static_cast<size_t>(slot)]; }
  /// For a reshard that gathers, the tensor from which its output can be gathered again; otherwise
  /// undefined.
  virtual Tensor gathered_from() const { return {}; }

  void prepare(std::span<Tensor> grads) const override;
  void run(std::span<Tensor> grads, const autograd::EdgeMask& wanted,
           std::span<Tensor> results) final;

 protected:
  /// The gradients of the outputs, which backward() reads.
  class GradOutputs {
   public:
    GradOutputs(const GradNode& node, std::span<Tensor> grads) : node_(node), grads_(grads) {}
    // `output` numbers the operation's outputs; a list counts as one.

    /// The output's gradient; zeros if none was received.
    Tensor grad(int output) const { return of_slot(node_.range_of(output).first); }
    /// The gradient of an optional output; empty if the output was absent.
    OptionalTensor optional(int output) const;
    TensorList list(int output) const;

   private:
    Tensor of_slot(int slot) const;

    const GradNode& node_;
    std::span<Tensor> grads_;
  };

  /// Receives the gradients of the inputs from backward(). Inputs are numbered in the order of
  /// add_input.
  class GradInputs {
   public:
    GradInputs(const GradNode& node, const autograd::EdgeMask& wanted, std::span<Tensor> results)
        : node_(node), wanted_(wanted), results_(results) {}
    bool needs(int input) const;
    GradMask mask() const;
    void set_grad(int input, Tensor grad);
    void set_grad(int input, TensorList grads);

   private:
    const GradNode& node_;
    const autograd::EdgeMask& wanted_;
    std::span<Tensor> results_;
  };

  /// Adds the next input that can have a gradient; a list has one edge per element.
  void add_input(const Tensor& x);
  void add_input(const OptionalTensor& x);
  void add_input(const TensorList& xs);

  virtual void backward(const GradOutputs& in, GradInputs& out) = 0;

 private:
  struct SlotRange {
    int first;
    int count;
  };
  // The slots of an output.
  SlotRange range_of(int output) const;

  std::vector<TensorForm> outputs_;
  std::vector<SlotRange> lists_;  // the slots of those outputs that are lists
  std::vector<SlotRange> inputs_;
  std::unique_ptr<const SavedCallSite>
      site_;  // of the tracked call; null if calls are not observed
};

/// A leaf of the graph. Accumulates the gradient of one tensor.
class LeafNode final : public GradNode {
 public:
  LeafNode() : GradNode("leaf") {}
  bool is_leaf() const override { return true; }
  void prepare(std::span<Tensor>) const override {}
  void release() override {}

  Tensor& grad() { return grad_; }

 private:
  void backward(const GradOutputs& in, GradInputs& out) override;
  Tensor grad_;
};

/// Adds `out`, a tensor or a list, to the outputs of `node`. Integer outputs get no history.
void track_output(const IntrusivePtr<GradNode>& node, Tensor& out);
void track_output(const IntrusivePtr<GradNode>& node, OptionalTensor& out);
void track_output(const IntrusivePtr<GradNode>& node, TensorList& outs);
/// Marks an output, a tensor or a list, as not differentiable: it gets no history.
template <typename Output>
struct WithoutGrad {
  const Output& out;
};
inline WithoutGrad<Tensor> without_grad(const Tensor& out) { return {out}; }
inline WithoutGrad<TensorList> without_grad(const TensorList& outs) { return {outs}; }
void track_output(const IntrusivePtr<GradNode>& node, const WithoutGrad<Tensor>& output);
void track_output(const IntrusivePtr<GradNode>& node, const WithoutGrad<TensorList>& outputs);
template <typename... Outputs>
void track(IntrusivePtr<GradNode> node, Outputs&&... outputs) {
  (track_output(node, outputs), ...);
}

/// Counts a tracked inplace write. It makes the histories of other tensors that share the bytes of
/// `written` outdated (Tensor::is_history_outdated).
template <typename Output>
void note_tracked_write(const Output& written) {
  any_tensor(written, [](const Tensor& x) {
    if (x.defined()) array_of(x).storage()->note_tracked_write();
    return false;
  });
}
template <typename Output>
void note_tracked_write(const WithoutGrad<Output>& written) {
  note_tracked_write(written.out);
}
/// track() for an inplace call, whose outputs are tensors that it wrote to.
template <typename... Outputs>
void track_written(IntrusivePtr<GradNode> node, Outputs&&... outputs) {
  (note_tracked_write(outputs), ...);
  (track_output(node, outputs), ...);
}

/// Checks that x's history is not outdated. Errors: PreconditionNotMet if x shares bytes that were
/// written to through another tensor since x's history was set.
void check_history(const Tensor& x);

/// Called before a tracked inplace call writes to x. Errors: PreconditionNotMet if x is a leaf that
/// requires a gradient, if its history is outdated, or if a gradient needs the overwritten value
/// (`needs_value`).
void check_inplace_tracked(const Tensor& x, bool needs_value);
void check_inplace_tracked(const OptionalTensor& x, bool needs_value);
void check_inplace_tracked(const TensorList& xs, bool needs_value);
[[noreturn]] void throw_written_untracked(const Tensor& x);

/// Called before an inplace call of an operator without a gradient. Errors: PreconditionNotMet if
/// one of the tensors that it writes to requires a gradient: the tensor's history would be wrong
/// after the call.
template <typename... Tensors>
void check_not_tracked(const Tensors&... written) {
  const auto check = [](const Tensor& x) {
    if (x.requires_grad()) throw_written_untracked(x);
    return false;
  };
  if (autograd::grad_enabled()) (any_tensor(written, check) || ...);
}

}  // namespace phi
