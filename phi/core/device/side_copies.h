// SideCopies: copies between a device and the host that overlap with computation. The device has
// one queue for kernels and one for each direction of copies. Each queue runs in order; a Moment,
// like a CUDA event, orders work of one queue after work of another.
//
//   const MomentPtr made = copies.launched();
//   copies.after(SideCopies::kFromDevice, *made);
//   copies.to_host(host, memory, n);              // overlaps with later launches
//   const MomentPtr out = copies.end_of(SideCopies::kFromDevice);
//   copies.launch_after(*out);                    // before a kernel overwrites `memory`
//   out->wait();                                  // before the host reads `host`
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

namespace phi {

/// A position in a queue. It is reached when all work that was enqueued before it is complete.
class Moment {
 public:
  virtual ~Moment() = default;
  /// Blocks the host until the position is reached. Errors: those of the device's work.
  virtual void wait() const = 0;
};
/// Null: the position is already reached.
using MomentPtr = std::shared_ptr<const Moment>;

/// Thread-safe. No function waits for the device.
class SideCopies {
 public:
  enum Way : uint8_t { kToDevice, kFromDevice };

  virtual ~SideCopies() = default;
  /// The current end of the kernel queue.
  virtual MomentPtr launched() = 0;
  /// Orders all later launches after `moment`.
  virtual void launch_after(const Moment& moment) = 0;
  /// Orders all later copies in direction `way` after `moment`.
  virtual void after(Way way, const Moment& moment) = 0;
  /// The current end of the queue for direction `way`.
  virtual MomentPtr end_of(Way way) = 0;

  // `host` is memory of Device::allocate_host. It must not be accessed until the copy is complete.
  virtual void to_host(void* host, const std::byte* memory, size_t n) = 0;
  virtual void from_host(std::byte* memory, const void* host, size_t n) = 0;
  /// A copy within the device, in the queue of copies to the device.
  virtual void copy(std::byte* to, const std::byte* from, size_t n) = 0;
};

}  // namespace phi
