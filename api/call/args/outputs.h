// Outputs of generated functions: made from meta, given bytes only where a kernel will write them.
#pragma once

#include "api/call/decision.h"

namespace phi {

/// A tensor of this meta whose bytes come with dense_out. Undefined where the meta is absent.
Tensor new_tensor(const TensorMeta& meta, const Place& place);
Tensor new_tensor(const std::optional<TensorMeta>& meta, const Place& place);
TensorList new_tensors(const std::vector<TensorMeta>& metas, const Place& place);
/// For kernels that find the shape themselves and allocate, where the meta does not say it.
Tensor new_tensor_unshaped(const TensorMeta& meta, const Place& place);
Tensor new_tensor_unshaped(const std::optional<TensorMeta>& meta, const Place& place);

/// Output slot `slot` of the decision: complete in meta on every rank; undefined if absent. On a
/// computing rank local_out gives it bytes, elsewhere it is a placeholder.
Tensor new_distributed(const Decision& decision, size_t slot);
/// The list that is output number `output` of the op; empty if it is absent.
TensorList new_distributed_list(const Decision& decision, size_t output);

/// What the kernel writes to; null for an absent output.
inline DenseTensor* dense_out(Tensor& out) { return out.defined() ? &out.dense() : nullptr; }
OutList dense_outs(TensorList& outs);
DenseTensor* local_out(const Decision& decision, Tensor& out);
OutList local_outs(const Decision& decision, TensorList& outs);

// Inplace calls. Optional tensors that are absent take part in nothing.

/// The result must have x's shape and dtype; from here on x counts as written to.
/// Errors: InvalidArgument naming both.
void check_inplace(const Tensor& x, const TensorMeta& result);
void check_inplace(const OptionalTensor& x, const std::optional<TensorMeta>& result);
/// Of lists: element by element. Errors: InvalidArgument also where there are more or fewer
/// results.
void check_inplace(const TensorList& xs, const std::vector<TensorMeta>& results);
/// The results are the elements of the decision's output number `output`.
void check_inplace(const TensorList& xs, const Decision& decision, size_t output);
inline DenseTensor* dense_out(OptionalTensor& out) { return out ? dense_out(*out) : nullptr; }
/// Lets the kernel write into the buffer of an input that has the same shape and dtype; otherwise
/// the output gets its own.
void reuse_buffer(Tensor& out, const DenseTensor& input);
void reuse_buffer(Tensor& out, const DenseTensor* input);
void reuse_buffer(TensorList& outs, std::span<const DenseTensor* const> inputs);
/// x gets the result's value and keeps its own placements and bytes: whoever shares them sees it.
void assign_inplace(Tensor& x, const Tensor& result);
void assign_inplace(OptionalTensor& x, const Tensor& result);
void assign_inplace(TensorList& xs, const TensorList& results);
/// x becomes the result, placements and all.
inline void replace(Tensor& x, const Tensor& result) { x.replace(result); }

/// View ops launch nothing: the output shares the input's bytes under its own dims. If the op's
/// rule reshards the input, which it does on all ranks or on none, no view is possible: the output
/// is a copy, and inplace operations on it are an error (refuse_writes_if_moved).
Tensor view_of(const OpDef& op, const Tensor& x, const TensorMeta& meta);
void share_buffer(const OpDef& op, Tensor& out, const DenseTensor& input);
/// The same on a rank that does not compute: whoever writes to the one writes to the other. `slot`:
/// x's among the call's inputs.
void share_placeholder(const Decision& decision, Tensor& out, const Tensor& x, size_t slot = 0);
void share_placeholder(const Decision& decision, Tensor& out, const OptionalTensor& x, size_t slot);
/// Called after either of the two: an output that is no view of x rejects inplace operations.
void refuse_writes_if_moved(const Decision& decision, Tensor& out, const Tensor& x,
                            size_t slot = 0);

// Views beside outputs that a kernel makes. Of an absent tensor there is none.

Tensor shared_view(const Tensor& x, const TensorMeta& meta);
Tensor shared_view(const OptionalTensor& x, const std::optional<TensorMeta>& meta);
void share_part(Tensor& out, const DenseTensor& input);
void share_part(Tensor& out, const DenseTensor* input);
/// Counts a write to x. Errors: PreconditionNotMet, on every rank, if x is a copy that a view op
/// made where no view was possible.
void note_write(const Tensor& x);
void note_write(const OptionalTensor& x);
/// What the kernel wrote is x's value, wherever the rule let x lie.
void assign_written(const Tensor& x, const Tensor& view);
void assign_written(const OptionalTensor& x, const Tensor& view);

/// Run-time shapes: makes the shapes that the computing ranks found known to all ranks of the job.
/// Collective over the world if some rank did not compute; control-sized messages only. Nothing to
/// do where the shape function knew all of them (an op whose sizes may, but need not, be tensors).
void settle_shapes(const Decision& decision, std::span<Tensor* const> outputs);
template <typename... Tensors>
void settle_shapes(const Decision& decision, Tensors&... outputs) {
  Tensor* const list[] = {&outputs...};
  settle_shapes(decision, std::span<Tensor* const>(list));
}

}  // namespace phi
