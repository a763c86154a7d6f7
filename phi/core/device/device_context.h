// What a kernel gets besides its arguments: the place that it runs on, where the local arrays lie
// in their global tensors, and a way to combine a few numbers with the ranks that hold the other
// parts.
#pragma once

#include <cstdint>
#include <memory>

#include "phi/common/place.h"
#include "phi/core/box.h"
#include "phi/core/dense_tensor.h"

namespace phi {

enum class CombineKind : uint8_t { kSum, kMax };

/// The distributed side of one launch, seen from a kernel. Most kernels never ask.
class LaunchView : public std::enable_shared_from_this<LaunchView> {
 public:
  virtual ~LaunchView() = default;
  /// Where tensor input / output number `i` (in the order of the op's tensor arguments; list
  /// elements count one each) lies in its global tensor.
  virtual const ShardBox& input_box(int i) const = 0;
  virtual const ShardBox& output_box(int i) const = 0;
  /// Combines `values` elementwise, in place, over the ranks that split tensor dim `tensor_dim` of
  /// input `i`. Collective over those ranks; nothing happens where that tensor dim is whole.
  virtual void combine_over(int i, int tensor_dim, CombineKind kind, DenseTensor* values) const = 0;
};

/// One launch, the same for every kind of device; kernels see the context of their own kind.
class KernelContext {
 public:
  /// `view` is null in a call on plain tensors: every array is then whole.
  explicit KernelContext(const Place& place = CPUPlace(), const LaunchView* view = nullptr)
      : view_(view), place_(place) {}

  /// Where the arrays lie, and where a kernel puts those that it makes.
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

/// The context of kernels that run on the CPU. Kernels are templates on it, so that one source can
/// serve two kinds of devices.
class CpuContext : public KernelContext {
 public:
  explicit CpuContext(const KernelContext& launch = KernelContext()) : KernelContext(launch) {}
  explicit CpuContext(const LaunchView* view) : KernelContext(CPUPlace(), view) {}
};

/// The context of kernels that run on GPUs. Their launches are queued on the compute stream of the
/// place (phi/gpu/launch.h).
class GpuContext : public KernelContext {
 public:
  explicit GpuContext(const KernelContext& launch) : KernelContext(launch) {}
};

}  // namespace phi
