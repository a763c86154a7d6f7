// Rows of messages between all GPUs of the machine, whose ranks are threads here. All ranks do the
// same number of calls in a turn, and a turn takes as long as its slowest rank.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "benchmarks/gpu/measurement.h"
#include "benchmarks/gpu/nccl/direct_nccl.h"
#include "distributed/comm/local/local_world.h"
#include "distributed/comm/nccl/nccl_communicator.h"
#include "distributed/reshard/execute.h"
#include "phi/common/errors.h"
#include "phi/core/device/host_array.h"

namespace phi::gpu_bench {
namespace {

using distributed::GpuReduction;
using distributed::World;

constexpr int kMostRanks = 8;

// Microseconds of one call, by the slowest rank; the median of the turns, as the same on all ranks.
class Turns {
 public:
  Turns(World& host, Device& device, const Extent& extent)
      : host_(host),
        device_(device),
        turns_(static_cast<int>(extent.of(15, 1))),
        calls_(static_cast<int>(extent.of(20, 1))) {}

  /// Ours beside theirs, turn by turn.
  template <typename Ours, typename Theirs>
  void compare(const Ours& ours, const Theirs& theirs, Measurement* row) const {
    run(ours);
    run(theirs);  // connections are made at first
    std::vector<double> a, b, ratios;
    for (int turn = 0; turn < turns_; ++turn) {
      a.push_back(run(ours));
      b.push_back(run(theirs));
      ratios.push_back(b.back() / a.back());
    }
    row->ours_us = median(a), row->beside_us = median(b), row->ratio = median(ratios);
  }

 private:
  using Clock = std::chrono::steady_clock;
  template <typename Body>
  double run(const Body& body) const {
    device_.wait();
    host_.everyone().barrier();
    const Clock::time_point begin = Clock::now();
    for (int call = 0; call < calls_; ++call) body();
    device_.wait();
    double taken = std::chrono::duration<double, std::micro>(Clock::now() - begin).count() / calls_;
    host_.everyone().all_reduce(&taken, 1, DataType::FLOAT64, distributed::ReduceKind::kMax);
    return taken;
  }
  static double median(std::vector<double> values) {
    std::ranges::sort(values);
    return values[values.size() / 2];
  }

  World& host_;
  Device& device_;
  int turns_, calls_;
};

// What one rank does; rank 0's rows are those of all.
class Messages {
 public:
  Messages(World& host, const Place& place, const Extent& extent, const AddMeasurement& add_row)
      : host_(host),
        place_(place),
        extent_(extent),
        device_(gpu::GpuDevice::of(place)),
        direct_(host, device_),
        turns_(host, device_, extent),
        add_row_(add_row) {}

  void all_reduce(GpuReduction reduction, double goal) {
    host_.set_device_communicator(distributed::make_nccl_communicator(host_, place_, reduction));
    const int64_t count = extent_.of(int64_t{16} << 20, 1 << 10);
    const DeviceMemory in(device_, static_cast<size_t>(count) * 4);
    const DeviceMemory out(device_, static_cast<size_t>(count) * 4);
    device_.fill(in.data(), std::byte{0}, static_cast<size_t>(count) * 4);
    distributed::Group& group = host_.communicator(place_).everyone();
    Measurement row{
        .what = fmt::format("all_reduce {} 64 MiB of {} GPUs",
                            reduction == GpuReduction::kExact ? "exact" : "fast", host_.size()),
        .beside = "ncclAllReduce",
        .goal = goal};
    turns_.compare(
        [&] {
          group.all_reduce(in.data(), out.data(), count, DataType::FLOAT32,
                           distributed::ReduceKind::kSum);
        },
        [&] { direct_.all_reduce(in.data(), out.data(), static_cast<size_t>(count)); }, &row);
    add(row);
  }

  // Every rank gets the rows of all others.
  void gather(int64_t mebibytes) {
    host_.set_device_communicator(
        distributed::make_nccl_communicator(host_, place_, GpuReduction::kExact));
    const int64_t n = host_.size();
    const int64_t rows = extent_.of((mebibytes << 20) / 4 / n, 8);
    const distributed::ProcessMesh mesh({n});
    const auto* split = distributed::TensorDistAttr::get(mesh, {distributed::Shard(0)});
    const auto* whole = distributed::TensorDistAttr::replicated(mesh);
    const distributed::DistTensor x({Dims{n * rows}, DataType::FLOAT32}, split,
                                    DenseTensor::empty({Dims{rows}, DataType::FLOAT32}, place_));
    const size_t nbytes = static_cast<size_t>(rows) * 4;
    device_.fill(static_cast<std::byte*>(const_cast<void*>(x.local().raw_data())), std::byte{0},
                 nbytes);
    const DeviceMemory all(device_, nbytes * static_cast<size_t>(n));
    Measurement row{.what = fmt::format("reshard [S0] to [R] {} MiB of {} GPUs", mebibytes, n),
                    .beside = "ncclSend, ncclRecv",
                    .goal = 0.95};
    turns_.compare([&] { (void)distributed::reshard(x, whole); },
                   [&] { direct_.send_to_all(x.local().raw_data(), all.data(), nbytes); }, &row);
    add(row);
  }

 private:
  void add(const Measurement& row) {
    if (host_.rank() == 0) add_row_(row);
  }

  World& host_;
  const Place place_;
  const Extent extent_;
  gpu::GpuDevice& device_;
  DirectNccl direct_;
  Turns turns_;
  const AddMeasurement& add_row_;
};

// As many as CUDA shows to this process, but for those past the most.
int gpus_here() {
  int gpus = 0;
  try {
    for (; gpus < kMostRanks; ++gpus) Device::of(GPUPlace(gpus));
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kOutOfRange) throw;
  }
  return gpus;
}

}  // namespace

void measure_collectives(const Extent& extent, const AddMeasurement& add) {
  const int ranks = static_cast<int>(extent.of(gpus_here(), 3));
  if (ranks < 2) return add({.what = "messages", .beside = "NCCL", .note = "there is one GPU"});
  distributed::run_ranks(ranks, [&](World& host) {
    const Place place = GPUPlace(static_cast<int>(host.rank()));
    host.rank_context().set_place(place);
    Messages messages(host, place, extent, add);
    messages.all_reduce(GpuReduction::kFast, 0.95);
    messages.all_reduce(GpuReduction::kExact, 0.70);
    messages.gather(16);
    messages.gather(64);
  });
}

}  // namespace phi::gpu_bench
