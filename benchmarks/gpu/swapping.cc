// A row of swapping: a program that does little but bring its parameters to the GPU and back,
// beside copies from and to pinned memory of as many bytes each way, both ways at once.
#include <fmt/format.h>

#include <algorithm>

#include "api/capture/program.h"
#include "api/generated/ops/full.h"
#include "api/generated/ops/scale.h"
#include "benchmarks/gpu/measurement.h"
#include "benchmarks/gpu/stopwatch.h"
#include "phi/common/errors.h"
#include "phi/core/device/copy_queues.h"
#include "phi/core/device/host_array.h"

namespace phi::gpu_bench {
namespace {

constexpr double kGoal = 0.85;
constexpr int64_t kParameters = 16, kRoomFor = 4;
constexpr int64_t kBeside = 1 << 20;  // of the limit: what is not the parameters'
constexpr int64_t kHostBytes = int64_t{1} << 40;

class PinnedMemory {
 public:
  PinnedMemory(Device& device, size_t nbytes)
      : device_(device), memory_(device.allocate_host(nbytes)) {
    PHI_CHECK(memory_ != nullptr,
              errors::ResourceExhausted("the host has no {} bytes to pin.", nbytes));
  }
  ~PinnedMemory() { device_.free_host(memory_); }
  PinnedMemory(const PinnedMemory&) = delete;
  PinnedMemory& operator=(const PinnedMemory&) = delete;
  std::byte* data() const { return memory_; }

 private:
  Device& device_;
  std::byte* memory_;
};

/// Copies in pieces, of which `in` go to the device and `out` come from it.
class DirectCopies {
 public:
  DirectCopies(Device& device, size_t piece, int64_t in, int64_t out)
      : device_(device),
        piece_(piece),
        in_(static_cast<size_t>(in)),
        out_(static_cast<size_t>(out)),
        read_(device, in_ * piece),
        written_(device, out_ * piece),
        to_(device, piece),
        from_(device, piece) {
    device.fill(from_.data(), std::byte{0}, piece);
    device.wait();
  }
  ~DirectCopies() { device_.wait(); }
  DirectCopies(const DirectCopies&) = delete;
  DirectCopies& operator=(const DirectCopies&) = delete;

  void run() const {
    CopyQueues& copies = *device_.copy_queues();
    for (size_t i = 0; i < std::max(in_, out_); ++i) {
      if (i < in_) copies.from_host(to_.data(), read_.data() + i * piece_, piece_);
      if (i < out_) copies.to_host(written_.data() + i * piece_, from_.data(), piece_);
    }
    // Who waits for what is computed waits for them, too.
    for (const auto way : {CopyQueues::kToDevice, CopyQueues::kFromDevice}) {
      if (const QueueEventPtr end = copies.end_of(way)) copies.launch_after(*end);
    }
  }

 private:
  Device& device_;
  size_t piece_, in_, out_;
  PinnedMemory read_, written_;
  DeviceMemory to_, from_;
};

/// Each parameter is read and written once; `nbytes` each.
Program updates(const TensorList& parameters, int64_t nbytes) {
  Program program = capture(
      [=](const TensorList& in) {
        for (Tensor parameter : parameters) scale_(parameter, 1.0);
        return in;
      },
      {full({1}, 0.0f)});
  program.limit_memory(
      {.limits = {.device_bytes = kRoomFor * nbytes + kBeside, .host_bytes = kHostBytes}});
  return program;
}

}  // namespace

void measure_swapping(const Place& place, const Extent& extent, const AddMeasurement& add) {
  const int64_t count = extent.of(int64_t{16} << 20, 1 << 18), nbytes = count * 4;
  TensorList parameters;
  for (int64_t i = 0; i < kParameters; ++i) parameters.push_back(full({count}, 1.0f));
  const TensorList inputs = {full({1}, 0.0f)};
  const Program program = updates(parameters, nbytes);
  program.run(inputs);
  const TransferStats& moved = program.swap_plan().transfers;
  const int64_t in = moved.of(Tier::kHost, Tier::kDevice).bytes;
  const int64_t out = moved.of(Tier::kDevice, Tier::kHost).bytes;
  PHI_CHECK(in > 0 && out > 0,
            errors::Unavailable("a program with memory for {} of its {} parameters does not swap.",
                                kRoomFor, kParameters));
  const DirectCopies direct(Device::of(place), static_cast<size_t>(nbytes), in / nbytes,
                            out / nbytes);
  const Comparison taken =
      Stopwatch(place, extent).compare([&] { program.run(inputs); }, [&] { direct.run(); });
  add({.what = fmt::format("swapping {} MiB in, {} MiB out", in >> 20, out >> 20),
       .beside = "copies of pinned memory",
       .goal = kGoal,
       .ours_us = taken.ours * 1e6,
       .beside_us = taken.theirs * 1e6,
       .ratio = taken.ratio});
}

}  // namespace phi::gpu_bench
