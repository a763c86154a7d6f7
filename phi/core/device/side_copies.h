// SideCopies: copies between a device and the host that go on beside what the device computes. Such
// a device takes what it is given in order, kernels in one queue and copies in one for each way;
// moments say what of one queue comes before what of another.
//
//   const MomentPtr made = copies.launched();
//   copies.after(SideCopies::kFromDevice, *made);
//   copies.to_host(host, memory, n);              // beside what is launched from here on
//   const MomentPtr out = copies.end_of(SideCopies::kFromDevice);
//   copies.launch_after(*out);                    // who writes to `memory` again
//   out->wait();                                  // who reads `host`
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

namespace phi {

/// A place in a queue of a device: all that was given to the queue before.
class Moment {
 public:
  virtual ~Moment() = default;
  /// The host waits until it has come. Errors: of what the device was given.
  virtual void wait() const = 0;
};
/// Null: it has come.
using MomentPtr = std::shared_ptr<const Moment>;

/// Calls may come from any thread; none waits for the device.
class SideCopies {
 public:
  enum Way : uint8_t { kToDevice, kFromDevice };

  virtual ~SideCopies() = default;
  /// All that has been launched on the device so far.
  virtual MomentPtr launched() = 0;
  /// What is launched from here on comes after that moment.
  virtual void launch_after(const Moment& moment) = 0;
  /// And what is copied this way.
  virtual void after(Way way, const Moment& moment) = 0;
  /// All that has been given to the queue of this way so far.
  virtual MomentPtr end_of(Way way) = 0;

  // `host` is memory of Device::allocate_host, which nobody touches until the copy is done.
  virtual void to_host(void* host, const std::byte* memory, size_t n) = 0;
  virtual void from_host(std::byte* memory, const void* host, size_t n) = 0;
  /// Within the device, in the queue of the way there.
  virtual void copy(std::byte* to, const std::byte* from, size_t n) = 0;
};

}  // namespace phi
