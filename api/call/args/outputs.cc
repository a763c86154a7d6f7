// Implementation of outputs.h.
#include "api/call/args/outputs.h"

#include <algorithm>

#include "api/call/args/copy_into.h"
#include "api/call/view_scope.h"
#include "api/call/write_journal.h"
#include "distributed/comm/world.h"
#include "distributed/reshard/execute.h"
#include "phi/common/errors.h"

namespace phi {

using distributed::DistTensor;

Tensor new_tensor(const TensorMeta& meta, const Place& place) {
  return Tensor(DenseTensor::empty(meta, place));
}

Tensor new_tensor(const std::optional<TensorMeta>& meta, const Place& place) {
  return meta ? new_tensor(*meta, place) : Tensor();
}

TensorList new_tensors(const std::vector<TensorMeta>& metas, const Place& place) {
  TensorList list;
  list.reserve(metas.size());
  for (const TensorMeta& meta : metas) list.push_back(new_tensor(meta, place));
  return list;
}

Tensor new_tensor_unshaped(const TensorMeta& meta, const Place& place) {
  if (meta.dims.known()) return new_tensor(meta, place);
  return Tensor(DenseTensor(meta, nullptr));
}

Tensor new_tensor_unshaped(const std::optional<TensorMeta>& meta, const Place& place) {
  return meta ? new_tensor_unshaped(*meta, place) : Tensor();
}

Tensor new_distributed(const Decision& decision, size_t slot) {
  const Decision::Output& out = decision.output(slot);
  if (!out.present) return {};
  if (!decision.computes_here()) {
    return Tensor(DistTensor::clipped(out.global, out.attr, decision.place(), decision.op().name));
  }
  return Tensor(DistTensor(out.global, out.attr, DenseTensor(out.local, nullptr)));
}

TensorList new_distributed_list(const Decision& decision, size_t output) {
  const auto [first, end] = decision.slots_of(output);
  TensorList list;
  for (size_t slot = first; slot < end; ++slot) {
    if (decision.output(slot).present) list.push_back(new_distributed(decision, slot));
  }
  return list;
}

OutList dense_outs(TensorList& outs) {
  OutList list;
  for (Tensor& out : outs) list.add(dense_out(out));
  return list;
}

DenseTensor* local_out(const Decision& decision, Tensor& out) {
  if (!out.defined()) return nullptr;
  DistTensor& dist = out.dist();
  if (!dist.local().defined() && dist.dims().known()) {
    dist.local() = DenseTensor::empty(dist.local().meta(), decision.place());
  }
  return &dist.local();
}

OutList local_outs(const Decision& decision, TensorList& outs) {
  OutList list;
  for (Tensor& out : outs) list.add(local_out(decision, out));
  return list;
}

void check_inplace(const Tensor& x, const TensorMeta& result) {
  PHI_CHECK(x.shape() == result.dims && x.dtype() == result.dtype,
            errors::InvalidArgument(
                "inplace: the result {} does not fit into {}; use the op without `_`.",
                result.to_string(), x.to_string()));
  note_write(x);
}

void check_inplace(const OptionalTensor& x, const std::optional<TensorMeta>& result) {
  if (x && x->defined() && result) check_inplace(*x, *result);
}

namespace {
void check_as_many(size_t results, const TensorList& xs) {
  PHI_CHECK(xs.size() == results,
            errors::InvalidArgument(
                "inplace: there are {} results for a list of {} tensors; the counts must match.",
                results, xs.size()));
}
}  // namespace

void check_inplace(const TensorList& xs, const std::vector<TensorMeta>& results) {
  check_as_many(results.size(), xs);
  for (size_t i = 0; i < xs.size(); ++i) check_inplace(xs[i], results[i]);
}

void check_inplace(const TensorList& xs, const Decision& decision, size_t output) {
  const auto [first, end] = decision.slots_of(output);
  check_as_many(end - first, xs);
  for (size_t i = 0; i < xs.size(); ++i) check_inplace(xs[i], decision.output(first + i).global);
}

void reuse_buffer(Tensor& out, const DenseTensor& input) {
  DenseTensor& local = out.dist().local();
  if (local.meta() == input.meta()) local = input;
}

void reuse_buffer(Tensor& out, const DenseTensor* input) {
  if (out.defined() && input) reuse_buffer(out, *input);
}

void reuse_buffer(TensorList& outs, std::span<const DenseTensor* const> inputs) {
  for (size_t i = 0; i < outs.size(); ++i) reuse_buffer(outs[i], inputs[i]);
}

void assign_inplace(Tensor& x, const Tensor& result) {
  const DistTensor now = distributed::reshard(result.dist(), x.dist().attr());
  DenseTensor& local = x.dist().local();
  const bool is_here = now.mesh().contains(RankContext::current().rank());
  if (is_here && now.local().storage() != local.storage()) copy_into(local, now.local());
}

void assign_inplace(OptionalTensor& x, const Tensor& result) {
  if (x && x->defined() && result.defined()) assign_inplace(*x, result);
}

void assign_inplace(TensorList& xs, const TensorList& results) {
  for (size_t i = 0; i < xs.size(); ++i) assign_inplace(xs[i], results[i]);
}

Tensor view_of(const OpDef& op, const Tensor& x, const TensorMeta& meta) {
  const ViewScope scope(op, x.dense());
  return shared_view(x, meta);
}

void share_buffer(const OpDef& op, Tensor& out, const DenseTensor& input) {
  const ViewScope scope(op, input);
  share_part(out, input);
}

void share_placeholder(const Decision& decision, Tensor& out, const Tensor& x, size_t slot) {
  if (!x.is_dist() || x.dist_attr() != decision.input(slot).attr) return;
  DenseTensor& local = out.dist().local();
  local = DenseTensor(local.meta(), x.dist().local().storage());
}

void share_placeholder(const Decision& decision, Tensor& out, const OptionalTensor& x,
                       size_t slot) {
  if (out.defined() && x && x->defined()) share_placeholder(decision, out, *x, slot);
}

void refuse_writes_if_moved(const Decision& decision, Tensor& out, const Tensor& x, size_t slot) {
  if (x.is_dist() && x.dist_attr() == decision.input(slot).attr) return;
  DenseTensor& local = out.dist().local();
  if (local.storage() == array_of(x).storage()) {
    local = DenseTensor(local.meta(), local.alias().storage());
  }
  local.storage()->refuse_writes(decision.op().name);
}

Tensor shared_view(const Tensor& x, const TensorMeta& meta) {
  return Tensor(x.dense().view(meta.dims));
}

Tensor shared_view(const OptionalTensor& x, const std::optional<TensorMeta>& meta) {
  return x && x->defined() && meta ? shared_view(*x, *meta) : Tensor();
}

void share_part(Tensor& out, const DenseTensor& input) {
  DenseTensor& local = out.dist().local();
  local = input.view(local.dims());
}

void share_part(Tensor& out, const DenseTensor* input) {
  if (out.defined() && input) share_part(out, *input);
}

void note_write(const Tensor& x) {
  Storage& storage = *array_of(x).storage();
  if (storage.copied_by() != nullptr) [[unlikely]]
    throw errors::PreconditionNotMet(
        "an inplace operation would write to {}, which {} computed from a tensor whose placements "
        "do not allow a view: its shards were resharded, so the bytes are a copy, and the write "
        "would not reach that tensor. Write to that tensor itself, reshard it to these placements "
        "before {}, or clone() the result to write to a copy.",
        x.to_string(), storage.copied_by(), storage.copied_by());
  WriteJournal::note(x);
  storage.note_write();
}

void note_write(const OptionalTensor& x) {
  if (x && x->defined()) note_write(*x);
}

void assign_written(const Tensor& x, const Tensor& view) {
  Tensor handle = x;
  assign_inplace(handle, view);
}

void assign_written(const OptionalTensor& x, const Tensor& view) {
  if (x && x->defined() && view.defined()) assign_written(*x, view);
}

namespace {

// Encodes the shapes that this rank found as [ndim, dims...] per output.
std::vector<int64_t> encode_shapes(std::span<Tensor* const> outputs, bool computes_here) {
  std::vector<int64_t> words;
  for (const Tensor* out : outputs) {
    Dims dims = out->defined() ? out->dist().dims() : Dims();
    if (out->defined() && computes_here) dims = out->dist().local().dims();
    words.push_back(dims.ndim());
    for (int d = 0; d < kMaxNdim; ++d) words.push_back(d < dims.ndim() ? dims[d] : 0);
  }
  return words;
}

void set_global_shape(Tensor& out, const Dims& dims) {
  DistTensor& dist = out.dist();
  TensorMeta global = dist.meta();
  global.dims = dims;
  // On a rank that does not compute, the local part gets the ndim of the shape that was found.
  DenseTensor local = dist.local();
  if (!local.computed_here()) {
    const TensorMeta none{Dims::filled(dims.ndim(), 0), global.dtype, global.layout};
    local = DenseTensor(none, local.storage());
  }
  dist = DistTensor(global, dist.attr(), std::move(local));
}

}  // namespace

void broadcast_dynamic_shapes(const Decision& decision, std::span<Tensor* const> outputs) {
  const bool is_static = std::ranges::all_of(
      outputs, [](const Tensor* out) { return !out->defined() || out->dist().dims().known(); });
  if (is_static) return;
  for (size_t i = 0; i < outputs.size(); ++i) {
    PHI_CHECK(!outputs[i]->defined() || outputs[i]->dist().attr()->is_replicated(),
              errors::Unimplemented(
                  "output '{}' has a run-time shape and is {}; only replicated outputs can "
                  "have one.",
                  decision.op().outputs[i], outputs[i]->to_string()));
  }
  auto words = encode_shapes(outputs, decision.computes_here());
  auto& world = distributed::World::current();
  if (decision.mesh().size() < world.size()) {
    world.everyone().broadcast(words.data(), static_cast<int64_t>(words.size()), DataType::INT64,
                               decision.mesh().rank_at(int64_t{0}));
  }
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (!outputs[i]->defined()) continue;
    const int64_t* entry = words.data() + i * (kMaxNdim + 1);
    set_global_shape(*outputs[i], Dims(std::span(entry + 1, static_cast<size_t>(entry[0]))));
  }
}

}  // namespace phi
