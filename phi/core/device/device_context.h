// Kernel contexts: the place on which a kernel runs, the positions of its local arrays in their
// global tensors, and a reduction of a few numbers over the ranks that hold the other shards.
#pragma once

#include <cstdint>
#include <memory>

#include "phi/common/place.h"
#include "phi/core/box.h"
#include "phi/core/dense_tensor.h"

namespace phi {

enum class CombineKind : uint8_t { kSum, kMax };

/// Distributed information of one launch, for the few kernels that depend on it.
class LaunchView : public std::enable_shared_from_this<LaunchView> {
 public:
  virtual ~LaunchView() = default;
  /// Position of tensor input or output number `i` in its global tensor. Numbers count the op's
  /// tensor arguments in order; each element of a list counts as one.
  virtual const ShardBox& input_box(int i) const = 0;
  virtual const ShardBox& output_box(int i) const = 0;
  /// Reduces `values` elementwise and in place over the ranks that shard tensor dim `tensor_dim` of
  /// input `i`. Collective over those ranks; does nothing if that tensor dim is not sharded.
  virtual void combine_over(int i, int tensor_dim, CombineKind kind, DenseTensor* values) const = 0;
};

/// Context of one launch, independent of the kind of device. A kernel receives the derived context
/// of its own kind.
class KernelContext {
 public:
  /// `view` is null in a call on plain tensors: every local array is a whole tensor then.
  explicit KernelContext(const Place& place = CPUPlace(), const LaunchView* view = nullptr)
      : view_(view), place_(place) {}

  /// The place of the arrays, on which the kernel also allocates its own.
  const Place& place() const { return place_; }
  const LaunchView* view() const { return view_; }
  ShardBox input_box(int i, const Dims& local) const {
    return view_ ? view_->input_box(i) : ShardBox{local, Box::whole(local)};
  }
  ShardBox output_box(int i, const Dims& local) const {
    return view_ ? view_->output_box(i) : ShardBox{local, Box::whole(local)};
  }

 private:
  const LaunchView* view_;
  Place place_;
};

/// The context of CPU kernels. Kernels are templates on their context, so that one source can serve
/// two kinds of devices.
class CpuContext : public KernelContext {
 public:
  explicit CpuContext(const KernelContext& launch = KernelContext()) : KernelContext(launch) {}
  explicit CpuContext(const LaunchView* view) : KernelContext(CPUPlace(), view) {}
};

/// The context of GPU kernels. They are launched on the compute stream of the place
/// (phi/gpu/launch.h).
class GpuContext : public KernelContext {
 public:
  explicit GpuContext(const KernelContext& launch) : KernelContext(launch) {}
};

}  // namespace phi
