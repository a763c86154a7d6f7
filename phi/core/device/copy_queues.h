// CopyQueues: copies between a device and the host that overlap with computation. The device has
// one queue for kernels and one for each direction of copies. Each queue runs in order; a
// QueueEvent, like a CUDA event, orders work of one queue after work of another.
//
//   const QueueEventPtr made = copies.launched();
//   copies.after(CopyQueues::kFromDevice, *made);
//   copies.to_host(host, memory, n);              // overlaps with later launches
//   const QueueEventPtr out = copies.end_of(CopyQueues::kFromDevice);
//   copies.launch_after(*out);                    // before a kernel overwrites `memory`
//   out->wait();                                  // before the host reads `host`
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

namespace phi {

/// A position in a queue. It is reached when all work that was enqueued before it is complete.
class QueueEvent {
 public:
  virtual ~QueueEvent() = default;
  /// Blocks the host until the position is reached. Errors: those of the device's work.
  virtual void wait() const = 0;
};
/// Null: the position is already reached.
using QueueEventPtr = std::shared_ptr<const QueueEvent>;

/// Thread-safe. No function waits for the device.
class CopyQueues {
 public:
  enum CopyDirection : uint8_t { kToDevice, kFromDevice };

  virtual ~CopyQueues() = default;
  /// The current end of the kernel queue.
  virtual QueueEventPtr launched() = 0;
  /// Orders all later launches after `event`.
  virtual void launch_after(const QueueEvent& event) = 0;
  /// Orders all later copies in direction `way` after `event`.
  virtual void after(CopyDirection way, const QueueEvent& event) = 0;
  /// The current end of the queue for direction `way`.
  virtual QueueEventPtr end_of(CopyDirection way) = 0;

  // `host` is memory of Device::allocate_host. It must not be accessed until the copy is complete.
  virtual void to_host(void* host, const std::byte* memory, size_t n) = 0;
  virtual void from_host(std::byte* memory, const void* host, size_t n) = 0;
  /// A copy within the device, in the queue of copies to the device.
  virtual void copy(std::byte* to, const std::byte* from, size_t n) = 0;
};

}  // namespace phi
