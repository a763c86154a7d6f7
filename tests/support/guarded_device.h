// GuardedDevice: a device whose memory only its own kernels and copies can touch. Host code that
// reads or writes there ends the process with SIGSEGV, whichever rank it belongs to.
//
//   const Place place = guarded_device(0);
//   RankContext::current().set_place(place);  // tensors lie there from here on
#pragma once

#include <map>
#include <mutex>

#include "phi/core/device/device.h"

namespace phi::testing {

/// Runs the CPU's kernels. Its memory is open while one of them runs, or a copy of its own; fresh
/// memory holds NaN in every floating dtype.
class GuardedDevice final : public Device {
 public:
  explicit GuardedDevice(const Place& place);

  std::byte* allocate(MemoryAccount& account, size_t nbytes) override;
  void free(MemoryAccount& account, std::byte* memory, size_t nbytes) override;
  void copy_to_host(void* host, const std::byte* memory, size_t n) override;
  void copy_from_host(std::byte* memory, const void* host, size_t n) override;
  void copy(std::byte* to, const std::byte* from, size_t n) override;
  void copy_boxes(std::span<const BoxCopy> copies, size_t width) override;
  void fill(std::byte* memory, std::byte value, size_t n) override;

  /// Bytes that are allocated now.
  size_t held() const;

 private:
  void begin_work() override;
  void end_work() override;
  void protect(int protection);
  void grow(size_t size);  // takes so much more of the addresses

  mutable std::mutex mutex_;
  std::byte* base_;
  size_t used_ = 0;                         // from base_, as far as anything was allocated
  std::multimap<size_t, std::byte*> free_;  // pieces that were given back, by size
  size_t held_ = 0;
  int working_ = 0;
};

/// The place of the process's guarded device number `index`, made when it is first asked for.
Place guarded_device(int index);
/// That device.
GuardedDevice& guarded_device_at(int index);

}  // namespace phi::testing
