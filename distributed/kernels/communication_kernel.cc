// Communication operators: each is a call of the group that a ring is. They run on plain tensors,
// in the order in which the program makes them, like all calls of groups. In a dry run the same
// calls are made without arrays and counted.
#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "distributed/comm/subject.h"
#include "distributed/comm/world.h"
#include "phi/common/errors.h"
#include "phi/core/kernel_registry.h"
#include "phi/core/rank_context.h"
#include "phi/generated/kernels/communication.h"

namespace phi {
namespace {

using distributed::Group;
using distributed::ReduceKind;
using distributed::World;

Group& ring(const KernelContext& ctx, int ring_id) {
  PHI_CHECK(!ctx.view(), errors::PreconditionNotMet(
                             "communication operators are for plain tensors; a tensor on a mesh "
                             "is moved by reshard."));
  return World::current().ring(ring_id);
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

// Paddle numbers them so.
ReduceKind kind_of(int reduce_type) {
  constexpr ReduceKind kKinds[] = {ReduceKind::kSum,  ReduceKind::kMax, ReduceKind::kMin,
                                   ReduceKind::kProd, ReduceKind::kAvg, ReduceKind::kAny,
                                   ReduceKind::kAll};
  return kKinds[reduce_type];
}

/// Null in a dry run. What waits elsewhere comes here first.
const void* bytes_of(const DenseTensor& x) {
  return RankContext::current().is_dry() ? nullptr : x.raw_data();
}
void* bytes_of(DenseTensor* out) {
  return RankContext::current().is_dry() ? nullptr : out->mutable_raw_data();
}

void copy_all(const DenseTensor& from, DenseTensor* to) {
  const void* source = bytes_of(from);
  void* target = bytes_of(to);
  if (source && target && source != target) std::memcpy(target, source, from.nbytes());
}

/// This rank and another of the ring, as every member of that pair orders them.
Group& pair_with(const Group& group, int peer) {
  const int64_t own = group.position();
  PHI_CHECK(peer >= 0 && peer < group.size() && peer != own,
            errors::InvalidArgument("peer is {}, but it must be another rank of the ring {}, "
                                    "counted from 0; this one is {}.",
                                    peer, group.name(), own));
  const auto [low, high] = std::minmax({own, int64_t{peer}});
  const std::array<int64_t, 2> ranks = {group.ranks()[static_cast<size_t>(low)],
                                        group.ranks()[static_cast<size_t>(high)]};
  return World::current().group(ranks);
}

/// Copies `rows` rows of `bytes` between arrays of rows that are `from_step` and `to_step` apart.
void copy_rows(const std::byte* from, size_t from_step, std::byte* to, size_t to_step, int64_t rows,
               size_t bytes) {
  for (int64_t row = 0; bytes > 0 && row < rows; ++row, from += from_step, to += to_step) {
    std::memcpy(to, from, bytes);
  }
}

struct Rows {
  int64_t count;
  size_t bytes;  // of one
  explicit Rows(const DenseTensor& x)
      : count(x.dims().numel(0, x.ndim() - 1)),
        bytes(static_cast<size_t>(x.dims().back()) * size_of(x.dtype())) {}
};

}  // namespace

template <typename T, typename Context>
void AllGatherKernel(const Context& ctx, const DenseTensor& x, int ring_id, int nranks,
                     DenseTensor* out) {
  Group& group = ring(ctx, ring_id);
  check_size(group, nranks);
  const distributed::SubjectScope about(x.dims(), x.dtype());
  group.all_gather(bytes_of(x), bytes_of(out), x.numel(), x.dtype());
}

/// Also of the gradient. out may be x.
template <typename T, typename Context>
void AllReduceKernel(const Context& ctx, const DenseTensor& x, int ring_id, int reduce_type,
                     DenseTensor* out) {
  const distributed::SubjectScope about(x.dims(), x.dtype());
  ring(ctx, ring_id)
      .all_reduce(bytes_of(x), bytes_of(out), x.numel(), x.dtype(), kind_of(reduce_type));
}

template <typename T, typename Context>
void AllToAllKernel(const Context& ctx, const DenseTensor& x, int ring_id, DenseTensor* out) {
  Group& group = ring(ctx, ring_id);
  PHI_CHECK(
      x.dims()[0] % group.size() == 0,
      errors::InvalidArgument("x is {}, but its rows go to {} ranks, as many to each; pad it.",
                              x.meta().to_string(), group.size()));
  const distributed::SubjectScope about(x.dims(), x.dtype());
  group.all_to_all(bytes_of(x), bytes_of(out), x.numel() / group.size(), x.dtype());
}

/// out may be x.
template <typename T, typename Context>
void BroadcastKernel(const Context& ctx, const DenseTensor& x, int ring_id, int root,
                     DenseTensor* out) {
  Group& group = ring(ctx, ring_id);
  check_root(group, root);
  copy_all(x, out);
  const distributed::SubjectScope about(x.dims(), x.dtype());
  group.broadcast(bytes_of(out), out->numel(), out->dtype(), root);
}

/// out may be x.
template <typename T, typename Context>
void ReduceKernel(const Context& ctx, const DenseTensor& x, int ring_id, int root_id,
                  int reduce_type, DenseTensor* out) {
  Group& group = ring(ctx, ring_id);
  check_root(group, root_id);
  const distributed::SubjectScope about(x.dims(), x.dtype());
  group.all_reduce(bytes_of(x), bytes_of(out), x.numel(), x.dtype(), kind_of(reduce_type));
  if (group.position() != root_id && bytes_of(out)) {
    std::memset(out->mutable_raw_data(), 0, out->nbytes());
  }
}

/// The root's gradient, by the number of ranks where it is of an average.
template <typename T, typename Context>
void ReduceGradKernel(const Context& ctx, const DenseTensor& out_grad, int ring_id, int root_id,
                      int reduce_type, DenseTensor* x_grad) {
  BroadcastKernel<T>(ctx, out_grad, ring_id, root_id, x_grad);
  if (kind_of(reduce_type) == ReduceKind::kSum || !bytes_of(x_grad)) return;
  const auto ranks = static_cast<float>(ring(ctx, ring_id).size());
  T* to = x_grad->mutable_data<T>();
  std::transform(to, to + x_grad->numel(), to,
                 [=](T grad) { return static_cast<T>(grad / static_cast<T>(ranks)); });
}

template <typename T, typename Context>
void ReduceScatterKernel(const Context& ctx, const DenseTensor& x, int ring_id, int nranks,
                         DenseTensor* out) {
  Group& group = ring(ctx, ring_id);
  check_size(group, nranks);
  const distributed::SubjectScope about(x.dims(), x.dtype());
  group.reduce_scatter(bytes_of(x), bytes_of(out), out->numel(), x.dtype(), ReduceKind::kSum);
}

template <typename T, typename Context>
void SendKernel(const Context& ctx, const DenseTensor& x, int ring_id, int peer,
                DenseTensor* /*out*/) {
  Group& pair = pair_with(ring(ctx, ring_id), peer);
  const distributed::SubjectScope about(x.dims(), x.dtype());
  const distributed::Send message{1 - pair.position(), bytes_of(x), x.nbytes()};
  pair.exchange({&message, 1}, {});
}

template <typename T, typename Context>
void RecvKernel(const Context& ctx, int ring_id, int peer, DenseTensor* out) {
  Group& pair = pair_with(ring(ctx, ring_id), peer);
  const distributed::SubjectScope about(out->dims(), out->dtype());
  const distributed::Recv message{1 - pair.position(), bytes_of(out), out->nbytes()};
  pair.exchange({}, {&message, 1});
}

template <typename T, typename Context>
void CIdentityKernel(const Context&, const DenseTensor& x, DenseTensor* out) {
  copy_all(x, out);
}

template <typename T, typename Context>
void CSplitKernel(const Context&, const DenseTensor& x, int rank, int /*nranks*/,
                  DenseTensor* out) {
  const Rows whole(x);
  const Rows part(*out);
  const auto* from = static_cast<const std::byte*>(x.raw_data());
  copy_rows(from + static_cast<size_t>(rank) * part.bytes, whole.bytes,
            static_cast<std::byte*>(out->mutable_raw_data()), part.bytes, part.count, part.bytes);
}

/// The ring's parts are gathered one after the other, and then put beside each other.
template <typename T, typename Context>
void CConcatKernel(const Context& ctx, const DenseTensor& x, int ring_id, int nranks,
                   DenseTensor* out) {
  Group& group = ring(ctx, ring_id);
  check_size(group, nranks);
  const distributed::SubjectScope about(x.dims(), x.dtype());
  const Rows part(x);
  const Rows whole(*out);
  const bool is_dry = !bytes_of(out);
  std::vector<std::byte> parts(is_dry ? 0 : out->nbytes());
  group.all_gather(bytes_of(x), is_dry ? nullptr : parts.data(), x.numel(), x.dtype());
  for (int64_t i = 0; !is_dry && i < nranks; ++i) {
    const auto at = static_cast<size_t>(i);
    copy_rows(parts.data() + at * x.nbytes(), part.bytes,
              static_cast<std::byte*>(out->mutable_raw_data()) + at * part.bytes, whole.bytes,
              part.count, part.bytes);
  }
}

PHI_REGISTER_KERNEL(all_gather, CPU, AllGatherKernel, EveryType);
PHI_REGISTER_KERNEL(all_reduce, CPU, AllReduceKernel, AllTypes);
PHI_REGISTER_KERNEL(all_to_all, CPU, AllToAllKernel, EveryType);
PHI_REGISTER_KERNEL(broadcast, CPU, BroadcastKernel, EveryType);
PHI_REGISTER_KERNEL(reduce, CPU, ReduceKernel, AllTypes);
PHI_REGISTER_KERNEL(reduce_grad, CPU, ReduceGradKernel, Floats);
PHI_REGISTER_KERNEL(reduce_scatter, CPU, ReduceScatterKernel, AllTypes);
PHI_REGISTER_KERNEL(p_send, CPU, SendKernel, EveryType);
PHI_REGISTER_KERNEL(p_recv, CPU, RecvKernel, EveryType);
PHI_REGISTER_KERNEL(c_identity, CPU, CIdentityKernel, EveryType);
PHI_REGISTER_KERNEL(c_split, CPU, CSplitKernel, EveryType);
PHI_REGISTER_KERNEL(c_concat, CPU, CConcatKernel, EveryType);
PHI_REGISTER_DRY_KERNEL(all_gather, AllGatherKernel, EveryType);
PHI_REGISTER_DRY_KERNEL(all_reduce, AllReduceKernel, AllTypes);
PHI_REGISTER_DRY_KERNEL(all_to_all, AllToAllKernel, EveryType);
PHI_REGISTER_DRY_KERNEL(broadcast, BroadcastKernel, EveryType);
PHI_REGISTER_DRY_KERNEL(reduce, ReduceKernel, AllTypes);
PHI_REGISTER_DRY_KERNEL(reduce_grad, ReduceGradKernel, Floats);
PHI_REGISTER_DRY_KERNEL(reduce_scatter, ReduceScatterKernel, AllTypes);
PHI_REGISTER_DRY_KERNEL(p_send, SendKernel, EveryType);
PHI_REGISTER_DRY_KERNEL(p_recv, RecvKernel, EveryType);
PHI_REGISTER_DRY_KERNEL(c_concat, CConcatKernel, EveryType);

}  // namespace phi
