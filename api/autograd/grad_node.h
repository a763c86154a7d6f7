// GradNode: a tracked operation on tensors. Generated classes, one per differentiable op, keep
// what the gradient needs and call the gradient function; reshard and recompute have their own.
//
// A node is built from meta alone where the rank does not compute, so every rank has the same
// graph. The gradient that a node receives is brought to the mesh and placements of the output that
// it belongs to (partial values are reduced then); leaves keep what arrives, possibly partial.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "api/call/args/args.h"
#include "api/call/call_recorder.h"
#include "api/call/call_site.h"
#include "api/call/grad_mask.h"
#include "api/tensor/tensor.h"
#include "phi/autograd/engine.h"

namespace phi {

/// What a tensor is apart from its bytes: enough to lay a gradient out like it.
struct TensorForm {
  TensorMeta meta;
  const distributed::TensorDistAttr* attr = nullptr;  // null: a plain tensor; never partial

  static TensorForm of(const Tensor& x);
  Tensor zeros() const;
  /// `grad` in this form: same mesh and placements, whole where it was partial. Collective.
  Tensor settle(const Tensor& grad) const;
};

/// The tensor's meta, place, placements and history, without its bytes.
Tensor without_bytes(const Tensor& x);

/// A tensor kept for the backward pass, without its history. What a reshard gathered is kept as
/// what it was gathered from, and gathered again when it is asked for: sequence parallelism then
/// keeps each rank's part of the sequence only (Korthikanti et al. 2022, section 4.2.2).
class SavedTensor {
 public:
  SavedTensor() = default;
  explicit SavedTensor(const Tensor& x);
  explicit SavedTensor(const OptionalTensor& x) : SavedTensor(x ? *x : Tensor()) {}
  /// Keeps meta, place and placements; no bytes.
  static SavedTensor meta_of(const Tensor& x);
  static SavedTensor meta_of(const OptionalTensor& x) { return x ? meta_of(*x) : SavedTensor(); }

  /// Collective where the tensor has to be gathered again.
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

// Compiled once (grad_node.cc), not with each operator's node.
extern template class autograd::Node<Tensor>;

class GradNode : public autograd::Node<Tensor> {
 public:
  explicit GradNode(const char* name);
  ~GradNode() override;

  int num_outputs() const override { return static_cast<int>(outputs_.size()); }
  /// The next output of the tracked operation; gives its slot.
  int add_output(const Tensor& out);
  /// The next output is a list of `count` elements, which are added one by one.
  void begin_list(size_t count);
  const TensorForm& output(int slot) const { return outputs_[static_cast<size_t>(slot)]; }
  /// For a reshard that gathers: the tensor that its output can be gathered from again.
  virtual Tensor gathered_from() const { return {}; }

  void prepare(std::span<Tensor> grads) const override;
  void run(std::span<Tensor> grads, const autograd::Wanted& wanted,
           std::span<Tensor> results) final;

 protected:
  /// The gradients of the outputs, as backward() asks for them.
  class Incoming {
   public:
    Incoming(const GradNode& node, std::span<Tensor> grads) : node_(node), grads_(grads) {}
    // By number of the operation's outputs, of which a list is one.

    /// Zeros if nothing arrived.
    Tensor grad(int output) const { return of_slot(node_.range_of(output).first); }
    /// Of an output that the operation may not have had.
    OptionalTensor optional(int output) const;
    TensorList list(int output) const;

   private:
    Tensor of_slot(int slot) const;

    const GradNode& node_;
    std::span<Tensor> grads_;
  };

  /// Where backward() puts the gradients of the inputs, which are numbered by add_input.
  class Outgoing {
   public:
    Outgoing(const GradNode& node, const autograd::Wanted& wanted, std::span<Tensor> results)
        : node_(node), wanted_(wanted), results_(results) {}
    bool wants(int input) const;
    GradMask mask() const;
    void give(int input, Tensor grad);
    void give(int input, TensorList grads);

   private:
    const GradNode& node_;
    const autograd::Wanted& wanted_;
    std::span<Tensor> results_;
  };

  /// Names the next input that has a gradient; a list has an edge per element.
  void add_input(const Tensor& x);
  void add_input(const OptionalTensor& x);
  void add_input(const TensorList& xs);

  virtual void backward(const Incoming& in, Outgoing& out) = 0;

 private:
  struct Range {
    int first;
    int count;
  };
  // The slots of an output.
  Range range_of(int output) const;

  std::vector<TensorForm> outputs_;
  std::vector<Range> lists_;  // the slots of those outputs that are lists
  std::vector<Range> inputs_;
  std::unique_ptr<const KeptSite>
      site_;  // of the tracked call; null unless somebody is told of calls
};

/// The end of the graph: keeps the gradient of one tensor.
class LeafNode final : public GradNode {
 public:
  LeafNode() : GradNode("leaf") {}
  bool is_leaf() const override { return true; }
  void prepare(std::span<Tensor>) const override {}
  void release() override {}

  Tensor& grad() { return grad_; }

 private:
  void backward(const Incoming& in, Outgoing& out) override;
  Tensor grad_;
};

/// Makes `out...`, tensors or lists, the outputs of `node`. Integer outputs have no gradient.
void track_output(const IntrusivePtr<GradNode>& node, Tensor& out);
void track_output(const IntrusivePtr<GradNode>& node, OptionalTensor& out);
void track_output(const IntrusivePtr<GradNode>& node, TensorList& outs);
/// An output, a tensor or a list, that the gradient knows nothing of: it ends the tracked program.
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

/// Counts an inplace write that gradients know of: the histories of tensors that share the bytes of
/// `written` are out of date from now on.
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
/// track() for an inplace call, whose outputs have been written to.
template <typename... Outputs>
void track_written(IntrusivePtr<GradNode> node, Outputs&&... outputs) {
  (note_tracked_write(outputs), ...);
  (track_output(node, outputs), ...);
}

/// Errors: PreconditionNotMet if x, which requires a gradient, shares bytes that have been written
/// to through another tensor since its history began.
void check_history(const Tensor& x);

/// For an inplace call about to be tracked that writes to x. Errors: PreconditionNotMet if x is a
/// leaf, or if its gradient needs the value that is to be overwritten (`needs_value`).
void check_inplace_tracked(const Tensor& x, bool needs_value);
void check_inplace_tracked(const OptionalTensor& x, bool needs_value);
void check_inplace_tracked(const TensorList& xs, bool needs_value);
[[noreturn]] void throw_written_untracked(const Tensor& x);

/// For an inplace call of an operator that has no gradient. Errors: PreconditionNotMet if one of
/// the tensors that it writes to requires one: what is tracked of it would not be its history any
/// more.
template <typename... Tensors>
void check_not_tracked(const Tensors&... written) {
  const auto check = [](const Tensor& x) {
    if (x.requires_grad()) throw_written_untracked(x);
    return false;
  };
  if (autograd::grad_enabled()) (any_tensor(written, check) || ...);
}

}  // namespace phi
