// Communication operators: each is one call of the group of a ring (World::ring). They run on plain
// tensors on any device, in program order, like all group calls. In a dry run the same calls are
// made without arrays and counted.
//
// The host code is the same for every device: the group transfers and its memory copies. This
// shared kernel template is compiled once per kind of device, PHI_DEVICE.
#pragma once

#include <algorithm>
#include <array>
#include <vector>

#include "distributed/comm/comm_annotation.h"
#include "distributed/comm/world.h"
#include "phi/common/errors.h"
#include "phi/core/box_copy.h"
#include "phi/core/device/host_array.h"
#include "phi/core/kernel_registry.h"
#include "phi/core/rank_context.h"
#include "phi/generated/kernels/communication.h"

namespace phi {
namespace {

using distributed::Communicator;
using distributed::Group;
using distributed::ReduceKind;
using distributed::World;

/// The communicator of the kernel's arrays.
Communicator& communicator_of(const KernelContext& ctx) {
  return World::current().communicator(ctx.place());
}

Group& ring(const KernelContext& ctx, int ring_id) {
  PHI_CHECK(
      !ctx.view(),
      errors::PreconditionNotMet(
          "communication operators are for plain tensors; use reshard for a tensor on a mesh."));
  return communicator_of(ctx).ring(ring_id);
}

void check_size(const Group& group, int nranks) {
  PHI_CHECK(group.size() == nranks,
            errors::InvalidArgument("nranks is {}, but the ring has {} ranks: {}.", nranks,
                                    group.size(), group.name()));
}

void check_root(const Group& group, int root) {
  PHI_CHECK(root >= 0 && root < group.size(),
            errors::InvalidArgument("root is {}, but the ring has {} ranks: {}.", root,
                                    group.size(), group.name()));
}

// Paddle's numbering.
ReduceKind kind_of(int reduce_type) {
  constexpr ReduceKind kKinds[] = {ReduceKind::kSum,  ReduceKind::kMax, ReduceKind::kMin,
                                   ReduceKind::kProd, ReduceKind::kAvg, ReduceKind::kAny,
                                   ReduceKind::kAll};
  return kKinds[reduce_type];
}

/// An array in the memory of the group's device, copied there if necessary; empty in a dry run.
ArrayAt at_group(const KernelContext& ctx, const DenseTensor& x, ArrayAt::Use use) {
  if (RankContext::current().is_dry()) return {};
  return {communicator_of(ctx).device(), x, use};
}

bool is_same(const DenseTensor& x, const DenseTensor& out) {
  return x.storage() == out.storage() && x.byte_offset() == out.byte_offset();
}

void copy_all(const DenseTensor& from, DenseTensor* to) {
  if (RankContext::current().is_dry() || is_same(from, *to)) return;
  copy_array(from, *to);
}

/// The group of this rank and another rank of the ring, in an order that both members use.
Group& pair_with(const KernelContext& ctx, const Group& group, int peer) {
  const int64_t own = group.position();
  PHI_CHECK(peer >= 0 && peer < group.size() && peer != own,
            errors::InvalidArgument("peer is {}, but it must be another rank of the ring {}, "
                                    "counted from 0; this one is {}.",
                                    peer, group.name(), own));
  const auto [low, high] = std::minmax({own, int64_t{peer}});
  const std::array<int64_t, 2> ranks = {group.ranks()[static_cast<size_t>(low)],
                                        group.ranks()[static_cast<size_t>(high)]};
  return communicator_of(ctx).group(ranks);
}

/// x as a matrix whose columns are its last tensor dim.
Dims rows_of(const DenseTensor& x) { return {x.dims().numel(0, x.ndim() - 1), x.dims().back()}; }

}  // namespace

template <typename T, typename Context>
void AllGatherKernel(const Context& ctx, const DenseTensor& x, int ring_id, int nranks,
                     DenseTensor* out) {
  Group& group = ring(ctx, ring_id);
  check_size(group, nranks);
  const distributed::CommAnnotation about(x.dims(), x.dtype());
  const ArrayAt own = at_group(ctx, x, ArrayAt::kRead);
  ArrayAt all = at_group(ctx, *out, ArrayAt::kWrite);
  group.all_gather(own.data(), all.data(), x.numel(), x.dtype());
  all.finish();
}

/// Also the kernel of the gradient. out may be x.
template <typename T, typename Context>
void AllReduceKernel(const Context& ctx, const DenseTensor& x, int ring_id, int reduce_type,
                     DenseTensor* out) {
  Group& group = ring(ctx, ring_id);
  const distributed::CommAnnotation about(x.dims(), x.dtype());
  const ArrayAt own = at_group(ctx, x, ArrayAt::kRead);
  ArrayAt all = at_group(ctx, *out, ArrayAt::kWrite);
  group.all_reduce(own.data(), all.data(), x.numel(), x.dtype(), kind_of(reduce_type));
  all.finish();
}

template <typename T, typename Context>
void AllToAllKernel(const Context& ctx, const DenseTensor& x, int ring_id, DenseTensor* out) {
  Group& group = ring(ctx, ring_id);
  PHI_CHECK(
      x.dims()[0] % group.size() == 0,
      errors::InvalidArgument("x is {}, but its rows must divide evenly over {} ranks; pad it.",
                              x.meta().to_string(), group.size()));
  const distributed::CommAnnotation about(x.dims(), x.dtype());
  const ArrayAt own = at_group(ctx, x, ArrayAt::kRead);
  ArrayAt all = at_group(ctx, *out, ArrayAt::kWrite);
  group.all_to_all(own.data(), all.data(), x.numel() / group.size(), x.dtype());
  all.finish();
}

/// out may be x.
template <typename T, typename Context>
void BroadcastKernel(const Context& ctx, const DenseTensor& x, int ring_id, int root,
                     DenseTensor* out) {
  Group& group = ring(ctx, ring_id);
  check_root(group, root);
  copy_all(x, out);
  const distributed::CommAnnotation about(x.dims(), x.dtype());
  ArrayAt same = at_group(ctx, *out, ArrayAt::kUpdate);
  group.broadcast(same.data(), out->numel(), out->dtype(), root);
  same.finish();
}

/// out may be x.
template <typename T, typename Context>
void ReduceKernel(const Context& ctx, const DenseTensor& x, int ring_id, int root_id,
                  int reduce_type, DenseTensor* out) {
  Group& group = ring(ctx, ring_id);
  check_root(group, root_id);
  AllReduceKernel<T>(ctx, x, ring_id, reduce_type, out);
  if (group.position() == root_id || RankContext::current().is_dry() || out->nbytes() == 0) return;
  Device::of(out->place())
      .fill(static_cast<std::byte*>(out->mutable_raw_data()), std::byte{0}, out->nbytes());
}

/// The root's gradient, divided by the number of ranks if the forward is an average.
template <typename T, typename Context>
void ReduceGradKernel(const Context& ctx, const DenseTensor& out_grad, int ring_id, int root_id,
                      int reduce_type, DenseTensor* x_grad) {
  BroadcastKernel<T>(ctx, out_grad, ring_id, root_id, x_grad);
  if (kind_of(reduce_type) == ReduceKind::kSum || RankContext::current().is_dry()) return;
  // The average of the gradient and one zero array per other rank is the divided gradient.
  Communicator& communicator = communicator_of(ctx);
  ArrayAt grad = at_group(ctx, *x_grad, ArrayAt::kUpdate);
  const DeviceMemory zeros(communicator.device(), x_grad->nbytes());
  if (x_grad->nbytes() > 0)
    communicator.device().fill(zeros.data(), std::byte{0}, x_grad->nbytes());
  std::vector<const void*> inputs(static_cast<size_t>(ring(ctx, ring_id).size()), zeros.data());
  inputs[0] = grad.data();
  communicator.reduce(inputs, grad.data(), x_grad->numel(), x_grad->dtype(), ReduceKind::kAvg);
  grad.finish();
}

template <typename T, typename Context>
void ReduceScatterKernel(const Context& ctx, const DenseTensor& x, int ring_id, int nranks,
                         DenseTensor* out) {
  Group& group = ring(ctx, ring_id);
  check_size(group, nranks);
  const distributed::CommAnnotation about(x.dims(), x.dtype());
  const ArrayAt whole = at_group(ctx, x, ArrayAt::kRead);
  ArrayAt part = at_group(ctx, *out, ArrayAt::kWrite);
  group.reduce_scatter(whole.data(), part.data(), out->numel(), x.dtype(), ReduceKind::kSum);
  part.finish();
}

template <typename T, typename Context>
void SendKernel(const Context& ctx, const DenseTensor& x, int ring_id, int peer,
                DenseTensor* /*out*/) {
  Group& pair = pair_with(ctx, ring(ctx, ring_id), peer);
  const distributed::CommAnnotation about(x.dims(), x.dtype());
  const ArrayAt sent = at_group(ctx, x, ArrayAt::kRead);
  const distributed::Send message{1 - pair.position(), sent.data(), x.nbytes()};
  pair.exchange({&message, 1}, {});
}

template <typename T, typename Context>
void RecvKernel(const Context& ctx, int ring_id, int peer, DenseTensor* out) {
  Group& pair = pair_with(ctx, ring(ctx, ring_id), peer);
  const distributed::CommAnnotation about(out->dims(), out->dtype());
  ArrayAt received = at_group(ctx, *out, ArrayAt::kWrite);
  const distributed::Recv message{1 - pair.position(), received.data(), out->nbytes()};
  pair.exchange({}, {&message, 1});
  received.finish();
}

template <typename T, typename Context>
void CIdentityKernel(const Context&, const DenseTensor& x, DenseTensor* out) {
  copy_all(x, out);
}

template <typename T, typename Context>
void CSplitKernel(const Context&, const DenseTensor& x, int rank, int /*nranks*/,
                  DenseTensor* out) {
  const Box part{{0, rank * out->dims().back()}, rows_of(*out)};
  copy_box(x, Box::whole(rows_of(x)), *out, part, part);
}

/// Gathers the ring's parts one after the other, then interleaves their columns.
template <typename T, typename Context>
void CConcatKernel(const Context& ctx, const DenseTensor& x, int ring_id, int nranks,
                   DenseTensor* out) {
  Group& group = ring(ctx, ring_id);
  check_size(group, nranks);
  const distributed::CommAnnotation about(x.dims(), x.dtype());
  const bool is_dry = RankContext::current().is_dry();
  Device& device = communicator_of(ctx).device();
  const DeviceMemory parts(device, is_dry ? 0 : out->nbytes());
  const ArrayAt own = at_group(ctx, x, ArrayAt::kRead);
  group.all_gather(own.data(), parts.data(), x.numel(), x.dtype());
  if (is_dry) return;
  ArrayAt whole = at_group(ctx, *out, ArrayAt::kWrite);
  std::vector<BoxCopy> copies;
  for (int64_t i = 0; i < nranks; ++i) {
    const Box part{{0, i * x.dims().back()}, rows_of(x)};
    copies.push_back({parts.data() + static_cast<size_t>(i) * x.nbytes(), part, whole.data(),
                      Box::whole(rows_of(*out)), part});
  }
  device.copy_boxes(copies, size_of(x.dtype()));
  whole.finish();
}

PHI_REGISTER_KERNEL(all_gather, PHI_DEVICE, AllGatherKernel, EveryType);
PHI_REGISTER_KERNEL(all_reduce, PHI_DEVICE, AllReduceKernel, AllTypes);
PHI_REGISTER_KERNEL(all_to_all, PHI_DEVICE, AllToAllKernel, EveryType);
PHI_REGISTER_KERNEL(broadcast, PHI_DEVICE, BroadcastKernel, EveryType);
PHI_REGISTER_KERNEL(reduce, PHI_DEVICE, ReduceKernel, AllTypes);
PHI_REGISTER_KERNEL(reduce_grad, PHI_DEVICE, ReduceGradKernel, Floats);
PHI_REGISTER_KERNEL(reduce_scatter, PHI_DEVICE, ReduceScatterKernel, AllTypes);
PHI_REGISTER_KERNEL(p_send, PHI_DEVICE, SendKernel, EveryType);
PHI_REGISTER_KERNEL(p_recv, PHI_DEVICE, RecvKernel, EveryType);
PHI_REGISTER_KERNEL(c_identity, PHI_DEVICE, CIdentityKernel, EveryType);
PHI_REGISTER_KERNEL(c_split, PHI_DEVICE, CSplitKernel, EveryType);
PHI_REGISTER_KERNEL(c_concat, PHI_DEVICE, CConcatKernel, EveryType);

}  // namespace phi
