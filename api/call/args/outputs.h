// Outputs of generated functions. They are made from metadata and get bytes only where a kernel
// writes them.
#pragma once

#include "api/call/decision.h"

namespace phi {

/// Returns a plain tensor of this metadata, to be written by a kernel through dense_out. Undefined
/// if the metadata is absent.
Tensor new_tensor(const TensorMeta& meta, const Place& place);
Tensor new_tensor(const std::optional<TensorMeta>& meta, const Place& place);
TensorList new_tensors(const std::vector<TensorMeta>& metas, const Place& place);
/// Same, but if the metadata does not determine the shape, the tensor has no storage: the kernel
/// finds the shape and allocates.
Tensor new_tensor_unshaped(const TensorMeta& meta, const Place& place);
Tensor new_tensor_unshaped(const std::optional<TensorMeta>& meta, const Place& place);

/// Returns output slot `slot` of the decision, with complete metadata on every rank; undefined if
/// absent. On a computing rank local_out allocates its bytes; on other ranks it is a placeholder.
Tensor new_distributed(const Decision& decision, size_t slot);
/// Returns the list that is output number `output` of the op; empty if it is absent.
TensorList new_distributed_list(const Decision& decision, size_t output);

/// The array that the kernel writes to; null for an absent output.
inline DenseTensor* dense_out(Tensor& out) { return out.defined() ? &out.dense() : nullptr; }
OutList dense_outs(TensorList& outs);
DenseTensor* local_out(const Decision& decision, Tensor& out);
OutList local_outs(const Decision& decision, TensorList& outs);

// Inplace calls. These functions ignore absent optional tensors.

/// Checks that the result has x's shape and dtype, and counts a write to x (note_write).
/// Errors: InvalidArgument, which names both; those of note_write.
void check_inplace(const Tensor& x, const TensorMeta& result);
void check_inplace(const OptionalTensor& x, const std::optional<TensorMeta>& result);
/// For lists: checks element by element. Errors: InvalidArgument also if the numbers of tensors and
/// results differ.
void check_inplace(const TensorList& xs, const std::vector<TensorMeta>& results);
/// Same; the results are the elements of the decision's output number `output`.
void check_inplace(const TensorList& xs, const Decision& decision, size_t output);
inline DenseTensor* dense_out(OptionalTensor& out) { return out ? dense_out(*out) : nullptr; }
/// Makes the output use the input's buffer if both have the same local shape and dtype; otherwise
/// the output keeps its own.
void reuse_buffer(Tensor& out, const DenseTensor& input);
void reuse_buffer(Tensor& out, const DenseTensor* input);
void reuse_buffer(TensorList& outs, std::span<const DenseTensor* const> inputs);
/// Writes the result's value to x's bytes. x keeps its placements and storage, so all tensors that
/// share the bytes see the new value. Collective over the meshes of both.
void assign_inplace(Tensor& x, const Tensor& result);
void assign_inplace(OptionalTensor& x, const Tensor& result);
void assign_inplace(TensorList& xs, const TensorList& results);
/// Makes x the result, including its placements.
inline void replace(Tensor& x, const Tensor& result) { x.replace(result); }

/// View ops launch no kernel: the output shares the input's bytes under its own dims. If the op's
/// rule reshards the input, no view is possible: the output is a copy, and inplace operations on it
/// are an error (refuse_writes_if_moved). The rule does so on all ranks or on none.
Tensor view_of(const OpDef& op, const Tensor& x, const TensorMeta& meta);
void share_buffer(const OpDef& op, Tensor& out, const DenseTensor& input);
/// Same as share_buffer on a rank that does not compute: the output shares x's storage, so a write
/// to one counts as a write to the other. `slot`: x's slot among the call's inputs.
void share_placeholder(const Decision& decision, Tensor& out, const Tensor& x, size_t slot = 0);
void share_placeholder(const Decision& decision, Tensor& out, const OptionalTensor& x, size_t slot);
/// Called after share_buffer or share_placeholder. Makes an output that is not a view of x reject
/// inplace operations.
void refuse_writes_if_moved(const Decision& decision, Tensor& out, const Tensor& x,
                            size_t slot = 0);

// Views of inputs that an op returns in addition to its kernel's outputs. Absent for an absent
// input.

Tensor shared_view(const Tensor& x, const TensorMeta& meta);
Tensor shared_view(const OptionalTensor& x, const std::optional<TensorMeta>& meta);
void share_part(Tensor& out, const DenseTensor& input);
void share_part(Tensor& out, const DenseTensor* input);
/// Counts a write to x. Errors: PreconditionNotMet, on every rank, if x is a copy that a view op
/// made where no view was possible.
void note_write(const Tensor& x);
void note_write(const OptionalTensor& x);
/// Copies the value that the kernel wrote to `view` back to x, whose placements may differ from
/// those that the rule required. Collective over the meshes of both.
void assign_written(const Tensor& x, const Tensor& view);
void assign_written(const OptionalTensor& x, const Tensor& view);

/// Sets data-dependent shapes: broadcasts the shapes that the computing ranks found to all ranks of
/// the job. Collective over the world if the op's mesh is smaller than the world, with one
/// control-sized message. Does nothing if the shape function determined all shapes (an op whose
/// sizes may be tensors, but are not in this call). Errors: Unimplemented if an output is not
/// replicated.
void broadcast_dynamic_shapes(const Decision& decision, std::span<Tensor* const> outputs);
template <typename... Tensors>
void broadcast_dynamic_shapes(const Decision& decision, Tensors&... outputs) {
  Tensor* const list[] = {&outputs...};
  broadcast_dynamic_shapes(decision, std::span<Tensor* const>(list));
}

}  // namespace phi
